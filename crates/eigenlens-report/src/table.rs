//! Tables: aligned text for a terminal or a pipe, HTML for the report.

use unicode_width::UnicodeWidthStr;

use crate::names;

/// A table of text. Missing cells at the end of a row are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the table shows, or empty.
    pub caption: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
}

/// A column of a [`Table`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Heading.
    pub name: String,
    /// Unit, written after the heading in brackets, or empty.
    pub unit: String,
    /// On which side its cells line up.
    pub align: Align,
}

/// How the cells of a column line up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Text: on the left.
    #[default]
    Left,
    /// Numbers: on the decimal point, or on the right where they have none.
    Number,
}

impl Column {
    /// A column of text.
    pub fn text(name: &str) -> Column {
        Column { name: name.to_owned(), ..Column::default() }
    }

    /// A column of numbers; the unit may be empty.
    pub fn number(name: &str, unit: &str) -> Column {
        Column { name: name.to_owned(), unit: unit.to_owned(), align: Align::Number }
    }

    pub(crate) fn heading(&self) -> String {
        match self.unit.as_str() {
            "" => self.name.clone(),
            unit => format!("{} ({unit})", self.name),
        }
    }
}

impl Table {
    /// The table as lines of plain text at most `width` columns wide, each ending in a line break.
    /// Where it is too wide, text is shortened; numbers never are.
    pub fn to_text(&self, width: usize) -> String {
        let mut columns: Vec<Vec<String>> =
            (0..self.columns.len()).map(|index| self.aligned(index)).collect();
        fit(&mut columns, &self.columns, width);
        let widths: Vec<usize> = columns
            .iter()
            .map(|cells| cells.iter().map(|cell| cell.width()).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        if !self.caption.is_empty() {
            let caption = names::shorten(&self.caption, width.max(1) as f64, |t| t.width() as f64);
            text.push_str(&caption);
            text.push('\n');
        }
        for row in 0..=self.rows.len() {
            let mut line = String::new();
            for (index, column) in self.columns.iter().enumerate() {
                let cell = columns[index].get(row).map_or("", String::as_str);
                let padding = " ".repeat(widths[index].saturating_sub(cell.width()));
                line.push_str(if index == 0 { "" } else { GAP });
                match column.align {
                    Align::Left => line.push_str(&format!("{cell}{padding}")),
                    Align::Number => line.push_str(&format!("{padding}{cell}")),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// The table as an HTML element, all text escaped.
    pub(crate) fn to_html(&self) -> String {
        let mut html = String::from("<div class=\"table\"><table>\n");
        if !self.caption.is_empty() {
            html.push_str(&format!("<caption>{}</caption>\n", names::escape(&self.caption)));
        }
        let class = |index: usize| match self.columns.get(index).map(|column| column.align) {
            Some(Align::Number) => " class=\"n\"",
            _ => "",
        };
        html.push_str("<thead><tr>");
        for (index, column) in self.columns.iter().enumerate() {
            let heading = names::escape(&column.heading());
            html.push_str(&format!("<th scope=\"col\"{}>{heading}</th>", class(index)));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for index in 0..self.columns.len() {
                let cell = row.get(index).map_or("", String::as_str);
                html.push_str(&format!("<td{}>{}</td>", class(index), names::escape(cell)));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
        html
    }

    /// Heading and cells of a column; numbers filled up so that their points line up.
    fn aligned(&self, index: usize) -> Vec<String> {
        let column = &self.columns[index];
        let cell = |row: &Vec<String>| {
            names::clean(row.get(index).map_or("", String::as_str)).into_owned()
        };
        let cells: Vec<String> = self.rows.iter().map(cell).collect();
        let heading = names::clean(&column.heading()).into_owned();
        if column.align == Align::Left {
            return std::iter::once(heading).chain(cells).collect();
        }
        let after = cells.iter().map(|cell| decimals(cell)).max().unwrap_or(0);
        let filled = cells.into_iter().map(|cell| {
            let missing = if is_number(&cell) { after - decimals(&cell) } else { 0 };
            cell + &" ".repeat(missing)
        });
        std::iter::once(heading).chain(filled).collect()
    }
}

const GAP: &str = "  ";
/// Text columns are not made narrower than this.
const NARROWEST: usize = 8;

/// Shortens the widest text columns until the table fits, or all are narrow.
fn fit(columns: &mut [Vec<String>], kinds: &[Column], width: usize) {
    let widest = |cells: &[String]| cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
    let mut widths: Vec<usize> = columns.iter().map(|cells| widest(cells)).collect();
    let gaps = GAP.len() * columns.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > width {
        let text = (0..widths.len()).filter(|index| kinds[*index].align == Align::Left);
        let Some(longest) = text.max_by_key(|index| widths[*index]) else { return };
        if widths[longest] <= NARROWEST {
            return;
        }
        let excess = widths.iter().sum::<usize>() + gaps - width;
        let next = (0..widths.len())
            .filter(|index| kinds[*index].align == Align::Left && *index != longest)
            .map(|index| widths[index])
            .filter(|other| *other < widths[longest])
            .max()
            .unwrap_or(0);
        let target = (widths[longest] - excess.min(widths[longest])).max(next).max(NARROWEST);
        let target = target.min(widths[longest] - 1);
        for cell in &mut columns[longest] {
            if cell.width() > target {
                *cell = names::shorten(cell, target as f64, |text| text.width() as f64);
            }
        }
        widths[longest] = widest(&columns[longest]);
    }
}

/// Columns a number takes after its last whole digit.
fn decimals(cell: &str) -> usize {
    match cell.find('.') {
        Some(point) if is_number(cell) => cell[point..].width(),
        _ => 0,
    }
}

fn is_number(cell: &str) -> bool {
    cell.trim_start_matches(['−', '-', '+', '<', ' ']).starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(width: usize) -> String {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let table = Table {
            caption: String::new(),
            columns: vec![
                Column::text("feature"),
                Column::number("variance", "cm²"),
                Column::number("share", ""),
            ],
            rows: vec![
                row(["petal length of the flower", "12.5", "72.8 %"]),
                row(["x", "3", "9.25 %"]),
                row(["y", "n/a", ""]),
            ],
        };
        table.to_text(width)
    }

    #[test]
    fn points_line_up() {
        assert_eq!(
            table(80),
            "feature                     variance (cm²)    share\n\
             petal length of the flower            12.5  72.8 %\n\
             x                                      3     9.25 %\n\
             y                                      n/a\n"
        );
    }

    #[test]
    fn text_gives_way_and_numbers_do_not() {
        let text = table(40);
        assert!(text.lines().all(|line| line.width() <= 40), "{text}");
        assert!(text.contains("petal") && text.contains('…') && text.contains("12.5"), "{text}");
        assert!(table(1).contains("72.8 %"));
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let table = Table {
            columns: vec![Column::text("名前"), Column::number("n", "")],
            rows: vec![
                vec!["中文字".to_owned(), "1".to_owned()],
                vec!["a".to_owned(), "22".to_owned()],
            ],
            ..Table::default()
        };
        assert_eq!(table.to_text(80), "名前     n\n中文字   1\na       22\n");
    }
}
