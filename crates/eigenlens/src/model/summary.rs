//! A model in words and numbers, as data: surfaces lay it out, and compute nothing.

use crate::data::MissingReport;
use crate::model::parts::Value;
use crate::solver::Certificate;
use std::collections::BTreeMap;

/// What a person wants to see of a model, and what a program wants to know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// What it is, in one line: `pca of 150 samples, 4 features: 2 components keep 97.77 % of the
    /// variance`.
    pub headline: String,
    /// What is known of each component: a table with one row per component.
    pub columns: Vec<SummaryColumn>,
    /// What holds for the whole model: a name and a value in words, such as `total` and
    /// `variance 4.573`.
    pub facts: Vec<(&'static str, String)>,
    /// How far to trust it: lines of a name and a value.
    pub trust: String,
    /// The heights of a scree plot.
    pub scree: Option<ScreeHeights>,
    /// Numbers and arrays by the names of the vocabulary, for programs.
    pub values: BTreeMap<&'static str, Value>,
}

/// One property of every component.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryColumn {
    /// What it is.
    pub name: &'static str,
    /// Its value for each component.
    pub cells: Cells,
}

/// The values of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Shares between 0 and 1.
    Shares(Vec<f64>),
    /// Words.
    Words(Vec<String>),
}

/// What each component carries of a total, for the axes of pictures.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// The share of each component (k), 0 to 1.
    pub values: Vec<f64>,
    /// What they are shares of, such as `the variance`.
    pub of: &'static str,
}

/// Variances or eigenvalues in order, for a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScreeHeights {
    /// What they are: `Explained variance` unless said otherwise.
    pub what: &'static str,
    /// The values, largest first: those kept, and as many of the others as are worth a look.
    pub heights: Vec<f64>,
    /// The share of the total up to each; empty where the total is not known.
    pub cumulative: Vec<f64>,
    /// What the total is: `the variance` unless said otherwise.
    pub of: &'static str,
    /// The standard error of each; empty where not known.
    pub standard_errors: Vec<f64>,
}

/// What heights are where values themselves cannot be drawn.
const SHARE: &str = "Share of the total";
/// The total that most shares are of.
pub(crate) const VARIANCE: &str = "the variance";

impl Shares {
    /// Shares of the total variance.
    pub(crate) fn of_variance(values: Vec<f64>) -> Shares {
        Shares { values, of: VARIANCE }
    }
}

impl SummaryColumn {
    /// A column of numbers.
    pub fn numbers(name: &'static str, values: Vec<f64>) -> SummaryColumn {
        SummaryColumn { name, cells: Cells::Numbers(values) }
    }

    /// A column of shares.
    pub fn shares(name: &'static str, values: Vec<f64>) -> SummaryColumn {
        SummaryColumn { name, cells: Cells::Shares(values) }
    }

    /// A column of words.
    pub fn words(name: &'static str, values: Vec<String>) -> SummaryColumn {
        SummaryColumn { name, cells: Cells::Words(values) }
    }

    /// The sums up to each value.
    pub fn cumulative(name: &'static str, shares: &[f64]) -> SummaryColumn {
        SummaryColumn::shares(name, running(shares))
    }
}

impl ScreeHeights {
    /// Of all values known, those a picture shows: the k kept and about as many again. Values and their total
    /// are in squares of `unit`.
    pub(crate) fn new(all: &[f64], kept: usize, total: f64, unit: f64) -> ScreeHeights {
        // Beyond some dozens of bars only the beginning is looked at.
        let shown = &all[..all.len().min((2 * kept).max(30))];
        let share = |sum: f64| if total > 0.0 { (sum / total).min(1.0) } else { 0.0 };
        ScreeHeights {
            what: "Explained variance",
            of: VARIANCE,
            cumulative: running(shown).into_iter().map(share).collect(),
            standard_errors: Vec::new(),
            heights: shown.iter().map(|v| v * unit * unit).collect(),
        }
        .drawable(shown, total)
    }

    /// Shares of the total in place of heights that are not numbers: those of data beyond 1e154 overflow.
    fn drawable(self, shown: &[f64], total: f64) -> ScreeHeights {
        if self.heights.iter().all(|height| height.is_finite()) {
            return self;
        }
        let heights = shown.iter().map(|v| v / total).collect();
        ScreeHeights { what: SHARE, heights, ..self }
    }

    /// The same heights under the name of what they are, unless they are shares.
    pub(crate) fn named(self, what: &'static str) -> ScreeHeights {
        ScreeHeights { what: if self.what == SHARE { SHARE } else { what }, ..self }
    }

    /// With the standard errors `height · factor`, which shares do not have: their total varies with them.
    pub(crate) fn with_sampling_factor(mut self, factor: Option<f64>) -> ScreeHeights {
        if let Some(factor) = factor.filter(|_| self.what != SHARE) {
            self.standard_errors = self.heights.iter().map(|height| height * factor).collect();
        }
        self
    }
}

/// A certificate for programs.
pub(crate) fn certificate_value(certificate: &Certificate) -> Value {
    let numbers = |values: &[f64]| Value::list(values.iter().copied());
    let groups = certificate.groups.iter().map(|g| Value::list([g.start + 1, g.end]));
    Value::map([
        ("residuals", numbers(&certificate.residuals)),
        ("value_errors", numbers(&certificate.value_errors)),
        ("angles", numbers(&certificate.angles)),
        ("groups", Value::List(groups.collect())),
        ("orthogonality", certificate.orthogonality.into()),
        ("rank", certificate.rank.into()),
        ("conditional", certificate.is_conditional().into()),
    ])
}

/// What was done about missing entries, for programs.
pub(crate) fn treatment_value(missing_report: &MissingReport) -> Value {
    Value::map([
        ("policy", Value::from(missing_report.policy.name())),
        ("missing", missing_report.missing.into()),
        ("entries", missing_report.entries.into()),
        ("rows_with_missing", missing_report.rows_with_missing.into()),
        ("empty_rows", missing_report.empty_rows.into()),
        ("dropped_columns", Value::list(&missing_report.dropped_columns)),
    ])
}

/// A matrix as a list of its rows.
pub(crate) fn rows_value(matrix: ndarray::ArrayView2<f64>) -> Value {
    Value::List(matrix.rows().into_iter().map(|r| Value::list(r.iter().copied())).collect())
}

/// The features with the largest weights (a row of components, d), in words.
pub(crate) fn largest_weights(
    weights: ndarray::ArrayView1<f64>,
    names: Option<&[String]>,
    most: usize,
) -> String {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|a, b| weights[*b].abs().total_cmp(&weights[*a].abs()).then(a.cmp(b)));
    let name = |f: usize| match names.and_then(|names| names.get(f)) {
        Some(name) => name.clone(),
        // From 0, as in errors and warnings.
        None => format!("column {f}"),
    };
    let words = order.into_iter().take(most).map(|f| format!("{} {:+.3}", name(f), weights[f]));
    words.collect::<Vec<_>>().join(", ")
}

/// `pca of 150 samples, 4 features: 2 components`.
pub(crate) fn opening(method: &str, n_samples: Option<f64>, d: usize, k: usize) -> String {
    let samples = n_samples.map_or(String::new(), |n| format!("{n} samples, "));
    let components = if k == 1 { "component" } else { "components" };
    format!("{method} of {samples}{d} features: {k} {components}")
}

/// A number to five digits.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let size = value.abs().log10().floor();
    if (-3.0..6.0).contains(&size) {
        format!("{value:.*}", (4 - size as i32).max(0) as usize)
    } else {
        format!("{value:.4e}")
    }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn running(values: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    values
        .iter()
        .map(|value| {
            sum += value;
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_five_digits() {
        for (value, text) in [
            (4.228241706, "4.2282"),
            (0.0, "0"),
            (123456.7, "123457"),
            (0.00123456, "0.0012346"),
            (1e-9, "1.0000e-9"),
            (-2.5e7, "-2.5000e7"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    /// Variances 8, 4, 2 of a total of 16 in squares of 2^600, which is beyond the range of numbers.
    #[test]
    fn heights_that_overflow_are_shares() {
        let small = ScreeHeights::new(&[8.0, 4.0, 2.0], 2, 16.0, 0.5);
        let small = small.named("Eigenvalue").with_sampling_factor(Some(0.5));
        assert_eq!(small.standard_errors, [1.0, 0.5, 0.25]);
        assert_eq!((small.what, &small.heights[..]), ("Eigenvalue", &[2.0, 1.0, 0.5][..]));
        let large = ScreeHeights::new(&[8.0, 4.0, 2.0], 2, 16.0, 2f64.powi(600));
        let large = large.named("Eigenvalue").with_sampling_factor(Some(0.5));
        assert_eq!((large.what, &large.heights[..]), (SHARE, &[0.5, 0.25, 0.125][..]));
        assert!(large.standard_errors.is_empty());
        assert_eq!(large.cumulative, small.cumulative);
        assert_eq!(large.cumulative, [0.5, 0.75, 0.875]);
    }

    #[test]
    fn the_largest_weights_come_in_order() {
        let weights = ndarray::array![1.0, -3.0, 2.0, 3.0];
        let names = ["a", "b", "c", "d"].map(String::from);
        let words = largest_weights(weights.view(), Some(&names), 3);
        assert_eq!(words, "b -3.000, d +3.000, c +2.000");
        assert_eq!(largest_weights(weights.view(), None, 1), "column 1 -3.000");
    }
}
