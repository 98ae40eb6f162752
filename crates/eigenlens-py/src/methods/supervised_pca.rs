//! Supervised principal component analysis.

use super::{Fitted, Method};
use crate::data::{AnyData, each};
use crate::options::{Wish, components};
use crate::target::{GivenTarget, label_kernel};
use eigenlens::{Options, Plan, SupervisedPca, Target};
use eigenlens_io::Numbers;
use pyo3::prelude::*;

/// The wishes of supervised PCA, as they come.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SupervisedGiven<'py> {
    n_components: Option<Wish>,
    target: GivenTarget<'py>,
    label_kernel: String,
    label_gamma: Option<f64>,
    supervision: f64,
    standardize: bool,
    keep_unlabelled: bool,
}

/// The wishes of supervised PCA, with the target they are for.
pub struct SupervisedWishes {
    method: SupervisedPca,
    target: Target,
}

impl SupervisedWishes {
    /// The wishes in a dictionary.
    pub fn from_python(given: &Bound<PyAny>) -> PyResult<SupervisedWishes> {
        let given: SupervisedGiven = given.extract()?;
        let method = SupervisedPca::new(components(given.n_components)?)
            .label_kernel(label_kernel(&given.label_kernel, given.label_gamma)?)
            .supervision(given.supervision)
            .standardize(given.standardize)
            .keep_unlabelled(given.keep_unlabelled);
        Ok(SupervisedWishes { method, target: given.target.target()? })
    }

    fn configured(&self, options: Options) -> SupervisedPca {
        self.method.clone().options(options)
    }
}

impl Method for SupervisedWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data, &self.target))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        let (method, target) = (self.configured(options), &self.target);
        if !scores {
            let model = each!(data, data => method.fit(data, target))?;
            return Ok(Fitted { model: Box::new(model), scores: None });
        }
        let (model, scores) = match data {
            AnyData::F32(data) => {
                let (model, scores) = method.fit_transform(data, target)?;
                (model, Numbers::F32(scores))
            }
            AnyData::F64(data) => {
                let (model, scores) = method.fit_transform(data, target)?;
                (model, Numbers::F64(scores))
            }
        };
        Ok(Fitted { model: Box::new(model), scores: Some(scores) })
    }
}
