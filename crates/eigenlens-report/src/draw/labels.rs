//! Placing labels greedily where nothing is yet.

use std::collections::HashMap;

use crate::draw::canvas::{Canvas, Point, Rect, TextStyle};

/// Keeps track of what is taken, in a grid of cells so that many points stay cheap.
pub(crate) struct Placer {
    area: Rect,
    cells: HashMap<(i64, i64), Vec<Rect>>,
}

const CELL: f64 = 32.0;
/// Longest label beside a point.
const LONGEST: f64 = 130.0;

impl Placer {
    /// Labels will stay inside `area`.
    pub fn new(area: Rect) -> Placer {
        Placer { area, cells: HashMap::new() }
    }

    /// Keeps labels away from a rectangle.
    pub fn block(&mut self, rect: Rect) {
        for cell in cells(&rect) {
            self.cells.entry(cell).or_default().push(rect);
        }
    }

    /// Keeps labels away from a marker.
    pub fn block_point(&mut self, at: Point, radius: f64) {
        self.block(around(at, radius, radius));
    }

    /// Keeps labels away from a line.
    pub fn block_line(&mut self, from: Point, to: Point) {
        let length = (to[0] - from[0]).hypot(to[1] - from[1]);
        let steps = (length / 6.0).ceil().max(1.0) as usize;
        for step in 0..=steps {
            let t = step as f64 / steps as f64;
            let at = [from[0] + (to[0] - from[0]) * t, from[1] + (to[1] - from[1]) * t];
            self.block_point(at, 2.0);
        }
    }

    /// Draws a name beside a point, `gap` pixels away, in the first of eight places that is free.
    /// The places lie towards `outward` first, if that is given. Whether there was one.
    pub fn label(
        &mut self,
        canvas: &mut Canvas,
        at: Point,
        gap: f64,
        outward: Option<Point>,
        name: &str,
        style: &TextStyle,
    ) -> bool {
        if name.is_empty() {
            return true;
        }
        let text = style.shorten(name, LONGEST);
        let (width, height) = (style.width(&text) + 2.0, style.size + 1.0);
        let mut places = [
            [1.0, 0.0],
            [-1.0, 0.0],
            [0.0, -1.0],
            [0.0, 1.0],
            [0.8, -0.8],
            [0.8, 0.8],
            [-0.8, -0.8],
            [-0.8, 0.8],
        ];
        if let Some([dx, dy]) = outward {
            places.sort_by(|a, b| (b[0] * dx + b[1] * dy).total_cmp(&(a[0] * dx + a[1] * dy)));
        }
        for [dx, dy] in places {
            let center = [
                at[0] + dx * gap + dx.signum() * f64::from(dx != 0.0) * width / 2.0,
                at[1] + dy * gap + dy.signum() * f64::from(dy != 0.0) * height / 2.0,
            ];
            let rect = around(center, width / 2.0, height / 2.0);
            if self.area.contains(&rect) && self.is_free(&rect) {
                self.block(rect);
                let baseline = rect.center()[1] + style.middle();
                canvas.name([rect.x + 1.0, baseline], name, LONGEST, style);
                return true;
            }
        }
        false
    }

    fn is_free(&self, rect: &Rect) -> bool {
        cells(rect)
            .filter_map(|cell| self.cells.get(&cell))
            .all(|taken| taken.iter().all(|other| !other.overlaps(rect)))
    }
}

fn around(at: Point, half_width: f64, half_height: f64) -> Rect {
    Rect {
        x: at[0] - half_width,
        y: at[1] - half_height,
        width: 2.0 * half_width,
        height: 2.0 * half_height,
    }
}

fn cells(rect: &Rect) -> impl Iterator<Item = (i64, i64)> {
    let cell = |value: f64| (value / CELL).floor() as i64;
    let (left, right) = (cell(rect.x), cell(rect.right()));
    (cell(rect.y)..=cell(rect.bottom())).flat_map(move |y| (left..=right).map(move |x| (x, y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect { x: 0.0, y: 0.0, width: 200.0, height: 100.0 };

    #[test]
    fn labels_take_free_places_only() {
        let style = TextStyle::new(11.0);
        let mut canvas = Canvas::new(200.0);
        let mut placer = Placer::new(AREA);
        // Every side of one point fits one label, and no more than eight fit.
        let at = [100.0, 50.0];
        let placed = (0..20).filter(|_| placer.label(&mut canvas, at, 4.0, None, "name", &style));
        let placed = placed.count();
        assert!((4..=8).contains(&placed), "{placed}");
    }

    #[test]
    fn labels_stay_inside_and_off_obstacles() {
        let style = TextStyle::new(11.0);
        let mut canvas = Canvas::new(200.0);
        let mut placer = Placer::new(AREA);
        assert!(!placer.label(&mut canvas, [500.0, 50.0], 4.0, None, "outside", &style));
        placer.block(AREA);
        assert!(!placer.label(&mut canvas, [100.0, 50.0], 4.0, None, "covered", &style));
    }
}
