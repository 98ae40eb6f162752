//! Columns named by name, number, range, pattern or negation.

use crate::error::{Error, Result};
use crate::source::Column;

/// Which columns a list of patterns chooses, and how.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    /// For each column, whether it is chosen.
    pub(super) is_chosen: Vec<bool>,
    /// For each column, whether it was named itself, not by a range or pattern.
    pub(super) is_named: Vec<bool>,
    /// For each column, whether a negation took it out.
    pub(super) is_excluded: Vec<bool>,
}

impl Chosen {
    /// Applies the patterns one after the other: each adds columns, `!` before it takes them out.
    /// A list that begins with a negation starts from the columns that are `usual`.
    pub(super) fn of(
        patterns: &[String],
        columns: &[Column],
        usual: fn(&Column) -> bool,
    ) -> Result<Self> {
        let starts_full = patterns.first().is_some_and(|pattern| pattern.starts_with('!'));
        let nothing = vec![false; columns.len()];
        let mut chosen = Self {
            is_chosen: columns.iter().map(|column| starts_full && usual(column)).collect(),
            is_named: nothing.clone(),
            is_excluded: nothing,
        };
        for pattern in patterns {
            // A column may really be called `!x`.
            let is_name = columns.iter().any(|column| column.name == *pattern);
            let (body, excludes) = match pattern.strip_prefix('!') {
                Some(body) if !is_name => (body, true),
                _ => (pattern.as_str(), false),
            };
            let (matches, names_one) = matches(body, columns)?;
            for index in matches {
                chosen.is_chosen[index] = !excludes;
                chosen.is_excluded[index] = excludes;
                chosen.is_named[index] = names_one && !excludes;
            }
        }
        Ok(chosen)
    }
}

/// The columns a pattern means, and whether it names a single one: a name, else a number (from 1),
/// else a range `a..c` of names or numbers with both ends, else a pattern with `*` and `?`.
fn matches(pattern: &str, columns: &[Column]) -> Result<(Vec<usize>, bool)> {
    if let Some(index) = single(pattern, columns) {
        return Ok((vec![index], true));
    }
    let range = pattern
        .match_indices("..")
        .find_map(|(at, _)| Some((end(&pattern[..at], 0, columns)?, &pattern[at + 2..])))
        .and_then(|(from, to)| Some((from, end(to, columns.len().saturating_sub(1), columns)?)));
    if let Some((from, to)) = range {
        if from > to {
            return Err(Error::Usage {
                what: format!("the range `{pattern}` ends before it begins"),
                hint: None,
            });
        }
        return Ok(((from..=to).collect(), false));
    }
    if pattern.contains(['*', '?']) {
        let found: Vec<usize> = (0..columns.len())
            .filter(|&index| matches_glob(pattern.as_bytes(), columns[index].name.as_bytes()))
            .collect();
        if !found.is_empty() {
            return Ok((found, false));
        }
    }
    Err(unknown(pattern, columns))
}

fn single(name: &str, columns: &[Column]) -> Option<usize> {
    columns.iter().position(|column| column.name == name).or_else(|| {
        let number: usize = name.parse().ok()?;
        number.checked_sub(1).filter(|&index| index < columns.len())
    })
}

/// One end of a range; nothing means the first or last column.
fn end(name: &str, default: usize, columns: &[Column]) -> Option<usize> {
    if name.is_empty() { Some(default) } else { single(name, columns) }
}

/// The error for a column that does not exist, with the most similar name.
pub(super) fn unknown(pattern: &str, columns: &[Column]) -> Error {
    Error::Usage {
        what: format!("no column matches `{}`", pattern.escape_debug()),
        hint: nearest(pattern, columns).map(String::from),
    }
}

/// The name of a column that is most similar to one that does not exist, where any is.
pub fn nearest<'a>(name: &str, columns: &'a [Column]) -> Option<&'a str> {
    let near = columns.iter().map(|column| (distance(name, &column.name), column.name.as_str()));
    let near = near.min().filter(|(distance, name)| *distance <= 1 + name.chars().count() / 3);
    near.map(|(_, name)| name)
}

/// `*` is any text, `?` any character (byte); everything else is itself.
fn matches_glob(pattern: &[u8], name: &[u8]) -> bool {
    // The usual greedy match: on a mismatch the last `*` takes one byte more.
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_none_or(|rest| rest.iter().all(|&byte| byte == b'*'))
}

/// How many letters must be changed, added or removed; case does not count. Long names are cut.
fn distance(one: &str, other: &str) -> usize {
    let letters =
        |text: &str| -> Vec<char> { text.chars().take(64).flat_map(char::to_lowercase).collect() };
    let (one, other) = (letters(one), letters(other));
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let cost = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Kind;

    fn chosen(patterns: &[&str]) -> Result<String> {
        let names = ["id", "a", "b", "gene_1", "gene_2", "x..y", "7"];
        let columns: Vec<Column> = names
            .iter()
            .map(|name| Column { name: String::from(*name), kind: Kind::Float })
            .collect();
        let patterns: Vec<String> = patterns.iter().map(|p| String::from(*p)).collect();
        let chosen = Chosen::of(&patterns, &columns, |_| true)?;
        let names = names.iter().zip(chosen.is_chosen).filter(|(_, is)| *is).map(|(name, _)| *name);
        Ok(names.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn names_numbers_ranges_patterns_and_negations() {
        for (patterns, expected) in [
            (&["a"][..], "a"),
            (&["2"], "a"),
            (&["7"], "7"),
            (&["a..gene_1"], "a b gene_1"),
            (&["2..4"], "a b gene_1"),
            (&["gene_1.."], "gene_1 gene_2 x..y 7"),
            (&["x..y"], "x..y"),
            (&["gene_*"], "gene_1 gene_2"),
            (&["g*_?", "!gene_1", "b"], "b gene_2"),
            (&["!id"], "a b gene_1 gene_2 x..y 7"),
            (&["!gene_*", "!id"], "a b x..y 7"),
        ] {
            assert_eq!(chosen(patterns).as_deref().ok(), Some(expected), "{patterns:?}");
        }
    }

    #[test]
    fn what_matches_nothing_is_an_error_with_a_suggestion() {
        for (pattern, suggestion) in
            [("gene1", Some("gene_1")), ("zzzzzz", None), ("0", None), ("q*", None), ("b..a", None)]
        {
            match chosen(&[pattern]) {
                Err(Error::Usage { hint, .. }) => {
                    if suggestion.is_some() {
                        assert_eq!(hint.as_deref(), suggestion);
                    }
                }
                other => panic!("{pattern}: {other:?}"),
            }
        }
    }
}
