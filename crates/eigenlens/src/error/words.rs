//! Numbers and names in words.

use std::fmt;

/// Bytes in readable units.
pub(crate) struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < units.len() {
            value /= 1024.0;
            unit += 1;
        }
        if unit == 0 { write!(f, "{value} B") } else { write!(f, "{value:.1} {}", units[unit]) }
    }
}

pub(super) fn column_label(column: usize, name: &Option<String>) -> String {
    match name {
        Some(name) => format!("{column} (`{name}`)"),
        None => column.to_string(),
    }
}

/// `; missing: `a`, `b``, or nothing where there are none.
pub(super) fn named(what: &str, names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("; {what}: {}", list(&quoted))
}

pub(super) fn numbers(values: &[usize]) -> String {
    list(&values.iter().map(usize::to_string).collect::<Vec<_>>())
}

pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

pub(super) fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
