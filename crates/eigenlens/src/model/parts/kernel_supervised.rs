//! A kernel supervised PCA taken apart and put together.

use super::kernel_pca::{body, check_storable, kernel, put_points};
use super::linear::{descending, not_negative};
use super::supervised::{put_target, target};
use super::{Parts, Value, records, wrong};
use crate::error::Result;
use crate::model::kernel_summary::kernel_value;
use crate::model::{KernelBody, KernelSupervisedParts, KernelSupervisedPcaModel};

const METHOD: &str = "kernel-supervised-pca";

const ARRAYS: [&str; 11] = [
    "values",
    "hsic",
    "variances",
    "points",
    "point_starts",
    "point_columns",
    "point_values",
    "shift",
    "dual_coefficients",
    "offsets",
    "center",
];

impl KernelSupervisedPcaModel {
    /// Everything the model is made of; an error for a custom kernel, which is a function and not
    /// data. [`KernelSupervisedPcaModel::from_parts`] gives the same model back: its scores agree
    /// to the last bit.
    pub fn to_parts(&self) -> Result<Parts> {
        check_storable(self.kernel())?;
        let all = self.parts();
        let mut parts = Parts::new(METHOD);
        parts.put("values", &all.values);
        parts.put("hsic", &all.hsic);
        parts.put("variances", &all.variances);
        let form = put_points(&mut parts, &all.map);
        records::put(&mut parts, &all.certificate, &all.convergence, &all.core.plan);
        records::put_core(&mut parts, &all.core);
        put_target(&mut parts, &all.target);
        parts.description.extend(
            [
                ("body", Value::from(form)),
                ("kernel", kernel_value(self.kernel())),
                ("total", all.total.into()),
                ("total_hsic", all.total_hsic.into()),
                ("n_samples", all.core.count().into()),
                ("n_features", all.n_features.into()),
                ("center", all.center.into()),
                ("tolerance", all.tolerance.into()),
            ]
            .map(|(name, value)| (name.to_string(), value)),
        );
        Ok(parts)
    }

    /// Puts a model together from its parts, which may come from anywhere: everything is checked.
    pub fn from_parts(parts: &Parts) -> Result<KernelSupervisedPcaModel> {
        let parts = &*parts.upgraded()?;
        parts.method_of(&[METHOD])?;
        parts.check_names(&[&ARRAYS[..], &records::ARRAYS[..]].concat())?;
        let entries = parts.entries();
        let k = parts.any_length("values")?.len();
        if k == 0 {
            return wrong("values", "is empty".into());
        }
        let rank = parts.any_length("values")?.iter().filter(|v| **v > 0.0).count();
        let values = descending(parts, "values", k, rank)?;
        let (n_samples, d) = (entries.count("n_samples")?, entries.count("n_features")?);
        if n_samples < 2 {
            return entries.must_be("n_samples", "at least 2");
        }
        let (total, total_hsic) = (entries.number("total")?, entries.number("total_hsic")?);
        if total < 0.0 {
            return entries.must_be("total", "at least 0");
        }
        if total_hsic < 0.0 {
            return entries.must_be("total_hsic", "at least 0");
        }
        let tolerance = entries.number("tolerance")?;
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return entries.must_be("tolerance", "between 0 and 1");
        }
        let kernel = kernel(&entries.map("kernel")?)?;
        let KernelBody::Points(map) = body(parts, kernel, d, k)? else {
            return entries.must_be("body", "a form of points");
        };
        if map.projection.points.len() != n_samples {
            return entries.must_be("n_samples", "the number of points");
        }
        Ok(KernelSupervisedPcaModel::assemble(KernelSupervisedParts {
            core: records::core(parts, "kernel-supervised-pca", Some(n_samples as f64), d)?,
            map,
            values,
            hsic: not_negative(parts, "hsic", k)?,
            total_hsic,
            variances: not_negative(parts, "variances", k)?,
            total,
            n_features: d,
            center: entries.flag("center")?,
            target: target(parts)?,
            certificate: records::certificate(parts, k)?,
            convergence: records::convergence(parts)?,
            tolerance,
        }))
    }
}
