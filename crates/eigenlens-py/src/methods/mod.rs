//! Every method that can be fitted: a file and a row each.

mod bayesian_pca;
mod isomap;
mod kernel_pca;
mod kernel_supervised_pca;
mod laplacian;
mod lle;
mod lsa;
mod mds;
mod pca;
mod ppca;
mod ppca_mixture;
mod sparse_pca;
mod supervised_pca;

pub use pca::estimator as pca;

use crate::data::{DataArgs, Failed, to_array};
use crate::files::Files;
use crate::model::Model;
use crate::options::Shared;
use eigenlens::{DataShape, Estimator, FitContext, Fitted, Options, Plan, Target};
use eigenlens_io::Budget;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A method with its options, and the target where it has one, ready to run without Python.
struct Configured {
    estimator: Box<dyn Estimator>,
    target: Option<Target>,
}

impl Configured {
    fn unsupervised(estimator: impl Estimator + 'static) -> Configured {
        Configured { estimator: Box::new(estimator), target: None }
    }

    fn supervised((estimator, target): (impl Estimator + 'static, Target)) -> Configured {
        Configured { estimator: Box::new(estimator), target: Some(target) }
    }

    fn plan(&self, shape: &DataShape) -> eigenlens::Result<Plan> {
        self.estimator.plan(shape, self.target.as_ref())
    }

    fn fit(&self, data: &eigenlens::AnyDataset, scores: bool) -> eigenlens::Result<Fitted> {
        let context = FitContext::new().with_target(self.target.as_ref());
        self.estimator.fit(data, &mut context.with_scores(scores))
    }
}

/// The method of this name with its options, a dictionary: a new method is a row here.
fn configured(name: &str, given: &Bound<PyAny>, options: Options) -> PyResult<Configured> {
    Ok(match name {
        "pca" => Configured::unsupervised(pca::estimator(given, options)?),
        "lsa" => Configured::unsupervised(lsa::estimator(given, options)?),
        "ppca" => Configured::unsupervised(ppca::estimator(given, options)?),
        "sparse-pca" => Configured::unsupervised(sparse_pca::estimator(given, options)?),
        "supervised-pca" => Configured::supervised(supervised_pca::estimator(given, options)?),
        "kernel-supervised-pca" => {
            Configured::supervised(kernel_supervised_pca::estimator(given, options)?)
        }
        "bayesian-pca" => Configured::unsupervised(bayesian_pca::estimator(given, options)?),
        "ppca-mixture" => Configured::unsupervised(ppca_mixture::estimator(given, options)?),
        "kernel-pca" => Configured::unsupervised(kernel_pca::estimator(given, options)?),
        "mds" => Configured::unsupervised(mds::estimator(given, options)?),
        "isomap" => Configured::unsupervised(isomap::estimator(given, options)?),
        "laplacian" => Configured::unsupervised(laplacian::estimator(given, options)?),
        "lle" => Configured::unsupervised(lle::estimator(given, options)?),
        _ => return Err(PyValueError::new_err(format!("the method `{name}` is not known"))),
    })
}

/// Fits a method to data and returns the model and, if wanted, the scores.
#[pyfunction]
#[pyo3(signature = (name, given, data, options, scores=false))]
pub fn fit<'py>(
    py: Python<'py>,
    name: &str,
    given: &Bound<'py, PyAny>,
    data: DataArgs<'py>,
    options: Shared,
    scores: bool,
) -> PyResult<(Model, Option<Bound<'py, PyAny>>)> {
    let options = options.options();
    let data = data.take()?;
    let fitted = match data.files() {
        None => {
            let method = configured(name, given, options)?;
            py.detach(|| Ok::<_, Failed>(method.fit(&data.data(None)?, scores)?))?
        }
        Some(files) => {
            let method = configured(name, given, unlimited(&options))?;
            let budget = py.detach(|| share(&method, files, &options))?;
            let held = py.detach(|| files.load(budget.table)).map_err(Failed::File)?;
            let options = Options { memory: budget.left(held.n_bytes()), ..options };
            let method = configured(name, given, options)?;
            py.detach(|| {
                let fitted = method.fit(&data.data(Some(&held))?, scores);
                files.keep_findings(&held);
                fitted.map_err(|error| files.explain(budget.explain(error, held.n_bytes())))
            })?
        }
    };
    data.warn(py)?;
    Ok((Model::new(fitted.model), fitted.scores.map(|scores| to_array(py, scores))))
}

/// What a fit would do, without reading a row: the plan in words.
#[pyfunction]
pub fn plan<'py>(
    py: Python<'py>,
    name: &str,
    given: &Bound<'py, PyAny>,
    data: DataArgs<'py>,
    options: Shared,
) -> PyResult<String> {
    let options = options.options();
    let data = data.take()?;
    let Some(files) = data.files() else {
        let method = configured(name, given, options)?;
        let plan = py.detach(|| Ok::<_, Failed>(method.plan(&data.data(None)?.shape())?))?;
        return Ok(plan.to_string());
    };
    let method = configured(name, given, unlimited(&options))?;
    let budget = py.detach(|| share(&method, files, &options))?;
    let held = if files.is_in_memory() { files.n_bytes() } else { 0 };
    let method = configured(name, given, Options { memory: budget.left(held), ..options })?;
    let plan = py.detach(|| {
        let shape = match budget.table {
            Some(0) => data.data(Some(&files.load(Some(0))?))?.shape(),
            _ => files.data_shape(),
        };
        Ok::<_, Failed>(method.plan(&shape)?)
    })?;
    Ok(plan.to_string())
}

fn unlimited(options: &Options) -> Options {
    Options { memory: None, ..options.clone() }
}

/// In memory where table and fit have room, else streamed.
fn share(unlimited: &Configured, files: &Files, options: &Options) -> Result<Budget, Failed> {
    let budget = Budget::new(options.memory)?;
    if budget.all.is_none() || files.is_in_memory() {
        return Ok(budget);
    }
    Ok(budget.with_table(files.n_bytes(), &unlimited.plan(&files.data_shape())?))
}
