//! The bundled fonts, and how wide text set in them is.

use std::sync::OnceLock;

use ttf_parser::Face;
use unicode_width::UnicodeWidthChar;

/// The font files every PNG is drawn with, the preferred family first.
pub(crate) const FILES: [&[u8]; 3] = [REGULAR, SEMIBOLD, FALLBACK];

const REGULAR: &[u8] = include_bytes!("../../fonts/Inter-Regular.ttf");
const SEMIBOLD: &[u8] = include_bytes!("../../fonts/Inter-SemiBold.ttf");
const FALLBACK: &[u8] = include_bytes!("../../fonts/DejaVuSans-Subset.ttf");

/// Height of a capital letter, in units of the font size.
pub(crate) const CAP_HEIGHT: f64 = 0.727;

/// The weights there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    SemiBold,
}

/// The width of one line of text at a font size, in pixels.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let faces = faces();
    let own = match weight {
        Weight::Regular => &faces[0],
        Weight::SemiBold => &faces[1],
    };
    text.chars().map(|c| advance(c, own, &faces[2])).sum::<f64>() * size
}

/// Breaks text into lines at most `limit` wide, between words.
pub(crate) fn wrap(text: &str, limit: f64, size: f64, weight: Weight) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = crate::names::shorten(word, limit, |text| width(text, size, weight));
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size, weight) <= limit => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

fn advance(c: char, own: &Option<Face<'static>>, fallback: &Option<Face<'static>>) -> f64 {
    for face in [own, fallback].into_iter().flatten() {
        if let Some(glyph) = face.glyph_index(c)
            && let Some(units) = face.glyph_hor_advance(glyph)
        {
            return f64::from(units) / f64::from(face.units_per_em());
        }
    }
    // Scripts that no bundled font has: a viewer's own font will be about this wide.
    match c.width() {
        Some(0) => 0.0,
        Some(2) => 1.0,
        _ => 0.65,
    }
}

fn faces() -> &'static [Option<Face<'static>>; 3] {
    static FACES: OnceLock<[Option<Face<'static>>; 3]> = OnceLock::new();
    FACES.get_or_init(|| FILES.map(|file| Face::parse(file, 0).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        assert!(faces().iter().all(Option::is_some));
        // A digit is wider than half an em, and narrower than one.
        assert!((0.5..1.0).contains(&width("0", 1.0, Weight::Regular)));
        let text = "Explained variance − λ²";
        assert!(width(text, 12.0, Weight::SemiBold) > width(text, 12.0, Weight::Regular));
        assert_eq!(width("ab", 10.0, Weight::Regular), width("ba", 10.0, Weight::Regular));
        assert_eq!(width("中", 10.0, Weight::Regular), 10.0);
    }

    #[test]
    fn wrapped_lines_fit_and_lose_no_word() {
        let text = "One two three four five six seven eight nine ten eleven twelve";
        let lines = wrap(text, 90.0, 12.0, Weight::Regular);
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|line| width(line, 12.0, Weight::Regular) <= 90.0));
        assert_eq!(lines.join(" "), text);
    }
}
