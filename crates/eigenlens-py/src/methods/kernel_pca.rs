//! Kernel principal component analysis.

use super::{Fitted, Method, fitted};
use crate::data::{AnyData, each};
use crate::kernels::NamedKernel;
use crate::options::{Wish, components};
use eigenlens::{Approximation, Kernel, KernelPca, Landmarks, NComponents, Options, Plan};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The wishes of kernel PCA, as they come.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct KernelPcaGiven {
    n_components: Option<Wish>,
    kernel: NamedKernel,
    approximation: String,
    /// Landmarks, random features or samples of an approximation.
    size: Option<usize>,
}

/// The wishes of kernel PCA.
pub struct KernelPcaWishes {
    n_components: NComponents,
    kernel: Kernel,
    approximation: Approximation,
}

impl KernelPcaWishes {
    /// The wishes in a dictionary.
    pub fn from_python(given: &Bound<PyAny>) -> PyResult<KernelPcaWishes> {
        let KernelPcaGiven { n_components, kernel, approximation, size } = given.extract()?;
        let approximation = match (approximation.as_str(), size) {
            ("auto", _) => Approximation::Auto,
            ("exact", _) => Approximation::Exact,
            ("nystrom", landmarks) => {
                Approximation::Nystrom { landmarks, selection: Landmarks::default() }
            }
            ("random_features", features) => {
                Approximation::RandomFeatures { features, orthogonal: true }
            }
            ("subset", Some(samples)) => Approximation::Subset { samples },
            _ => {
                let said = format!("the approximation `{approximation}` is not known");
                return Err(PyValueError::new_err(said));
            }
        };
        let (n_components, kernel) = (components(n_components)?, kernel.kernel()?);
        Ok(KernelPcaWishes { n_components, kernel, approximation })
    }

    fn configured(&self, options: Options) -> KernelPca {
        KernelPca::new(self.n_components.clone())
            .kernel(self.kernel.clone())
            .approximation(self.approximation)
            .options(options)
    }
}

impl Method for KernelPcaWishes {
    fn plan(&self, data: &AnyData, options: Options) -> eigenlens::Result<Plan> {
        each!(data, data => self.configured(options).plan(data))
    }

    fn fit(&self, data: &AnyData, options: Options, scores: bool) -> eigenlens::Result<Fitted> {
        fitted!(self.configured(options), data, scores)
    }
}
