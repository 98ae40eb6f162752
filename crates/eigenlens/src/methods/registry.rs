//! Every method there is. Command line, Python package, model files, pages and tests read this table.

use super::estimator::Method;
use super::{
    bayesian, isomap, kernel_pca, kernel_supervised_pca, laplacian, lda, lle, lsa, mds, mixture,
    pca, ppca, sparse_pca, supervised_pca,
};
use crate::error::Result;
use crate::model::Model;
use crate::model::parts::{Parts, wrong};

/// Every method: a new one is its file and a row here.
pub static METHODS: &[&Method] = &[
    &pca::METHOD,
    &lsa::METHOD,
    &ppca::METHOD,
    &bayesian::METHOD,
    &mixture::METHOD,
    &sparse_pca::METHOD,
    &kernel_pca::METHOD,
    &supervised_pca::METHOD,
    &kernel_supervised_pca::METHOD,
    &lda::METHOD,
    &mds::METHOD,
    &isomap::METHOD,
    &laplacian::METHOD,
    &lle::METHOD,
];

impl Method {
    /// The method of this name.
    pub fn named(name: &str) -> Option<&'static Method> {
        METHODS.iter().copied().find(|method| method.name == name)
    }
}

/// Puts a model of any method together from its parts, which may come from anywhere: everything is
/// checked first.
pub fn from_parts(parts: &Parts) -> Result<Box<dyn Model>> {
    let parts = &*parts.upgraded()?;
    match Method::named(&parts.method) {
        Some(method) => (method.load)(parts),
        None => {
            let known: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
            let all = known.join(", ");
            wrong("method", format!("is `{}`, but it must be one of {all}", parts.method))
        }
    }
}
