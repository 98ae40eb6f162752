//! Supervised PCA of a case's data with ten classes, beside PCA of the same data and beside one plain
//! read of them: how far both are from the speed of memory.

use crate::cases::{Case, Scalar as Stored, Size};
use crate::memory::peak_growth;
use crate::npy::{self, Element};
use eigenlens::{Dataset, Options, Pca, Scalar, SupervisedPca, Target};
use ndarray::Array2;
use rayon::prelude::*;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

const CLASSES: usize = 10;
const RUNS: usize = 5;

/// Prints a table: seconds (median of the runs), gigabytes per second of data read, peak memory beyond
/// data and scores.
pub fn run(case: &Case, size: Size, directory: &Path) -> Result<(), Box<dyn Error>> {
    match case.scalar {
        Stored::F32 => measure::<f32>(size, directory),
        Stored::F64 => measure::<f64>(size, directory),
    }
}

fn measure<T: Scalar + Element>(size: Size, directory: &Path) -> Result<(), Box<dyn Error>> {
    let Size { rows, columns, .. } = size;
    let path = directory.join("data.npy");
    let matrix = Array2::from_shape_vec((rows, columns), npy::read::<T>(&path)?)?;
    let data = Dataset::dense(matrix.view());
    // Classes in no order, which depend on the first column.
    let class = |i: usize| {
        let shift = usize::from(matrix[[i, 0]].to_f64() > 0.0);
        (i.wrapping_mul(2_654_435_761) >> 7) % (CLASSES - 1) + shift
    };
    let target = Target::classes((0..rows).map(|i| class(i).to_string()));
    let options = Options { threads: Some(2), ..Options::default() };
    let k = CLASSES - 1;
    let bytes = (rows * columns * size_of::<T>()) as f64;
    let values = matrix.as_slice().ok_or("the data are not in order")?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;

    let mut read = Vec::new();
    let (mut pca, mut supervised) = (Vec::new(), Vec::new());
    let (mut pca_peak, mut supervised_peak) = (0, 0);
    // In turns, so that a noisy neighbour disturbs all alike.
    for _ in 0..RUNS {
        let start = Instant::now();
        let sum: f64 = pool.install(|| values.par_chunks(1 << 16).map(sum).sum());
        read.push(start.elapsed().as_secs_f64());
        assert!(sum.is_finite(), "the data are finite");

        let (seconds, peak) = peak_growth(false, || {
            let start = Instant::now();
            Pca::new(k).options(options.clone()).fit_transform(&data)?;
            Ok::<_, eigenlens::Error>(start.elapsed().as_secs_f64())
        })?;
        pca.push(seconds?);
        pca_peak = peak.max(pca_peak);
        let (seconds, peak) = peak_growth(false, || {
            let start = Instant::now();
            SupervisedPca::new(k).options(options.clone()).fit_transform(&data, &target)?;
            Ok::<_, eigenlens::Error>(start.elapsed().as_secs_f64())
        })?;
        supervised.push(seconds?);
        supervised_peak = peak.max(supervised_peak);
    }
    let scores = (rows * k * size_of::<T>()) as u64;
    println!("{rows} × {columns}, {} bytes an entry, {CLASSES} classes, k = {k}", size_of::<T>());
    println!("what                 seconds  passes   GB/s   peak beyond data and scores");
    let line = |what: &str, seconds: &mut Vec<f64>, passes: f64, peak: Option<u64>| {
        seconds.sort_by(f64::total_cmp);
        let median = seconds[seconds.len() / 2];
        let peak = peak
            .map_or(String::new(), |p| format!("{:.1} MB", p.saturating_sub(scores) as f64 / 1e6));
        let speed = passes * bytes / median / 1e9;
        println!("{what:<20} {median:7.3}  {passes:6}  {speed:5.1}   {peak}");
    };
    line("one plain read", &mut read, 1.0, None);
    line("PCA", &mut pca, 2.0, Some(pca_peak));
    line("supervised PCA", &mut supervised, 2.0, Some(supervised_peak));
    Ok(())
}

/// A sum that does not wait for itself: eight of them side by side.
fn sum<T: Scalar>(values: &[T]) -> f64 {
    let mut lanes = [0.0; 8];
    let (whole, rest) = values.as_chunks::<8>();
    for values in whole {
        lanes.iter_mut().zip(values).for_each(|(lane, v)| *lane += v.to_f64());
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|v| v.to_f64()).sum::<f64>()
}
