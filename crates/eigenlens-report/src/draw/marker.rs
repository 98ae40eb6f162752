//! Marker shapes, so that groups can be told apart without colour.

use crate::draw::canvas::{Canvas, Point, Style, push};
use crate::draw::color::Rgb;
use crate::draw::number::px;
use crate::draw::theme;

/// A shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Triangle,
    Square,
    Diamond,
    Plus,
    Down,
    Cross,
    Pentagon,
}

/// Colour and shape of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pub color: Rgb,
    pub shape: Shape,
}

const SHAPES: [Shape; 8] = [
    Shape::Circle,
    Shape::Triangle,
    Shape::Square,
    Shape::Diamond,
    Shape::Plus,
    Shape::Down,
    Shape::Cross,
    Shape::Pentagon,
];

impl Marker {
    /// The marker of the group with this place in the legend.
    pub fn of(place: usize) -> Marker {
        Marker {
            color: theme::GROUPS[place % theme::GROUPS.len()],
            shape: SHAPES[place % SHAPES.len()],
        }
    }

    /// The marker of everything without a place in the legend.
    pub fn other() -> Marker {
        Marker { color: theme::OTHER, shape: Shape::Circle }
    }

    pub fn draw(&self, canvas: &mut Canvas, at: Point, radius: f64, tooltip: Option<&str>) {
        let data = self.shape.path(at, radius);
        let style = if self.shape.is_open() {
            Style::stroke(self.color, radius * 0.45)
        } else {
            Style::fill(self.color).outlined(theme::PAPER, 0.6)
        };
        match tooltip {
            Some(tooltip) => canvas.path_named(&data, &style.opacity(0.85), tooltip),
            None => canvas.path(&data, &style.opacity(0.85)),
        }
    }
}

impl Shape {
    fn is_open(self) -> bool {
        matches!(self, Shape::Plus | Shape::Cross)
    }

    /// Path data of the shape, all with about the area of the circle of this radius.
    fn path(self, at: Point, r: f64) -> String {
        let [x, y] = at;
        let around = |points: &[(f64, f64)]| {
            let mut data = String::new();
            for (index, (dx, dy)) in points.iter().enumerate() {
                let command = if index == 0 { 'M' } else { 'L' };
                push(&mut data, format_args!("{command}{} {}", px(x + dx * r), px(y + dy * r)));
            }
            data.push('Z');
            data
        };
        let bars = |arms: [(f64, f64); 2]| {
            let mut data = String::new();
            for (dx, dy) in arms {
                let ([a, b], [c, d]) = ([x - dx * r, y - dy * r], [x + dx * r, y + dy * r]);
                push(&mut data, format_args!("M{} {}L{} {}", px(a), px(b), px(c), px(d)));
            }
            data
        };
        match self {
            Shape::Circle => {
                let (left, top, size) = (px(x - r), px(y), px(r));
                let across = px(2.0 * r);
                let back = px(-2.0 * r);
                format!(
                    "M{left} {top}a{size} {size} 0 1 0 {across} 0a{size} {size} 0 1 0 {back} 0Z"
                )
            }
            Shape::Triangle => around(&[(0.0, -1.3), (1.18, 0.8), (-1.18, 0.8)]),
            Shape::Down => around(&[(0.0, 1.3), (1.18, -0.8), (-1.18, -0.8)]),
            Shape::Square => around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Shape::Diamond => around(&[(0.0, -1.35), (1.15, 0.0), (0.0, 1.35), (-1.15, 0.0)]),
            Shape::Pentagon => {
                around(&[(0.0, -1.15), (1.09, -0.36), (0.68, 0.93), (-0.68, 0.93), (-1.09, -0.36)])
            }
            Shape::Plus => bars([(1.15, 0.0), (0.0, 1.15)]),
            Shape::Cross => bars([(0.9, 0.9), (0.9, -0.9)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_six_groups_differ() {
        let markers: Vec<Marker> = (0..56).map(Marker::of).collect();
        for (index, marker) in markers.iter().enumerate() {
            assert!(!markers[..index].contains(marker), "group {index}");
        }
    }
}
