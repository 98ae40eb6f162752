//! The least BIC of probabilistic PCA; the equations are in `ppca.rs`.
//!
//! Source: Schwarz, *Annals of Statistics* 6 (1978).
//! Needs: the full spectrum of centred data.

use super::ppca::Model;
use super::rule::{Question, RuleSpec};
use super::{Found, Need, Reason};

pub(super) const RULE: RuleSpec = RuleSpec {
    need: |_| Need::FullSpectrum,
    // A Gaussian model about 0 says nothing of the uncentred first component, which is mostly the mean.
    assumes_centered: true,
    ..RuleSpec::of_head("bic", choose)
};

fn choose(asked: &Question) -> Result<Found, Reason> {
    let model = Model::new(asked.known)?;
    Ok(model.found("bic", model.bic(), |a, b| a < b))
}
