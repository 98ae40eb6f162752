//! Distances within and from the model, with their limits.

use crate::draw::axis::Plot;
use crate::draw::canvas::{Anchor, Canvas, Point, Style, TextStyle};
use crate::draw::labels::Placer;
use crate::draw::legend::{self, Entry, Symbol};
use crate::draw::marker::{Marker, Shape};
use crate::draw::number::count;
use crate::draw::scale::Scale;
use crate::draw::{cloud, frame, theme};
use crate::error::{Error, finite, length, length_or_empty, not_empty};
use crate::picture::Picture;
use crate::pictures::scores::left_out_note;

/// T² (distance within the model) against Q (squared distance from it), with limits. Samples
/// beyond a limit are marked and named.
#[derive(Clone, Debug, Default)]
pub struct Monitoring {
    /// Title; a default if empty.
    pub title: String,
    /// T² of each sample (n).
    pub t_squared: Vec<f64>,
    /// Q, the squared residual, of each sample (n).
    pub q: Vec<f64>,
    /// Limit of T².
    pub t_squared_limit: Option<Limit>,
    /// Limit of Q.
    pub q_limit: Option<Limit>,
    /// Name of each sample (n), or empty.
    pub names: Vec<String>,
    /// Text below the picture.
    pub caption: String,
}

/// A limit of a statistic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    /// The value not to be exceeded.
    pub value: f64,
    /// What it is, such as `99 % limit`.
    pub label: String,
}

/// Which limits a sample exceeds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Within,
    OverT,
    OverQ,
    OverBoth,
}

const SIDES: [(Side, &str); 4] = [
    (Side::Within, "within the limits"),
    (Side::OverT, "over T² only"),
    (Side::OverQ, "over Q only"),
    (Side::OverBoth, "over both"),
];

impl Monitoring {
    /// Draws the picture.
    pub fn draw(&self) -> Result<Picture, Error> {
        self.check()?;
        let title = frame::or(&self.title, "Samples within and from the model");
        let sides: Vec<Side> = (0..self.q.len()).map(|index| self.side(index)).collect();
        let entries = entries(&sides);
        let mut canvas = Canvas::new(theme::WIDTH);
        let y = frame::header(&mut canvas, title, &self.subtitle(&sides));
        let width = theme::WIDTH - 2.0 * theme::MARGIN;
        let y = legend::rows(&mut canvas, theme::MARGIN, y - 6.0, width, &entries) + 8.0;
        let plot = self.plot(&canvas, y);
        plot.grid(&mut canvas);
        let points: Vec<Point> =
            self.t_squared.iter().zip(&self.q).map(|(t, q)| plot.point([*t, *q])).collect();
        let name = |index: usize| self.names.get(index).cloned();
        cloud::draw(&mut canvas, plot.area, &points, |index| marker(sides[index]), name);
        plot.axes(&mut canvas);
        let mut placer = Placer::new(plot.area);
        self.limits(&mut canvas, &plot, &mut placer);
        let left_out = self.labels(&mut canvas, &mut placer, &points, &sides);
        let caption = frame::sentences(&[&self.caption, &left_out_note(left_out)]);
        let height = frame::caption(&mut canvas, plot.area.bottom() + plot.x.below(), &caption);
        Ok(canvas.finish(height, title, &self.subtitle(&sides)))
    }

    fn check(&self) -> Result<(), Error> {
        not_empty("t_squared", self.t_squared.len())?;
        length("q", self.q.len(), self.t_squared.len())?;
        length_or_empty("names", self.names.len(), self.q.len())?;
        finite("t_squared", self.t_squared.iter().copied())?;
        finite("q", self.q.iter().copied())?;
        finite("t_squared_limit", self.t_squared_limit.iter().map(|limit| limit.value))?;
        finite("q_limit", self.q_limit.iter().map(|limit| limit.value))
    }

    fn side(&self, index: usize) -> Side {
        let over = |limit: &Option<Limit>, value: f64| {
            limit.as_ref().is_some_and(|limit| value > limit.value)
        };
        let t = over(&self.t_squared_limit, self.t_squared[index]);
        let q = over(&self.q_limit, self.q[index]);
        match (t, q) {
            (false, false) => Side::Within,
            (true, false) => Side::OverT,
            (false, true) => Side::OverQ,
            (true, true) => Side::OverBoth,
        }
    }

    fn plot(&self, canvas: &Canvas, y: f64) -> Plot {
        let x = axis_scale(&self.t_squared, &self.t_squared_limit);
        let y_scale = axis_scale(&self.q, &self.q_limit);
        frame::plot(
            canvas,
            y,
            theme::PLOT_HEIGHT + 40.0,
            (x, "T²: distance within the model"),
            (y_scale, "Q: squared distance from the model"),
            0.0,
        )
    }

    fn limits(&self, canvas: &mut Canvas, plot: &Plot, placer: &mut Placer) {
        let line = Style::stroke(theme::INK, 1.2).dash("6 4");
        let text = TextStyle::new(theme::TICK_SIZE).halo();
        let area = plot.area;
        if let Some(limit) = &self.t_squared_limit {
            let x = plot.at_x(limit.value);
            canvas.line([x, area.y], [x, area.bottom()], &line);
            placer.block_line([x, area.y], [x, area.bottom()]);
            let at = [x + text.middle() * 2.0 + 5.0, area.y + 4.0];
            canvas.name(at, &limit.label, 160.0, &text.anchor(Anchor::End).upwards());
            let width = text.width(&text.shorten(&limit.label, 160.0));
            placer.block_line([at[0] - 4.0, at[1]], [at[0] - 4.0, at[1] + width]);
        }
        if let Some(limit) = &self.q_limit {
            let y = plot.at_y(limit.value);
            canvas.line([area.x, y], [area.right(), y], &line);
            placer.block_line([area.x, y], [area.right(), y]);
            let at = [area.right() - 4.0, y - 5.0];
            canvas.name(at, &limit.label, 160.0, &text.anchor(Anchor::End));
            let width = text.width(&text.shorten(&limit.label, 160.0));
            placer.block_line([at[0] - width, at[1] - 4.0], [at[0], at[1] - 4.0]);
        }
    }

    /// Names the samples beyond a limit, the farthest first; gives how many have no room.
    fn labels(
        &self,
        canvas: &mut Canvas,
        placer: &mut Placer,
        points: &[Point],
        sides: &[Side],
    ) -> usize {
        if self.names.is_empty() {
            return 0;
        }
        for point in points {
            placer.block_point(*point, 2.0);
        }
        let excess = |index: usize| {
            let over = |value: f64, limit: &Option<Limit>| {
                limit.as_ref().map_or(0.0, |limit| value / limit.value.max(f64::MIN_POSITIVE))
            };
            let t = over(self.t_squared[index], &self.t_squared_limit);
            t.max(over(self.q[index], &self.q_limit))
        };
        let mut order: Vec<usize> =
            (0..points.len()).filter(|index| sides[*index] != Side::Within).collect();
        order.sort_by(|a, b| excess(*b).total_cmp(&excess(*a)).then(a.cmp(b)));
        let style = TextStyle::new(theme::POINT_LABEL_SIZE).halo();
        let tried = order.len().min(400);
        let mut left_out = order.len() - tried;
        for index in order.into_iter().take(tried) {
            if !placer.label(canvas, points[index], 7.0, &self.names[index], &style) {
                left_out += 1;
            }
        }
        left_out
    }

    fn subtitle(&self, sides: &[Side]) -> String {
        let over = sides.iter().filter(|side| **side != Side::Within).count();
        let n = count(sides.len());
        if self.t_squared_limit.is_none() && self.q_limit.is_none() {
            return format!("{n} samples");
        }
        format!("{} of {n} samples beyond a limit", count(over))
    }
}

fn marker(side: Side) -> Marker {
    match side {
        Side::Within => Marker { color: theme::OTHER, shape: Shape::Circle },
        Side::OverT => Marker { color: theme::BLUE, shape: Shape::Triangle },
        Side::OverQ => Marker { color: theme::ORANGE, shape: Shape::Square },
        Side::OverBoth => Marker { color: theme::VERMILLION, shape: Shape::Diamond },
    }
}

fn entries(sides: &[Side]) -> Vec<Entry> {
    SIDES
        .into_iter()
        .filter_map(|(side, text)| {
            let found = sides.iter().filter(|other| **other == side).count();
            let symbol = Symbol::Marker(marker(side));
            (found > 0).then(|| Entry { symbol, text: format!("{text} ({})", count(found)) })
        })
        .collect()
}

/// From zero, or logarithmic where a few samples would squeeze all others into a corner.
fn axis_scale(values: &[f64], limit: &Option<Limit>) -> Scale {
    let bound = limit.as_ref().map(|limit| limit.value);
    let all = || values.iter().copied().chain(bound);
    let largest = all().fold(0.0, f64::max);
    let positive = all().all(|value| value > 0.0);
    let far = bound.is_some_and(|bound| bound > 0.0 && largest / bound > 25.0);
    if far && positive { Scale::log(all()) } else { Scale::bars(all()) }
}
