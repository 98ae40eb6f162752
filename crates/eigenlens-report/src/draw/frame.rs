//! What all pictures share: title, subtitle, caption, and the place left for the plot.

use crate::draw::axis::{Axis, Plot};
use crate::draw::canvas::{Canvas, Rect, TextStyle};
use crate::draw::font::{self, Weight};
use crate::draw::scale::Scale;
use crate::draw::theme;

/// Draws title and subtitle; gives the y at which the picture goes on.
pub(crate) fn header(canvas: &mut Canvas, title: &str, subtitle: &str) -> f64 {
    let width = canvas.width - 2.0 * theme::MARGIN;
    let mut y = theme::MARGIN;
    let style = TextStyle::new(theme::TITLE_SIZE).bold();
    for line in lines(title, width, theme::TITLE_SIZE, Weight::SemiBold, 2) {
        y += theme::TITLE_SIZE;
        canvas.text([theme::MARGIN, y - 3.0], &line, &style);
        y += 4.0;
    }
    let style = TextStyle::new(theme::SUBTITLE_SIZE).soft();
    for line in lines(subtitle, width, theme::SUBTITLE_SIZE, Weight::Regular, 3) {
        y += theme::SUBTITLE_SIZE + 4.0;
        canvas.text([theme::MARGIN, y - 3.0], &line, &style);
    }
    y + 14.0
}

/// Draws a caption; gives the height of the finished picture.
pub(crate) fn caption(canvas: &mut Canvas, y: f64, caption: &str) -> f64 {
    let width = canvas.width - 2.0 * theme::MARGIN;
    let style = TextStyle::new(theme::CAPTION_SIZE).soft();
    let mut bottom = y;
    let lines = lines(caption, width, theme::CAPTION_SIZE, Weight::Regular, 6);
    if !lines.is_empty() {
        bottom += 12.0;
    }
    for line in lines {
        bottom += theme::CAPTION_SIZE + 4.0;
        canvas.text([theme::MARGIN, bottom - 3.0], &line, &style);
    }
    bottom + theme::MARGIN - 4.0
}

/// The given text, or what to say when it is empty.
pub(crate) fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

/// Sentences joined by spaces, the empty ones left out.
pub(crate) fn sentences(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// Two axes with room for their labels, below `y`; `right` pixels stay free on the right.
pub(crate) fn plot(
    canvas: &Canvas,
    y: f64,
    height: f64,
    x_axis: (Scale, &str),
    y_axis: (Scale, &str),
    right: f64,
) -> Plot {
    let vertical = Axis::vertical(y_axis.0, y_axis.1, height);
    let left = theme::MARGIN + vertical.side();
    let width = canvas.width - left - theme::MARGIN - right;
    let horizontal = Axis::horizontal(x_axis.0, x_axis.1, width);
    Plot { area: Rect { x: left, y, width, height }, x: horizontal, y: vertical }
}

/// Two axes with the same units, so that distances and angles are true. The height follows the
/// data, within limits; the shorter axis is widened to fit.
pub(crate) fn equal_plot(
    canvas: &Canvas,
    y: f64,
    x_axis: (Scale, &str),
    y_axis: (Scale, &str),
) -> Plot {
    let wanted = y_axis.0.ratio_to(&x_axis.0);
    let ratio = wanted.clamp(0.45, 0.85);
    let (x_scale, y_scale) = if wanted > ratio {
        (x_axis.0.with_units_of(&y_axis.0, 1.0 / ratio), y_axis.0)
    } else {
        let y_scale = y_axis.0.with_units_of(&x_axis.0, ratio);
        (x_axis.0, y_scale)
    };
    // The same distance between ticks on both axes makes squares of the grid. Nine tenths of the
    // width are about what the numbers at the vertical axis leave, near enough to choose its ticks.
    const SPACING: f64 = 80.0;
    let all = canvas.width - 2.0 * theme::MARGIN;
    let vertical = Axis::new(y_scale, y_axis.1, all * ratio * 0.9, SPACING);
    let width = all - vertical.side();
    let horizontal = Axis::new(x_scale, x_axis.1, width, SPACING);
    let area = Rect { x: canvas.width - theme::MARGIN - width, y, width, height: width * ratio };
    Plot { area, x: horizontal, y: vertical }
}

fn lines(text: &str, width: f64, size: f64, weight: Weight, most: usize) -> Vec<String> {
    // A text of megabytes is cut before its words are measured.
    let text = crate::names::shorten(text, 2000.0, |text| text.chars().count() as f64);
    let mut lines = font::wrap(&text, width, size, weight);
    if lines.len() > most {
        let rest = lines.split_off(most - 1).join(" ");
        lines.push(crate::names::shorten(&rest, width, |text| font::width(text, size, weight)));
    }
    lines
}
