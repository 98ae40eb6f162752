//! Kernel principal component analysis.

use crate::kernels::NamedKernel;
use crate::options::{ComponentsArg, n_components};
use eigenlens::{Approximation, KernelPca, Landmarks, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The options of kernel PCA: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct KernelPcaOptions {
    n_components: Option<ComponentsArg>,
    kernel: NamedKernel,
    approximation: String,
    /// Landmarks, random features or samples of an approximation.
    size: Option<usize>,
}

pub fn estimator(given: &Bound<PyAny>, options: Options) -> PyResult<KernelPca> {
    let given: KernelPcaOptions = given.extract()?;
    let approximation = match (given.approximation.as_str(), given.size) {
        ("auto", _) => Approximation::Auto,
        ("exact", _) => Approximation::Exact,
        ("nystrom", landmarks) => {
            Approximation::Nystrom { landmarks, selection: Landmarks::default() }
        }
        ("random_features", features) => {
            Approximation::RandomFeatures { features, orthogonal: true }
        }
        ("subset", Some(samples)) => Approximation::Subset { samples },
        (other, _) => {
            let said = format!("the approximation `{other}` is not known");
            return Err(PyValueError::new_err(said));
        }
    };
    Ok(KernelPca::new(n_components(given.n_components)?)
        .kernel(given.kernel.kernel()?)
        .approximation(approximation)
        .options(options))
}
