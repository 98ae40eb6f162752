//! Words of the command line that stand for values of the library.

use eigenlens::{Missing, NComponents, PreImage, Rule, Solver};
use std::fmt;
use std::str::FromStr;

/// `5`, `95%`, `all`, `rule:minka`, `rule:ratio=0.1`.
pub fn parse_components(text: &str) -> Result<NComponents, String> {
    const EXPECTED: &str = "expected a number (5), a share (95%), `all` or a rule (rule:minka)";
    if text == "all" {
        return Ok(NComponents::All);
    }
    if let Some(percent) = text.strip_suffix('%') {
        // Read as a decimal: 99.9 / 100 is not the double 0.999.
        let share = format!("{}e-2", percent.trim()).parse::<f64>().map_err(|_| EXPECTED)?;
        return if share > 0.0 && share <= 1.0 {
            Ok(NComponents::VarianceShare(share))
        } else {
            Err("a share lies between 0% and 100%".into())
        };
    }
    if let Some(rule) = text.strip_prefix("rule:") {
        return parse_rule(rule).map(NComponents::Rule);
    }
    match text.parse::<usize>() {
        Ok(0) => Err("at least 1 component is needed".into()),
        Ok(k) => Ok(NComponents::Fixed(k)),
        Err(_) => Err(EXPECTED.into()),
    }
}

/// The number of components in the words it is given in.
pub fn components_text(n_components: &NComponents) -> String {
    match n_components {
        NComponents::Fixed(k) => k.to_string(),
        // A percentage such as 95 must not come out as 95.00000000000001.
        NComponents::VarianceShare(share) => format!("{}%", (share * 1e14).round() / 1e12),
        NComponents::All => "all".into(),
        NComponents::Rule(rule) => format!("rule:{}", rule_text(rule)),
    }
}

/// A rule with its number, if it has one.
pub fn rule_text(rule: &Rule) -> String {
    match rule {
        Rule::Threshold(v) | Rule::Ratio(v) | Rule::CumulativeShare(v) => {
            format!("{}={v}", rule.name())
        }
        Rule::GavishDonoho { noise: Some(noise) } => format!("{}={noise}", rule.name()),
        _ => rule.name().into(),
    }
}

fn parse_rule(text: &str) -> Result<Rule, String> {
    let (name, number) = match text.split_once('=') {
        Some((name, number)) => {
            let number = number.parse::<f64>().ok().filter(|n| n.is_finite());
            (name, Some(number.ok_or(format!("`{text}`: a number belongs after `=`"))?))
        }
        None => (text, None),
    };
    let rules = Rule::all();
    let Some(rule) = rules.iter().find(|rule| rule.name() == name) else {
        let names: Vec<&str> = rules.iter().map(|rule| rule.name()).collect();
        return Err(format!("`{name}` is no rule; there are {}", names.join(", ")));
    };
    match (*rule, number) {
        (rule, None) => Ok(rule),
        (Rule::Threshold(_), Some(n)) => Ok(Rule::Threshold(n)),
        (Rule::Ratio(_), Some(n)) => Ok(Rule::Ratio(n)),
        (Rule::CumulativeShare(_), Some(n)) => Ok(Rule::CumulativeShare(n)),
        (Rule::GavishDonoho { .. }, Some(n)) => Ok(Rule::GavishDonoho { noise: Some(n) }),
        _ => Err(format!("the rule `{name}` takes no number")),
    }
}

/// `auto`, `covariance`, … `randomized`.
pub fn parse_solver(text: &str) -> Result<Solver, String> {
    Ok(match text {
        "auto" => Solver::Auto,
        "covariance" => Solver::Covariance,
        "dual" => Solver::Dual,
        "svd" => Solver::Svd,
        "iterative" => Solver::Iterative,
        "randomized" => Solver::Randomized { oversampling: 10, power_iterations: 4 },
        _ => return Err("there are auto, covariance, dual, svd, iterative, randomized".into()),
    })
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

/// The route in the words it is given in.
pub fn solver_text(solver: Solver) -> &'static str {
    match solver {
        Solver::Auto => "auto",
        Solver::Covariance => "covariance",
        Solver::Dual => "dual",
        Solver::Svd => "svd",
        Solver::Iterative => "iterative",
        Solver::Randomized { .. } => "randomized",
    }
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
    fn wishes_are_read_and_written_alike() {
        for (text, n_components) in [
            ("5", NComponents::Fixed(5)),
            ("95%", NComponents::VarianceShare(0.95)),
            ("99.9%", NComponents::VarianceShare(0.999)),
            ("all", NComponents::All),
            ("rule:minka", NComponents::Rule(Rule::Minka)),
            ("rule:ratio=0.1", NComponents::Rule(Rule::Ratio(0.1))),
        ] {
            assert_eq!(parse_components(text), Ok(n_components.clone()));
            assert_eq!(components_text(&n_components), text);
        }
        for text in ["0", "-1", "101%", "0%", "x%", "rule:x", "rule:minka=2", "rule:ratio=x", ""] {
            assert!(parse_components(text).is_err(), "{text}");
        }
    }

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
