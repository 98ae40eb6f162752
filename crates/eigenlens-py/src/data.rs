//! What Python hands over, as the library takes it: arrays where they are, sparse matrices, files.

use crate::errors;
use crate::files::Files;
use crate::interrupt::detached;
use eigenlens::{AnyArray, AnyDataset, Csr, Dataset, Error, Missing, SampleWeights, Scalar};
use eigenlens_io::Loaded;
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Data from Python: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct DataArgs<'py> {
    values: Values<'py>,
    names: Option<Vec<String>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    /// Whether only the ratios of the weights matter.
    relative: bool,
    /// What to do with missing entries: `error`, `mean` or `em`.
    missing: String,
}

/// The numbers, wherever they are.
#[derive(FromPyObject)]
enum Values<'py> {
    F64(PyReadonlyArray2<'py, f64>),
    F32(PyReadonlyArray2<'py, f32>),
    Sparse64(Compressed<'py, f64>),
    Sparse32(Compressed<'py, f32>),
    Files(Bound<'py, Files>),
}

/// Compressed rows: shape, row starts, columns, values.
#[derive(FromPyObject)]
struct Compressed<'py, T: numpy::Element>(
    (usize, usize),
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i32>,
    PyReadonlyArray1<'py, T>,
);

/// Data that no longer need Python.
pub struct OwnedData<'a> {
    source: Source<'a>,
    names: Option<Vec<String>>,
    weights: Option<SampleWeights>,
    missing: Missing,
}

enum Source<'a> {
    F64(ndarray::ArrayView2<'a, f64>),
    F32(ndarray::ArrayView2<'a, f32>),
    Sparse64(Csr<f64>),
    Sparse32(Csr<f32>),
    Files(&'a Files),
}

impl DataArgs<'_> {
    /// Where the numbers are; only sparse ones are copied.
    pub fn take(&self) -> PyResult<OwnedData<'_>> {
        let source = match &self.values {
            Values::F64(x) => Source::F64(x.as_array()),
            Values::F32(x) => Source::F32(x.as_array()),
            Values::Sparse64(x) => Source::Sparse64(x.csr()?),
            Values::Sparse32(x) => Source::Sparse32(x.csr()?),
            Values::Files(files) => Source::Files(files.get()),
        };
        let weights = self.weights.as_ref().map(|weights| match self.relative {
            true => SampleWeights::relative(weights.as_array().to_vec()),
            false => SampleWeights::frequency(weights.as_array().to_vec()),
        });
        let missing = match self.missing.as_str() {
            "error" => Missing::Error,
            "mean" => Missing::Mean,
            "em" => Missing::Em,
            other => {
                let said = format!("`missing` is `{other}`, but it must be error, mean or em");
                return Err(PyValueError::new_err(said));
            }
        };
        Ok(OwnedData { source, names: self.names.clone(), weights, missing })
    }
}

impl<T: numpy::Element + Scalar> Compressed<'_, T> {
    fn csr(&self) -> PyResult<Csr<T>> {
        let Compressed((rows, columns), starts, indices, values) = self;
        let shape = |what| Error::Shape {
            what: "the sparse matrix",
            found: what,
            expected: "one that is not negative".into(),
        };
        let starts =
            starts.as_array().iter().map(|&s| usize::try_from(s)).collect::<Result<_, _>>();
        let starts = starts.map_err(|_| errors::library(shape("a negative row start".into())))?;
        let indices =
            indices.as_array().iter().map(|&c| u32::try_from(c)).collect::<Result<_, _>>();
        let indices = indices.map_err(|_| errors::library(shape("a negative column".into())))?;
        Csr::new(*rows, *columns, starts, indices, values.as_array().to_vec())
            .map_err(errors::library)
    }
}

impl<'a> OwnedData<'a> {
    /// The files behind the data, where there are any.
    pub fn files(&self) -> Option<&'a Files> {
        match &self.source {
            Source::Files(files) => Some(files),
            _ => None,
        }
    }

    /// Whether one pass over the data is a matter of milliseconds.
    fn is_small(&self) -> bool {
        const ENTRIES: usize = 1 << 20;
        match &self.source {
            Source::F64(x) => x.len() < ENTRIES,
            Source::F32(x) => x.len() < ENTRIES,
            Source::Sparse64(x) => x.n_stored() < ENTRIES,
            Source::Sparse32(x) => x.n_stored() < ENTRIES,
            Source::Files(_) => false,
        }
    }

    /// The data as the library takes them. Files must have been read into `held`.
    pub fn data<'d>(&'d self, held: Option<&'d Loaded<'a>>) -> eigenlens::Result<AnyDataset<'d>> {
        let data = match &self.source {
            Source::F64(x) => AnyDataset::F64(Dataset::dense(x.view())),
            Source::F32(x) => AnyDataset::F32(Dataset::dense(x.view())),
            Source::Sparse64(x) => AnyDataset::F64(Dataset::sparse(x)),
            Source::Sparse32(x) => AnyDataset::F32(Dataset::sparse(x)),
            Source::Files(_) => {
                held.ok_or_else(|| Error::Internal("files that were not read".into()))?.data()
            }
        };
        let names = match &self.source {
            Source::Files(files) => Some(files.feature_names()),
            _ => self.names.as_deref(),
        };
        Ok(match data {
            AnyDataset::F32(data) => AnyDataset::F32(self.dressed(data, names)?),
            AnyDataset::F64(data) => AnyDataset::F64(self.dressed(data, names)?),
        })
    }

    fn dressed<'d, T: Scalar>(
        &self,
        mut data: Dataset<'d, T>,
        names: Option<&[String]>,
    ) -> eigenlens::Result<Dataset<'d, T>> {
        if let Some(names) = names {
            data = data.with_feature_names(names)?;
        }
        let data = data.with_missing(self.missing);
        Ok(match &self.weights {
            Some(weights) => data.with_weights(weights.clone()),
            None => data,
        })
    }

    /// Runs the work on the data, without Python's lock. Files are read as the budget allows.
    pub fn run<R: Send>(
        &self,
        py: Python,
        memory: Option<u64>,
        work: impl Fn(&AnyDataset) -> eigenlens::Result<R> + Send + Sync,
    ) -> PyResult<R> {
        let job = || match self.files() {
            None => work(&self.data(None)?).map_err(Failed::Library),
            Some(files) => {
                let held = files.load(memory).map_err(Failed::File)?;
                let done = work(&self.data(Some(&held))?).map_err(|error| files.explain(error))?;
                files.keep_findings(&held);
                Ok(done)
            }
        };
        // A thread of its own would cost more than little work, which ends before anyone interrupts it.
        let done = if self.is_small() { py.detach(job)? } else { detached(py, job)? };
        self.warn(py)?;
        Ok(done)
    }

    /// Tells what the reading of files found out, as Python's warnings.
    pub fn warn(&self, py: Python) -> PyResult<()> {
        self.files().map_or(Ok(()), |files| files.warn(py))
    }
}

/// Why some work on data failed.
pub enum Failed {
    Library(Error),
    File(eigenlens_io::Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Library(error)
    }
}

impl From<eigenlens_io::Error> for Failed {
    fn from(error: eigenlens_io::Error) -> Failed {
        Failed::File(error)
    }
}

impl From<Failed> for PyErr {
    fn from(failed: Failed) -> PyErr {
        match failed {
            Failed::Library(error) => errors::library(error),
            Failed::File(error) => errors::file(&error),
        }
    }
}

/// Numbers as an array that owns them; nothing is copied.
pub fn to_array(py: Python<'_>, numbers: AnyArray) -> Bound<'_, PyAny> {
    match numbers {
        AnyArray::F32(x) => x.into_pyarray(py).into_any(),
        AnyArray::F64(x) => x.into_pyarray(py).into_any(),
    }
}
