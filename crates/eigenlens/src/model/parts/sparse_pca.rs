//! A sparse PCA taken apart and put together.

use super::linear::{STANDARDIZATION, not_negative, put_scaler, scaler};
use super::{Entries, Parts, Value, records, wrong};
use crate::error::Result;
use crate::model::{Optimality, PathPoint, Projection, SparseParts, SparsePath, SparsePcaModel};
use crate::sparse_search::StoppedBy;
use ndarray::Array2;

/// Rows have unit length to this, or are 0.
const UNIT: f64 = 1e-8;

const ARRAYS: [&str; 6] =
    ["components", "score_covariance", "plain", "penalties", "objective", records::CONVERGENCE];

impl SparsePcaModel {
    /// Everything the model is made of. [`SparsePcaModel::from_parts`] gives the same model back:
    /// its scores agree to the last bit.
    pub fn to_parts(&self) -> Parts {
        let all = self.parts();
        let mut parts = Parts::new(self.method());
        parts.put_matrix("components", &all.components);
        parts.put_matrix("score_covariance", &all.score_covariance);
        parts.put("plain", &all.plain);
        put_scaler(&mut parts, &all.scaler);
        if let Some(penalties) = &all.penalties {
            parts.put("penalties", penalties);
        }
        if !all.objective.is_empty() {
            parts.put("objective", &all.objective);
        }
        records::put_run(&mut parts, &all.convergence, &all.core.plan);
        records::put_core(&mut parts, &all.core);
        parts.description.extend(
            [
                ("total", all.total.into()),
                ("n_samples", all.core.n_samples.into()),
                ("center", all.center.into()),
                ("projection", all.projection.name().into()),
                ("optimality", Value::List(all.optimality.iter().map(proof_value).collect())),
                ("path", all.path.as_ref().map_or(Value::Null, path_value)),
            ]
            .map(|(name, value)| (name.to_string(), value)),
        );
        parts
    }

    /// Puts a model together from its parts, which may come from anywhere: names, shapes,
    /// finiteness and lengths are checked first.
    pub fn from_parts(parts: &Parts) -> Result<SparsePcaModel> {
        let parts = &*parts.upgraded()?;
        parts.method_of(&["sparse-pca"])?;
        parts.check_names(&[&ARRAYS[..], &STANDARDIZATION[..]].concat())?;
        let entries = parts.entries();
        let components = components(parts)?;
        let (k, d) = components.dim();
        let total = entries.number("total")?;
        if total < 0.0 {
            return entries.must_be("total", "at least 0");
        }
        let center = entries.flag("center")?;
        let n_samples = entries.optional_number("n_samples")?;
        if n_samples.is_some_and(|n| n <= 1.0) {
            return entries.must_be("n_samples", "more than 1");
        }
        let projection = match entries.text("projection")? {
            "least-squares" => Projection::LeastSquares,
            "product" => Projection::Product,
            _ => return entries.must_be("projection", "least-squares or product"),
        };
        let penalties = match parts.has("penalties") {
            true => Some(parts.bounds("penalties", k)?),
            false => None,
        };
        SparsePcaModel::new(SparseParts {
            core: records::core(parts, "sparse-pca", n_samples, d)?,
            scaler: scaler(parts, d, center)?,
            score_covariance: score_covariance(parts, k)?,
            components,
            projection,
            plain: not_negative(parts, "plain", k)?,
            total,
            center,
            penalties,
            objective: parts.any_length("objective")?,
            optimality: optimality(&entries, k)?,
            path: path(&entries, k)?,
            convergence: records::convergence(parts)?,
            threads: None,
        })
    }
}

fn components(parts: &Parts) -> Result<Array2<f64>> {
    let components = parts.matrix("components")?;
    let (k, d) = components.dim();
    if k == 0 || k > d {
        return wrong(
            "components",
            format!("has the shape {k} × {d}, but there must be 1 to {d} components"),
        );
    }
    for (j, row) in components.outer_iter().enumerate() {
        let length = row.dot(&row).sqrt();
        if length != 0.0 && (length - 1.0).abs() > UNIT {
            return wrong("components", format!("has length {length} in row {j}, not 1 or 0"));
        }
    }
    Ok(components)
}

fn score_covariance(parts: &Parts, k: usize) -> Result<Array2<f64>> {
    const NAME: &str = "score_covariance";
    let found = parts.matrix(NAME)?;
    if found.dim() != (k, k) {
        return wrong(NAME, format!("has the shape {:?}, but k is {k}", found.dim()));
    }
    let symmetric = found.indexed_iter().all(|((i, j), v)| *v == found[[j, i]]);
    if !symmetric || found.diag().iter().any(|v| *v < 0.0) {
        return wrong(NAME, "is no covariance".into());
    }
    Ok(found)
}

fn proof_value(of: &Optimality) -> Value {
    Value::map([
        ("value", Value::from(of.value)),
        ("upper_bound", of.upper_bound.into()),
        ("gap", of.gap.into()),
        ("nodes", of.nodes.into()),
        ("stopped_by", of.stopped_by.map(StoppedBy::name).into()),
    ])
}

fn optimality(entries: &Entries, k: usize) -> Result<Vec<Optimality>> {
    let all = maps(entries, "optimality")?;
    if !all.is_empty() && all.len() != k {
        return entries.must_be("optimality", "empty, or one for each component");
    }
    let one = |entries: &Entries| {
        // A number beyond the range is stored as null.
        let number = |name| Ok(entries.optional_number(name)?.unwrap_or(f64::INFINITY));
        let (value, upper_bound) = (number("value")?, number("upper_bound")?);
        if upper_bound < value {
            return entries.must_be("upper_bound", "at least the value");
        }
        let gap = entries.number("gap")?;
        if !(0.0..=1.0).contains(&gap) {
            return entries.must_be("gap", "between 0 and 1");
        }
        let stopped_by = match entries.get("stopped_by")? {
            Value::Null => None,
            _ => match entries.text("stopped_by")? {
                "time" => Some(StoppedBy::Time),
                "node" => Some(StoppedBy::Nodes),
                _ => return entries.must_be("stopped_by", "time or node"),
            },
        };
        Ok(Optimality { value, upper_bound, gap, nodes: entries.count("nodes")?, stopped_by })
    };
    all.iter().map(one).collect()
}

fn path_value(of: &SparsePath) -> Value {
    let points = of.points.iter().map(|point| {
        Value::map([
            ("penalties", Value::list(point.penalties.iter().copied())),
            ("n_non_zeros", Value::list(point.n_non_zeros.iter().copied())),
            ("adjusted_variance_ratio", Value::list(point.adjusted_variance_ratio.iter().copied())),
        ])
    });
    Value::map([
        ("points", Value::List(points.collect())),
        ("plain_variance_ratio", of.plain_variance_ratio.into()),
    ])
}

fn path(entries: &Entries, k: usize) -> Result<Option<SparsePath>> {
    if *entries.get("path")? == Value::Null {
        return Ok(None);
    }
    let path = entries.map("path")?;
    let point = |entries: &Entries| {
        let point = PathPoint {
            penalties: numbers(entries, "penalties")?,
            n_non_zeros: entries.counts("n_non_zeros")?,
            adjusted_variance_ratio: numbers(entries, "adjusted_variance_ratio")?,
        };
        let lengths = (point.n_non_zeros.len(), point.adjusted_variance_ratio.len());
        if lengths != (k, k) || ![0, k].contains(&point.penalties.len()) {
            return entries.must_be("n_non_zeros", "one number for each component");
        }
        Ok(point)
    };
    Ok(Some(SparsePath {
        points: maps(&path, "points")?.iter().map(point).collect::<Result<_>>()?,
        plain_variance_ratio: path.number("plain_variance_ratio")?,
    }))
}

/// A list of maps.
fn maps<'a>(entries: &Entries<'a>, name: &str) -> Result<Vec<Entries<'a>>> {
    let one = |(at, value): (usize, &'a Value)| match value {
        Value::Map(map) => Ok(Entries::new(&format!("{}.{at}", entries.path(name)), map)),
        _ => entries.must_be(name, "a list of maps"),
    };
    entries.list(name)?.iter().enumerate().map(one).collect()
}

/// A list of numbers; null is one beyond the range.
fn numbers(entries: &Entries, name: &str) -> Result<Vec<f64>> {
    let one = |value: &Value| match value {
        Value::Number(number) if number.is_finite() => Ok(*number),
        Value::Integer(number) => Ok(*number as f64),
        Value::Null => Ok(f64::INFINITY),
        _ => entries.must_be(name, "a list of numbers"),
    };
    entries.list(name)?.iter().map(one).collect()
}
