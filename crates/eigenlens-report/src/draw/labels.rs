//! Placing labels greedily where nothing is yet.

use std::collections::HashMap;

use crate::draw::canvas::{Canvas, Point, Rect, TextStyle};

/// Keeps track of what is taken, in a grid of cells so that many points stay cheap.
pub(crate) struct Placer {
    area: Rect,
    cells: HashMap<(i64, i64), Vec<Occupied>>,
}

#[derive(Clone, Copy)]
struct Occupied {
    rect: Rect,
    by: By,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Mark,
    Label,
}

const CELL: f64 = 32.0;
/// Free space on both sides of a label, so that neighbours do not read as one.
const PADDING: f64 = 3.0;
/// Longest label beside a point.
const LONGEST: f64 = 130.0;

impl Placer {
    /// Labels will stay inside `area`.
    pub fn new(area: Rect) -> Placer {
        Placer { area, cells: HashMap::new() }
    }

    /// Keeps labels away from a rectangle.
    pub fn block(&mut self, rect: Rect) {
        self.take(Occupied { rect, by: By::Mark });
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

    /// Draws a name beside a point, `gap` pixels away, in the first of eight places that is free;
    /// whether there was one.
    pub fn label(
        &mut self,
        canvas: &mut Canvas,
        at: Point,
        gap: f64,
        name: &str,
        style: &TextStyle,
    ) -> bool {
        let text = style.shorten(name, LONGEST);
        let placed = [gap, gap + 7.0]
            .into_iter()
            .find_map(|gap| self.place(at, gap, &PLACES, text.clone(), style, false));
        self.write(canvas, placed, name, style)
    }

    /// Draws a name centred on a point, over whatever is there but other names.
    pub fn label_on(&mut self, canvas: &mut Canvas, at: Point, name: &str, style: &TextStyle) {
        let text = style.shorten(name, LONGEST);
        let placed = self.place(at, 0.0, &[[0.0, 0.0]], text, style, true);
        self.write(canvas, placed, name, style);
    }

    /// Draws the name of an arrow at its tip, in the direction it points, if need be farther away
    /// or over marks, but never over another name; whether there was room.
    pub fn label_tip(
        &mut self,
        canvas: &mut Canvas,
        from: Point,
        tip: Point,
        name: &str,
        style: &TextStyle,
    ) -> bool {
        let [dx, dy] = [tip[0] - from[0], tip[1] - from[1]];
        let along = |place: &Point| (place[0] * dx + place[1] * dy) / place[0].hypot(place[1]);
        let mut places = PLACES;
        places.sort_by(|a, b| along(b).total_cmp(&along(a)));
        let text = style.shorten(name, LONGEST);
        let tries = [(5.0, false), (12.0, false), (5.0, true), (12.0, true), (20.0, true)];
        let placed = tries.into_iter().find_map(|(gap, over_marks)| {
            // Beside and behind its arrow a name would seem to belong to another.
            let ahead = if over_marks { &places[..] } else { &places[..5] };
            self.place(tip, gap, ahead, text.clone(), style, over_marks)
        });
        self.write(canvas, placed, name, style)
    }

    fn place(
        &self,
        at: Point,
        gap: f64,
        places: &[Point],
        text: String,
        style: &TextStyle,
        over_marks: bool,
    ) -> Option<Rect> {
        let (width, height) = (style.width(&text), style.size + 1.0);
        let side = |d: f64, size: f64| if d == 0.0 { 0.0 } else { d.signum() * size / 2.0 };
        let rects = places.iter().map(|[dx, dy]| {
            let x = at[0] + dx * gap + side(*dx, width);
            let y = at[1] + dy * gap + side(*dy, height);
            around([x, y], width / 2.0, height / 2.0)
        });
        let mut rects = rects.filter(|rect| self.area.contains(rect));
        rects.find(|rect| self.is_free(rect, over_marks))
    }

    fn write(
        &mut self,
        canvas: &mut Canvas,
        placed: Option<Rect>,
        name: &str,
        style: &TextStyle,
    ) -> bool {
        let Some(rect) = placed else { return name.is_empty() };
        self.take(Occupied { rect, by: By::Label });
        let baseline = rect.center()[1] + style.middle();
        canvas.name([rect.x, baseline], name, LONGEST, style);
        true
    }

    fn take(&mut self, taken: Occupied) {
        for cell in cells(&taken.rect) {
            self.cells.entry(cell).or_default().push(taken);
        }
    }

    fn is_free(&self, rect: &Rect, over_marks: bool) -> bool {
        let wide = Rect { x: rect.x - PADDING, width: rect.width + 2.0 * PADDING, ..*rect };
        let hinders = |taken: &Occupied| match taken.by {
            By::Label => taken.rect.overlaps(&wide),
            By::Mark => !over_marks && taken.rect.overlaps(rect),
        };
        cells(&wide)
            .filter_map(|cell| self.cells.get(&cell))
            .all(|taken| !taken.iter().any(hinders))
    }
}

/// Directions in which a label is tried: beside its point, then above and below, then diagonally.
const PLACES: [Point; 8] = [
    [1.0, 0.0],
    [-1.0, 0.0],
    [0.0, -1.0],
    [0.0, 1.0],
    [0.8, -0.8],
    [0.8, 0.8],
    [-0.8, -0.8],
    [-0.8, 0.8],
];

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
        // One fits on each side of the point, one above, one below; at a distance some more.
        let at = [100.0, 50.0];
        let placed = (0..20).filter(|_| placer.label(&mut canvas, at, 4.0, "name", &style));
        let placed = placed.count();
        assert!((4..=12).contains(&placed), "{placed}");
    }

    #[test]
    fn labels_stay_inside_and_off_obstacles() {
        let style = TextStyle::new(11.0);
        let mut canvas = Canvas::new(200.0);
        let mut placer = Placer::new(AREA);
        assert!(!placer.label(&mut canvas, [500.0, 50.0], 4.0, "outside", &style));
        placer.block(AREA);
        assert!(!placer.label(&mut canvas, [100.0, 50.0], 4.0, "covered", &style));
    }

    #[test]
    fn arrows_are_named_over_marks_but_not_over_names() {
        let style = TextStyle::new(11.0);
        let mut canvas = Canvas::new(200.0);
        let mut placer = Placer::new(AREA);
        placer.block(AREA);
        let (from, tip) = ([50.0, 50.0], [100.0, 50.0]);
        assert!(placer.label_tip(&mut canvas, from, tip, "first", &style));
        let second = (0..50).filter(|_| placer.label_tip(&mut canvas, from, tip, "more", &style));
        assert!(second.count() < 24);
    }
}
