//! A mixture taken apart and put together.

use super::ppca::{TRACE, put_record, record};
use super::{Parts, Value, linear, records, wrong};
use crate::em::FactorGaussian;
use crate::error::Result;
use crate::model::PpcaMixtureModel;
use ndarray::Array1;

impl PpcaMixtureModel {
    /// Everything the model is made of. [`PpcaMixtureModel::from_parts`] gives the same model back.
    pub fn to_parts(&self) -> Parts {
        let mut parts = Parts::new("ppca-mixture");
        for (c, part) in self.parts.iter().enumerate() {
            if part.k() > 0 {
                parts.put_matrix(&format!("part.{c}.weights"), &part.w);
            }
            parts.put(&format!("part.{c}.mean"), &part.mean.to_vec());
        }
        parts.put("shares", &self.shares());
        parts.put("noises", &self.parts.iter().map(|p| p.noise).collect::<Vec<_>>());
        linear::put_scaler(&mut parts, &self.scaler);
        put_record(&mut parts, Some(&self.em));
        records::put_plan(&mut parts, &self.core.plan);
        records::put_core(&mut parts, &self.core);
        parts.description.extend(
            [
                ("n_parts", Value::from(self.n_parts())),
                ("latent_dimension", self.latent_dimension().into()),
                ("n_samples", self.core.n_samples.into()),
                ("log_likelihood", self.log_likelihood.into()),
            ]
            .map(|(name, value)| (name.to_string(), value)),
        );
        parts
    }

    /// Puts a model together from its parts, which may come from anywhere: everything is checked.
    pub fn from_parts(parts: &Parts) -> Result<PpcaMixtureModel> {
        let parts = &*parts.upgraded()?;
        parts.method_of(&["ppca-mixture"])?;
        let entries = parts.entries();
        let (count, k) = (entries.count("n_parts")?, entries.count("latent_dimension")?);
        let shares = parts.vector("shares", count)?;
        let noises = parts.vector("noises", count)?;
        let sound = |v: &f64| *v > 0.0;
        if count == 0
            || !shares.iter().all(sound)
            || (shares.iter().sum::<f64>() - 1.0).abs() > 1e-6
        {
            return wrong("shares", "must be above 0 and sum to 1".into());
        }
        if !noises.iter().all(sound) {
            return wrong("noises", "must be above 0".into());
        }
        let d = parts.any_length("mean")?.len();
        if d == 0 || k > d {
            return entries.must_be("latent_dimension", "at most the number of features");
        }
        let mut names = vec!["shares".to_string(), "noises".into(), TRACE.into()];
        names.extend(linear::STANDARDIZATION.map(String::from));
        let mut all = Vec::with_capacity(count);
        for c in 0..count {
            let (weights, mean) = (format!("part.{c}.weights"), format!("part.{c}.mean"));
            let w = if k > 0 { parts.matrix(&weights)? } else { ndarray::Array2::zeros((d, 0)) };
            if w.dim() != (d, k) {
                return wrong(
                    &weights,
                    format!("has the shape {:?}, but it must be {d} × {k}", w.dim()),
                );
            }
            all.push(FactorGaussian {
                w,
                mean: Array1::from(parts.vector(&mean, d)?),
                noise: noises[c],
                share: shares[c],
                prior: None,
            });
            names.extend([weights, mean]);
        }
        parts.check_names(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
        let n_samples = entries.number("n_samples")?;
        if n_samples <= 1.0 {
            return entries.must_be("n_samples", "more than 1");
        }
        let Some(em) = record(parts, &entries)? else {
            return entries.must_be("em", "a record of the iteration");
        };
        Ok(PpcaMixtureModel {
            core: records::core(parts, "ppca-mixture", Some(n_samples), d)?,
            scaler: linear::scaler(parts, d, true)?,
            parts: all,
            log_likelihood: entries.number("log_likelihood")?,
            em,
            threads: None,
        })
    }
}
