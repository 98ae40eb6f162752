//! Every method that can be fitted: a file and a row each.

mod bayesian_pca;
mod isomap;
mod kernel_pca;
mod kernel_supervised_pca;
mod lle;
mod lsa;
mod mds;
mod pca;
mod ppca;
mod ppca_mixture;
mod sparse_pca;
mod supervised_pca;

pub use pca::PcaWishes;

use crate::data::{AnyData, Failed, Given, Taken, to_array};
use crate::files::Files;
use crate::model::Model;
use crate::options::Shared;
use eigenlens::{Dataset, Error, Options, Plan};
use eigenlens_io::Numbers;
use ndarray::ArrayView2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A method with its wishes, ready to run without Python.
pub trait Method: Send + Sync {
    /// What would be done.
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan>;

    /// Fits, with the scores of the samples if they are wanted.
    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted>;
}

/// A model, and the scores if they were wanted.
pub struct Fitted {
    pub model: Box<dyn eigenlens::Model>,
    pub scores: Option<Numbers>,
}

/// The method of this name with its wishes, a dictionary: a new method is a row here.
fn method(name: &str, wishes: &Bound<PyAny>) -> PyResult<Box<dyn Method>> {
    Ok(match name {
        "pca" => Box::new(PcaWishes::from_python(wishes)?),
        "lsa" => Box::new(lsa::LsaWishes::from_python(wishes)?),
        "ppca" => Box::new(ppca::PpcaWishes::from_python(wishes)?),
        "sparse-pca" => Box::new(sparse_pca::SparseWishes::from_python(wishes)?),
        "supervised-pca" => Box::new(supervised_pca::SupervisedWishes::from_python(wishes)?),
        "kernel-supervised-pca" => {
            Box::new(kernel_supervised_pca::KernelSupervisedWishes::from_python(wishes)?)
        }
        "bayesian-pca" => Box::new(bayesian_pca::BayesianWishes::from_python(wishes)?),
        "ppca-mixture" => Box::new(wishes.extract::<ppca_mixture::MixtureWishes>()?),
        "kernel-pca" => Box::new(kernel_pca::KernelPcaWishes::from_python(wishes)?),
        "mds" => Box::new(mds::MdsWishes::from_python(wishes)?),
        "isomap" => Box::new(isomap::IsomapWishes::from_python(wishes)?),
        "lle" => Box::new(lle::LleWishes::from_python(wishes)?),
        _ => return Err(PyValueError::new_err(format!("the method `{name}` is not known"))),
    })
}

/// Fits a method to data and returns the model and, if wanted, the scores.
#[pyfunction]
#[pyo3(signature = (name, wishes, data, options, scores=false))]
pub fn fit<'py>(
    py: Python<'py>,
    name: &str,
    wishes: &Bound<'py, PyAny>,
    data: Given<'py>,
    options: Shared,
    scores: bool,
) -> PyResult<(Model, Option<Bound<'py, PyAny>>)> {
    let method = method(name, wishes)?;
    let taken = data.take()?;
    let options = options.options();
    let fitted = py.detach(|| match taken.files() {
        None => method.fit(&taken.data(None)?, options, scores).map_err(Failed::Library),
        Some(files) => fit_files(method.as_ref(), &taken, files, options, scores),
    })?;
    Ok((Model::new(fitted.model), fitted.scores.map(|scores| to_array(py, scores))))
}

/// What a fit would do, without reading a row: the plan in words.
#[pyfunction]
pub fn plan<'py>(
    py: Python<'py>,
    name: &str,
    wishes: &Bound<'py, PyAny>,
    data: Given<'py>,
    options: Shared,
) -> PyResult<String> {
    let method = method(name, wishes)?;
    let taken = data.take()?;
    let options = options.options();
    let plan = py.detach(|| match taken.files() {
        None => method.plan(&taken.data(None)?, options).map_err(Failed::Library),
        Some(files) => {
            let (table, all) = shares(method.as_ref(), files, &options)?;
            if table == Some(0) || files.is_in_memory() {
                let held = files.load(table)?;
                let memory = all.map(|all| all.saturating_sub(held.n_bytes()));
                let options = Options { memory, ..options };
                return method.plan(&taken.data(Some(&held))?, options).map_err(Failed::Library);
            }
            in_memory_plan(method.as_ref(), files, options)
        }
    })?;
    Ok(plan.to_string())
}

/// What readers hold at a time, beside the table and the fit.
const READERS: u64 = 32 << 20;

/// Fits files within the budget: in memory where table and fit have room, else streamed.
fn fit_files<'a>(
    method: &dyn Method,
    taken: &Taken<'a>,
    files: &'a Files,
    options: Options,
    scores: bool,
) -> Result<Fitted, Failed> {
    let (table, all) = shares(method, files, &options)?;
    let held = files.load(table)?;
    let left = all.map(|all| all.saturating_sub(held.n_bytes()));
    let options = Options { memory: left, ..options };
    method.fit(&taken.data(Some(&held))?, options, scores).map_err(|error| match (error, all) {
        // A hint must be enough: the whole budget is named, not what was left of it.
        (Error::Memory { route, needed, .. }, Some(all)) => {
            let needed = needed.saturating_add(READERS + held.n_bytes());
            Failed::Library(Error::Memory { route, needed, budget: all + READERS })
        }
        (error, _) => files.explain(error),
    })
}

/// The bytes that the table may take in memory, and the table and the fit together.
fn shares(
    method: &dyn Method,
    files: &Files,
    options: &Options,
) -> Result<(Option<u64>, Option<u64>), Failed> {
    let Some(budget) = options.memory else { return Ok((None, None)) };
    if budget <= READERS {
        let (what, needed) = (String::from("reading files"), READERS + (8 << 20));
        return Err(Failed::File(eigenlens_io::Error::Memory { what, needed, budget }));
    }
    let all = budget - READERS;
    if files.is_in_memory() {
        return Ok((None, Some(all)));
    }
    let fit = in_memory_plan(method, files, Options { memory: None, ..options.clone() })?;
    let together = files.n_bytes().saturating_add(fit.peak_memory);
    let table = if together <= all { all - fit.peak_memory } else { 0 };
    Ok((Some(table), Some(all)))
}

/// The plan for the table in memory: made from its shape alone.
fn in_memory_plan(method: &dyn Method, files: &Files, options: Options) -> Result<Plan, Failed> {
    // One number that stands for all of them: a plan looks at none.
    let (f32s, f64s) = ([0f32], [0f64]);
    let (rows, columns) = files.shape();
    let shape = (rows.max(2), columns);
    let planned = if files.is_f32() {
        let x = ArrayView2::from_shape((1, 1), &f32s[..]).ok();
        let x = x.as_ref().and_then(|x| x.broadcast(shape));
        x.map(|x| method.plan(&AnyData::F32(Dataset::dense(x)), options))
    } else {
        let x = ArrayView2::from_shape((1, 1), &f64s[..]).ok();
        let x = x.as_ref().and_then(|x| x.broadcast(shape));
        x.map(|x| method.plan(&AnyData::F64(Dataset::dense(x)), options))
    };
    let unplannable = || Err(Error::Internal("a shape cannot be planned".into()));
    planned.unwrap_or_else(unplannable).map_err(Failed::Library)
}

/// A fitted model, with the scores of its samples if they are wanted.
fn scores_of(
    model: Box<dyn eigenlens::Model>,
    data: &AnyData,
    wanted: bool,
) -> eigenlens::Result<Fitted> {
    let scores = match data {
        _ if !wanted => None,
        AnyData::F32(data) => Some(Numbers::F32(model.transform_f32(data)?)),
        AnyData::F64(data) => Some(Numbers::F64(model.transform_f64(data)?)),
    };
    Ok(Fitted { model, scores })
}

/// Runs `fit` or `fit_transform` of a configured method.
macro_rules! fitted {
    ($method:expr, $data:expr, $scores:expr) => {{
        let method = $method;
        if $scores {
            match $data {
                $crate::data::AnyData::F32(data) => {
                    let (model, scores) = method.fit_transform(data)?;
                    let scores = Some(eigenlens_io::Numbers::F32(scores));
                    Ok($crate::methods::Fitted { model: Box::new(model), scores })
                }
                $crate::data::AnyData::F64(data) => {
                    let (model, scores) = method.fit_transform(data)?;
                    let scores = Some(eigenlens_io::Numbers::F64(scores));
                    Ok($crate::methods::Fitted { model: Box::new(model), scores })
                }
            }
        } else {
            Ok($crate::methods::Fitted { model: Box::new($crate::data::each!($data, data => method.fit(data))?), scores: None })
        }
    }};
}
pub(crate) use fitted;
