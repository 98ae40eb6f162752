//! A kernel model taken apart and put together.

use super::{Entries, Parts, Value, records, wrong};
use crate::error::{Error, Result};
use crate::kernel::{
    Arithmetic, ParameterKind, Points, Projection, RandomFeatures, ResolvedKernel, SparsePoints,
};
use crate::model::kernel_summary::{accuracy_value, kernel_value};
use crate::model::{
    FeatureMap, KernelAccuracy, KernelBody, KernelMap, KernelPcaModel, KernelPcaParts, NegativePart,
};

const ARRAYS: [&str; 14] = [
    "values",
    "points",
    "point_starts",
    "point_columns",
    "point_values",
    "shift",
    "dual_coefficients",
    "offsets",
    "center",
    "column_means",
    "frequencies",
    "phases",
    "feature_components",
    "feature_shift",
];

impl KernelPcaModel {
    /// Everything the model is made of; an error for a custom kernel, which is a function and not
    /// data. [`KernelPcaModel::from_parts`] gives the same model back: its scores agree to the last
    /// bit.
    pub fn to_parts(&self) -> Result<Parts> {
        check_storable(self.kernel())?;
        let all = self.parts();
        let mut parts = Parts::new(self.method());
        parts.put("values", &all.values);
        parts.put("column_means", &all.column_means);
        let body = match &all.body {
            KernelBody::Points(map) => put_points(&mut parts, map),
            KernelBody::Features(map) => {
                parts.put_matrix("frequencies", &map.features.frequencies);
                parts.put("phases", &map.features.phases);
                parts.put("feature_shift", &map.features.shift);
                parts.put_matrix("feature_components", &map.components);
                parts.put("offsets", &map.offsets);
                "features"
            }
        };
        records::put(&mut parts, &all.certificate, &all.convergence, &all.core.plan);
        records::put_core(&mut parts, &all.core);
        let negative = all.negative.map(|negative| {
            Value::map([
                ("share", Value::from(negative.share)),
                ("smallest", negative.smallest.into()),
                ("complete", negative.complete.into()),
            ])
        });
        parts.description.extend(
            [
                ("body", Value::from(body)),
                ("kernel", kernel_value(self.kernel())),
                ("accuracy", accuracy_value(&all.accuracy)),
                ("negative", negative.unwrap_or(Value::Null)),
                ("total", all.total.into()),
                ("mean", all.mean.into()),
                ("n_samples", all.core.count().into()),
                ("n_features", all.n_features.into()),
                ("tolerance", all.tolerance.into()),
            ]
            .map(|(name, value)| (name.to_string(), value)),
        );
        Ok(parts)
    }

    /// Puts a model together from its parts, which may come from anywhere: names, shapes,
    /// finiteness and order are checked first.
    pub fn from_parts(parts: &Parts) -> Result<KernelPcaModel> {
        let parts = &*parts.upgraded()?;
        parts.method_of(&["kernel-pca"])?;
        parts.check_names(&[&ARRAYS[..], &records::ARRAYS[..]].concat())?;
        let entries = parts.entries();
        let values = parts.any_length("values")?;
        let k = values.len();
        let sound = values.windows(2).all(|pair| pair[0] >= pair[1]);
        if k == 0 || !sound || values.iter().any(|v| !v.is_finite() || *v < 0.0) {
            return wrong("values", "must hold numbers of at least 0 that descend".into());
        }
        let (n_samples, d) = (entries.count("n_samples")?, entries.count("n_features")?);
        if n_samples < 2 {
            return entries.must_be("n_samples", "at least 2");
        }
        let total = entries.number("total")?;
        let tolerance = entries.number("tolerance")?;
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return entries.must_be("tolerance", "between 0 and 1");
        }
        let kernel = kernel(&entries.map("kernel")?)?;
        let means = if parts.has("column_means") { n_samples } else { 0 };
        Ok(KernelPcaModel::assemble(KernelPcaParts {
            core: records::core(parts, "kernel-pca", Some(n_samples as f64), d)?,
            body: body(parts, kernel, d, k)?,
            values,
            total,
            n_features: d,
            column_means: parts.vector("column_means", means)?,
            mean: entries.number("mean")?,
            negative: negative(&entries)?,
            accuracy: accuracy(&entries.map("accuracy")?)?,
            certificate: records::certificate(parts, k)?,
            convergence: records::convergence(parts)?,
            tolerance,
        }))
    }
}

/// Refuses a kernel of one's own.
pub(super) fn check_storable(kernel: &ResolvedKernel) -> Result<()> {
    match kernel.custom() {
        Some(custom) => Err(Error::Unsupported {
            what: format!("a model with the custom kernel `{}`", custom.name()),
            why: "cannot be stored: a function is not data",
            instead: None,
        }),
        None => Ok(()),
    }
}

/// Puts the points and their coefficients, and says in what form.
pub(super) fn put_points(parts: &mut Parts, map: &KernelMap) -> &'static str {
    let Projection { points, coefficients, offsets, .. } = &map.projection;
    parts.put_matrix("dual_coefficients", coefficients);
    parts.put("offsets", offsets);
    parts.put("center", &map.center);
    parts.put("shift", points.shift());
    if points.is_absent() {
        return "precomputed";
    }
    if let Some(SparsePoints { starts, columns, values }) = points.sparse_parts() {
        parts.put_whole("point_starts", starts.iter().map(|&s| s as i64));
        parts.put_whole("point_columns", columns.iter().map(|&c| i64::from(c)));
        parts.put("point_values", values);
        return "sparse points";
    }
    parts.put_matrix("points", &points.kept_rows());
    if points.arithmetic() == Some(Arithmetic::F32) { "f32 points" } else { "f64 points" }
}

pub(super) fn body(
    parts: &Parts,
    kernel: ResolvedKernel,
    d: usize,
    k: usize,
) -> Result<KernelBody> {
    let entries = parts.entries();
    let form = entries.text("body")?;
    let offsets = parts.vector("offsets", k)?;
    if form == "features" {
        let frequencies = parts.matrix("frequencies")?;
        let components = parts.matrix("feature_components")?;
        let m = frequencies.ncols();
        if frequencies.nrows() != d || components.dim() != (m, k) {
            return wrong("frequencies", format!("must have {d} rows, and {k} components"));
        }
        if kernel.gaussian_gamma().is_none() {
            return entries.must_be("kernel", "the rbf kernel");
        }
        let features = RandomFeatures {
            kernel,
            frequencies,
            phases: parts.vector("phases", m)?,
            shift: parts.vector("feature_shift", d)?,
        };
        return Ok(KernelBody::Features(FeatureMap {
            features,
            components,
            offsets,
            threads: None,
        }));
    }
    let coefficients = parts.matrix("dual_coefficients")?;
    let (m, columns) = coefficients.dim();
    if columns != k {
        return wrong("dual_coefficients", format!("has {columns} columns, but {k} belong there"));
    }
    let shift = parts.vector("shift", if parts.has("shift") { d } else { 0 })?;
    let points = match form {
        "precomputed" if kernel.is_precomputed() && m == d => Points::absent(&kernel, m),
        "precomputed" => return entries.must_be("body", "that of a precomputed kernel"),
        "sparse points" => sparse(parts, &kernel, m, d, shift)?,
        "f32 points" | "f64 points" => {
            let rows = parts.matrix("points")?;
            if rows.dim() != (m, d) {
                return wrong("points", format!("has the shape {:?}, not {m} × {d}", rows.dim()));
            }
            let f32 = form == "f32 points";
            let arithmetic = if f32 { Arithmetic::F32 } else { Arithmetic::F64 };
            Points::from_kept(&kernel, &rows, shift, arithmetic)
        }
        _ => return entries.must_be("body", "a form of points"),
    };
    let center = parts.vector("center", m)?;
    let projection = Projection { kernel, points, coefficients, offsets };
    Ok(KernelBody::Points(KernelMap { projection, center, threads: None }))
}

fn sparse(
    parts: &Parts,
    kernel: &ResolvedKernel,
    m: usize,
    d: usize,
    shift: Vec<f64>,
) -> Result<Points> {
    let starts = parts.whole("point_starts")?;
    let columns = parts.whole("point_columns")?;
    let values = parts.vector("point_values", columns.len())?;
    let rises = starts.len() == m
        && starts.windows(2).all(|pair| pair[0] <= pair[1])
        && starts.first().is_none_or(|s| *s >= 0)
        && starts.last().is_none_or(|s| usize::try_from(*s) == Ok(values.len()));
    if !rises {
        return wrong("point_starts", format!("must rise to the number of values in {m} steps"));
    }
    if columns.iter().any(|c| usize::try_from(*c).map_or(true, |c| c >= d)) {
        return wrong("point_columns", format!("must lie between 0 and {d}"));
    }
    let rows = starts.iter().scan(0, |from, &end| {
        let range = *from..end as usize;
        *from = end as usize;
        Some(range)
    });
    let mut points = Points::empty_sparse(kernel, d, shift);
    for range in rows {
        if columns[range.clone()].windows(2).any(|pair| pair[0] >= pair[1]) {
            return wrong("point_columns", "must rise within a row".into());
        }
        points.push_sparse(&columns[range.clone()], &values[range]);
    }
    Ok(points)
}

pub(super) fn kernel(entries: &Entries) -> Result<ResolvedKernel> {
    let number = |name, kind| match kind {
        ParameterKind::Degree(_) => entries.count(name).map(|count| count as f64),
        _ => entries.number(name),
    };
    match ResolvedKernel::named(entries.text("name")?, number) {
        Ok(Some(kernel)) => Ok(kernel),
        Ok(None) => entries.must_be("name", "a kernel this version knows"),
        Err(e @ Error::Parameter { .. }) => wrong("kernel", e.to_string()),
        Err(e) => Err(e),
    }
}

fn accuracy(entries: &Entries) -> Result<KernelAccuracy> {
    Ok(match entries.text("kind")? {
        "exact" => KernelAccuracy::Exact,
        "nystrom" => KernelAccuracy::Nystrom {
            landmarks: entries.count("landmarks")?,
            trace_error: entries.number("trace_error")?,
            trace_error_share: entries.number("trace_error_share")?,
        },
        "random_features" => KernelAccuracy::RandomFeatures {
            features: entries.count("features")?,
            orthogonal: entries.flag("orthogonal")?,
            kernel_error: entries.number("kernel_error")?,
        },
        "subset" => {
            KernelAccuracy::Subset { samples: entries.count("samples")?, of: entries.count("of")? }
        }
        _ => return entries.must_be("kind", "a way to kernel PCA this version knows"),
    })
}

fn negative(entries: &Entries) -> Result<Option<NegativePart>> {
    if *entries.get("negative")? == Value::Null {
        return Ok(None);
    }
    let negative = entries.map("negative")?;
    Ok(Some(NegativePart {
        share: negative.number("share")?,
        smallest: negative.number("smallest")?,
        complete: negative.flag("complete")?,
    }))
}
