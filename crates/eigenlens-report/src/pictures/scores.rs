//! Samples in the plane of two components.

use std::f64::consts::TAU;

use crate::draw::axis::Plot;
use crate::draw::canvas::{Canvas, Point, Style, TextStyle, polyline};
use crate::draw::labels::Placer;
use crate::draw::number::count;
use crate::draw::scale::Scale;
use crate::draw::{cloud, frame, theme};
use crate::error::{Error, finite, length_or_empty, not_empty};
use crate::picture::Picture;
use crate::pictures::component::Component;
use crate::pictures::grouping::Grouping;

/// A scatter plot of scores.
///
/// Up to 2,000 points are drawn one by one, with a shape per group; more are painted as one
/// embedded image of translucent dots, which shows their density and keeps the file below a few
/// megabytes whatever their number.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// Title; a default if empty.
    pub title: String,
    /// The component across.
    pub x: Component,
    /// The component upwards.
    pub y: Component,
    /// Scores of each sample on the two components (n × 2).
    pub points: Vec<[f64; 2]>,
    /// Name of each sample (n), or empty. Those with room are written beside their points, the
    /// outermost first.
    pub names: Vec<String>,
    /// How the points are coloured.
    pub coloring: Coloring,
    /// Ellipses to draw.
    pub ellipses: Vec<Ellipse>,
    /// Whether both axes have the same units, so that distances are true.
    pub equal_units: bool,
    /// What the points are, in the plural; samples if empty.
    pub points_are: String,
    /// Whether to draw the line on which both coordinates are equal.
    pub diagonal: bool,
    /// Text below the picture; say here what the ellipses are.
    pub caption: String,
}

/// How points are coloured.
#[derive(Clone, Debug, Default)]
pub enum Coloring {
    /// All alike.
    #[default]
    None,
    /// By group, with a colour, a shape and a legend entry each. The 14 largest are told apart.
    Groups {
        /// Names of the groups.
        names: Vec<String>,
        /// Index of the group of each point (n).
        of: Vec<usize>,
    },
    /// By a number, on a continuous scale.
    Values {
        /// What the numbers are.
        name: String,
        /// The number of each point (n). NaN for points without one: they are drawn as grey crosses.
        values: Vec<f64>,
    },
}

/// An ellipse: the points `center + cos(t) axes[0] + sin(t) axes[1]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ellipse {
    /// The group it belongs to, whose colour it takes.
    pub group: Option<usize>,
    /// Its centre.
    pub center: [f64; 2],
    /// Its two half axes, as vectors.
    pub axes: [[f64; 2]; 2],
}

impl Scores {
    /// Draws the picture.
    pub fn draw(&self) -> Result<Picture, Error> {
        self.check()?;
        let grouping = Grouping::new(&self.coloring, self.points.len())?;
        let default = plane_title("Scores on", &self.x, &self.y, "Scores");
        let title = frame::or(&self.title, &default);
        let mut canvas = Canvas::new(theme::WIDTH);
        let y = frame::header(&mut canvas, title, &self.subtitle());
        let y = grouping.legend(&mut canvas, y);
        let plot = self.plot(&canvas, y);
        plot.grid(&mut canvas);
        plot.zero_lines(&mut canvas);
        if self.diagonal {
            self.draw_diagonal(&mut canvas, &plot);
        }
        let points: Vec<Point> = self.points.iter().map(|point| plot.point(*point)).collect();
        points_and_ellipses(&mut canvas, &plot, &points, &grouping, &self.ellipses, &self.names);
        plot.axes(&mut canvas);
        let left_out = self.labels(&mut canvas, &plot, &points, &grouping);
        let note = left_out_note(left_out);
        let caption = frame::sentences(&[&self.caption, &note]);
        let height = frame::caption(&mut canvas, plot.area.bottom() + plot.x.below(), &caption);
        Ok(canvas.finish(height, title, &self.description()))
    }

    fn check(&self) -> Result<(), Error> {
        not_empty("points", self.points.len())?;
        finite("points", self.points.iter().flatten().copied())?;
        length_or_empty("names", self.names.len(), self.points.len())?;
        finite("ellipses", self.ellipses.iter().flat_map(ellipse_numbers))
    }

    fn plot(&self, canvas: &Canvas, y: f64) -> Plot {
        let outline: Vec<Point> = self.ellipses.iter().flat_map(outline).collect();
        let all = || self.points.iter().chain(&outline);
        let x_scale = Scale::around(all().map(|point| point[0]), 0.05);
        let y_scale = Scale::around(all().map(|point| point[1]), 0.07);
        let (x_label, y_label) = (self.x.label(), self.y.label());
        if self.equal_units {
            frame::equal_plot(canvas, y, (x_scale, &x_label), (y_scale, &y_label))
        } else {
            let height = theme::PLOT_HEIGHT + 60.0;
            frame::plot(canvas, y, height, (x_scale, &x_label), (y_scale, &y_label), 0.0)
        }
    }

    /// Writes what names have room; gives how many have not.
    fn labels(
        &self,
        canvas: &mut Canvas,
        plot: &Plot,
        points: &[Point],
        grouping: &Grouping<'_>,
    ) -> usize {
        let mut placer = Placer::new(plot.area);
        if cloud::is_painted(points.len()) {
            // Without shapes the groups are named where their ellipses are.
            let style = TextStyle::new(theme::LABEL_SIZE).bold().halo();
            for ellipse in &self.ellipses {
                if let Some(name) = ellipse.group.and_then(|group| grouping.group_name(group)) {
                    placer.label_on(canvas, plot.point(ellipse.center), name, &style);
                }
            }
        }
        label_points(canvas, &mut placer, points, &self.names)
    }

    fn draw_diagonal(&self, canvas: &mut Canvas, plot: &Plot) {
        let all = || self.points.iter().flatten();
        let low = all().copied().fold(f64::INFINITY, f64::min);
        let high = all().copied().fold(f64::NEG_INFINITY, f64::max);
        let ends = [low, high].map(|v| plot.point([v, v]));
        let style = Style::stroke(theme::AXIS, 1.2);
        canvas.clipped(plot.area, |canvas| canvas.line(ends[0], ends[1], &style));
    }

    fn subtitle(&self) -> String {
        let n = self.points.len();
        match &self.points_are[..] {
            "" if n == 1 => "1 sample".to_owned(),
            "" => format!("{} samples", count(n)),
            points => format!("{} {points}", count(n)),
        }
    }

    fn description(&self) -> String {
        format!(
            "Scatter plot of {}: {} against {}.",
            self.subtitle(),
            self.y.label(),
            self.x.label()
        )
    }
}

/// What a picture of two components is called; `plain` where they have no names.
pub(crate) fn plane_title(of: &str, x: &Component, y: &Component, plain: &str) -> String {
    if x.name.is_empty() || y.name.is_empty() {
        return plain.to_owned();
    }
    format!("{of} {} and {}", x.name, y.name)
}

/// Draws ellipses and points.
pub(crate) fn points_and_ellipses(
    canvas: &mut Canvas,
    plot: &Plot,
    points: &[Point],
    grouping: &Grouping<'_>,
    ellipses: &[Ellipse],
    names: &[String],
) {
    let paths: Vec<(usize, String)> = ellipses
        .iter()
        .map(|ellipse| {
            let line: Vec<Point> = outline(ellipse).map(|point| plot.point(point)).collect();
            (ellipse.group.unwrap_or(0), format!("{}Z", polyline(&line)))
        })
        .collect();
    for (group, data) in &paths {
        let color = grouping.group_marker(*group).color;
        canvas.path(data, &Style::fill(color).opacity(0.07));
    }
    let tooltip = |index: usize| {
        let parts = [names.get(index).map(String::as_str), grouping.name_of(index)];
        let text: Vec<&str> = parts.into_iter().flatten().collect();
        (!text.is_empty()).then(|| text.join(" · "))
    };
    cloud::draw(canvas, plot.area, points, |index| grouping.marker(index), tooltip);
    // The outline lies on top: a dense cloud would hide it. There it is dark, on its own colour.
    let painted = cloud::is_painted(points.len());
    for (group, data) in &paths {
        let color = grouping.group_marker(*group).color;
        let color = if painted { color.mix(theme::INK, 0.6) } else { color };
        canvas.path(data, &Style::stroke(color, 1.4).dash(grouping.dash(*group)));
    }
}

/// Writes the names of points that have room, the outermost first; gives how many have none.
pub(crate) fn label_points(
    canvas: &mut Canvas,
    placer: &mut Placer,
    points: &[Point],
    names: &[String],
) -> usize {
    if names.is_empty() {
        return 0;
    }
    let radius = if cloud::is_painted(points.len()) { 1.2 } else { cloud::radius(points.len()) };
    for point in points {
        placer.block_point(*point, radius);
    }
    let n = points.len() as f64;
    let center = [0, 1].map(|axis| points.iter().map(|point| point[axis]).sum::<f64>() / n);
    let away = |index: usize| {
        let point = points[index];
        (point[0] - center[0]).hypot(point[1] - center[1])
    };
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| away(*b).total_cmp(&away(*a)).then(a.cmp(b)));
    let style = TextStyle::new(theme::POINT_LABEL_SIZE).soft().halo();
    // In a crowd names are noise: only the outermost are tried.
    let tried = order.len().min(400);
    let mut left_out = order.len() - tried;
    for index in order.into_iter().take(tried) {
        let gap = radius + 3.0;
        if !placer.label(canvas, points[index], gap, &names[index], &style) {
            left_out += 1;
        }
    }
    left_out
}

/// What to say about names that have no room.
pub(crate) fn left_out_note(left_out: usize) -> String {
    match left_out {
        0 => String::new(),
        1 => "One name without room is left out.".to_owned(),
        n => format!("{} names without room are left out.", count(n)),
    }
}

/// All numbers of an ellipse.
pub(crate) fn ellipse_numbers(ellipse: &Ellipse) -> impl Iterator<Item = f64> {
    ellipse.center.into_iter().chain(ellipse.axes.into_iter().flatten())
}

/// Points around an ellipse.
pub(crate) fn outline(ellipse: &Ellipse) -> impl Iterator<Item = Point> {
    const STEPS: usize = 72;
    let Ellipse { center, axes: [a, b], .. } = ellipse;
    (0..STEPS).map(move |step| {
        let (sin, cos) = (step as f64 / STEPS as f64 * TAU).sin_cos();
        [center[0] + cos * a[0] + sin * b[0], center[1] + cos * a[1] + sin * b[1]]
    })
}
