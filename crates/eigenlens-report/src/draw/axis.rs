//! A scale with its label, and the drawing of a pair of axes.

use crate::draw::canvas::{Anchor, Canvas, Point, Rect, Style, TextStyle};
use crate::draw::scale::{Scale, Tick};
use crate::draw::theme;

/// An axis: its scale, its ticks and what it shows.
pub(crate) struct Axis {
    pub scale: Scale,
    pub ticks: Vec<Tick>,
    label: String,
}

/// The area of a picture in which values have a place.
pub(crate) struct Plot {
    pub area: Rect,
    pub x: Axis,
    pub y: Axis,
}

impl Axis {
    /// An axis `length` pixels long, with a tick about every `spacing` pixels.
    pub fn new(scale: Scale, label: &str, length: f64, spacing: f64) -> Axis {
        let ticks = scale.ticks((length / spacing).max(2.0));
        let label = match (scale.unit(), label.is_empty()) {
            (Some(unit), false) => format!("{label} ({unit})"),
            (Some(unit), true) => unit,
            (None, _) => label.to_owned(),
        };
        Axis { scale, ticks, label }
    }

    /// An axis across the page.
    pub fn horizontal(scale: Scale, label: &str, length: f64) -> Axis {
        Axis::new(scale, label, length, 85.0)
    }

    /// An axis up the page.
    pub fn vertical(scale: Scale, label: &str, length: f64) -> Axis {
        Axis::new(scale, label, length, 60.0)
    }

    /// The room a vertical axis needs beside the plot.
    pub fn side(&self) -> f64 {
        let style = TextStyle::new(theme::TICK_SIZE);
        let widest = self.ticks.iter().map(|tick| style.width(&tick.text)).fold(0.0, f64::max);
        let label = if self.label.is_empty() { 0.0 } else { theme::LABEL_SIZE + 12.0 };
        widest + 9.0 + label
    }

    /// The room a horizontal axis needs below the plot.
    pub fn below(&self) -> f64 {
        let label = if self.label.is_empty() { 0.0 } else { theme::LABEL_SIZE + 12.0 };
        theme::TICK_SIZE + 9.0 + label
    }
}

impl Plot {
    /// The pixel of a pair of values.
    pub fn point(&self, value: Point) -> Point {
        [self.at_x(value[0]), self.at_y(value[1])]
    }

    pub fn at_x(&self, value: f64) -> f64 {
        self.area.x + self.x.scale.place(value) * self.area.width
    }

    pub fn at_y(&self, value: f64) -> f64 {
        self.area.bottom() - self.y.scale.place(value) * self.area.height
    }

    /// Grid lines at the ticks of both axes.
    pub fn grid(&self, canvas: &mut Canvas) {
        let style = Style::stroke(theme::GRID, 1.0);
        for tick in &self.x.ticks {
            let x = crisp(self.area.x + tick.place * self.area.width);
            canvas.line([x, self.area.y], [x, self.area.bottom()], &style);
        }
        self.horizontal_grid(canvas);
    }

    /// Grid lines at the ticks of the vertical axis.
    pub fn horizontal_grid(&self, canvas: &mut Canvas) {
        let style = Style::stroke(theme::GRID, 1.0);
        for tick in &self.y.ticks {
            let y = crisp(self.area.bottom() - tick.place * self.area.height);
            canvas.line([self.area.x, y], [self.area.right(), y], &style);
        }
    }

    /// Lines through the origin, where it is in the picture.
    pub fn zero_lines(&self, canvas: &mut Canvas) {
        let style = Style::stroke(theme::AXIS, 1.0).dash("1 3");
        let (x, y) = (self.at_x(0.0), self.at_y(0.0));
        if x > self.area.x && x < self.area.right() {
            canvas.line([crisp(x), self.area.y], [crisp(x), self.area.bottom()], &style);
        }
        if y > self.area.y && y < self.area.bottom() {
            canvas.line([self.area.x, crisp(y)], [self.area.right(), crisp(y)], &style);
        }
    }

    /// Both axes: lines, ticks, numbers, labels.
    pub fn axes(&self, canvas: &mut Canvas) {
        self.horizontal_axis(canvas);
        self.vertical_axis(canvas);
    }

    pub fn horizontal_axis(&self, canvas: &mut Canvas) {
        let line = Style::stroke(theme::AXIS, 1.0);
        let text = TextStyle::new(theme::TICK_SIZE).soft().anchor(Anchor::Middle);
        let area = &self.area;
        let bottom = crisp(area.bottom());
        canvas.line([area.x, bottom], [area.right(), bottom], &line);
        let mut free = f64::NEG_INFINITY;
        for tick in &self.x.ticks {
            let x = crisp(area.x + tick.place * area.width);
            canvas.line([x, bottom], [x, bottom + 4.0], &line);
            let half = text.width(&tick.text) / 2.0;
            // Numbers that would touch their neighbour are left to their tick mark.
            if x - half >= free {
                canvas.text([x, bottom + 7.0 + theme::TICK_SIZE], &tick.text, &text);
                free = x + half + 6.0;
            }
        }
        let label = TextStyle::new(theme::LABEL_SIZE).anchor(Anchor::Middle);
        let at = [area.center()[0], bottom + self.x.below() - 1.0];
        if !self.x.label.is_empty() {
            canvas.name(at, &self.x.label, area.width, &label);
        }
    }

    pub fn vertical_axis(&self, canvas: &mut Canvas) {
        let line = Style::stroke(theme::AXIS, 1.0);
        let text = TextStyle::new(theme::TICK_SIZE).soft().anchor(Anchor::End);
        let area = &self.area;
        let left = crisp(area.x);
        canvas.line([left, area.y], [left, area.bottom()], &line);
        for tick in &self.y.ticks {
            let y = crisp(area.bottom() - tick.place * area.height);
            canvas.line([left - 4.0, y], [left, y], &line);
            canvas.text([left - 8.0, y + text.middle()], &tick.text, &text);
        }
        if !self.y.label.is_empty() {
            let label = TextStyle::new(theme::LABEL_SIZE).anchor(Anchor::Middle).upwards();
            let at = [left - self.y.side() + theme::LABEL_SIZE, area.center()[1]];
            canvas.name(at, &self.y.label, area.height, &label);
        }
    }
}

/// The middle of a pixel, where a thin line is sharp.
pub(crate) fn crisp(value: f64) -> f64 {
    value.floor() + 0.5
}
