//! Kernel PCA on rows in NPY files; `kernels.py` compares it with others.

use crate::memory::peak_growth;
use crate::npy::{self, Element, Mapped};
use crate::ours::LentRows;
use eigenlens::{
    Approximation, Bandwidth, Dataset, Kernel, KernelPca, KernelPcaModel, Options, Scalar,
};
use ndarray::{Array2, ArrayView2};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// What is to be run: sizes, kernel and how.
pub struct Task {
    /// Training rows, in `train.npy`.
    pub rows: usize,
    /// New rows, in `new.npy`; 0: none.
    pub new: usize,
    /// Features.
    pub columns: usize,
    /// Components.
    pub k: usize,
    /// γ of the Gaussian kernel.
    pub gamma: f64,
    /// Bytes allowed; the rows are then read from the file as they are needed.
    pub memory: Option<u64>,
    /// Landmarks; `None`: exact.
    pub landmarks: Option<usize>,
}

/// Fits, transforms, and prints one line of JSON.
pub fn run<T: Scalar + Element>(task: &Task, directory: &Path) -> Result<(), Box<dyn Error>> {
    let (rows, columns) = (task.rows, task.columns);
    let path = directory.join("train.npy");
    let approximation = match task.landmarks {
        None => Approximation::Exact,
        Some(m) => Approximation::Nystrom { landmarks: Some(m), selection: Default::default() },
    };
    let options = Options {
        threads: Some(2),
        memory: task.memory,
        tolerance: Some(if T::EPSILON > f64::EPSILON { 1e-6 } else { 1e-8 }),
        ..Options::default()
    };
    let estimator = KernelPca::new(task.k)
        .kernel(Kernel::Rbf { gamma: Bandwidth::Gamma(task.gamma) })
        .approximation(approximation)
        .options(options);
    let new = match task.new {
        0 => None,
        new => {
            let values = npy::read::<T>(&directory.join("new.npy"))?;
            Some(Array2::from_shape_vec((new, columns), values)?)
        }
    };
    if task.memory.is_some() {
        let array = Mapped::<T>::open(&path)?;
        let lent = LentRows(ArrayView2::from_shape((rows, columns), array.elements())?);
        return measure(&estimator, &Dataset::streamed(&lent), new.as_ref(), true);
    }
    let matrix = Array2::from_shape_vec((rows, columns), npy::read::<T>(&path)?)?;
    measure(&estimator, &Dataset::dense(matrix.view()), new.as_ref(), false)
}

fn measure<T: Scalar>(
    estimator: &KernelPca,
    data: &Dataset<'_, T>,
    new: Option<&Array2<T>>,
    mapped: bool,
) -> Result<(), Box<dyn Error>> {
    type Times<T> = (KernelPcaModel, Array2<T>, f64, f64);
    let (done, peak_bytes) = peak_growth(mapped, || -> eigenlens::Result<Times<T>> {
        let start = Instant::now();
        let model = estimator.fit(data)?;
        let fit = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let scores = match new {
            Some(new) => model.transform(new)?,
            None => Array2::default((0, 0)),
        };
        Ok((model, scores, fit, start.elapsed().as_secs_f64()))
    })?;
    let (model, scores, fit, transform) = done?;
    let squares = scores.iter().map(|v| v.to_f64() * v.to_f64()).sum::<f64>();
    let values: Vec<String> = model.eigenvalues().iter().map(|v| format!("{v:e}")).collect();
    println!(
        r#"{{"fit": {fit}, "transform": {transform}, "peak_bytes": {peak_bytes}, "eigenvalues": [{}], "scores": {squares:e}, "relative_residual": {:e}, "accuracy": "{}", "applications": {}, "plan": "{}"}}"#,
        values.join(", "),
        model.certificate().relative_residual(),
        model.accuracy(),
        model.convergence().operator_applications,
        crate::escaped(&model.plan().to_string()),
    );
    Ok(())
}
