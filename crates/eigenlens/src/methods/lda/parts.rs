//! A linear discriminant analysis taken apart and put together.

use super::Pooling;
use super::model::{LdaModel, LdaParts, WithinRecord};
use crate::error::Result;
use crate::model::LinearMap;
use crate::model::parts::{
    Parts, STANDARDIZATION, Value, descending, not_negative, put_scaler, records, scaler, wrong,
};
use crate::solver::Convergence;
use ndarray::Array2;

const METHOD: &str = "lda";

const ARRAYS: [&str; 10] = [
    "components",
    "scales",
    "values",
    "class_offsets",
    "class_weights",
    "centroids",
    "priors",
    "shrinkage",
    "covariance",
    "mean",
];

/// Lengths of components and sums of priors are 1 to this.
const ONE: f64 = 1e-8;

impl LdaModel {
    /// Everything the model is made of. [`LdaModel::from_parts`] gives the same model back: its scores
    /// agree to the last bit.
    pub fn to_parts(&self) -> Parts {
        let all = self.parts();
        let mut parts = Parts::new(METHOD);
        parts.put_matrix("components", &all.map.components);
        parts.put("scales", &all.scales);
        parts.put("values", &all.values);
        parts.put_matrix("class_offsets", &all.class_offsets);
        parts.put("class_weights", &all.class_weights);
        parts.put("priors", &all.priors);
        parts.put("shrinkage", &all.within.intensities);
        if all.map.rank > 0 {
            parts.put_matrix("centroids", &all.centroids);
        }
        if let Some(covariance) = &all.covariance {
            parts.put_matrix("covariance", covariance);
        }
        put_scaler(&mut parts, &all.map.scaler);
        let direct = Convergence { converged: true, ..Convergence::default() };
        records::put(&mut parts, &all.certificate, &direct, &all.core.plan);
        records::put_core(&mut parts, &all.core);
        let pooling = Pooling::NAMES.iter().find(|(_, known)| *known == all.pooling);
        let pooling = pooling.map_or("samples", |(name, _)| *name);
        parts.description.extend(
            [
                ("rank", all.map.rank.into()),
                ("n_components", all.n_components.into()),
                ("n_samples", all.core.n_samples.into()),
                ("classes", Value::list(&all.classes)),
                ("within_rank", all.within.rank.into()),
                ("projected", all.within.projected.into()),
                ("given", all.within.given.into()),
                ("pooling", pooling.into()),
                ("center", all.center.into()),
                ("tolerance", all.tolerance.into()),
            ]
            .map(|(name, value): (&str, Value)| (name.to_string(), value)),
        );
        parts
    }

    /// Puts a model together from its parts, which may come from anywhere: everything is checked.
    pub fn from_parts(parts: &Parts) -> Result<LdaModel> {
        let parts = &*parts.upgraded()?;
        parts.method_of(&[METHOD])?;
        parts.check_names(&[&ARRAYS[..], &STANDARDIZATION[..], &records::ARRAYS[..]].concat())?;
        let entries = parts.entries();
        let components = unit_rows(parts)?;
        let (rows, d) = components.dim();
        let rank = entries.count("rank")?;
        let n_components = entries.count("n_components")?;
        if n_components == 0 || n_components > rows || rows != rank.max(n_components) {
            return entries.must_be("n_components", "as many as there are components, or fewer");
        }
        let n_samples = entries.number("n_samples")?;
        let tolerance = entries.number("tolerance")?;
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return entries.must_be("tolerance", "between 0 and 1");
        }
        let classes = entries.texts("classes")?;
        let c = classes.len();
        if c < 2 || rank >= c || n_samples <= c as f64 {
            return entries.must_be("classes", "more than `rank`, and fewer than samples");
        }
        records::convergence(parts)?;
        Ok(LdaModel::assemble(LdaParts {
            core: records::core(parts, METHOD, Some(n_samples), d)?,
            values: descending(parts, "values", rows, rank)?,
            scales: scales(parts, rows, rank)?,
            map: LinearMap { scaler: scaler(parts, d, true)?, components, rank, threads: None },
            n_components,
            class_weights: above_0(parts, "class_weights", c)?,
            priors: priors(parts, c)?,
            class_offsets: matrix(parts, "class_offsets", (c, d))?,
            centroids: match rank {
                0 => Array2::zeros((c, 0)),
                rank => matrix(parts, "centroids", (c, rank))?,
            },
            classes,
            within: within(parts, c, d)?,
            pooling: pooling(parts)?,
            center: entries.flag("center")?,
            covariance: match parts.has("covariance") {
                true => Some(matrix(parts, "covariance", (d, d))?),
                false => None,
            },
            certificate: records::certificate(parts, n_components)?,
            tolerance,
        }))
    }
}

fn unit_rows(parts: &Parts) -> Result<Array2<f64>> {
    let components = parts.matrix("components")?;
    let (rows, d) = components.dim();
    if rows > d {
        let reason = format!("has the shape {rows} × {d}, but there must be 1 to {d} components");
        return wrong("components", reason);
    }
    let off = |row: ndarray::ArrayView1<f64>| (row.dot(&row).sqrt() - 1.0).abs() > ONE;
    match components.rows().into_iter().position(off) {
        Some(at) => wrong("components", format!("has row {at}, which is not of length 1")),
        None => Ok(components),
    }
}

/// As many above 0 as there are discriminants.
fn scales(parts: &Parts, rows: usize, rank: usize) -> Result<Vec<f64>> {
    let scales = not_negative(parts, "scales", rows)?;
    match scales.iter().enumerate().find(|(j, scale)| (**scale > 0.0) != (*j < rank)) {
        Some((at, scale)) => wrong("scales", format!("is {scale} at position {at}")),
        None => Ok(scales),
    }
}

fn above_0(parts: &Parts, name: &str, length: usize) -> Result<Vec<f64>> {
    let values = parts.vector(name, length)?;
    match values.iter().position(|v| *v <= 0.0) {
        Some(at) => wrong(name, format!("is {} at position {at}, but above 0", values[at])),
        None => Ok(values),
    }
}

fn priors(parts: &Parts, c: usize) -> Result<Vec<f64>> {
    let priors = above_0(parts, "priors", c)?;
    let sum: f64 = priors.iter().sum();
    if (sum - 1.0).abs() > ONE {
        return wrong("priors", format!("sums to {sum}, but it must sum to 1"));
    }
    Ok(priors)
}

fn matrix(parts: &Parts, name: &str, shape: (usize, usize)) -> Result<Array2<f64>> {
    let matrix = parts.matrix(name)?;
    if matrix.dim() != shape {
        let (found, expected) = (matrix.dim(), shape);
        return wrong(name, format!("has the shape {found:?}, but {expected:?} belongs there"));
    }
    Ok(matrix)
}

fn pooling(parts: &Parts) -> Result<Pooling> {
    let entries = parts.entries();
    let name = entries.text("pooling")?;
    match Pooling::NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, pooling)) => Ok(*pooling),
        None => entries.must_be("pooling", "samples, likelihood or priors"),
    }
}

fn within(parts: &Parts, c: usize, d: usize) -> Result<WithinRecord> {
    let entries = parts.entries();
    let rank = entries.count("within_rank")?;
    let projected = match entries.get("projected")? {
        Value::Null => None,
        _ => Some(entries.count("projected")?),
    };
    if rank > projected.unwrap_or(d) {
        return entries.must_be("within_rank", "at most the number of features");
    }
    let intensities = parts.any_length("shrinkage")?;
    let number = [0, 1, c].contains(&intensities.len());
    if !number || intensities.iter().any(|alpha| !(0.0..=1.0).contains(alpha)) {
        return wrong("shrinkage", "must hold shares: none, one, or one for each class".into());
    }
    Ok(WithinRecord { rank, intensities, projected, given: entries.flag("given")? })
}
