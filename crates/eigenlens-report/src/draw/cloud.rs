//! Many points. Few are drawn one by one, with shapes and tooltips; from `VECTOR_POINTS` on they
//! are painted as one image with translucent dots, so that a picture of a million points stays a
//! small file and shows its density.

use crate::draw::canvas::{Canvas, Point, Rect};
use crate::draw::marker::Marker;
use crate::draw::pixels::Pixels;
use crate::draw::theme;

/// Pixels of the image per pixel of the SVG.
const RESOLUTION: f64 = 2.0;

/// Draws points (in pixels) with the marker of each. `name` gives the tooltip of a point, if any.
pub(crate) fn draw(
    canvas: &mut Canvas,
    area: Rect,
    points: &[Point],
    marker: impl Fn(usize) -> Marker,
    name: impl Fn(usize) -> Option<String>,
) {
    if is_painted(points.len()) {
        return paint(canvas, area, points, marker);
    }
    let radius = radius(points.len());
    for index in shuffled(points.len()) {
        let tooltip = if points.len() <= theme::TOOLTIP_POINTS { name(index) } else { None };
        marker(index).draw(canvas, points[index], radius, tooltip.as_deref());
    }
}

/// Whether so many points are painted as an image, without shapes.
pub(crate) fn is_painted(count: usize) -> bool {
    count > theme::VECTOR_POINTS
}

/// Radius of the markers of so many points.
pub(crate) fn radius(count: usize) -> f64 {
    match count {
        0..=60 => 4.5,
        61..=300 => 3.8,
        301..=800 => 3.0,
        _ => 2.4,
    }
}

fn paint(canvas: &mut Canvas, area: Rect, points: &[Point], marker: impl Fn(usize) -> Marker) {
    let count = points.len() as f64;
    let size = |length: f64| (length * RESOLUTION).ceil().max(1.0) as usize;
    let mut pixels = Pixels::new(size(area.width), size(area.height));
    let radius = (1.9 * (2_000.0 / count).powf(0.12)).max(1.0) * RESOLUTION;
    let opacity = (0.7 * (2_000.0 / count).powf(0.25)).clamp(0.25, 0.7);
    for index in shuffled(points.len()) {
        let [x, y] = points[index];
        let at = [(x - area.x) * RESOLUTION, (y - area.y) * RESOLUTION];
        pixels.disc(at, radius, marker(index).color, opacity);
    }
    pixels.round();
    if let Some(uri) = pixels.data_uri() {
        let width = size(area.width) as f64 / RESOLUTION;
        let height = size(area.height) as f64 / RESOLUTION;
        canvas.image(Rect { width, height, ..area }, &uri, false);
    }
}

/// All indices in a fixed mixed order, so that no group lies on top of the others.
fn shuffled(count: usize) -> impl Iterator<Item = usize> {
    let golden = (count as f64 * 0.618_033_988_749_895) as usize;
    let stride = (golden.max(1)..).find(|step| divisor(*step, count) == 1).unwrap_or(1);
    (0..count).map(move |index| ((index as u128 * stride as u128) % count as u128) as usize)
}

fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_drawn_once() {
        for count in [0, 1, 2, 3, 10, 150, 1000, 4096] {
            let mut order: Vec<usize> = shuffled(count).collect();
            order.sort_unstable();
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }
}
