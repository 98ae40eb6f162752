//! Mixtures of probabilistic principal component analysers.

use super::{Fitted, Method, scores_of};
use crate::data::{AnyData, each};
use eigenlens::{Options, Plan, PpcaMixture};
use pyo3::prelude::*;

/// The wishes of a mixture: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct MixtureWishes {
    n_parts: usize,
    latent: usize,
    starts: usize,
    standardize: bool,
    /// Whether fewer parts are tried too, and the least BIC decides.
    best: bool,
}

impl MixtureWishes {
    fn configured(&self, options: Options) -> PpcaMixture {
        PpcaMixture::new(self.n_parts, self.latent)
            .starts(self.starts)
            .standardize(self.standardize)
            .options(options)
    }
}

impl Method for MixtureWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        let mixture = self.configured(options);
        let model = match self.best {
            true => each!(data, data => mixture.fit_best(data))?.best,
            false => each!(data, data => mixture.fit(data))?,
        };
        scores_of(Box::new(model), data, scores)
    }
}
