//! eigenlens' sparse PCA on one table, for `sparse.py`.

use crate::memory::peak_growth;
use crate::npy;
use eigenlens::{Options, Ridge, SparsePca};
use ndarray::Array2;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// Fits and scores `data` (rows × columns), with these numbers of non-zeros, and prints one line of
/// JSON; the components go to `output`.
pub fn run(
    formulation: &str,
    data: &Path,
    shape: (usize, usize),
    counts: &[usize],
    output: &Path,
) -> Result<(), Box<dyn Error>> {
    let k = counts.len();
    let matrix = Array2::from_shape_vec(shape, npy::read::<f64>(data)?)?;
    let pca = match formulation {
        "cardinality" => SparsePca::cardinality(k, counts.to_vec()),
        "regression" => SparsePca::non_zeros(k, counts.to_vec()),
        "thresholding" => SparsePca::non_zeros(k, counts.to_vec()).ridge(Ridge::Infinite),
        other => return Err(format!("`{other}` is no formulation").into()),
    };
    // The regression rests where its peers do: they stop at changes of 1e-3 and more.
    let tolerance = (formulation != "cardinality").then_some(1e-4);
    let pca = pca.options(Options { threads: Some(2), tolerance, ..Options::default() });
    let (fitted, peak_bytes) = peak_growth(false, || {
        let start = Instant::now();
        let fitted = pca.fit_transform(&matrix);
        fitted.map(|(model, _)| (model, start.elapsed().as_secs_f64()))
    })?;
    let (model, seconds) = fitted?;
    let components = model.components();
    let mut file = npy::Writer::<f64>::create(output, components.shape())?;
    file.write(components.to_owned().as_slice().unwrap_or_default())?;
    file.finish()?;
    println!(r#"{{"seconds": {seconds}, "peak_bytes": {peak_bytes}}}"#);
    Ok(())
}
