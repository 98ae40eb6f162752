//! Warnings as values and back.

use super::{Entries, Parts, Value};
use crate::error::{Result, Warning};
use crate::n_components::Rule;

pub(super) fn put(parts: &mut Parts, warnings: &[Warning]) {
    let values = Value::List(warnings.iter().map(to_value).collect());
    parts.description.insert("warnings".into(), values);
}

pub(super) fn read(parts: &Parts) -> Result<Vec<Warning>> {
    let entries = parts.entries();
    let warning = |(at, value): (usize, &Value)| match value {
        Value::Map(map) => from_entries(&Entries::new(&format!("warnings.{at}"), map)),
        _ => entries.must_be("warnings", "a list of maps"),
    };
    entries.list("warnings")?.iter().enumerate().map(warning).collect()
}

fn to_value(warning: &Warning) -> Value {
    let (kind, fields): (&str, Vec<(&str, Value)>) = match warning {
        Warning::NoVariance => ("no_variance", Vec::new()),
        Warning::NullComponents { rank, requested } => (
            "null_components",
            vec![("useful", (*rank).into()), ("requested", (*requested).into())],
        ),
        Warning::ConstantColumns { columns, names } => (
            "constant_columns",
            vec![("columns", Value::list(columns.iter().copied())), ("names", Value::list(names))],
        ),
        Warning::ConstantWithinClasses { columns, names } => (
            "constant_within_classes",
            vec![("columns", Value::list(columns.iter().copied())), ("names", Value::list(names))],
        ),
        Warning::DominantColumn { column, name, share } => (
            "dominant_column",
            vec![("column", (*column).into()), ("name", name.into()), ("share", (*share).into())],
        ),
        Warning::DominantRow { component, row, share } => (
            "dominant_row",
            vec![
                ("component", (*component).into()),
                ("row", (*row).into()),
                ("share", (*share).into()),
            ],
        ),
        Warning::Quantized { column, name, levels } => (
            "quantized",
            vec![("column", (*column).into()), ("name", name.into()), ("levels", (*levels).into())],
        ),
        Warning::VarianceOutOfRange => ("variance_out_of_range", Vec::new()),
        Warning::ScoresOutOfRange => ("scores_out_of_range", Vec::new()),
        Warning::HeavyTails { components, kurtosis } => (
            "heavy_tails",
            vec![
                ("components", Value::list(components.iter().copied())),
                ("kurtosis", (*kurtosis).into()),
            ],
        ),
        Warning::Escalated { from, to, why } => {
            ("escalated", vec![("from", from.into()), ("to", to.into()), ("why", why.into())])
        }
        Warning::RuleFindsNone { rule } => ("rule_finds_none", vec![("rule", (*rule).into())]),
        Warning::EmptyRows { count, rows } => (
            "empty_rows",
            vec![("count", (*count).into()), ("rows", Value::list(rows.iter().copied()))],
        ),
        Warning::EmNotConverged { iterations, change, tolerance } => (
            "em_not_converged",
            vec![
                ("iterations", (*iterations).into()),
                ("change", (*change).into()),
                ("tolerance", (*tolerance).into()),
            ],
        ),
        Warning::ZeroComponents { components } => {
            ("zero_components", vec![("components", Value::list(components.iter().copied()))])
        }
        Warning::OptimalityGap { component, gap, limit } => (
            "optimality_gap",
            vec![
                ("component", (*component).into()),
                ("gap", (*gap).into()),
                ("limit", (*limit).into()),
            ],
        ),
        Warning::Unsettled { what, iterations, change, tolerance } => (
            "unsettled",
            vec![
                ("what", (*what).into()),
                ("iterations", (*iterations).into()),
                ("change", (*change).into()),
                ("tolerance", (*tolerance).into()),
            ],
        ),
        Warning::NoiseVanishes { share } => ("noise_vanishes", vec![("share", (*share).into())]),
        Warning::LabelRank { rank, requested } => {
            ("label_rank", vec![("useful", (*rank).into()), ("requested", (*requested).into())])
        }
        Warning::NoDependence => ("no_dependence", Vec::new()),
        Warning::IdentifierTarget { classes, samples } => (
            "identifier_target",
            vec![("classes", (*classes).into()), ("samples", (*samples).into())],
        ),
        Warning::Unlabelled { samples } => ("unlabelled", vec![("samples", (*samples).into())]),
        Warning::LabelKernelCut { width, share } => {
            ("label_kernel_cut", vec![("width", (*width).into()), ("share", (*share).into())])
        }
        Warning::DegenerateKernel { gamma, value } => {
            ("degenerate_kernel", vec![("gamma", (*gamma).into()), ("value", (*value).into())])
        }
        Warning::IndefiniteKernel { share, smallest, complete } => (
            "indefinite_kernel",
            vec![
                ("share", (*share).into()),
                ("smallest", (*smallest).into()),
                ("complete", (*complete).into()),
            ],
        ),
        Warning::SeveralParts { parts } => ("several_parts", vec![("parts", (*parts).into())]),
        Warning::NotCertified { residual, tolerance } => (
            "not_certified",
            vec![("residual", (*residual).into()), ("tolerance", (*tolerance).into())],
        ),
    };
    Value::map([("kind", Value::from(kind))].into_iter().chain(fields))
}

fn from_entries(entries: &Entries) -> Result<Warning> {
    // A number that was infinite is stored as null.
    let number = |name| Ok(entries.optional_number(name)?.unwrap_or(f64::INFINITY));
    Ok(match entries.text("kind")? {
        "no_variance" => Warning::NoVariance,
        "null_components" => Warning::NullComponents {
            rank: entries.count("useful")?,
            requested: entries.count("requested")?,
        },
        "constant_columns" => Warning::ConstantColumns {
            columns: entries.counts("columns")?,
            names: entries.texts("names")?,
        },
        "constant_within_classes" => Warning::ConstantWithinClasses {
            columns: entries.counts("columns")?,
            names: entries.texts("names")?,
        },
        "dominant_column" => Warning::DominantColumn {
            column: entries.count("column")?,
            name: entries.text("name")?.into(),
            share: number("share")?,
        },
        "dominant_row" => Warning::DominantRow {
            component: entries.count("component")?,
            row: entries.count("row")?,
            share: number("share")?,
        },
        "quantized" => Warning::Quantized {
            column: entries.count("column")?,
            name: entries.text("name")?.into(),
            levels: number("levels")?,
        },
        "variance_out_of_range" => Warning::VarianceOutOfRange,
        "scores_out_of_range" => Warning::ScoresOutOfRange,
        "heavy_tails" => Warning::HeavyTails {
            components: entries.counts("components")?,
            kurtosis: number("kurtosis")?,
        },
        "escalated" => Warning::Escalated {
            from: entries.text("from")?.into(),
            to: entries.text("to")?.into(),
            why: entries.text("why")?.into(),
        },
        "rule_finds_none" => {
            let name = entries.text("rule")?;
            match Rule::all().iter().map(Rule::name).find(|rule| *rule == name) {
                Some(rule) => Warning::RuleFindsNone { rule },
                None => return entries.must_be("rule", "a rule"),
            }
        }
        "empty_rows" => {
            Warning::EmptyRows { count: entries.count("count")?, rows: entries.counts("rows")? }
        }
        "em_not_converged" => Warning::EmNotConverged {
            iterations: entries.count("iterations")?,
            change: number("change")?,
            tolerance: number("tolerance")?,
        },
        "zero_components" => Warning::ZeroComponents { components: entries.counts("components")? },
        "optimality_gap" => Warning::OptimalityGap {
            component: entries.count("component")?,
            gap: number("gap")?,
            limit: one_of(entries, "limit", &["time", "node"])?,
        },
        "unsettled" => Warning::Unsettled {
            what: one_of(entries, "what", &["the alternation", "the factorisation"])?,
            iterations: entries.count("iterations")?,
            change: number("change")?,
            tolerance: number("tolerance")?,
        },
        "noise_vanishes" => Warning::NoiseVanishes { share: number("share")? },
        "label_rank" => Warning::LabelRank {
            rank: entries.count("useful")?,
            requested: entries.count("requested")?,
        },
        "no_dependence" => Warning::NoDependence,
        "identifier_target" => Warning::IdentifierTarget {
            classes: entries.count("classes")?,
            samples: entries.count("samples")?,
        },
        "unlabelled" => Warning::Unlabelled { samples: entries.count("samples")? },
        "label_kernel_cut" => {
            Warning::LabelKernelCut { width: entries.count("width")?, share: number("share")? }
        }
        "degenerate_kernel" => {
            Warning::DegenerateKernel { gamma: number("gamma")?, value: number("value")? }
        }
        "indefinite_kernel" => Warning::IndefiniteKernel {
            share: number("share")?,
            smallest: number("smallest")?,
            complete: entries.flag("complete")?,
        },
        "several_parts" => Warning::SeveralParts { parts: entries.count("parts")? },
        "not_certified" => {
            Warning::NotCertified { residual: number("residual")?, tolerance: number("tolerance")? }
        }
        _ => return entries.must_be("kind", "a warning this version knows"),
    })
}

/// A text that is one of a few.
fn one_of(entries: &Entries, name: &str, known: &[&'static str]) -> Result<&'static str> {
    let found = entries.text(name)?;
    match known.iter().find(|text| **text == found) {
        Some(text) => Ok(text),
        None => entries.must_be(name, &format!("one of {}", known.join(", "))),
    }
}
