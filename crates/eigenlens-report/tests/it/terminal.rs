//! Plots and tables in lines of text.

use eigenlens_report::text::{self, Options};
use eigenlens_report::{Coloring, Column, Scores, Scree, Table};

use crate::samples::{self, ORDINARY, Size};

fn options() -> Vec<Options> {
    let mut all = Vec::new();
    for width in [0, 20, 80, 200] {
        for (unicode, color) in [(true, true), (true, false), (false, true), (false, false)] {
            all.push(Options { width, unicode, color });
        }
    }
    all
}

#[test]
fn only_our_own_escape_sequences_and_only_when_asked() {
    let size = Size { name: "a\u{1b}[2Jb\u{7}\u{202e}\n", ..ORDINARY };
    for options in options() {
        let text = text::scree(&samples::scree(&size), &options)
            + &text::scores(&samples::scores(&size), &options);
        assert!(!text.contains(['\u{7}', '\u{202e}']));
        for (at, _) in text.match_indices('\u{1b}') {
            assert!(options.color);
            let rest: String = text[at + 1..].chars().take_while(|c| *c != 'm').collect();
            assert!(["[0", "[2"].contains(&rest.as_str()) || rest.starts_with("[3"), "{rest:?}");
        }
        if !options.unicode {
            assert!(text.is_ascii(), "{text}");
        }
    }
}

#[test]
fn lines_fit_the_terminal() {
    for width in [40, 80, 120] {
        let options = Options { width, ..Options::default() };
        let text = text::scree(&samples::scree(&ORDINARY), &options)
            + &text::scores(&samples::scores(&ORDINARY), &options);
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

/// Corners of the data are corners of the plot.
#[test]
fn points_are_where_they_belong() {
    let scores = Scores {
        points: vec![[0.0, 0.0], [10.0, 5.0]],
        coloring: Coloring::Groups {
            names: vec!["first".to_owned(), "second".to_owned()],
            of: vec![0, 1],
        },
        ..Scores::default()
    };
    let text = text::scores(&scores, &Options { width: 60, unicode: false, color: false });
    let lines: Vec<&str> = text.lines().filter(|line| line.contains('|')).collect();
    let place = |sign: char| {
        lines.iter().enumerate().find_map(|(row, line)| {
            let (_, plot) = line.split_once('|')?;
            plot.find(sign).map(|column| (row, column))
        })
    };
    let ((low_row, low_column), (high_row, high_column)) =
        (place('o').expect("first"), place('x').expect("second"));
    assert!(low_row >= lines.len() - 2 && low_column <= 3, "{text}");
    assert!(high_row <= 1 && high_column >= 50, "{text}");
    assert!(text.contains("o first (1)") && text.contains("x second (1)"), "{text}");
}

#[test]
fn empty_and_odd_data_do_no_harm() {
    for options in options() {
        text::scree(&Scree::default(), &options);
        text::scores(&Scores::default(), &options);
        let odd =
            Scores { points: vec![[f64::NAN, 1.0], [0.0, f64::INFINITY]], ..Scores::default() };
        text::scores(&odd, &options);
        let odd = Scree { heights: vec![f64::NAN, -1.0, f64::INFINITY], ..Scree::default() };
        text::scree(&odd, &options);
    }
    assert_eq!(Table::default().to_text(80), "\n");
}

#[test]
fn rows_of_a_table_are_lines() {
    let table = Table {
        caption: "two\nlines".to_owned(),
        columns: vec![Column::text("name\t"), Column::number("n", "cm")],
        rows: vec![vec!["a\nb\u{1b}[0m".to_owned(), "1".to_owned()], vec!["c".to_owned()]],
    };
    let text = table.to_text(80);
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(!text.contains(['\u{1b}', '\t']) && text.contains("n (cm)"), "{text}");
}
