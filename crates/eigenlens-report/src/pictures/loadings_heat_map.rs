//! All loadings at once, as colours.

use crate::draw::canvas::{Anchor, Canvas, Rect, Style, TextStyle};
use crate::draw::color::{Rgb, diverging};
use crate::draw::legend::{self, Entry, Symbol};
use crate::draw::number::{count, decimal};
use crate::draw::pixels::Pixels;
use crate::draw::scale::Scale;
use crate::draw::{frame, theme};
use crate::error::{Error, finite, length, not_empty};
use crate::picture::Picture;
use crate::pictures::component::Component;

/// A heat map: a row per feature, a column per component.
///
/// Up to 60 features and 40 components are drawn as cells, with names, numbers where they fit, and
/// a dot in cells that are exactly zero. More are drawn as an embedded image, exact zeros in grey;
/// where several features share a row of pixels, the one with the largest absolute value is seen.
#[derive(Clone, Debug, Default)]
pub struct LoadingsHeatMap {
    /// Title; a default if empty.
    pub title: String,
    /// Names of the features (d), from top to bottom.
    pub features: Vec<String>,
    /// The components (k), from left to right.
    pub components: Vec<Component>,
    /// A row per feature, a number per component (d × k).
    pub values: Vec<Vec<f64>>,
    /// What the numbers are; `Loading` if empty.
    pub value_label: String,
    /// Text below the picture.
    pub caption: String,
}

const MOST_ROWS: usize = 60;
const MOST_COLUMNS: usize = 40;
/// Colour of exact zeros in the image, where a dot has no room.
const ZERO: Rgb = Rgb(0xd4, 0xd7, 0xdc);

impl LoadingsHeatMap {
    /// Draws the picture.
    pub fn draw(&self) -> Result<Picture, Error> {
        self.check()?;
        let title = frame::or(&self.title, "Loadings of all features");
        let mut canvas = Canvas::new(theme::WIDTH);
        let y = frame::header(&mut canvas, title, &self.subtitle());
        let y = self.legend(&mut canvas, y);
        let bottom =
            if self.has_cells() { self.cells(&mut canvas, y) } else { self.image(&mut canvas, y) };
        let height = frame::caption(&mut canvas, bottom, &self.caption);
        Ok(canvas.finish(height, title, &self.subtitle()))
    }

    fn check(&self) -> Result<(), Error> {
        not_empty("features", self.features.len())?;
        not_empty("components", self.components.len())?;
        length("values", self.values.len(), self.features.len())?;
        for row in &self.values {
            length("values", row.len(), self.components.len())?;
        }
        finite("values", self.values.iter().flatten().copied())
    }

    fn has_cells(&self) -> bool {
        self.features.len() <= MOST_ROWS && self.components.len() <= MOST_COLUMNS
    }

    fn largest(&self) -> f64 {
        let largest = self.values.iter().flatten().fold(0.0_f64, |m, value| m.max(value.abs()));
        if largest > 0.0 { largest } else { 1.0 }
    }

    fn legend(&self, canvas: &mut Canvas, y: f64) -> f64 {
        let largest = self.largest();
        let scale = Scale::linear(-largest, largest);
        let name = frame::or(&self.value_label, "Loading");
        let bar =
            legend::color_bar(canvas, theme::MARGIN, y, name, &scale, |t| diverging(2.0 * t - 1.0));
        if self.values.iter().flatten().any(|value| *value == 0.0) {
            let symbol = if self.has_cells() { Symbol::Dot } else { Symbol::Swatch(ZERO) };
            let entry = Entry { symbol, text: "exactly zero".to_owned() };
            legend::beside(canvas, &bar, entry);
        }
        bar.bottom + 4.0
    }

    fn cells(&self, canvas: &mut Canvas, y: f64) -> f64 {
        let names = TextStyle::new(theme::TICK_SIZE).anchor(Anchor::End);
        let widths = self.features.iter().map(|name| names.width(&names.shorten(name, 200.0)));
        let room = widths.fold(0.0, f64::max) + 8.0;
        let k = self.components.len() as f64;
        let left = theme::MARGIN + room;
        let width = ((theme::WIDTH - theme::MARGIN - left) / k).min(150.0);
        let height = if self.features.len() <= 25 { 26.0 } else { 15.0 };
        let top = y + self.headings(canvas, left, y, width);
        let largest = self.largest();
        for (row, (name, values)) in self.features.iter().zip(&self.values).enumerate() {
            let cell_y = top + row as f64 * height;
            let at = [left - 8.0, cell_y + height / 2.0 + names.middle()];
            canvas.name(at, name, 200.0, &names);
            for (column, value) in values.iter().enumerate() {
                let x = left + column as f64 * width;
                cell(canvas, Rect { x, y: cell_y, width, height }, *value, largest);
            }
        }
        top + self.features.len() as f64 * height
    }

    /// Names of the components over their columns; gives the height they take.
    fn headings(&self, canvas: &mut Canvas, left: f64, y: f64, width: f64) -> f64 {
        let style = TextStyle::new(theme::TICK_SIZE).bold();
        let widths = self.components.iter().map(|component| style.width(&component.name));
        let widest = widths.fold(0.0, f64::max);
        let upright = widest + 6.0 > width;
        let room = if upright { widest.min(90.0) + 8.0 } else { theme::TICK_SIZE + 9.0 };
        for (column, component) in self.components.iter().enumerate() {
            let middle = left + (column as f64 + 0.5) * width;
            if upright && width >= theme::TICK_SIZE {
                let at = [middle + style.middle(), y + room - 6.0];
                canvas.name(at, &component.name, 90.0, &style.upwards());
            } else if !upright {
                let style = style.anchor(Anchor::Middle);
                canvas.name([middle, y + room - 7.0], &component.name, width, &style);
            }
        }
        room
    }

    fn image(&self, canvas: &mut Canvas, y: f64) -> f64 {
        let (d, k) = (self.features.len(), self.components.len());
        let style = TextStyle::new(theme::TICK_SIZE).soft();
        let left = theme::MARGIN + style.width(&count(d)) + 34.0;
        let width = theme::WIDTH - theme::MARGIN - left;
        let height = (d as f64 * 4.0).clamp(240.0, 640.0);
        let area = Rect { x: left, y: y + 4.0, width, height };
        let rows = d.min((height * 2.0) as usize);
        let columns = k.min((width * 2.0) as usize);
        let largest = self.largest();
        let mut pixels = Pixels::new(columns, rows);
        for row in 0..rows {
            for column in 0..columns {
                let value = self.extreme(span(row, rows, d), span(column, columns, k));
                let color = if value == 0.0 { ZERO } else { diverging(value / largest) };
                pixels.set(column, row, color);
            }
        }
        if let Some(uri) = pixels.data_uri() {
            canvas.image(area, &uri, true);
        }
        canvas.rect(area, &Style::stroke(theme::AXIS, 1.0));
        for tick in Scale::linear(0.5, d as f64 + 0.5).ticks(8.0) {
            let at = [left - 8.0, area.y + tick.place * height + style.middle()];
            canvas.text(at, &tick.text, &style.anchor(Anchor::End));
        }
        for tick in Scale::linear(0.5, k as f64 + 0.5).ticks((k as f64).min(8.0)) {
            if !tick.text.contains('.') {
                let at = [left + tick.place * width, area.bottom() + 16.0];
                canvas.text(at, &tick.text, &style.anchor(Anchor::Middle));
            }
        }
        let label = TextStyle::new(theme::LABEL_SIZE).anchor(Anchor::Middle);
        canvas.text([area.center()[0], area.bottom() + 34.0], "Component", &label);
        let at = [theme::MARGIN + theme::LABEL_SIZE - 2.0, area.center()[1]];
        canvas.text(at, "Feature", &label.upwards());
        area.bottom() + 36.0
    }

    /// The number with the largest absolute value in a block.
    fn extreme(&self, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> f64 {
        let values = self.values[rows].iter().flat_map(|row| &row[columns.clone()]);
        values.fold(0.0, |most: f64, value| if value.abs() > most.abs() { *value } else { most })
    }

    fn subtitle(&self) -> String {
        let (d, k) = (count(self.features.len()), count(self.components.len()));
        let zeros = self.values.iter().flatten().filter(|value| **value == 0.0).count();
        let zeros = match zeros {
            0 => String::new(),
            zeros => format!(", {} entries exactly zero", count(zeros)),
        };
        format!("{d} features, {k} components{zeros}")
    }
}

/// One cell: its colour, and what says its sign without colour.
fn cell(canvas: &mut Canvas, rect: Rect, value: f64, largest: f64) {
    let share = value / largest;
    let color = if value == 0.0 { theme::PAPER } else { diverging(share) };
    canvas.rect(rect, &Style::fill(color).outlined(theme::PAPER, 1.0));
    let middle = rect.center();
    if value == 0.0 {
        canvas.circle(middle, 1.6, &Style::fill(theme::OTHER));
        return;
    }
    let ink = if color.is_light() { theme::INK } else { theme::PAPER };
    let style = TextStyle::new(theme::POINT_LABEL_SIZE).color(ink).anchor(Anchor::Middle);
    let at = [middle[0], middle[1] + style.middle()];
    let fits = style.width(&decimal(-largest, 2)) + 6.0 < rect.width;
    if fits && (0.01..1000.0).contains(&largest) {
        canvas.text(at, &decimal(value, 2), &style);
    } else if value < 0.0 && rect.width > 9.0 {
        canvas.text(at, "−", &style);
    }
}

/// Which of `count` things fall into slot `index` of `slots`; never empty.
fn span(index: usize, slots: usize, count: usize) -> std::ops::Range<usize> {
    let start = index * count / slots;
    start..((index + 1) * count / slots).max(start + 1)
}
