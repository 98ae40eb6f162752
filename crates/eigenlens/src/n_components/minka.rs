//! Minka's rule: the largest Laplace evidence of probabilistic PCA; the equations are in `ppca.rs`.
//!
//! Source: Minka, *Automatic choice of dimensionality for PCA*, NIPS 13 (2000).
//! Needs: the full spectrum of centred data.

use super::ppca::Model;
use super::rule::{Question, RuleSpec};
use super::{Found, Need, Reason};

pub(super) const RULE: RuleSpec = RuleSpec {
    need: |_| Need::FullSpectrum,
    // A Gaussian model about 0 says nothing of the uncentred first component, which is mostly the mean.
    assumes_centered: true,
    ..RuleSpec::of_head("minka", choose)
};

fn choose(asked: &Question) -> Result<Found, Reason> {
    let model = Model::new(asked.known)?;
    Ok(model.found("log_evidence", model.evidence(), |a, b| a > b))
}
