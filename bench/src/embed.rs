//! eigenlens on one embedding of the data that `embeddings.py` made.

use crate::memory::peak_growth;
use crate::npy;
use eigenlens::{
    Dataset, EmbeddingModel, Isomap, LaplacianEigenmaps, Lle, Mds, Options, Result as Fitted,
};
use ndarray::Array2;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// Fits `method` to `data.npy` (n × d) with `neighbors` neighbours, leaves the coordinates in
/// `coordinates-eigenlens.npy` and prints one line of JSON.
pub fn run(
    method: &str,
    columns: usize,
    neighbors: usize,
    k: usize,
    directory: &Path,
) -> Result<(), Box<dyn Error>> {
    let values = npy::read::<f64>(&directory.join("data.npy"))?;
    let x = Array2::from_shape_vec((values.len() / columns.max(1), columns), values)?;
    let data = Dataset::from(&x);
    let options = Options { threads: Some(2), ..Options::default() };
    let fit = || -> Option<Fitted<EmbeddingModel>> {
        Some(match method {
            "mds" => Mds::new(k).options(options).fit(&data),
            "isomap" => Isomap::new(k).neighbors(neighbors).options(options).fit(&data),
            "laplacian" => {
                LaplacianEigenmaps::new(k).neighbors(neighbors).options(options).fit(&data)
            }
            "lle" => Lle::new(k).neighbors(neighbors).options(options).fit(&data),
            _ => return None,
        })
    };
    let ((model, seconds), peak_bytes) = peak_growth(false, || {
        let start = Instant::now();
        (fit(), start.elapsed().as_secs_f64())
    })?;
    let model = model.ok_or_else(|| format!("`{method}` is no embedding"))??;
    let coordinates = model.coordinates().as_standard_layout().into_owned();
    let path = directory.join("coordinates-eigenlens.npy");
    let mut file = npy::Writer::<f64>::create(&path, coordinates.shape())?;
    file.write(coordinates.as_slice().unwrap_or_default())?;
    file.finish()?;
    println!(
        r#"{{"seconds": {seconds}, "peak_bytes": {peak_bytes}, "residual": {:e}}}"#,
        model.certificate().relative_residual(),
    );
    Ok(())
}
