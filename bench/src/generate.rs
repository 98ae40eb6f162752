//! Makes the data of a case from its seed: the same bytes each time, in little memory.
//!
//! Every block of rows has a stream of random numbers of its own, so blocks are made in parallel.

use crate::cases::{Case, Content, Scalar, Size};
use crate::npy::{Element, Writer};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::f64::consts::TAU;
use std::path::Path;
use std::{fs, io};

/// Values in one block of rows, more or less.
const BLOCK: usize = 1 << 20;
/// Blocks in memory at a time.
const WAVE: usize = 8;
/// The stream of what all rows share; blocks count from 0.
const SHARED: u64 = u64::MAX;

/// Writes the data of `case` into `directory`, unless they are there already.
pub fn generate(case: &Case, quick: bool, directory: &Path) -> io::Result<()> {
    let stamp = directory.join("spec.json");
    let spec = case.spec(quick);
    if fs::read_to_string(&stamp).is_ok_and(|found| found == spec) {
        return Ok(());
    }
    if stamp.exists() {
        fs::remove_file(&stamp)?;
    }
    fs::create_dir_all(directory)?;
    let size = case.size(quick);
    match case.scalar {
        Scalar::F32 => write::<f32>(case, size, directory)?,
        Scalar::F64 => write::<f64>(case, size, directory)?,
    }
    // Last, so that an interrupted run leaves no stamp.
    fs::write(stamp, spec)
}

/// Rounds to the type of the stored data.
trait Stored: Element + Send + Sync {
    fn round(value: f64) -> Self;
}

impl Stored for f32 {
    fn round(value: f64) -> f32 {
        value as f32
    }
}

impl Stored for f64 {
    fn round(value: f64) -> f64 {
        value
    }
}

fn write<T: Stored>(case: &Case, size: Size, directory: &Path) -> io::Result<()> {
    let seed = case.seed();
    match case.content {
        Content::Spectrum { amplitude, noise, mean, mean_spread } => {
            let spectrum = Spectrum::new(seed, size.columns, amplitude, noise, [mean, mean_spread]);
            write_dense::<T>(seed, size, directory, |random, row| spectrum.fill(random, row))
        }
        Content::Images => write_dense::<T>(seed, size, directory, fill_image),
        Content::Topics => write_topics::<T>(seed, size, directory),
    }
}

/// Writes `data.npy`, each row made by `fill`.
fn write_dense<T: Stored>(
    seed: u64,
    size: Size,
    directory: &Path,
    fill: impl Fn(&mut Random, &mut [f64]) + Sync,
) -> io::Result<()> {
    let Size { rows, columns, .. } = size;
    let mut file = Writer::<T>::create(&directory.join("data.npy"), &[rows, columns])?;
    in_waves(rows, columns, |block, rows| {
        let mut random = Random::new(seed, block);
        let mut row = vec![0.0; columns];
        let mut values = Vec::with_capacity(rows.len() * columns);
        for _ in rows {
            fill(&mut random, &mut row);
            values.extend(row.iter().map(|&value| T::round(value)));
        }
        values
    })
    .try_for_each(|values| file.write(&values))?;
    file.finish()
}

/// Makes blocks of rows in parallel, a wave at a time, and yields them in order.
fn in_waves<B: Send>(
    rows: usize,
    values_per_row: usize,
    make: impl Fn(u64, std::ops::Range<usize>) -> B + Sync,
) -> impl Iterator<Item = B> {
    let height = (BLOCK / values_per_row).max(1);
    let starts: Vec<usize> = (0..rows).step_by(height).collect();
    (0..starts.len()).step_by(WAVE).flat_map(move |first| {
        (first..(first + WAVE).min(starts.len()))
            .into_par_iter()
            .map(|block| make(block as u64, starts[block]..(starts[block] + height).min(rows)))
            .collect::<Vec<B>>()
    })
}

/// Normal rows with a given spectrum in a random orthonormal basis.
///
/// The basis is a product of Householder reflections, so a row costs O(d) and no d × d matrix is
/// needed. Signal and isotropic noise are drawn at once: only their summed variances matter.
struct Spectrum {
    deviations: Vec<f64>,
    reflections: [Vec<f64>; 3],
    means: Vec<f64>,
}

impl Spectrum {
    fn new(seed: u64, columns: usize, amplitude: f64, noise: f64, mean: [f64; 2]) -> Self {
        let mut random = Random::new(seed, SHARED);
        let mut normals = || -> Vec<f64> { (0..columns).map(|_| random.normal()).collect() };
        let unit = |mut v: Vec<f64>| {
            let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v.iter_mut().for_each(|x| *x /= norm);
            v
        };
        let reflections = [unit(normals()), unit(normals()), unit(normals())];
        let means = normals().into_iter().map(|z| mean[0] + mean[1] * z).collect();
        let deviations = (1..=columns).map(|j| (amplitude / j as f64).hypot(noise)).collect();
        Spectrum { deviations, reflections, means }
    }

    fn fill(&self, random: &mut Random, row: &mut [f64]) {
        for (value, deviation) in row.iter_mut().zip(&self.deviations) {
            *value = deviation * random.normal();
        }
        for v in &self.reflections {
            let twice = 2.0 * row.iter().zip(v).map(|(x, v)| x * v).sum::<f64>();
            row.iter_mut().zip(v).for_each(|(x, v)| *x -= twice * v);
        }
        row.iter_mut().zip(&self.means).for_each(|(x, mean)| *x += mean);
    }
}

/// Side of an image.
const SIDE: usize = 28;

/// Two curved pen strokes, quantised to 0 … 255; the first and last row and the first column of
/// pixels stay 0 in every image, a tenth of all.
fn fill_image(random: &mut Random, image: &mut [f64]) {
    image.fill(0.0);
    for _ in 0..2 {
        let (mut x, mut y) = (14.0 + 3.5 * random.normal(), 14.0 + 3.5 * random.normal());
        let mut heading = TAU * random.uniform();
        let bend = 0.35 * random.normal();
        let width = 1.0 + 0.6 * random.uniform();
        for _ in 0..9 {
            dab(image, x, y, width);
            x += 1.6 * heading.cos();
            y += 1.6 * heading.sin();
            heading += bend;
        }
    }
    for (pixel, value) in image.iter_mut().enumerate() {
        let (row, column) = (pixel / SIDE, pixel % SIDE);
        let blank = row == 0 || row == SIDE - 1 || column == 0;
        *value = if blank { 0.0 } else { value.min(255.0).round() };
    }
}

/// Adds a Gaussian bump.
fn dab(image: &mut [f64], x: f64, y: f64, width: f64) {
    let bump = |centre: f64| -> [f64; SIDE] {
        std::array::from_fn(|pixel| (-((pixel as f64 - centre) / width).powi(2) / 2.0).exp())
    };
    let (across, down) = (bump(x), bump(y));
    for (row, down) in image.chunks_exact_mut(SIDE).zip(down) {
        // Farther away the bump is below half a grey level.
        if down < 1e-3 {
            continue;
        }
        row.iter_mut().zip(across).for_each(|(value, across)| *value += 160.0 * down * across);
    }
}

/// Topics of the sparse case.
const TOPICS: usize = 120;

/// Writes `indptr.npy`, `indices.npy` and `data.npy`: the three arrays of a CSR matrix.
///
/// Each row is a document on one topic: half of its words come from the vocabulary's common order
/// of popularity, half from the topic's own order, both by a power law.
fn write_topics<T: Stored>(seed: u64, size: Size, directory: &Path) -> io::Result<()> {
    let Size { rows, columns, .. } = size;
    let mut shared = Random::new(seed, SHARED);
    let average = columns / 100;
    let mut starts = vec![0i64];
    for row in 0..rows {
        let count = average / 2 + shared.below(average + 1);
        starts.push(starts[row] + count as i64);
    }
    let filled = starts[rows] as usize;
    let orders: Vec<Vec<u32>> = (0..TOPICS).map(|_| shared.shuffled(columns)).collect();

    let mut indptr = Writer::<i64>::create(&directory.join("indptr.npy"), &[rows + 1])?;
    indptr.write(&starts)?;
    indptr.finish()?;
    let mut indices = Writer::<i32>::create(&directory.join("indices.npy"), &[filled])?;
    let mut values = Writer::<T>::create(&directory.join("data.npy"), &[filled])?;
    in_waves(rows, average, |block, rows| {
        let mut random = Random::new(seed, block);
        let (mut words, mut weights) = (Vec::<i32>::new(), Vec::<T>::new());
        let mut last_seen = vec![usize::MAX; columns];
        for row in rows {
            let first = words.len();
            let order = &orders[(TOPICS as f64 * random.uniform().powi(2)) as usize];
            let count = (starts[row + 1] - starts[row]) as usize;
            while words.len() < first + count {
                let rank = (columns as f64 * random.uniform().powi(3)) as usize;
                let word = if random.uniform() < 0.5 { rank } else { order[rank] as usize };
                if last_seen[word] != row {
                    last_seen[word] = row;
                    words.push(word as i32);
                }
            }
            words[first..].sort_unstable();
            weights.extend((0..count).map(|_| T::round(0.5 - random.uniform().ln())));
        }
        (words, weights)
    })
    .try_for_each(|(words, weights)| {
        indices.write(&words)?;
        values.write(&weights)
    })?;
    indices.finish()?;
    values.finish()
}

/// Seeded random numbers.
struct Random {
    source: ChaCha8Rng,
    spare: Option<f64>,
}

impl Random {
    fn new(seed: u64, stream: u64) -> Self {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        source.set_stream(stream);
        Random { source, spare: None }
    }

    /// Uniform on (0, 1).
    fn uniform(&mut self) -> f64 {
        ((self.source.next_u64() >> 12) as f64 + 0.5) * 2f64.powi(-52)
    }

    /// Standard normal (Box & Muller 1958), two for each pair of uniform numbers.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sine, cosine) = (TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }

    /// Uniform on 0 … bound − 1.
    fn below(&mut self, bound: usize) -> usize {
        (self.uniform() * bound as f64) as usize
    }

    /// The numbers 0 … count − 1 in random order (Fisher & Yates).
    fn shuffled(&mut self, count: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count as u32).collect();
        for last in (1..count).rev() {
            let other = self.below(last + 1);
            order.swap(last, other);
        }
        order
    }
}
