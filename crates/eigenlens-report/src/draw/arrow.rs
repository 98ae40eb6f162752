//! Arrows for features.

use crate::draw::canvas::{Canvas, Point, Style, polyline};
use crate::draw::color::Rgb;

/// Draws an arrow; one shorter than its head is a dot.
pub(crate) fn draw(canvas: &mut Canvas, from: Point, to: Point, color: Rgb, opacity: f64) {
    const HEAD: f64 = 8.0;
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let length = dx.hypot(dy);
    if length < HEAD {
        canvas.circle(to, 2.0, &Style::fill(color).opacity(opacity));
        return;
    }
    let (ux, uy) = (dx / length, dy / length);
    let neck = [to[0] - ux * HEAD, to[1] - uy * HEAD];
    canvas.line(from, neck, &Style::stroke(color, 1.6).opacity(opacity));
    let wing = HEAD * 0.38;
    let left = [neck[0] - uy * wing, neck[1] + ux * wing];
    let right = [neck[0] + uy * wing, neck[1] - ux * wing];
    let head = format!("{}Z", polyline(&[to, left, right]));
    canvas.path(&head, &Style::fill(color).opacity(opacity));
}
