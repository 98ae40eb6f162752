//! Names of columns that are unique.

use crate::source::Note;
use std::collections::{HashMap, HashSet};

/// `x1`, `x2`, …: names for formats that have none.
pub(crate) fn numbered_names(n: usize) -> impl Iterator<Item = String> {
    (1..=n).map(|number| format!("x{number}"))
}

/// Makes names unique: an empty one becomes `x` and its number, a repeated one gets `_2`, `_3`, …
/// The first of its kind keeps its name, and no new name is one that was there already.
pub(crate) fn unique_names(names: Vec<String>) -> (Vec<String>, Vec<Note>) {
    let given: HashSet<String> = names.iter().filter(|name| !name.is_empty()).cloned().collect();
    let mut used = HashSet::new();
    // Where to go on counting, so that thousands of equal names take no quadratic time.
    let mut counters: HashMap<String, usize> = HashMap::new();
    let (mut unnamed, mut repeated) = (0, 0);
    let mut unique = Vec::with_capacity(names.len());
    for (index, name) in names.into_iter().enumerate() {
        let wanted = if name.is_empty() { format!("x{}", index + 1) } else { name.clone() };
        let is_free = !used.contains(&wanted) && (!name.is_empty() || !given.contains(&wanted));
        let chosen = if is_free {
            wanted
        } else {
            let counter = counters.entry(wanted.clone()).or_insert(1);
            loop {
                *counter += 1;
                let candidate = format!("{wanted}_{counter}");
                if !used.contains(&candidate) && !given.contains(&candidate) {
                    break candidate;
                }
            }
        };
        unnamed += usize::from(name.is_empty());
        repeated += usize::from(!name.is_empty() && name != chosen);
        used.insert(chosen.clone());
        unique.push(chosen);
    }
    let mut notes = Vec::new();
    if unnamed > 0 {
        let found = format!("{unnamed}; named `x` and the number of the column");
        notes.push(Note::new("columns without a name", found));
    }
    if repeated > 0 {
        let found = format!("{repeated}; told apart by `_2`, `_3`, …");
        notes.push(Note::new("repeated column names", found));
    }
    (unique, notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_unique_and_given_names_stay() {
        let check = |given: &[&str], expected: &[&str]| {
            let names = given.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(unique_names(names).0, expected);
        };
        check(&["a", "b"], &["a", "b"]);
        check(&["a", "a", "a"], &["a", "a_2", "a_3"]);
        check(&["a", "a", "a_2"], &["a", "a_3", "a_2"]);
        check(&["", "x1", ""], &["x1_2", "x1", "x3"]);
        check(&["", ""], &["x1", "x2"]);
    }
}
