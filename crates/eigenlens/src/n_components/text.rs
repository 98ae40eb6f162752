//! The number of components and rules in words: the same on every surface and in model files.

use super::{NComponents, RULES, Rule};
use std::fmt;
use std::str::FromStr;

/// `5`, `95%`, `all`, `rule:minka`, `rule:ratio=0.1`.
impl FromStr for NComponents {
    type Err = String;

    fn from_str(text: &str) -> Result<NComponents, String> {
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
            return rule.parse().map(NComponents::Rule);
        }
        match text.parse::<usize>() {
            Ok(0) => Err("at least 1 component is needed".into()),
            Ok(k) => Ok(NComponents::Fixed(k)),
            Err(_) => Err(EXPECTED.into()),
        }
    }
}

impl fmt::Display for NComponents {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            NComponents::Fixed(k) => write!(f, "{k}"),
            // A percentage such as 95 must not come out as 95.00000000000001.
            NComponents::VarianceShare(share) => write!(f, "{}%", (share * 1e14).round() / 1e12),
            NComponents::All => f.write_str("all"),
            NComponents::Rule(rule) => write!(f, "rule:{rule}"),
        }
    }
}

/// A name, with a number where the rule takes one: `minka`, `ratio=0.1`.
impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Rule, String> {
        let (name, number) = match text.split_once('=') {
            Some((name, number)) => {
                let number = number.parse::<f64>().ok().filter(|n| n.is_finite());
                (name, Some(number.ok_or(format!("`{text}`: a number belongs after `=`"))?))
            }
            None => (text, None),
        };
        let Some(spec) = RULES.iter().find(|spec| spec.name == name) else {
            let names: Vec<&str> = RULES.iter().map(|spec| spec.name).collect();
            return Err(format!("`{name}` is no rule; there are {}", names.join(", ")));
        };
        let number = match (&spec.parameter, number) {
            (None, Some(_)) => return Err(format!("the rule `{name}` takes no number")),
            (parameter, None) => parameter.as_ref().and_then(|p| p.usual),
            (_, number) => number,
        };
        Rule::named(name, number).ok_or_else(|| format!("`{name}` is no rule"))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.row() {
            (spec, Some(number)) => write!(f, "{}={number}", spec.name),
            (spec, None) => f.write_str(spec.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_components_are_read_and_written_alike() {
        for (text, n_components) in [
            ("5", NComponents::Fixed(5)),
            ("95%", NComponents::VarianceShare(0.95)),
            ("99.9%", NComponents::VarianceShare(0.999)),
            ("all", NComponents::All),
            ("rule:minka", NComponents::Rule(Rule::Minka)),
            ("rule:ratio=0.1", NComponents::Rule(Rule::Ratio(0.1))),
        ] {
            assert_eq!(text.parse(), Ok(n_components.clone()));
            assert_eq!(n_components.to_string(), text);
        }
        for text in ["0", "-1", "101%", "0%", "x%", "rule:x", "rule:minka=2", "rule:ratio=x", ""] {
            assert!(text.parse::<NComponents>().is_err(), "{text}");
        }
    }
}
