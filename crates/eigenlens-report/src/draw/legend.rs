//! Legends: entries in rows under the title, and a bar for a colour scale.

use crate::draw::canvas::{Anchor, Canvas, Rect, Style, TextStyle};
use crate::draw::color::Rgb;
use crate::draw::marker::Marker;
use crate::draw::scale::Scale;
use crate::draw::theme;

/// One entry of a legend.
pub(crate) struct Entry {
    pub symbol: Symbol,
    pub text: String,
}

/// What stands before the text of an entry.
#[derive(Clone, Copy)]
pub(crate) enum Symbol {
    Marker(Marker),
    Line(Rgb, &'static str),
    Swatch(Rgb),
    /// The cell of an exact zero in a heat map.
    Dot,
}

const ROW: f64 = 20.0;
const SYMBOL: f64 = 22.0;
const GAP: f64 = 18.0;
const LONGEST: f64 = 220.0;
const ROWS: usize = 4;

/// A drawn bar of colours: where it ends.
pub(crate) struct Bar {
    pub bottom: f64,
    right: f64,
    middle: f64,
}

/// Draws entries in rows from the left, and gives the y below them. Several rows are set in columns
/// if the entries are alike in length.
pub(crate) fn rows(canvas: &mut Canvas, x: f64, y: f64, width: f64, entries: &[Entry]) -> f64 {
    let style = TextStyle::new(theme::LEGEND_SIZE);
    let widths: Vec<f64> = entries
        .iter()
        .map(|entry| style.width(&style.shorten(&entry.text, LONGEST)) + SYMBOL)
        .collect();
    let widest = widths.iter().copied().fold(0.0, f64::max);
    let total = widths.iter().map(|width| width + GAP).sum::<f64>() - GAP;
    let in_columns = total > width && total > 0.75 * (widest + GAP) * entries.len() as f64;
    let (mut left, mut row) = (x, 0);
    let mut shown = 0;
    for (entry, own) in entries.iter().zip(&widths) {
        let own = if in_columns { widest } else { *own };
        if left > x && left + own > x + width {
            (left, row) = (x, row + 1);
        }
        if row == ROWS {
            break;
        }
        let middle = y + row as f64 * ROW + ROW / 2.0;
        symbol(canvas, &entry.symbol, left, middle);
        canvas.name([left + SYMBOL, middle + style.middle()], &entry.text, LONGEST, &style);
        left += own + GAP;
        shown += 1;
    }
    if shown == 0 {
        return y;
    }
    let mut bottom = y + (row.min(ROWS - 1) + 1) as f64 * ROW;
    if shown < entries.len() {
        let text = format!("and {} more", entries.len() - shown);
        canvas.text([x, bottom + ROW / 2.0 + style.middle()], &text, &style.soft());
        bottom += ROW;
    }
    bottom + 6.0
}

/// Draws one entry beside a bar of colours.
pub(crate) fn beside(canvas: &mut Canvas, bar: &Bar, entry: Entry) {
    rows(canvas, bar.right + 28.0, bar.middle - ROW / 2.0, LONGEST, &[entry]);
}

/// Draws a horizontal bar of a colour scale with its name and numbers.
pub(crate) fn color_bar(
    canvas: &mut Canvas,
    x: f64,
    y: f64,
    name: &str,
    scale: &Scale,
    color: impl Fn(f64) -> Rgb,
) -> Bar {
    const LENGTH: f64 = 200.0;
    const THICK: f64 = 10.0;
    const STEPS: usize = 50;
    let style = TextStyle::new(theme::LEGEND_SIZE);
    let ticks = TextStyle::new(theme::TICK_SIZE).soft().anchor(Anchor::Middle);
    let label = match scale.unit() {
        Some(unit) => format!("{name} ({unit})"),
        None => name.to_owned(),
    };
    let text = style.shorten(&label, LONGEST);
    canvas.name([x, y + THICK / 2.0 + style.middle()], &label, LONGEST, &style);
    let left = x + style.width(&text) + 16.0;
    for step in 0..STEPS {
        let from = left + LENGTH * step as f64 / STEPS as f64;
        // A hair wider than its step, so that no seam shows.
        let rect = Rect { x: from, y, width: LENGTH / STEPS as f64 + 0.4, height: THICK };
        canvas.rect(rect, &Style::fill(color((step as f64 + 0.5) / STEPS as f64)));
    }
    for tick in scale.ticks(4.0) {
        let at = left + tick.place * LENGTH;
        canvas.line([at, y + THICK], [at, y + THICK + 3.0], &Style::stroke(theme::AXIS, 1.0));
        canvas.text([at, y + THICK + 5.0 + theme::TICK_SIZE], &tick.text, &ticks);
    }
    Bar {
        bottom: y + THICK + theme::TICK_SIZE + 16.0,
        right: left + LENGTH,
        middle: y + THICK / 2.0,
    }
}

fn symbol(canvas: &mut Canvas, symbol: &Symbol, left: f64, middle: f64) {
    match symbol {
        Symbol::Marker(marker) => marker.draw(canvas, [left + 8.0, middle], 4.5, None),
        Symbol::Line(color, dash) => canvas.line(
            [left, middle],
            [left + 17.0, middle],
            &Style::stroke(*color, 2.0).dash(dash),
        ),
        Symbol::Swatch(color) => canvas.rect(
            Rect { x: left + 2.0, y: middle - 5.5, width: 13.0, height: 11.0 },
            &Style::fill(*color),
        ),
        Symbol::Dot => {
            let rect = Rect { x: left + 2.0, y: middle - 5.5, width: 13.0, height: 11.0 };
            canvas.rect(rect, &Style::fill(theme::PAPER).outlined(theme::MUTED, 1.0));
            canvas.circle(rect.center(), 1.6, &Style::fill(theme::SOFT_INK));
        }
    }
}
