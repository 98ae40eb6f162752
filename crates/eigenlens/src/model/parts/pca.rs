//! A linear model taken apart and put together.

use super::linear::{STANDARDIZATION, components, descending, not_negative, put_scaler, scaler};
use super::{Array, Numbers, Parts, records, wrong};
use crate::error::Result;
use crate::model::{Divisor, LinearMap, PcaModel, PcaParts};

const ARRAYS: [&str; 4] = ["components", "values", "column_variances", "spectrum"];

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
        if all.divisor == Divisor::Samples {
            parts.description.insert("ddof".into(), 0usize.into());
        }
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
        let known = [&ARRAYS[..], &STANDARDIZATION[..], &records::ARRAYS[..], more].concat();
        parts.check_names(&known)?;
        let entries = parts.entries();
        let components = components(parts)?;
        let (k, d) = components.dim();
        let rank = entries.count("rank")?;
        let values = descending(parts, "values", k, rank)?;
        let total = entries.number("total")?;
        if total < values.iter().sum::<f64>() * (1.0 - 1e-3) {
            return entries.must_be("total", "at least the sum of the variances kept");
        }
        let center = entries.flag("center")?;
        let n_samples = entries.optional_number("n_samples")?;
        if n_samples.is_some_and(|n| n <= 1.0) {
            return entries.must_be("n_samples", "more than 1");
        }
        let divisor = match parts.description.get("ddof") {
            None => Divisor::Unbiased,
            Some(_) if entries.number("ddof")? == 0.0 => Divisor::Samples,
            Some(_) => return entries.must_be("ddof", "0 where it is said"),
        };
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
            divisor,
            certificate: records::certificate(parts, k)?,
            convergence: records::convergence(parts)?,
            tolerance,
        }))
    }
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
