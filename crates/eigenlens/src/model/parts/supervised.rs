//! A supervised PCA taken apart and put together.

use super::linear::{STANDARDIZATION, components, descending, not_negative, put_scaler, scaler};
use super::{Parts, Value, records};
use crate::error::Result;
use crate::model::{LinearMap, SupervisedParts, SupervisedPcaModel, TargetRecord};

const METHOD: &str = "supervised-pca";

const ARRAYS: [&str; 4] = ["components", "values", "hsic", "variances"];

impl SupervisedPcaModel {
    /// Everything the model is made of. [`SupervisedPcaModel::from_parts`] gives the same model
    /// back: its scores agree to the last bit.
    pub fn to_parts(&self) -> Parts {
        let all = self.parts();
        let mut parts = Parts::new(METHOD);
        parts.put_matrix("components", &all.map.components);
        parts.put("values", &all.values);
        parts.put("hsic", &all.hsic);
        parts.put("variances", &all.variances);
        put_scaler(&mut parts, &all.map.scaler);
        records::put(&mut parts, &all.certificate, &all.convergence, &all.core.plan);
        records::put_core(&mut parts, &all.core);
        put_target(&mut parts, &all.target);
        parts.description.extend(
            [
                ("rank", all.map.rank.into()),
                ("total", all.total.into()),
                ("total_hsic", all.total_hsic.into()),
                ("n_samples", all.core.n_samples.into()),
                ("center", all.center.into()),
                ("supervision", all.supervision.into()),
                ("tolerance", all.tolerance.into()),
            ]
            .map(|(name, value)| (name.to_string(), value)),
        );
        parts
    }

    /// Puts a model together from its parts, which may come from anywhere: everything is checked.
    pub fn from_parts(parts: &Parts) -> Result<SupervisedPcaModel> {
        let parts = &*parts.upgraded()?;
        parts.method_of(&[METHOD])?;
        parts.check_names(&[&ARRAYS[..], &STANDARDIZATION[..], &records::ARRAYS[..]].concat())?;
        let entries = parts.entries();
        let components = components(parts)?;
        let (k, d) = components.dim();
        let rank = entries.count("rank")?;
        let values = descending(parts, "values", k, rank)?;
        let center = entries.flag("center")?;
        let (total, total_hsic) = (entries.number("total")?, entries.number("total_hsic")?);
        let n_samples = entries.number("n_samples")?;
        if n_samples <= 1.0 {
            return entries.must_be("n_samples", "more than 1");
        }
        if total < 0.0 {
            return entries.must_be("total", "at least 0");
        }
        if total_hsic < 0.0 {
            return entries.must_be("total_hsic", "at least 0");
        }
        let supervision = entries.number("supervision")?;
        if !(0.0..=1.0).contains(&supervision) {
            return entries.must_be("supervision", "between 0 and 1");
        }
        let tolerance = entries.number("tolerance")?;
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return entries.must_be("tolerance", "between 0 and 1");
        }
        Ok(SupervisedPcaModel::assemble(SupervisedParts {
            core: records::core(parts, "supervised-pca", Some(n_samples), d)?,
            map: LinearMap { scaler: scaler(parts, d, center)?, components, rank, threads: None },
            values,
            hsic: not_negative(parts, "hsic", k)?,
            total_hsic,
            variances: not_negative(parts, "variances", k)?,
            total,
            center,
            supervision,
            target: target(parts)?,
            certificate: records::certificate(parts, k)?,
            convergence: records::convergence(parts)?,
            tolerance,
        }))
    }
}

pub(super) fn put_target(parts: &mut Parts, of: &TargetRecord) {
    let classes = of.classes.as_ref().map(Value::list);
    let target = Value::map([
        ("kernel", Value::from(&of.kernel)),
        ("gamma", of.gamma.into()),
        ("classes", classes.unwrap_or(Value::Null)),
        ("rank", of.rank.into()),
        ("factor_width", of.factor_width.into()),
        ("trace_error", of.trace_error.into()),
        ("labelled", of.labelled.into()),
    ]);
    parts.description.insert("target".into(), target);
}

pub(super) fn target(parts: &Parts) -> Result<TargetRecord> {
    let entries = parts.entries().map("target")?;
    let kernel = entries.text("kernel")?;
    if !["delta", "linear", "gaussian", "given"].contains(&kernel) {
        return entries.must_be("kernel", "delta, linear, gaussian or given");
    }
    let gamma = entries.optional_number("gamma")?;
    if gamma.is_some_and(|g| g <= 0.0) {
        return entries.must_be("gamma", "above 0");
    }
    let trace_error = entries.number("trace_error")?;
    if !(0.0..=1.0).contains(&trace_error) {
        return entries.must_be("trace_error", "between 0 and 1");
    }
    Ok(TargetRecord {
        kernel: kernel.into(),
        gamma,
        classes: match entries.get("classes")? {
            Value::Null => None,
            _ => Some(entries.texts("classes")?),
        },
        rank: entries.count("rank")?,
        factor_width: entries.count("factor_width")?,
        trace_error,
        labelled: entries.count("labelled")?,
    })
}
