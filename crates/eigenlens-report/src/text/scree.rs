//! A scree plot in lines of text.

use crate::draw::number::{count, in_column, percent};
use crate::pictures::scree::Scree;
use crate::text::Options;

/// Most components shown.
const MOST: usize = 20;

/// A bar per component, with its number and the cumulative share; a line under the last component
/// kept. Numbers that are not finite have no bar.
pub fn scree(data: &Scree, options: &Options) -> String {
    let shown = data.heights.len().min(MOST);
    let largest = data.heights.iter().copied().filter(|h| h.is_finite()).fold(0.0, f64::max);
    let numbers: Vec<String> = data.heights[..shown]
        .iter()
        .map(|height| options.ascii(&in_column(*height, largest)))
        .collect();
    let heading = heading(data, options);
    let number_width = widest(numbers.iter().map(String::as_str).chain([heading.as_str()]));
    let index_width = shown.to_string().len();
    let shares: Vec<String> = data.cumulative.iter().take(shown).map(|s| percent(*s)).collect();
    let share_width = widest(shares.iter().map(String::as_str)).max("total".len());
    let taken = index_width + 2 + number_width + 2 + 2 + share_width;
    let room = options.width.saturating_sub(taken).clamp(8, 60);
    let kept = data.chosen.as_ref().map(|chosen| chosen.n_components);

    let mut text = String::new();
    let head = format!("{:>index_width$}  {:>number_width$}  {:room$}", "", heading, "");
    let total = if shares.is_empty() { "" } else { "  total" };
    line(&mut text, &options.dim(format!("{head}{total}").trim_end()));
    if kept == Some(0) {
        line(&mut text, &rule(data, options, taken + room));
    }
    for index in 0..shown {
        let bar = bar(data.heights[index], largest, room, options);
        let padding = " ".repeat(room - bar.chars().count());
        let is_kept = kept.is_none_or(|kept| index < kept);
        let bar = if is_kept { options.paint(0, &bar) } else { options.dim(&bar) };
        let share = shares.get(index).map_or(String::new(), |s| format!("  {s:>share_width$}"));
        let number = &numbers[index];
        let start = format!("{:>index_width$}  {number:>number_width$}  ", index + 1);
        line(&mut text, format!("{start}{bar}{padding}{share}").trim_end());
        if kept == Some(index + 1) && kept != Some(data.heights.len()) {
            line(&mut text, &rule(data, options, taken + room));
        }
    }
    if shown < data.heights.len() {
        let more = format!("and {} more", count(data.heights.len() - shown));
        line(&mut text, &options.dim(&more));
    }
    text
}

/// What the numbers are, in one word where it goes without the other: `variance`.
fn heading(data: &Scree, options: &Options) -> String {
    let words = data.height().to_lowercase();
    options.name(words.strip_prefix("explained ").unwrap_or(&words), 32)
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

fn rule(data: &Scree, options: &Options, width: usize) -> String {
    let kept = data.chosen.as_ref().map_or(0, |chosen| chosen.n_components);
    let by = match data.chosen.as_ref().map(|chosen| chosen.rule.as_str()) {
        Some(rule) if !rule.is_empty() => format!(", {}", options.name(rule, 30)),
        _ => String::new(),
    };
    let dash = if options.unicode { "─" } else { "-" };
    let words = format!(" {kept} kept{by} ");
    let rest = width.saturating_sub(words.chars().count() + 3).min(60);
    options.dim(&format!("{}{words}{}", dash.repeat(3), dash.repeat(rest)))
}

/// A bar in eighths of a character.
fn bar(height: f64, largest: f64, room: usize, options: &Options) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if largest > 0.0 && height > 0.0 { (height / largest).min(1.0) } else { 0.0 };
    if !options.unicode {
        return "#".repeat((share * room as f64).round() as usize);
    }
    let eighths = (share * room as f64 * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::scree::Chosen;

    fn data() -> Scree {
        Scree {
            heights: vec![4.0, 2.0, 1.0, 0.0],
            cumulative: vec![4.0 / 7.0, 6.0 / 7.0, 1.0, 1.0],
            chosen: Some(Chosen { n_components: 2, rule: "elbow\u{1b}[2J".to_owned() }),
            ..Scree::default()
        }
    }

    #[test]
    fn ascii_bars_are_as_long_as_their_numbers() {
        let text = scree(&data(), &Options { width: 40, unicode: false, color: false });
        let bars: Vec<usize> = text.lines().map(|line| line.matches('#').count()).collect();
        assert_eq!(bars, [0, 19, 10, 0, 5, 0]);
        assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 40), "{text}");
    }

    #[test]
    fn no_escape_sequence_of_a_name_gets_through() {
        for color in [false, true] {
            let text = scree(&data(), &Options { color, ..Options::default() });
            assert!(!text.contains("[2J\u{1b}") && !text.contains("\u{1b}[2J"));
            assert_eq!(text.contains('\u{1b}'), color);
        }
    }
}
