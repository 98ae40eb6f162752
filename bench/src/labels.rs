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

    let pca = Pca::new(k).options(options.clone());
    let supervised = SupervisedPca::new(k).options(options);
    let scores = (rows * k * size_of::<T>()) as u64;
    let mut jobs = [
        Job::new("PCA", 0, || pca.fit(&data).map(drop)),
        Job::new("PCA and scores", scores, || pca.fit_transform(&data).map(drop)),
        Job::new("supervised PCA", 0, || supervised.fit(&data, &target).map(drop)),
        Job::new("... and scores", scores, || supervised.fit_transform(&data, &target).map(drop)),
    ];
    let mut read = Vec::new();
    // In turns, so that a noisy neighbour disturbs all alike.
    for _ in 0..RUNS {
        let start = Instant::now();
        let sum: f64 = pool.install(|| values.par_chunks(1 << 16).map(sum).sum());
        read.push(start.elapsed().as_secs_f64());
        assert!(sum.is_finite(), "the data are finite");
        for job in &mut jobs {
            job.run()?;
        }
    }
    println!("{rows} × {columns}, {} bytes an entry, {CLASSES} classes, k = {k}", size_of::<T>());
    println!("what             seconds  passes   GB/s  of reading   peak beyond data and scores");
    let read = median(&mut read);
    println!("one plain read   {read:7.3}  {:6}  {:5.1}", 1, bytes / read / 1e9);
    for job in &mut jobs {
        let seconds = median(&mut job.seconds);
        let (speed, share) = (2.0 * bytes / seconds / 1e9, 200.0 * read / seconds);
        let peak = job.peak.saturating_sub(job.scores) as f64 / 1e6;
        println!(
            "{:<16} {seconds:7.3}  {:6}  {speed:5.1}  {share:8.0} %   {peak:.1} MB",
            job.what, 2
        );
    }
    Ok(())
}

/// Something to be timed.
struct Job<'j> {
    what: &'static str,
    /// Bytes of the scores it returns.
    scores: u64,
    work: Box<dyn Fn() -> eigenlens::Result<()> + 'j>,
    seconds: Vec<f64>,
    peak: u64,
}

impl<'j> Job<'j> {
    fn new(
        what: &'static str,
        scores: u64,
        work: impl Fn() -> eigenlens::Result<()> + 'j,
    ) -> Job<'j> {
        Job { what, scores, work: Box::new(work), seconds: Vec::new(), peak: 0 }
    }

    fn run(&mut self) -> Result<(), Box<dyn Error>> {
        let (seconds, peak) = peak_growth(false, || {
            let start = Instant::now();
            (self.work)()?;
            Ok::<_, eigenlens::Error>(start.elapsed().as_secs_f64())
        })?;
        self.seconds.push(seconds?);
        self.peak = peak.max(self.peak);
        Ok(())
    }
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
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
