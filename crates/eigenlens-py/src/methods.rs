//! Every method that can be fitted, by its name in the library's registry.

use crate::data::{DataArgs, Failed, to_array};
use crate::errors;
use crate::files::Files;
use crate::interrupt::detached;
use crate::model::Model;
use crate::options::{Shared, values};
use crate::target::TargetArg;
use eigenlens::{
    AnyDataset, DataShape, FitContext, Fitted, METHODS, Method, OPERATIONS, Offer, Operation,
    OptionValues, Plan, Target,
};
use eigenlens_io::Budget;
use numpy::{PyArray2, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A method with its options, and the target where it has one, ready to run without Python.
struct Configured {
    values: OptionValues,
    target: Option<Target>,
}

impl Configured {
    fn new(
        name: &str,
        given: &Bound<PyAny>,
        target: Option<TargetArg>,
        options: Shared,
    ) -> PyResult<Configured> {
        let target = target.map(|target| target.target()).transpose()?;
        let values = values(name, given)?.with_options(options.options());
        // What cannot be meant is said before anything is read.
        values.check().map_err(errors::library)?;
        Ok(Configured { values, target })
    }

    fn within(&self, memory: Option<u64>) -> Configured {
        Configured { values: self.values.within(memory), target: self.target.clone() }
    }

    fn memory(&self) -> Option<u64> {
        self.values.options().memory
    }

    fn plan(&self, shape: &DataShape) -> eigenlens::Result<Plan> {
        let estimator = self.values.method().build(&self.values, shape)?;
        estimator.plan(shape, self.target.as_ref())
    }

    fn fit(&self, data: &AnyDataset, scores: bool) -> eigenlens::Result<Fitted> {
        let context = FitContext::new().with_target(self.target.as_ref());
        self.values.fit(data, &mut context.with_scores(scores))
    }
}

/// Fits a method to data and returns the model and, if wanted, the scores.
#[pyfunction]
#[pyo3(signature = (name, given, data, options, scores=false, target=None))]
pub fn fit<'py>(
    py: Python<'py>,
    name: &str,
    given: &Bound<'py, PyAny>,
    data: DataArgs<'py>,
    options: Shared,
    scores: bool,
    target: Option<TargetArg<'py>>,
) -> PyResult<(Model, Option<Bound<'py, PyAny>>)> {
    let method = Configured::new(name, given, target, options)?;
    let data = data.take()?;
    let fitted = match data.files() {
        None => detached(py, || Ok::<_, Failed>(method.fit(&data.data(None)?, scores)?))?,
        Some(files) => {
            let budget = py.detach(|| share(&method, files))?;
            let held = py.detach(|| files.load(budget.table)).map_err(Failed::File)?;
            let method = method.within(budget.left(held.n_bytes()));
            detached(py, || {
                let fitted = method.fit(&data.data(Some(&held))?, scores);
                files.keep_findings(&held);
                fitted.map_err(|error| files.explain(budget.explain(error, held.n_bytes())))
            })?
        }
    };
    data.warn(py)?;
    Ok((
        Model::new(fitted.model, fitted.preprocessing),
        fitted.scores.map(|scores| to_array(py, scores)),
    ))
}

/// What a fit would do, without reading a row: the plan in words.
#[pyfunction]
#[pyo3(signature = (name, given, data, options, target=None))]
pub fn plan<'py>(
    py: Python<'py>,
    name: &str,
    given: &Bound<'py, PyAny>,
    data: DataArgs<'py>,
    options: Shared,
    target: Option<TargetArg<'py>>,
) -> PyResult<String> {
    let method = Configured::new(name, given, target, options)?;
    let data = data.take()?;
    let Some(files) = data.files() else {
        let plan = py.detach(|| Ok::<_, Failed>(method.plan(&data.data(None)?.shape())?))?;
        return Ok(plan.to_string());
    };
    let budget = py.detach(|| share(&method, files))?;
    let held = if files.is_sparse() { files.n_bytes() } else { 0 };
    let method = method.within(budget.left(held));
    let plan = py.detach(|| {
        let shape = match budget.table {
            Some(0) => data.data(Some(&files.load(Some(0))?))?.shape(),
            _ => files.data_shape(),
        };
        Ok::<_, Failed>(method.plan(&shape)?)
    })?;
    Ok(plan.to_string())
}

/// The kernel that an embedding of these data is the kernel PCA of (n × n), and what it is made of, by name.
#[pyfunction]
#[allow(clippy::type_complexity)] // a tuple of what Python unpacks
pub fn implied_kernel<'py>(
    py: Python<'py>,
    name: &str,
    given: &Bound<'py, PyAny>,
    data: DataArgs<'py>,
    options: Shared,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyDict>)> {
    let memory = options.memory;
    let method = Configured::new(name, given, None, options)?;
    let taken = data.take()?;
    let found = taken.run(py, memory, |data| {
        method.values.method().build(&method.values, &data.shape())?.implied_kernel(data)
    })?;
    let parts = PyDict::new(py);
    for (name, part) in &found.parts {
        parts.set_item(name, part.to_pyarray(py))?;
    }
    Ok((found.kernel.to_pyarray(py), parts))
}

/// Every operation of a method: its name, and how Python says it or why it does not.
#[pyfunction]
pub fn operations(name: &str) -> PyResult<Vec<(&'static str, Option<&'static str>, &'static str)>> {
    let known = || PyValueError::new_err(format!("the method `{name}` is not known"));
    let method = Method::named(name).ok_or_else(known)?;
    let row = |of: &'static Operation| match (of.reason_against(method), of.python) {
        (Some(reason), _) | (None, Offer::Not(reason)) => (of.name, None, reason),
        (None, Offer::As(words)) => (of.name, Some(words), ""),
    };
    Ok(OPERATIONS.iter().map(row).collect())
}

/// The names of all methods.
#[pyfunction]
pub fn method_names() -> Vec<&'static str> {
    METHODS.iter().map(|method| method.name).collect()
}

/// The names of the options of a method.
#[pyfunction]
pub fn option_names(name: &str) -> PyResult<Vec<&'static str>> {
    let known = || PyValueError::new_err(format!("the method `{name}` is not known"));
    Ok(Method::named(name).ok_or_else(known)?.options().map(|spec| spec.name).collect())
}

/// In memory where table and fit have room, else streamed.
fn share(method: &Configured, files: &Files) -> Result<Budget, Failed> {
    let budget = Budget::new(method.memory())?;
    if budget.all.is_none() || files.is_sparse() {
        return Ok(budget);
    }
    Ok(budget.with_table(files.n_bytes(), &method.within(None).plan(&files.data_shape())?))
}
