//! eigenlens on one case: the only file here that calls the library.

use crate::cases::{Case, Content, Scalar as Stored, Size};
use crate::memory::peak_growth;
use crate::npy::{self, Element, Mapped};
use eigenlens::{Csr, Dataset, Options, Pca, RowReader, Rows, Scalar};
use ndarray::{Array2, ArrayView2, Axis};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// Rows lent at a time in the streamed case.
const BATCH: usize = 10_000;

/// What a run found and what it cost.
pub struct Outcome {
    /// Fit and scores; loading the data is not counted.
    pub seconds: f64,
    /// Peak memory beyond the loaded data.
    pub peak_bytes: u64,
    /// k, descending.
    pub explained_variance: Vec<f64>,
    /// k × d, unit rows.
    pub components: Array2<f64>,
    /// The certificate's largest residual.
    pub relative_residual: f64,
    /// The route taken, in words.
    pub plan: String,
}

/// Loads the data of the case, then fits and scores them.
pub fn run(case: &Case, size: Size, directory: &Path) -> Result<Outcome, Box<dyn Error>> {
    match case.scalar {
        Stored::F32 => load_and_fit::<f32>(case, size, directory),
        Stored::F64 => load_and_fit::<f64>(case, size, directory),
    }
}

fn load_and_fit<T: Scalar + Element>(
    case: &Case,
    size: Size,
    directory: &Path,
) -> Result<Outcome, Box<dyn Error>> {
    let Size { rows, columns, k } = size;
    let path = directory.join("data.npy");
    if case.streamed {
        let array = Mapped::<T>::open(&path)?;
        let rows = LentRows(ArrayView2::from_shape((rows, columns), array.elements())?);
        return fit(&Dataset::streamed(&rows), k, true, None);
    }
    if let Content::Topics = case.content {
        let indptr = npy::read::<i64>(&directory.join("indptr.npy"))?;
        let indices = npy::read::<i32>(&directory.join("indices.npy"))?;
        let indptr = indptr.into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>()?;
        let indices = indices.into_iter().map(u32::try_from).collect::<Result<Vec<_>, _>>()?;
        let csr = Csr::new(rows, columns, indptr, indices, npy::read::<T>(&path)?)?;
        return fit(&Dataset::sparse(&csr), k, false, Some(1e-6));
    }
    let matrix = Array2::from_shape_vec((rows, columns), npy::read::<T>(&path)?)?;
    fit(&Dataset::dense(matrix.view()), k, false, None)
}

fn fit<T: Scalar>(
    data: &Dataset<'_, T>,
    k: usize,
    mapped_file: bool,
    tolerance: Option<f64>,
) -> Result<Outcome, Box<dyn Error>> {
    let options = Options { threads: Some(2), tolerance, ..Options::default() };
    let (fitted, peak_bytes) = peak_growth(mapped_file, || {
        let start = Instant::now();
        let fitted = Pca::new(k).options(options).fit_transform(data);
        fitted.map(|(model, scores)| (model, scores, start.elapsed().as_secs_f64()))
    })?;
    let (model, scores, seconds) = fitted?;
    if data.n_samples() != Some(scores.nrows()) || scores.ncols() != k {
        return Err(format!("the scores are {} × {}", scores.nrows(), scores.ncols()).into());
    }
    Ok(Outcome {
        seconds,
        peak_bytes,
        explained_variance: model.explained_variance().to_vec(),
        components: model.components().to_owned(),
        relative_residual: model.certificate().relative_residual(),
        plan: model.plan().to_string(),
    })
}

/// Rows lent straight from a mapped file, without a copy.
pub struct LentRows<'a, T>(pub ArrayView2<'a, T>);

impl<T: Scalar> Rows<T> for LentRows<'_, T> {
    fn n_features(&self) -> usize {
        self.0.ncols()
    }

    fn n_samples(&self) -> Option<usize> {
        Some(self.0.nrows())
    }

    fn open(&self) -> eigenlens::Result<Box<dyn RowReader<T> + '_>> {
        Ok(Box::new(LentReader { left: self.0 }))
    }
}

/// The rows not lent yet.
struct LentReader<'a, T> {
    left: ArrayView2<'a, T>,
}

impl<T: Scalar> RowReader<T> for LentReader<'_, T> {
    fn next_rows(&mut self, at_most: usize) -> eigenlens::Result<Option<ArrayView2<'_, T>>> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let height = at_most.min(BATCH).min(self.left.nrows());
        let (next, left) = self.left.split_at(Axis(0), height);
        self.left = left;
        Ok(Some(next))
    }
}
