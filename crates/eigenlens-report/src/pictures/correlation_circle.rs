//! Features by their correlations with two components.

use std::f64::consts::TAU;

use crate::draw::axis::{Axis, Plot};
use crate::draw::canvas::{Canvas, Point, Rect, Style, TextStyle};
use crate::draw::labels::Placer;
use crate::draw::number::count;
use crate::draw::scale::Scale;
use crate::draw::{arrow, frame, theme};
use crate::error::{Error, finite};
use crate::picture::Picture;
use crate::pictures::biplot::{Arrow, NAMED_ARROWS, longest_first};
use crate::pictures::component::Component;
use crate::pictures::scores::left_out_note;

/// Arrows inside the unit circle: the closer to the circle, the better the feature is seen in the
/// plane of the two components.
#[derive(Clone, Debug, Default)]
pub struct CorrelationCircle {
    /// Title; a default if empty.
    pub title: String,
    /// The component across.
    pub x: Component,
    /// The component upwards.
    pub y: Component,
    /// Correlation of each feature with the two components.
    pub arrows: Vec<Arrow>,
    /// Correlations of supplementary variables, which had no part in the fit: dashed.
    pub supplementary: Vec<Arrow>,
    /// Text below the picture.
    pub caption: String,
}

const SIDE: f64 = 500.0;

impl CorrelationCircle {
    /// Draws the picture.
    pub fn draw(&self) -> Result<Picture, Error> {
        finite("arrows", self.arrows.iter().flat_map(|arrow| arrow.tip))?;
        finite("supplementary", self.supplementary.iter().flat_map(|arrow| arrow.tip))?;
        let title = frame::or(&self.title, "Correlation circle");
        let mut canvas = Canvas::new(SIDE + 110.0);
        let y = frame::header(&mut canvas, title, &self.subtitle());
        let plot = self.plot(&canvas, y);
        let left_out = self.content(&mut canvas, &plot);
        let caption = frame::sentences(&[&self.caption, &left_out_note(left_out)]);
        let height = frame::caption(&mut canvas, plot.area.bottom() + plot.x.below(), &caption);
        Ok(canvas.finish(height, title, &self.subtitle()))
    }

    fn plot(&self, canvas: &Canvas, y: f64) -> Plot {
        // Room for the labels beyond the circle.
        let scale = Scale::linear(-1.16, 1.16);
        let vertical = Axis::new(scale.clone(), &self.y.label(), SIDE, 120.0);
        let horizontal = Axis::new(scale, &self.x.label(), SIDE, 120.0);
        let left = theme::MARGIN + vertical.side();
        let side = (canvas.width - left - theme::MARGIN).min(SIDE);
        let area = Rect { x: left, y, width: side, height: side };
        Plot { area, x: horizontal, y: vertical }
    }

    /// Draws what is inside the axes; gives the number of names without room.
    fn content(&self, canvas: &mut Canvas, plot: &Plot) -> usize {
        plot.grid(canvas);
        plot.zero_lines(canvas);
        let origin = plot.point([0.0, 0.0]);
        let unit = plot.at_x(1.0) - origin[0];
        canvas.circle(origin, unit, &Style::stroke(theme::SOFT_INK, 1.2));
        plot.axes(canvas);
        let mut placer = Placer::new(plot.area);
        for step in 0..120 {
            let (sin, cos) = (f64::from(step) / 120.0 * TAU).sin_cos();
            placer.block_point([origin[0] + unit * cos, origin[1] + unit * sin], 0.5);
        }
        let many = self.arrows.len() + self.supplementary.len() > 40;
        let opacity = if many { 0.4 } else { 0.95 };
        let ends = |arrows: &[Arrow]| -> Vec<Point> {
            arrows.iter().map(|arrow| plot.point(arrow.tip.map(|v| v.clamp(-1.1, 1.1)))).collect()
        };
        let (active, passive) = (ends(&self.arrows), ends(&self.supplementary));
        for end in &active {
            arrow::draw(canvas, origin, *end, theme::BLUE, opacity);
        }
        for end in &passive {
            let style = Style::stroke(theme::VERMILLION, 1.6).dash("5 3").opacity(opacity);
            canvas.line(origin, *end, &style);
            canvas.circle(*end, 2.5, &Style::fill(theme::VERMILLION).opacity(opacity));
        }
        for end in active.iter().chain(&passive) {
            placer.block_point(*end, 4.0);
            if !many {
                placer.block_line(origin, *end);
            }
        }
        let mut left_out = 0;
        let sets = [(&active, &self.arrows), (&passive, &self.supplementary)];
        for (ends, arrows) in sets {
            let style = TextStyle::new(theme::TICK_SIZE).halo();
            left_out += ends.len().saturating_sub(NAMED_ARROWS);
            for index in longest_first(ends, origin).into_iter().take(NAMED_ARROWS) {
                let name = &arrows[index].name;
                if !placer.label_tip(canvas, origin, ends[index], name, &style) {
                    left_out += 1;
                }
            }
        }
        left_out
    }

    fn subtitle(&self) -> String {
        let d = self.arrows.len();
        let mut text = format!("Correlations of {} features with two components", count(d));
        if !self.supplementary.is_empty() {
            let s = count(self.supplementary.len());
            text.push_str(&format!("; {s} supplementary, dashed"));
        }
        text
    }
}
