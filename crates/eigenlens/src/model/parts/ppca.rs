//! A probabilistic PCA taken apart and put together: the parts of its PCA, and a few more.

use super::{Entries, Parts, Value, wrong};
use crate::error::Result;
use crate::model::ppca::EmRecord;
use crate::model::{PcaModel, PpcaModel};

pub(super) const TRACE: &str = "em.trace";
const RELEVANCE: &str = "relevance";

impl PpcaModel {
    /// Everything the model is made of. [`PpcaModel::from_parts`] gives the same model back: its
    /// scores agree to the last bit.
    pub fn to_parts(&self) -> Parts {
        let mut parts = self.body.to_parts();
        put_record(&mut parts, self.em.as_ref());
        if let Some(relevance) = &self.relevance {
            parts.put(RELEVANCE, relevance);
        }
        parts.description.extend(
            [
                ("noise", Value::from(self.noise)),
                ("log_likelihood", self.log_likelihood.into()),
                ("bayesian", self.relevance.is_some().into()),
            ]
            .map(|(name, value)| (name.to_string(), value)),
        );
        parts
    }

    /// Puts a model together from its parts, which may come from anywhere: everything is checked.
    pub fn from_parts(parts: &Parts) -> Result<PpcaModel> {
        let methods = ["ppca", "bayesian-pca"];
        let body = PcaModel::body_from_parts(parts, &methods, &[TRACE, RELEVANCE])?;
        let entries = parts.entries();
        let noise = entries.number("noise")?;
        if noise < 0.0 {
            return entries.must_be("noise", "at least 0");
        }
        if body.n_samples().is_none() {
            return entries.must_be("n_samples", "a number");
        }
        if !entries.flag("center")? {
            return entries.must_be("center", "true");
        }
        let relevance = match entries.flag("bayesian")? {
            true if parts.has(RELEVANCE) => {
                Some(parts.vector(RELEVANCE, parts.any_length(RELEVANCE)?.len())?)
            }
            true => Some(Vec::new()),
            false if parts.has(RELEVANCE) => {
                return wrong(RELEVANCE, "belongs to a Bayesian model only".into());
            }
            false => None,
        };
        if relevance.as_ref().is_some_and(|r| r.len() > body.n_components()) {
            return wrong(RELEVANCE, "has more entries than there are components".into());
        }
        Ok(PpcaModel {
            body,
            noise,
            log_likelihood: entries.optional_number("log_likelihood")?,
            em: record(parts, &entries)?,
            relevance,
        })
    }
}

/// Writes down how an iteration went.
pub(super) fn put_record(parts: &mut Parts, em: Option<&EmRecord>) {
    let value = em.map(|em| {
        parts.put(TRACE, &em.trace);
        Value::map([
            ("iterations", Value::from(em.iterations)),
            ("change", em.change.into()),
            ("converged", em.converged.into()),
        ])
    });
    parts.description.insert("em".into(), value.unwrap_or(Value::Null));
}

/// How an iteration went.
pub(super) fn record(parts: &Parts, entries: &Entries) -> Result<Option<EmRecord>> {
    if *entries.get("em")? == Value::Null {
        return if parts.has(TRACE) {
            wrong(TRACE, "belongs to an iteration only".into())
        } else {
            Ok(None)
        };
    }
    let em = entries.map("em")?;
    let trace = parts.any_length(TRACE)?;
    if trace.is_empty() || trace.windows(2).any(|w| w[1] < w[0]) {
        return wrong(TRACE, "must hold numbers that never fall".into());
    }
    Ok(Some(EmRecord {
        trace,
        iterations: em.count("iterations")?,
        change: em.optional_number("change")?.unwrap_or(f64::INFINITY),
        converged: em.flag("converged")?,
    }))
}
