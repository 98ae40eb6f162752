//! Explained variance per component.

use crate::draw::axis::{Axis, Plot, crisp};
use crate::draw::canvas::{Anchor, Canvas, Point, Rect, Style, TextStyle};
use crate::draw::legend::{self, Entry, Symbol};
use crate::draw::number::{count, percent};
use crate::draw::scale::{Scale, Tick};
use crate::draw::{frame, theme};
use crate::error::{Error, finite, length, length_or_empty, not_empty};
use crate::picture::Picture;

/// Bars of explained variance, with the cumulative share as a line.
#[derive(Clone, Debug, Default)]
pub struct Scree {
    /// Title; a default if empty.
    pub title: String,
    /// Height of the bar of each component (k): variances or eigenvalues.
    pub heights: Vec<f64>,
    /// What the bars show; `Explained variance` if empty.
    pub height_label: String,
    /// Standard error of each height (k), or empty. Bars of two standard errors are drawn.
    pub standard_errors: Vec<f64>,
    /// Cumulative share of a total, 0 to 1 (k), or empty.
    pub cumulative: Vec<f64>,
    /// What the total is; `the variance` if empty.
    pub cumulative_of: String,
    /// The number of components that was chosen, marked in the picture.
    pub chosen: Option<Chosen>,
    /// Lines to compare the bars with, such as the thresholds of parallel analysis.
    pub references: Vec<Reference>,
    /// Text below the picture.
    pub caption: String,
}

/// A chosen number of components.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// How many; 0 is possible.
    pub n_components: usize,
    /// By which rule, or empty.
    pub rule: String,
}

/// A line over the components of a [`Scree`].
#[derive(Clone, Debug, Default)]
pub struct Reference {
    /// Name in the legend.
    pub name: String,
    /// Height at each component, from the first on; may end early.
    pub heights: Vec<f64>,
}

impl Scree {
    /// Draws the picture.
    pub fn draw(&self) -> Result<Picture, Error> {
        self.check()?;
        let title = format!("{} per component", self.height());
        let title = frame::or(&self.title, &title);
        let mut canvas = Canvas::new(theme::WIDTH);
        let y = frame::header(&mut canvas, title, &self.subtitle());
        let width = theme::WIDTH - 2.0 * theme::MARGIN;
        let y = legend::rows(&mut canvas, theme::MARGIN, y - 6.0, width, &self.legend());
        let y = y + if self.chosen.is_some() { 22.0 } else { 8.0 };
        let plot = self.plot(&canvas, y);
        plot.horizontal_grid(&mut canvas);
        bars(&mut canvas, &plot, &self.heights, self.kept());
        if !self.standard_errors.is_empty() {
            self.error_bars(&mut canvas, &plot);
        }
        for (index, reference) in self.references.iter().enumerate() {
            let points: Vec<Point> = reference
                .heights
                .iter()
                .take(self.heights.len())
                .enumerate()
                .map(|(i, height)| plot.point([(i + 1) as f64, *height]))
                .collect();
            let style = Style::stroke(theme::INK, 1.5).dash(reference_dash(index));
            canvas.clipped(plot.area, |canvas| canvas.polyline(&points, &style));
        }
        plot.axes(&mut canvas);
        self.cumulative_line(&mut canvas, &plot);
        if let Some(chosen) = &self.chosen {
            mark(&mut canvas, &plot, chosen.n_components, self.heights.len());
        }
        let height =
            frame::caption(&mut canvas, plot.area.bottom() + plot.x.below(), &self.caption);
        Ok(canvas.finish(height, title, &self.description()))
    }

    fn check(&self) -> Result<(), Error> {
        not_empty("heights", self.heights.len())?;
        finite("heights", self.heights.iter().copied())?;
        length_or_empty("standard_errors", self.standard_errors.len(), self.heights.len())?;
        finite("standard_errors", self.standard_errors.iter().copied())?;
        length_or_empty("cumulative", self.cumulative.len(), self.heights.len())?;
        finite("cumulative", self.cumulative.iter().copied())?;
        for reference in &self.references {
            let most = reference.heights.len().min(self.heights.len());
            length("references", reference.heights.len(), most)?;
            finite("references", reference.heights.iter().copied())?;
        }
        Ok(())
    }

    /// What the bars show.
    pub(crate) fn height(&self) -> &str {
        frame::or(&self.height_label, "Explained variance")
    }

    /// What the cumulative shares are of.
    fn total(&self) -> &str {
        frame::or(&self.cumulative_of, "the variance")
    }

    fn kept(&self) -> usize {
        self.chosen.as_ref().map_or(self.heights.len(), |chosen| chosen.n_components)
    }

    fn plot(&self, canvas: &Canvas, y: f64) -> Plot {
        let count = self.heights.len();
        let tops = self.heights.iter().enumerate().flat_map(|(index, height)| {
            let error = self.standard_errors.get(index).map_or(0.0, |error| 2.0 * error);
            [*height, (height + error).min(f64::MAX)]
        });
        let references = self.references.iter().flat_map(|r| r.heights.iter().copied());
        let heights = Scale::bars(tops.chain(references));
        let right = if self.cumulative.is_empty() { 0.0 } else { RIGHT_AXIS };
        let label = self.height();
        let components = Scale::linear(0.4, count as f64 + 0.6);
        let mut plot = frame::plot(
            canvas,
            y,
            theme::PLOT_HEIGHT,
            (components, "Component"),
            (heights, label),
            right,
        );
        plot.x.ticks = component_ticks(&plot.x, count, plot.area.width);
        plot
    }

    fn error_bars(&self, canvas: &mut Canvas, plot: &Plot) {
        let slot = plot.area.width / self.heights.len() as f64;
        if slot < 5.0 {
            return;
        }
        let style = Style::stroke(theme::INK, 1.2);
        let cap = (slot * 0.12).min(5.0);
        for (index, (height, error)) in self.heights.iter().zip(&self.standard_errors).enumerate() {
            let x = plot.at_x((index + 1) as f64);
            let low = plot.at_y(height - 2.0 * error).min(plot.area.bottom());
            let high = plot.at_y(height + 2.0 * error);
            if low - high > 1.0 {
                canvas.line([x, low], [x, high], &style);
                canvas.line([x - cap, low], [x + cap, low], &style);
                canvas.line([x - cap, high], [x + cap, high], &style);
            }
        }
    }

    fn cumulative_line(&self, canvas: &mut Canvas, plot: &Plot) {
        if self.cumulative.is_empty() {
            return;
        }
        let scale = Scale::percent(0.0, 1.06);
        let area = plot.area;
        let text = TextStyle::new(theme::TICK_SIZE).color(theme::VERMILLION);
        let axis = Style::stroke(theme::AXIS, 1.0);
        let right = crisp(area.right());
        canvas.line([right, area.y], [right, area.bottom()], &axis);
        for tick in scale.ticks(5.0) {
            let y = crisp(area.bottom() - tick.place * area.height);
            canvas.line([right, y], [right + 4.0, y], &axis);
            canvas.text([right + 8.0, y + text.middle()], &tick.text, &text);
        }
        let label = TextStyle::new(theme::LABEL_SIZE).color(theme::VERMILLION);
        let label = label.anchor(Anchor::Middle).upwards();
        let at = [theme::WIDTH - theme::MARGIN - 1.0, area.center()[1]];
        let words = format!("Cumulative share of {}", self.total());
        canvas.text(at, &label.shorten(&words, area.height), &label);
        let points: Vec<Point> = self
            .cumulative
            .iter()
            .enumerate()
            .map(|(index, share)| {
                let y = area.bottom() - scale.place(share.clamp(0.0, 1.06)) * area.height;
                [plot.at_x((index + 1) as f64), y]
            })
            .collect();
        canvas.polyline(&points, &Style::stroke(theme::VERMILLION, 2.0));
        let slot = area.width / points.len() as f64;
        if slot < 9.0 {
            return;
        }
        let style = TextStyle::new(theme::TICK_SIZE).color(theme::VERMILLION);
        let style = style.anchor(Anchor::Middle);
        if slot > style.width("99.9 %") + 12.0 {
            for (point, share) in points.iter().zip(&self.cumulative) {
                let text = percent(*share);
                let half = style.width(&text) / 2.0 + 4.0;
                let [x, y] = [point[0], point[1] - 9.0];
                // On a plate of paper, because a bar or its error may be behind.
                let plate = Rect { x: x - half, y: y - 11.5, width: 2.0 * half, height: 15.0 };
                canvas.rect(plate, &Style::fill(theme::PAPER).opacity(0.9));
                canvas.text([x, y], &text, &style);
            }
        }
        for point in &points {
            let style = Style::fill(theme::PAPER).outlined(theme::VERMILLION, 1.8);
            canvas.circle(*point, 3.2, &style);
        }
    }

    fn legend(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let label = self.height();
        let errors = if self.standard_errors.is_empty() { "" } else { " ± 2 standard errors" };
        let kept = self.kept().min(self.heights.len());
        if kept > 0 {
            let text = format!("{label}{errors}");
            entries.push(Entry { symbol: Symbol::Swatch(theme::BLUE), text });
        }
        if kept < self.heights.len() {
            let text = "not kept".to_owned();
            entries.push(Entry { symbol: Symbol::Swatch(theme::MUTED), text });
        }
        if !self.cumulative.is_empty() {
            let text = "cumulative share".to_owned();
            entries.push(Entry { symbol: Symbol::Line(theme::VERMILLION, ""), text });
        }
        for (index, reference) in self.references.iter().enumerate() {
            let symbol = Symbol::Line(theme::INK, reference_dash(index));
            entries.push(Entry { symbol, text: reference.name.clone() });
        }
        entries
    }

    fn subtitle(&self) -> String {
        let Some(chosen) = &self.chosen else { return String::new() };
        let k = chosen.n_components;
        let mut text = match (k, self.heights.len()) {
            (1, all) => format!("1 of {} components kept", count(all)),
            (k, all) => format!("{} of {} components kept", count(k), count(all.max(k))),
        };
        if let Some(share) = k.checked_sub(1).and_then(|last| self.cumulative.get(last)) {
            text.push_str(&format!(", {} of {}", percent(*share), self.total()));
        }
        if !chosen.rule.is_empty() {
            text.push_str(&format!(", by {}", chosen.rule));
        }
        text
    }

    fn description(&self) -> String {
        let mut text = format!("Bars for {} components. ", count(self.heights.len()));
        if let (Some(first), Some(last)) = (self.cumulative.first(), self.cumulative.last()) {
            let (first, last) = (percent(*first), percent(*last));
            let of = self.total();
            text.push_str(&format!("The first has {first} of {of}, all have {last}. "));
        }
        text.push_str(&self.subtitle());
        text
    }
}

/// Room for the axis of the cumulative share.
const RIGHT_AXIS: f64 = 66.0;

/// Bars over the components, those not kept in grey. Where they would be hairlines, one outline.
pub(crate) fn bars(canvas: &mut Canvas, plot: &Plot, heights: &[f64], kept: usize) {
    let slot = plot.at_x(2.0) - plot.at_x(1.0);
    let zero = plot.at_y(0.0);
    let share = if slot < 4.0 { 1.0 } else { 0.72 };
    let width = (slot * share).min(64.0);
    for (index, height) in heights.iter().enumerate() {
        let (x, y) = (plot.at_x((index + 1) as f64), plot.at_y(*height));
        let color = if index < kept { theme::BLUE } else { theme::MUTED };
        // A bar without height still shows that the component is there.
        let tall = (zero - y).abs().max(0.75);
        let rect = Rect { x: x - width / 2.0, y: y.min(zero - 0.75), width, height: tall };
        canvas.rect(rect, &Style::fill(color));
    }
}

/// A dashed line after the last component kept.
fn mark(canvas: &mut Canvas, plot: &Plot, kept: usize, of: usize) {
    let x = plot.at_x(kept.min(of) as f64 + 0.5);
    let style = Style::stroke(theme::INK, 1.2).dash("4 3");
    canvas.line([x, plot.area.y - 4.0], [x, plot.area.bottom()], &style);
    mark_label(canvas, x, plot.area.y - 9.0, kept);
}

/// The number over its mark, as far inside as it has to be.
pub(crate) fn mark_label(canvas: &mut Canvas, x: f64, y: f64, kept: usize) {
    let style = TextStyle::new(theme::LABEL_SIZE).bold().anchor(Anchor::Middle);
    let text = format!("k = {kept}");
    let room = theme::MARGIN + style.width(&text) / 2.0;
    canvas.text([x.clamp(room, canvas.width - room), y], &text, &style);
}

/// Ticks at whole components.
pub(crate) fn component_ticks(axis: &Axis, count: usize, width: f64) -> Vec<Tick> {
    let step = match (count as f64 * 36.0 / width).ceil() as usize {
        0 | 1 => 1,
        raw => {
            let power = 10usize.pow(raw.ilog10());
            [1, 2, 5, 10].into_iter().map(|d| d * power).find(|s| *s >= raw).unwrap_or(raw)
        }
    };
    let numbers = if step == 1 { (1..=count).collect() } else { stepped(count, step) };
    numbers
        .into_iter()
        .map(|number: usize| Tick {
            place: axis.scale.place(number as f64),
            text: number.to_string(),
        })
        .collect()
}

/// 1, then the multiples of the step.
fn stepped(count: usize, step: usize) -> Vec<usize> {
    std::iter::once(1).chain((1..=count / step).map(|index| index * step)).collect()
}

fn reference_dash(index: usize) -> &'static str {
    theme::DASHES[1 + index % (theme::DASHES.len() - 1)]
}
