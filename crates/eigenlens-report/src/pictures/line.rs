//! Curves: regularisation paths, cross-validation, anything over a number.

use crate::draw::axis::Plot;
use crate::draw::canvas::{Anchor, Canvas, Point, Style, TextStyle, polyline};
use crate::draw::legend::{self, Entry, Symbol};
use crate::draw::number::count;
use crate::draw::scale::Scale;
use crate::draw::{frame, theme};
use crate::error::{Error, finite, length_or_empty, not_empty, positive};
use crate::picture::Picture;

/// A line chart.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Title; a default if empty.
    pub title: String,
    /// Text under the title, or empty.
    pub subtitle: String,
    /// What the horizontal axis shows.
    pub x_label: String,
    /// What the vertical axis shows.
    pub y_label: String,
    /// Whether the horizontal axis is logarithmic.
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    pub log_y: bool,
    /// The curves. The first 14 are told apart, further ones are grey.
    pub series: Vec<Series>,
    /// Places to mark on the horizontal axis.
    pub marks: Vec<Mark>,
    /// Text below the picture.
    pub caption: String,
}

/// One curve.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Its points, in the order in which they are joined.
    pub points: Vec<[f64; 2]>,
    /// Lower and upper end of a band around each point, or empty. Grey curves have no band.
    pub band: Vec<[f64; 2]>,
}

/// A vertical line with a few words.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// What is there.
    pub label: String,
}

impl Line {
    /// Draws the picture.
    pub fn draw(&self) -> Result<Picture, Error> {
        self.check()?;
        let title = frame::or(&self.title, frame::or(&self.y_label, "Curves"));
        let mut canvas = Canvas::new(theme::WIDTH);
        let y = frame::header(&mut canvas, title, &self.subtitle);
        let width = theme::WIDTH - 2.0 * theme::MARGIN;
        let y = legend::rows(&mut canvas, theme::MARGIN, y - 6.0, width, &self.legend());
        // Room for the words over the marks.
        let y = y + if self.marks.is_empty() { 8.0 } else { 22.0 };
        let plot = self.plot(&canvas, y);
        plot.grid(&mut canvas);
        for (index, series) in self.series.iter().enumerate().rev() {
            curve(&mut canvas, &plot, series, index);
        }
        plot.axes(&mut canvas);
        self.draw_marks(&mut canvas, &plot);
        let height =
            frame::caption(&mut canvas, plot.area.bottom() + plot.x.below(), &self.caption);
        Ok(canvas.finish(height, title, &self.description()))
    }

    fn check(&self) -> Result<(), Error> {
        not_empty("series", self.series.iter().map(|series| series.points.len()).sum())?;
        for series in &self.series {
            length_or_empty("band", series.band.len(), series.points.len())?;
            finite("points", series.points.iter().flatten().copied())?;
            finite("band", series.band.iter().flatten().copied())?;
        }
        finite("marks", self.marks.iter().map(|mark| mark.x))?;
        if self.log_x {
            positive("x", self.all_x())?;
        }
        if self.log_y {
            positive("y", self.all_y())?;
        }
        Ok(())
    }

    fn all_x(&self) -> impl Iterator<Item = f64> {
        let points = self.series.iter().flat_map(|series| &series.points);
        points.map(|point| point[0]).chain(self.marks.iter().map(|mark| mark.x))
    }

    fn all_y(&self) -> impl Iterator<Item = f64> {
        let points = self.series.iter().flat_map(|series| &series.points);
        let bands = self.series.iter().flat_map(|series| series.band.iter().flatten().copied());
        points.map(|point| point[1]).chain(bands)
    }

    fn plot(&self, canvas: &Canvas, y: f64) -> Plot {
        let x_scale =
            if self.log_x { Scale::log(self.all_x()) } else { Scale::around(self.all_x(), 0.03) };
        let y_scale =
            if self.log_y { Scale::log(self.all_y()) } else { Scale::around(self.all_y(), 0.06) };
        let (x, y_axis) = ((x_scale, self.x_label.as_str()), (y_scale, self.y_label.as_str()));
        frame::plot(canvas, y, theme::PLOT_HEIGHT, x, y_axis, 0.0)
    }

    fn draw_marks(&self, canvas: &mut Canvas, plot: &Plot) {
        let style = TextStyle::new(theme::TICK_SIZE).bold();
        let mut marks: Vec<&Mark> = self.marks.iter().collect();
        marks.sort_by(|a, b| a.x.total_cmp(&b.x));
        let mut free = f64::NEG_INFINITY;
        for mark in marks {
            let x = plot.at_x(mark.x);
            let line = Style::stroke(theme::INK, 1.2).dash("4 3");
            canvas.line([x, plot.area.y - 4.0], [x, plot.area.bottom()], &line);
            let half = style.width(&style.shorten(&mark.label, 200.0)) / 2.0;
            let middle = x.clamp(theme::MARGIN + half, theme::WIDTH - theme::MARGIN - half);
            if middle - half > free {
                let at = [middle, plot.area.y - 9.0];
                canvas.name(at, &mark.label, 200.0, &style.anchor(Anchor::Middle));
                free = middle + half + 8.0;
            }
        }
    }

    fn legend(&self) -> Vec<Entry> {
        let named = self.series.iter().enumerate().take(theme::LEGEND_GROUPS);
        let mut entries: Vec<Entry> = named
            .filter(|(_, series)| !series.name.is_empty())
            .map(|(index, series)| Entry {
                symbol: Symbol::Line(color(index), dash(index)),
                text: series.name.clone(),
            })
            .collect();
        if self.series.len() > theme::LEGEND_GROUPS {
            let text = format!("{} others", count(self.series.len() - theme::LEGEND_GROUPS));
            entries.push(Entry { symbol: Symbol::Line(theme::MUTED, ""), text });
        }
        entries
    }

    fn description(&self) -> String {
        let n = count(self.series.len());
        format!("{n} curves, {} over {}. {}", self.y_label, self.x_label, self.subtitle)
    }
}

fn curve(canvas: &mut Canvas, plot: &Plot, series: &Series, index: usize) {
    let points: Vec<Point> = series.points.iter().map(|point| plot.point(*point)).collect();
    if !series.band.is_empty() && index < theme::LEGEND_GROUPS {
        let lower = series.points.iter().zip(&series.band);
        let upper = series.points.iter().zip(&series.band).rev();
        let rim: Vec<Point> = lower
            .map(|(point, band)| plot.point([point[0], band[0]]))
            .chain(upper.map(|(point, band)| plot.point([point[0], band[1]])))
            .collect();
        let data = format!("{}Z", polyline(&rim));
        canvas.path(&data, &Style::fill(color(index)).opacity(0.14));
    }
    let width = if index < theme::LEGEND_GROUPS { 2.0 } else { 1.0 };
    canvas.polyline(&points, &Style::stroke(color(index), width).dash(dash(index)));
    // Few points are measurements worth seeing; many are a curve. A single one has no line.
    if points.len() == 1 || points.len() <= 30 && index < theme::LEGEND_GROUPS {
        for point in &points {
            canvas.circle(*point, 2.8, &Style::fill(theme::PAPER).outlined(color(index), 1.6));
        }
    }
}

fn color(index: usize) -> crate::draw::color::Rgb {
    if index < theme::LEGEND_GROUPS {
        theme::GROUPS[index % theme::GROUPS.len()]
    } else {
        theme::MUTED
    }
}

fn dash(index: usize) -> &'static str {
    if index < theme::LEGEND_GROUPS { theme::DASHES[index % theme::DASHES.len()] } else { "" }
}
