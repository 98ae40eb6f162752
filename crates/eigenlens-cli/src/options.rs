//! Words of the command line that stand for values of the library.

use eigenlens::{Missing, PreImage};
use std::fmt;
use std::str::FromStr;

/// What the command line calls an option of the library.
pub fn flag(option: &str) -> String {
    option.strip_prefix("n_").unwrap_or(option).replace('_', "-")
}

/// A policy for missing values.
pub fn parse_missing(text: &str) -> Result<Missing, String> {
    Missing::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Missing::ALL.iter().map(|policy| policy.name()).collect();
        format!("there are {}", names.join(", "))
    })
}

/// `auto`, `fixed-point`, `distances` or `ridge`.
pub fn parse_pre_image(text: &str) -> Result<PreImage, String> {
    PreImage::named(text).ok_or_else(|| "there are auto, fixed-point, distances, ridge".into())
}

/// An amount of memory: `512MiB`, `2GiB`, `1500kB`, `1e9`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

const UNITS: [(&str, f64); 9] = [
    ("kib", 1024.0),
    ("mib", 1048576.0),
    ("gib", 1073741824.0),
    ("tib", 1099511627776.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("b", 1.0),
];

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Bytes, String> {
        let lower = text.trim().to_lowercase();
        let (number, unit) = UNITS
            .iter()
            .find_map(|(name, unit)| Some((lower.strip_suffix(name)?, *unit)))
            .unwrap_or((&lower, 1.0));
        let bytes =
            number.trim().parse::<f64>().map_err(|_| "expected a size such as 2GiB")? * unit;
        if (1.0..1e18).contains(&bytes) {
            Ok(Bytes(bytes as u64))
        } else {
            Err("a size is at least 1 byte".into())
        }
    }
}

impl fmt::Display for Bytes {
    /// Rounded up, so that the number is enough when it is pasted back.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (name, unit) in [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
            if self.0 >= unit {
                let tenths = (self.0 as f64 / unit as f64 * 10.0).ceil() / 10.0;
                return write!(f, "{tenths}{name}");
            }
        }
        write!(f, "{}B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_rounded_up() {
        for (text, bytes) in [("512MiB", 512 << 20), ("2 gib", 2 << 30), ("1.5kB", 1500), ("7", 7)]
        {
            assert_eq!(text.parse(), Ok(Bytes(bytes)));
        }
        for text in ["", "GiB", "-1", "1e30", "2 parsecs"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
        for bytes in [1, 1023, 1025, (1 << 20) + 1, (5 << 30) + 12345] {
            let again: Bytes = Bytes(bytes).to_string().parse().unwrap();
            assert!(again.0 >= bytes && again.0 as f64 <= bytes as f64 * 1.2, "{bytes}");
        }
    }
}
