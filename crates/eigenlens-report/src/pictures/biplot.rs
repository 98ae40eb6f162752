//! Samples and features in one plane.

use crate::draw::axis::Plot;
use crate::draw::canvas::{Canvas, Point, TextStyle};
use crate::draw::labels::Placer;
use crate::draw::number::{count, short};
use crate::draw::scale::{Scale, nice_step};
use crate::draw::{arrow, cloud, frame, theme};
use crate::error::{Error, finite, length_or_empty, not_empty};
use crate::picture::Picture;
use crate::pictures::component::Component;
use crate::pictures::grouping::Grouping;
use crate::pictures::scores::{
    Coloring, Ellipse, ellipse_numbers, label_points, left_out_note, outline, plane_title,
    points_and_ellipses,
};

/// Scores as points, features as arrows. Both axes have the same units, so that angles are true.
#[derive(Clone, Debug, Default)]
pub struct Biplot {
    /// Title; a default if empty.
    pub title: String,
    /// The component across.
    pub x: Component,
    /// The component upwards.
    pub y: Component,
    /// Place of each sample (n × 2), scaled as `scaling` says.
    pub points: Vec<[f64; 2]>,
    /// Name of each sample (n), or empty.
    pub names: Vec<String>,
    /// How the points are coloured.
    pub coloring: Coloring,
    /// Ellipses to draw.
    pub ellipses: Vec<Ellipse>,
    /// The features. They are drawn longer or shorter by one common factor, which is stated.
    pub arrows: Vec<Arrow>,
    /// How samples and features are scaled, in words: part of the caption.
    pub scaling: String,
    /// Further text below the picture.
    pub caption: String,
}

/// A feature in a plane of two components.
#[derive(Clone, Debug, Default)]
pub struct Arrow {
    /// Name of the feature.
    pub name: String,
    /// Where the arrow from the origin ends.
    pub tip: [f64; 2],
}

impl Biplot {
    /// Draws the picture.
    pub fn draw(&self) -> Result<Picture, Error> {
        self.check()?;
        let grouping = Grouping::new(&self.coloring, self.points.len())?;
        let default = plane_title("Biplot of", &self.x, &self.y, "Biplot");
        let title = frame::or(&self.title, &default);
        let mut canvas = Canvas::new(theme::WIDTH);
        let y = frame::header(&mut canvas, title, &self.subtitle());
        let y = grouping.legend(&mut canvas, y);
        let factor = self.factor();
        let tips: Vec<Point> =
            self.arrows.iter().map(|arrow| arrow.tip.map(|value| value * factor)).collect();
        let plot = self.plot(&canvas, y, &tips);
        plot.grid(&mut canvas);
        plot.zero_lines(&mut canvas);
        let points: Vec<Point> = self.points.iter().map(|point| plot.point(*point)).collect();
        points_and_ellipses(&mut canvas, &plot, &points, &grouping, &self.ellipses, &self.names);
        plot.axes(&mut canvas);
        let mut placer = Placer::new(plot.area);
        self.draw_arrows(&mut canvas, &plot, &mut placer, &tips, &points);
        let left_out = label_points(&mut canvas, &mut placer, &points, &self.names);
        let caption = frame::sentences(&[
            &self.scaling,
            &stretched(factor),
            &self.caption,
            &left_out_note(left_out),
        ]);
        let height = frame::caption(&mut canvas, plot.area.bottom() + plot.x.below(), &caption);
        Ok(canvas.finish(height, title, &self.description()))
    }

    fn check(&self) -> Result<(), Error> {
        not_empty("points", self.points.len())?;
        finite("points", self.points.iter().flatten().copied())?;
        length_or_empty("names", self.names.len(), self.points.len())?;
        finite("arrows", self.arrows.iter().flat_map(|arrow| arrow.tip))?;
        finite("ellipses", self.ellipses.iter().flat_map(ellipse_numbers))
    }

    /// A round factor that brings the longest arrow near the outermost points.
    fn factor(&self) -> f64 {
        let farthest = |points: &mut dyn Iterator<Item = [f64; 2]>| {
            points.map(|[x, y]| x.abs().max(y.abs())).fold(0.0, f64::max)
        };
        let arrows = farthest(&mut self.arrows.iter().map(|arrow| arrow.tip));
        let points = farthest(&mut self.points.iter().copied());
        let wanted = 0.75 * points / arrows;
        if !wanted.is_normal() {
            return 1.0;
        }
        // Within reason of each other they are left alone.
        if (0.5..=1.4).contains(&wanted) { 1.0 } else { nice_step(wanted).0 }
    }

    fn plot(&self, canvas: &Canvas, y: f64, tips: &[Point]) -> Plot {
        let outline: Vec<Point> = self.ellipses.iter().flat_map(outline).collect();
        let origin = [[0.0, 0.0]];
        let all = || self.points.iter().chain(tips).chain(&outline).chain(&origin);
        let x = Scale::around(all().map(|point| point[0]), 0.09);
        let y_scale = Scale::around(all().map(|point| point[1]), 0.09);
        frame::equal_plot(canvas, y, (x, &self.x.label()), (y_scale, &self.y.label()))
    }

    fn draw_arrows(
        &self,
        canvas: &mut Canvas,
        plot: &Plot,
        placer: &mut Placer,
        tips: &[Point],
        points: &[Point],
    ) {
        let origin = plot.point([0.0, 0.0]);
        let ends: Vec<Point> = tips.iter().map(|tip| plot.point(*tip)).collect();
        let opacity = if ends.len() > 40 { 0.45 } else { 0.95 };
        for end in &ends {
            arrow::draw(canvas, origin, *end, theme::INK, opacity);
            if ends.len() <= 40 {
                placer.block_line(origin, *end);
            }
        }
        let style = TextStyle::new(theme::LABEL_SIZE).bold().halo();
        let radius = cloud::radius(points.len());
        for point in points.iter().take(theme::VECTOR_POINTS) {
            placer.block_point(*point, radius);
        }
        for index in longest_first(&ends, origin).into_iter().take(NAMED_ARROWS) {
            placer.label_tip(canvas, origin, ends[index], &self.arrows[index].name, &style);
        }
    }

    fn subtitle(&self) -> String {
        let (n, d) = (count(self.points.len()), count(self.arrows.len()));
        format!("{n} samples as points, {d} features as arrows")
    }

    fn description(&self) -> String {
        let (x, y) = (self.x.label(), self.y.label());
        format!("Biplot: {}, {y} against {x}. {}", self.subtitle(), self.scaling)
    }
}

/// So many arrows are named, the longest ones; more names would hide what they name.
pub(crate) const NAMED_ARROWS: usize = 30;

/// Indices of arrows, the longest first.
pub(crate) fn longest_first(ends: &[Point], origin: Point) -> Vec<usize> {
    let length = |index: usize| {
        let end = ends[index];
        (end[0] - origin[0]).hypot(end[1] - origin[1])
    };
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|a, b| length(*b).total_cmp(&length(*a)).then(a.cmp(b)));
    order
}

fn stretched(factor: f64) -> String {
    if factor == 1.0 {
        String::new()
    } else {
        let factor = short(factor);
        let factor = match factor.contains('.') {
            true => factor.trim_end_matches('0').trim_end_matches('.'),
            false => &factor,
        };
        format!("Arrows are drawn {factor} times their length.")
    }
}
