//! A linear model taken apart and put together.

use super::{Array, Numbers, Parts, Value, records, wrong};
use crate::error::Result;
use crate::model::{LinearMap, PcaModel, PcaParts};
use crate::passes::Scaler;
use crate::solver::certificate;
use ndarray::Array2;

/// Components are orthonormal to this; a fit is so to about 1e-15.
const ORTHONORMAL: f64 = 1e-8;

const ARRAYS: [&str; 10] = [
    "components",
    "values",
    "mean",
    "mean_lo",
    "inv_scale",
    "scale",
    "column_exponents",
    "constant_columns",
    "column_variances",
    "spectrum",
];

impl PcaModel {
    /// Everything the model is made of. [`PcaModel::from_parts`] gives the same model back: its
    /// scores agree to the last bit.
    pub fn to_parts(&self) -> Parts {
        let all = self.parts();
        let scaler = &all.map.scaler;
        let mut parts = Parts::new(all.core.method);
        parts.put_matrix("components", &all.map.components);
        parts.put("values", &all.values);
        parts.put("column_variances", &all.column_variances);
        put_scaler(&mut parts, scaler);
        if let Some(spectrum) = &all.spectrum {
            parts.put("spectrum", spectrum);
        }
        records::put(&mut parts, &all.certificate, &all.convergence, &all.core.plan);
        records::put_core(&mut parts, &all.core);
        parts.description.extend(
            [
                ("rank", all.map.rank.into()),
                ("total", all.total.into()),
                ("next_value", all.next_value.into()),
                ("n_samples", all.core.n_samples.into()),
                ("center", all.center.into()),
                ("whiten", all.whiten.into()),
                ("tolerance", all.tolerance.into()),
            ]
            .map(|(name, value)| (name.to_string(), value)),
        );
        parts
    }

    /// Puts a model together from its parts, which may come from anywhere: names, shapes,
    /// finiteness, order, signs and orthonormality are checked first.
    pub fn from_parts(parts: &Parts) -> Result<PcaModel> {
        PcaModel::body_from_parts(parts, &["pca", "lsa"], &[])
    }

    /// The same for a model of other methods whose body is a PCA, with arrays of its own.
    pub(super) fn body_from_parts(
        parts: &Parts,
        methods: &[&'static str],
        more: &[&str],
    ) -> Result<PcaModel> {
        let parts = &*parts.upgraded()?;
        let method = parts.method_of(methods)?;
        parts.check_names(&[&ARRAYS[..], &records::ARRAYS[..], more].concat())?;
        let entries = parts.entries();
        let components = components(parts)?;
        let (k, d) = components.dim();
        let rank = entries.count("rank")?;
        let values = values(parts, k, rank)?;
        let total = entries.number("total")?;
        if total < values.iter().sum::<f64>() * (1.0 - 1e-3) {
            return entries.must_be("total", "at least the sum of the variances kept");
        }
        let center = entries.flag("center")?;
        let n_samples = entries.optional_number("n_samples")?;
        if n_samples.is_some_and(|n| n <= 1.0) {
            return entries.must_be("n_samples", "more than 1");
        }
        let tolerance = entries.number("tolerance")?;
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return entries.must_be("tolerance", "between 0 and 1");
        }
        Ok(PcaModel::assemble(PcaParts {
            core: records::core(parts, method, n_samples, d)?,
            map: LinearMap { scaler: scaler(parts, d, center)?, components, rank, threads: None },
            values,
            total,
            column_variances: not_negative(parts, "column_variances", d)?,
            spectrum: spectrum(parts)?,
            next_value: entries.optional_number("next_value")?,
            center,
            whiten: entries.flag("whiten")?,
            certificate: records::certificate(parts, k)?,
            convergence: records::convergence(parts)?,
            tolerance,
        }))
    }
}

pub(super) fn components(parts: &Parts) -> Result<Array2<f64>> {
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

fn values(parts: &Parts, k: usize, rank: usize) -> Result<Vec<f64>> {
    let values = not_negative(parts, "values", k)?;
    if let Some(at) = values.windows(2).position(|pair| pair[0] < pair[1]) {
        return wrong("values", format!("rises after position {at}, but it must descend"));
    }
    let carrying = values.iter().filter(|v| **v > 0.0).count();
    if carrying != rank {
        let reason = format!("is {rank}, but {carrying} variances are above 0");
        return wrong("rank", reason);
    }
    Ok(values)
}

/// The arrays of a standardisation.
pub(super) const STANDARDIZATION: [&str; 6] =
    ["mean", "mean_lo", "inv_scale", "scale", "column_exponents", "constant_columns"];

/// Writes down what is subtracted and multiplied before anything else.
pub(super) fn put_scaler(parts: &mut Parts, scaler: &Scaler) {
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

pub(super) fn scaler(parts: &Parts, d: usize, center: bool) -> Result<Scaler> {
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

fn spectrum(parts: &Parts) -> Result<Option<Vec<f64>>> {
    const NAME: &str = "spectrum";
    let Some(Array { numbers: Numbers::F64(values), .. }) = parts.arrays.get(NAME) else {
        return if parts.has(NAME) { wrong(NAME, "must hold numbers".into()) } else { Ok(None) };
    };
    let values = parts.vector(NAME, values.len())?;
    match values.windows(2).position(|pair| pair[0] < pair[1]) {
        Some(at) => wrong(NAME, format!("rises after position {at}, but it must descend")),
        None => Ok(Some(values)),
    }
}

pub(super) fn feature_names(parts: &Parts, d: usize) -> Result<Vec<String>> {
    let names = parts.entries().texts("feature_names")?;
    if names.len() != d {
        let reason = format!("holds {} names, but there are {d} features", names.len());
        return wrong("feature_names", reason);
    }
    Ok(names)
}

pub(super) fn not_negative(parts: &Parts, name: &str, length: usize) -> Result<Vec<f64>> {
    let values = parts.vector(name, length)?;
    match values.iter().position(|v| *v < 0.0) {
        Some(at) => wrong(name, format!("is {} at position {at}, but at least 0", values[at])),
        None => Ok(values),
    }
}
