//! How many components: what each rule says.

use crate::draw::axis::{Axis, Plot};
use crate::draw::canvas::{Anchor, Canvas, Rect, Style, TextStyle};
use crate::draw::marker::{Marker, Shape};
use crate::draw::number::count;
use crate::draw::scale::{Scale, Tick};
use crate::draw::{frame, theme};
use crate::error::{Error, finite, not_empty};
use crate::picture::Picture;
use crate::pictures::scree::{bars, component_ticks, mark_label};

/// The rules side by side: a scree plot, and under it a dot per rule at the number it chooses.
#[derive(Clone, Debug, Default)]
pub struct ChoiceOfK {
    /// Title; a default if empty.
    pub title: String,
    /// Height of the bar of each component (k).
    pub heights: Vec<f64>,
    /// What the bars show; `Explained variance` if empty.
    pub height_label: String,
    /// The rules, from top to bottom.
    pub rules: Vec<Rule>,
    /// The number used in the end, marked in the picture.
    pub chosen: Option<usize>,
    /// Text below the picture.
    pub caption: String,
}

/// What one rule says.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// Name of the rule.
    pub name: String,
    /// The number it chooses, if it has an answer.
    pub n_components: Option<usize>,
    /// A few words beside its dot: why it has no answer, or how sure it is.
    pub note: String,
}

const ROW: f64 = 24.0;
const BARS: f64 = 190.0;
const LONGEST: f64 = 190.0;
const FARTHEST: usize = 1_000_000_000;

impl ChoiceOfK {
    /// Draws the picture.
    pub fn draw(&self) -> Result<Picture, Error> {
        not_empty("heights", self.heights.len())?;
        finite("heights", self.heights.iter().copied())?;
        let title = frame::or(&self.title, "How many components");
        let mut canvas = Canvas::new(theme::WIDTH);
        let y = frame::header(&mut canvas, title, &self.subtitle());
        let plot = self.plot(y + if self.chosen.is_some() { 18.0 } else { 0.0 });
        let rows = Rect {
            y: plot.area.bottom() + 14.0,
            height: self.rules.len() as f64 * ROW,
            ..plot.area
        };
        if let Some(chosen) = self.chosen {
            mark(&mut canvas, &plot, rows, chosen.min(FARTHEST));
        }
        plot.horizontal_grid(&mut canvas);
        let shown = &self.heights[..self.shown().min(self.heights.len())];
        bars(&mut canvas, &plot, shown, self.chosen.unwrap_or(shown.len()));
        plot.vertical_axis(&mut canvas);
        let line = Style::stroke(theme::AXIS, 1.0);
        let bottom = plot.area.bottom();
        canvas.line([plot.area.x, bottom], [plot.area.right(), bottom], &line);
        self.dots(&mut canvas, &plot, rows);
        let below = Plot { area: rows, ..plot };
        below.horizontal_axis(&mut canvas);
        let height = frame::caption(&mut canvas, rows.bottom() + below.x.below(), &self.caption);
        Ok(canvas.finish(height, title, &self.description()))
    }

    /// Components in the picture: all that a rule chose, and some more for the view.
    fn shown(&self) -> usize {
        let chosen = self.rules.iter().filter_map(|rule| rule.n_components).chain(self.chosen);
        // A number beyond all components that can be is drawn at the end of the axis.
        let most = chosen.max().unwrap_or(0).min(FARTHEST);
        (most + most / 2 + 3).max(10).min(self.heights.len()).max(most).max(1)
    }

    fn plot(&self, y: f64) -> Plot {
        let shown = self.shown();
        let tops = self.heights.iter().copied().take(shown);
        let label = frame::or(&self.height_label, "Explained variance");
        let vertical = Axis::vertical(Scale::bars(tops), label, BARS);
        let names = TextStyle::new(theme::LABEL_SIZE);
        let widest = self
            .rules
            .iter()
            .map(|rule| names.width(&names.shorten(&rule.name, LONGEST)))
            .fold(0.0, f64::max);
        let left = theme::MARGIN + (widest + 16.0).max(vertical.side());
        let width = theme::WIDTH - theme::MARGIN - left;
        // A rule may say 0, so the axis begins there.
        let before = (shown as f64 * 0.025).max(0.5);
        let scale = Scale::linear(-before, shown as f64 + 0.6);
        let mut horizontal = Axis::horizontal(scale, "Number of components", width);
        let mut ticks = component_ticks(&horizontal, shown, width);
        // Where not every number has its tick, 0 stands for 1.
        if ticks.len() < shown {
            ticks.remove(0);
        }
        let zero = horizontal.scale.place(0.0);
        ticks.insert(0, Tick { place: zero, text: "0".to_owned() });
        horizontal.ticks = ticks;
        Plot { area: Rect { x: left, y, width, height: BARS }, x: horizontal, y: vertical }
    }

    fn dots(&self, canvas: &mut Canvas, plot: &Plot, rows: Rect) {
        let names = TextStyle::new(theme::LABEL_SIZE).anchor(Anchor::End);
        let notes = TextStyle::new(theme::POINT_LABEL_SIZE).soft();
        for (index, rule) in self.rules.iter().enumerate() {
            let y = rows.y + (index as f64 + 0.5) * ROW;
            canvas.name([rows.x - 10.0, y + names.middle()], &rule.name, LONGEST, &names);
            let Some(k) = rule.n_components else {
                let text = frame::or(&rule.note, "no answer");
                let baseline = y + notes.middle();
                canvas.name([rows.x + 8.0, baseline], text, rows.width - 16.0, &notes);
                continue;
            };
            let x = plot.at_x(k.min(FARTHEST) as f64);
            canvas.line([rows.x, y], [(x - 6.0).max(rows.x), y], &Style::stroke(theme::MUTED, 1.0));
            let agrees = self.chosen.is_none_or(|chosen| chosen == k);
            let marker = if agrees {
                Marker { color: theme::BLUE, shape: Shape::Circle }
            } else {
                Marker { color: theme::VERMILLION, shape: Shape::Diamond }
            };
            marker.draw(canvas, [x, y], 5.5, None);
            let text = match rule.note.is_empty() {
                true => count(k),
                false => format!("{} · {}", count(k), rule.note),
            };
            let room = rows.right() - x - 16.0;
            if notes.width(&text) <= room || room > x - rows.x {
                canvas.name([x + 11.0, y + notes.middle()], &text, room, &notes);
            } else {
                let style = notes.halo().anchor(Anchor::End);
                canvas.name([x - 11.0, y + notes.middle()], &text, x - rows.x - 14.0, &style);
            }
        }
    }

    fn subtitle(&self) -> String {
        let answers: Vec<usize> = self.rules.iter().filter_map(|rule| rule.n_components).collect();
        match (answers.iter().min(), answers.iter().max()) {
            (Some(low), Some(high)) if low == high => {
                format!("All {} rules with an answer say {low}", answers.len())
            }
            (Some(low), Some(high)) => {
                format!("{} rules with an answer, from {low} to {high}", answers.len())
            }
            _ => "No rule has an answer".to_owned(),
        }
    }

    fn description(&self) -> String {
        let said: Vec<String> = self
            .rules
            .iter()
            .map(|rule| match rule.n_components {
                Some(k) => format!("{}: {k}", rule.name),
                None => format!("{}: no answer", rule.name),
            })
            .collect();
        format!("{}. {}.", self.subtitle(), said.join(", "))
    }
}

/// A band behind the number used in the end.
fn mark(canvas: &mut Canvas, plot: &Plot, rows: Rect, chosen: usize) {
    let (from, to) = (plot.at_x(chosen as f64 - 0.5), plot.at_x(chosen as f64 + 0.5));
    let center = f64::midpoint(from, to);
    let width = (to - from).max(4.0);
    let band = Rect {
        x: center - width / 2.0,
        y: plot.area.y,
        width,
        height: rows.bottom() - plot.area.y,
    };
    canvas.rect(band, &Style::fill(theme::SKY).opacity(0.2));
    mark_label(canvas, center, plot.area.y - 6.0, chosen);
}
