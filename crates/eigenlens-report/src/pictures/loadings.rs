//! The features that make a component.

use crate::draw::canvas::{Anchor, Canvas, Rect, Style, TextStyle};
use crate::draw::number::{count, in_column, short};
use crate::draw::scale::Scale;
use crate::draw::{frame, theme};
use crate::error::{Error, finite, length, not_empty};
use crate::picture::Picture;
use crate::pictures::component::Component;

/// Bars of the largest loadings of each component, sorted by size, in panels side by side.
#[derive(Clone, Debug, Default)]
pub struct Loadings {
    /// Title; a default if empty.
    pub title: String,
    /// Names of all features (d).
    pub features: Vec<String>,
    /// A panel per component.
    pub components: Vec<LoadingBars>,
    /// Most features to show per component; 12 if 0.
    pub top: usize,
    /// Text below the picture; say here what the numbers are.
    pub caption: String,
}

/// The loadings of one component.
#[derive(Clone, Debug, Default)]
pub struct LoadingBars {
    /// The component.
    pub component: Component,
    /// Its number for each feature (d).
    pub values: Vec<f64>,
}

const ROW: f64 = 22.0;
const BAR: f64 = 14.0;
const PANEL_GAP: f64 = 32.0;
/// Room for the numbers at the right of a panel, and the gaps around its bars.
const NUMBERS: f64 = 66.0;
/// Bars get at least this much room, or there are fewer panels side by side.
const SHORTEST: f64 = 52.0;
/// Longest name of a feature.
const LONGEST: f64 = 175.0;

impl Loadings {
    /// Draws the picture.
    pub fn draw(&self) -> Result<Picture, Error> {
        self.check()?;
        let title = frame::or(&self.title, "Largest loadings per component");
        let mut canvas = Canvas::new(theme::WIDTH);
        let y = frame::header(&mut canvas, title, &self.subtitle());
        let names = self.longest_name();
        let columns = (1..=self.components.len().min(3))
            .rev()
            .find(|columns| panel_width(*columns) - names - NUMBERS >= SHORTEST)
            .unwrap_or(1);
        let width = panel_width(columns);
        let height = self.panel_height();
        for (index, bars) in self.components.iter().enumerate() {
            let (column, row) = (index % columns, index / columns);
            let x = theme::MARGIN + column as f64 * (width + PANEL_GAP);
            let area = Rect { x, y: y + row as f64 * (height + 18.0), width, height };
            self.panel(&mut canvas, area, bars, names);
        }
        let rows = self.components.len().div_ceil(columns);
        let bottom = y + rows as f64 * (height + 18.0) - 18.0;
        let height = frame::caption(&mut canvas, bottom, &self.caption);
        Ok(canvas.finish(height, title, &self.description()))
    }

    fn check(&self) -> Result<(), Error> {
        not_empty("features", self.features.len())?;
        not_empty("components", self.components.len())?;
        for bars in &self.components {
            length("components", bars.values.len(), self.features.len())?;
            finite("components", bars.values.iter().copied())?;
        }
        Ok(())
    }

    fn top(&self) -> usize {
        let top = if self.top == 0 { 12 } else { self.top };
        top.min(self.features.len())
    }

    fn panel(&self, canvas: &mut Canvas, area: Rect, bars: &LoadingBars, room: f64) {
        let heading = TextStyle::new(theme::LABEL_SIZE).bold();
        let text = bars.component.short_label();
        canvas.name([area.x, area.y + theme::LABEL_SIZE], &text, area.width, &heading);
        let names = TextStyle::new(theme::TICK_SIZE).anchor(Anchor::End);
        let left = area.x + room + 8.0;
        let width = area.width - room - NUMBERS;
        let shown = largest_first(&bars.values, self.top());
        let largest = shown.first().map_or(0.0, |index| bars.values[*index]);
        let scale = Scale::bars(shown.iter().map(|index| bars.values[*index]));
        let place = |value: f64| left + scale.place(value) * width;
        let numbers = TextStyle::new(theme::POINT_LABEL_SIZE).soft().anchor(Anchor::End);
        let zero = place(0.0);
        let top = area.y + theme::LABEL_SIZE + 10.0;
        for (row, index) in shown.into_iter().enumerate() {
            let value = bars.values[index];
            let y = top + row as f64 * ROW;
            let middle = y + ROW / 2.0;
            let baseline = middle + names.middle();
            canvas.name([area.x + room, baseline], &self.features[index], room, &names);
            let end = place(value);
            let rect = Rect {
                x: zero.min(end),
                y: middle - BAR / 2.0,
                width: (end - zero).abs(),
                height: BAR,
            };
            let color = if value < 0.0 { theme::VERMILLION } else { theme::BLUE };
            canvas.rect(rect, &Style::fill(color));
            canvas.text([area.right(), baseline], &in_column(value, largest), &numbers);
        }
        let bottom = top + self.top() as f64 * ROW;
        canvas.line([zero, top], [zero, bottom], &Style::stroke(theme::AXIS, 1.0));
        let hidden = self.features.len() - self.top();
        if hidden > 0 {
            let text = format!("and {} smaller", count(hidden));
            let style = TextStyle::new(theme::POINT_LABEL_SIZE).soft().anchor(Anchor::End);
            canvas.text([area.x + room, bottom + 14.0], &text, &style);
        }
    }

    fn panel_height(&self) -> f64 {
        let hidden = if self.top() < self.features.len() { 18.0 } else { 0.0 };
        theme::LABEL_SIZE + 10.0 + self.top() as f64 * ROW + hidden
    }

    fn longest_name(&self) -> f64 {
        let style = TextStyle::new(theme::TICK_SIZE);
        let shown = self.components.iter().flat_map(|bars| largest_first(&bars.values, self.top()));
        shown
            .map(|index| style.width(&style.shorten(&self.features[index], LONGEST)))
            .fold(style.width("and 999 smaller"), f64::max)
            + 1.0
    }

    fn subtitle(&self) -> String {
        let all = count(self.features.len());
        if self.top() < self.features.len() {
            format!("The {} largest of {all} features, each component to its own scale", self.top())
        } else {
            format!("All {all} features, each component to its own scale")
        }
    }

    fn description(&self) -> String {
        let leading: Vec<String> = self
            .components
            .iter()
            .filter_map(|bars| {
                let index = *largest_first(&bars.values, 1).first()?;
                let (feature, value) = (&self.features[index], short(bars.values[index]));
                Some(format!("{}: {feature} ({value})", bars.component.name))
            })
            .collect();
        format!("Bars of loadings. The largest of each component: {}.", leading.join(", "))
    }
}

fn panel_width(columns: usize) -> f64 {
    let all = theme::WIDTH - 2.0 * theme::MARGIN;
    (all - PANEL_GAP * (columns - 1) as f64) / columns as f64
}

/// Indices of the largest numbers by absolute value, the largest first; the first of equals.
fn largest_first(values: &[f64], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].abs().total_cmp(&values[*a].abs()).then(a.cmp(b)));
    order.truncate(most);
    order
}
