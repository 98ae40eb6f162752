//! A scatter plot in lines of text.

use std::fmt::Write as _;

use crate::draw::number::count;
use crate::draw::scale::{Scale, Tick};
use crate::pictures::scores::{Coloring, Scores};
use crate::text::Options;

/// Characters of the groups where colours cannot tell them apart.
const LETTERS: [char; 10] = ['o', 'x', '+', '*', '#', '%', '@', '&', '=', '~'];
/// Groups told apart; the rest share a dot.
const GROUPS: usize = 7;

/// A scatter plot with axes. One group, or groups in colour, are drawn in braille dots; otherwise
/// each group has its character. Points that are not finite are left out.
pub fn scores(data: &Scores, options: &Options) -> String {
    let width = options.width.clamp(24, 120);
    let rows = (width / 4).clamp(8, 24);
    let points: Vec<(usize, [f64; 2])> = data
        .points
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, point)| point.iter().all(|value| value.is_finite()))
        .collect();
    let x = Scale::around(points.iter().map(|(_, point)| point[0]), 0.03);
    let y = Scale::around(points.iter().map(|(_, point)| point[1]), 0.03);
    let y_ticks = y.ticks(rows as f64 / 4.0);
    let margin = y_ticks.iter().map(|tick| tick.text.chars().count()).max().unwrap_or(0) + 1;
    let columns = width.saturating_sub(margin + 1).max(8);

    let groups = Groups::of(data);
    let braille = options.unicode && (groups.count <= 1 || options.color);
    let mut cells = vec![Cell::default(); columns * rows];
    for (index, point) in &points {
        let across = x.place(point[0]).clamp(0.0, 1.0) * (columns * 2 - 1) as f64;
        let down = (1.0 - y.place(point[1]).clamp(0.0, 1.0)) * (rows * 4 - 1) as f64;
        let (across, down) = (across.round() as usize, down.round() as usize);
        let cell = &mut cells[(down / 4) * columns + across / 2];
        cell.dots |= dot(across % 2, down % 4);
        cell.counts[groups.place(*index)] += 1;
    }

    let mut text = String::new();
    heading(&mut text, options, &data.y.label(), y.unit());
    let bar = if options.unicode { '│' } else { '|' };
    for row in 0..rows {
        let label = tick_at(&y_ticks, row, rows);
        let line: String = cells[row * columns..(row + 1) * columns]
            .iter()
            .map(|cell| cell.draw(braille, &groups, options))
            .collect();
        let margin = margin - 1;
        let label = options.ascii(label);
        let _ = writeln!(text, "{label:>margin$} {bar}{}", line.trim_end());
    }
    let (corner, dash) = if options.unicode { ("└", "─") } else { ("+", "-") };
    let _ = writeln!(text, "{:margin$}{corner}{}", "", dash.repeat(columns));
    let _ = writeln!(
        text,
        "{:margin$} {}",
        "",
        across(&x.ticks(columns as f64 / 12.0), columns, options)
    );
    let label = unit_label(&data.x.label(), x.unit());
    let label = options.name(&label, columns);
    let _ = writeln!(text, "{:margin$} {:>columns$}", "", label);
    groups.legend(&mut text, braille, options, width);
    text
}

/// What fell into a character's place.
#[derive(Clone, Default)]
struct Cell {
    dots: u8,
    counts: [usize; GROUPS + 1],
}

impl Cell {
    fn draw(&self, braille: bool, groups: &Groups<'_>, options: &Options) -> String {
        if self.dots == 0 {
            return " ".to_owned();
        }
        // The group with most points here; the first of equals.
        let place = (0..=GROUPS).rev().max_by_key(|place| self.counts[*place]).unwrap_or(0);
        let character = if braille {
            char::from_u32(0x2800 + u32::from(self.dots)).unwrap_or('.')
        } else {
            groups.letter(place)
        };
        match groups.count {
            0 | 1 => options.paint(0, &character.to_string()),
            _ if place == GROUPS => options.dim(&character.to_string()),
            _ => options.paint(place, &character.to_string()),
        }
    }
}

/// The groups of the points, as far as they are told apart.
struct Groups<'a> {
    names: &'a [String],
    of: &'a [usize],
    count: usize,
}

impl<'a> Groups<'a> {
    fn of(data: &'a Scores) -> Groups<'a> {
        match &data.coloring {
            Coloring::Groups { names, of } => Groups { names, of, count: names.len() },
            _ => Groups { names: &[], of: &[], count: 0 },
        }
    }

    fn place(&self, point: usize) -> usize {
        self.of.get(point).map_or(0, |group| (*group).min(GROUPS))
    }

    fn letter(&self, place: usize) -> char {
        if place == GROUPS { '.' } else { LETTERS[place % LETTERS.len()] }
    }

    fn legend(&self, text: &mut String, braille: bool, options: &Options, width: usize) {
        let mut used = 0;
        let mut line = String::new();
        for (place, name) in self.names.iter().take(GROUPS).enumerate() {
            let n = self.of.iter().filter(|group| **group == place).count();
            let sign = match (braille, options.unicode) {
                (true, _) => '●',
                (false, _) => self.letter(place),
            };
            let words = format!("{} ({})", options.name(name, 20), count(n));
            let length = words.chars().count() + 4;
            if used > 0 && used + length > width {
                text.push_str(line.trim_end());
                text.push('\n');
                (line, used) = (String::new(), 0);
            }
            line.push_str(&format!("{} {words}  ", options.paint(place, &sign.to_string())));
            used += length;
        }
        if self.names.len() > GROUPS {
            line.push_str(&options.dim(&format!(". {} others", self.names.len() - GROUPS)));
        }
        if !line.is_empty() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
}

fn heading(text: &mut String, options: &Options, label: &str, unit: Option<String>) {
    let label = options.name(&unit_label(label, unit), options.width);
    let _ = writeln!(text, "{label}");
}

fn unit_label(label: &str, unit: Option<String>) -> String {
    match unit {
        Some(unit) => format!("{label} ({unit})"),
        None => label.to_owned(),
    }
}

fn dot(across: usize, down: usize) -> u8 {
    const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    DOTS[across][down]
}

/// The number beside a row, if a tick falls into it.
fn tick_at(ticks: &[Tick], row: usize, rows: usize) -> &str {
    let found = ticks.iter().find(|tick| {
        let place = ((1.0 - tick.place) * (rows * 4 - 1) as f64).round() as usize / 4;
        place == row
    });
    found.map_or("", |tick| tick.text.as_str())
}

/// Numbers under the horizontal axis, each starting left of its place by half its length.
fn across(ticks: &[Tick], columns: usize, options: &Options) -> String {
    let mut line: Vec<char> = vec![' '; columns];
    let mut free = 0;
    for tick in ticks {
        let text = options.ascii(&tick.text);
        let length = text.chars().count();
        let middle = (tick.place * (columns - 1) as f64).round() as usize;
        let start = middle.saturating_sub(length / 2).min(columns.saturating_sub(length));
        if start >= free {
            for (offset, c) in text.chars().enumerate().take(columns) {
                line[start + offset] = c;
            }
            free = start + length + 1;
        }
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}
