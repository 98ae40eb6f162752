//! What models of linear maps store alike: components, standardisation, values in order.

use super::{Parts, Value, wrong};
use crate::error::Result;
use crate::passes::Scaler;
use crate::solver::certificate;
use ndarray::Array2;

/// Components are orthonormal to this; a fit is so to about 1e-15.
const ORTHONORMAL: f64 = 1e-8;

/// Orthonormal rows.
pub(crate) fn components(parts: &Parts) -> Result<Array2<f64>> {
    let components = parts.matrix("components")?;
    let (k, d) = components.dim();
    if k == 0 || k > d {
        return wrong(
            "components",
            format!("has the shape {k} × {d}, but there must be 1 to {d} components"),
        );
    }
    let off = certificate::orthogonality(components.t().as_standard_layout().view());
    if off > ORTHONORMAL {
        return wrong(
            "components",
            format!("is not orthonormal: products of rows are off by {off:.1e}"),
        );
    }
    Ok(components)
}

/// Descending values, as many above 0 as components carry something.
pub(crate) fn descending(parts: &Parts, name: &str, k: usize, rank: usize) -> Result<Vec<f64>> {
    let values = not_negative(parts, name, k)?;
    if let Some(at) = values.windows(2).position(|pair| pair[0] < pair[1]) {
        return wrong(name, format!("rises after position {at}, but it must descend"));
    }
    let carrying = values.iter().filter(|v| **v > 0.0).count();
    if carrying != rank {
        return wrong("rank", format!("is {rank}, but {carrying} of `{name}` are above 0"));
    }
    Ok(values)
}

/// The arrays of a standardisation.
pub(crate) const STANDARDIZATION: [&str; 6] =
    ["mean", "mean_lo", "inv_scale", "scale", "column_exponents", "constant_columns"];

/// Writes down what is subtracted and multiplied before anything else.
pub(crate) fn put_scaler(parts: &mut Parts, scaler: &Scaler) {
    parts.put("mean", &scaler.mean_hi);
    parts.put("mean_lo", &scaler.mean_lo);
    parts.put("inv_scale", &scaler.inv_scale);
    parts.put_whole("constant_columns", scaler.constant.iter().map(|&f| f as i64));
    if let Some(scale) = &scaler.scale {
        parts.put("scale", scale);
    }
    if let Some(exponents) = &scaler.column_exponents {
        parts.put_whole("column_exponents", exponents.iter().map(|&e| i64::from(e)));
    }
    parts.description.insert("exponent".into(), Value::Integer(i64::from(scaler.exponent)));
}

pub(crate) fn scaler(parts: &Parts, d: usize, center: bool) -> Result<Scaler> {
    let mean = parts.vector("mean", d)?;
    let low = parts.vector("mean_lo", d)?;
    if !center && mean.iter().chain(&low).any(|m| *m != 0.0) {
        return wrong("mean", "is not 0, but the model does not centre".into());
    }
    let scale = if parts.has("scale") { Some(not_negative(parts, "scale", d)?) } else { None };
    if let Some(at) = scale.iter().flatten().position(|s| *s == 0.0) {
        return wrong("scale", format!("is 0 at position {at}, but it must be above 0"));
    }
    let entries = parts.entries();
    let exponent = entries.integer("exponent")?;
    if !(-1000..=1000).contains(&exponent) {
        return entries.must_be("exponent", "between -1000 and 1000");
    }
    let constant: Vec<usize> = parts
        .whole("constant_columns")?
        .iter()
        .map(|&f| usize::try_from(f).unwrap_or(usize::MAX))
        .collect();
    if constant.iter().any(|&f| f >= d) || constant.windows(2).any(|pair| pair[0] >= pair[1]) {
        return wrong("constant_columns", format!("must rise and stay below {d}"));
    }
    Ok(Scaler {
        mean_hi: mean,
        mean_lo: low,
        inv_scale: not_negative(parts, "inv_scale", d)?,
        column_exponents: column_exponents(parts, d)?,
        scale,
        exponent: exponent as i32,
        constant,
    })
}

fn column_exponents(parts: &Parts, d: usize) -> Result<Option<Vec<i32>>> {
    const NAME: &str = "column_exponents";
    if !parts.has(NAME) {
        return Ok(None);
    }
    let found = parts.whole(NAME)?;
    if found.len() != d || found.iter().any(|e| !(-1200..=1200).contains(e)) {
        return wrong(NAME, format!("must hold {d} numbers between -1200 and 1200"));
    }
    Ok(Some(found.iter().map(|&e| e as i32).collect()))
}

pub(crate) fn not_negative(parts: &Parts, name: &str, length: usize) -> Result<Vec<f64>> {
    let values = parts.vector(name, length)?;
    match values.iter().position(|v| *v < 0.0) {
        Some(at) => wrong(name, format!("is {} at position {at}, but at least 0", values[at])),
        None => Ok(values),
    }
}
