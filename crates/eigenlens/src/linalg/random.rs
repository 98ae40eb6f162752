//! Seeded random numbers: ChaCha, so that a seed means the same everywhere.

use super::digest;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A stream of random numbers of its own for each (seed, purpose).
pub(crate) fn stream(seed: u64, purpose: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(purpose);
    rng
}

/// The user's seed, for what is drawn to solve or to probe one problem: `fingerprint` is a hash of it.
pub(crate) fn seed_for(seed: u64, fingerprint: u64) -> u64 {
    digest::of_words(&[seed, fingerprint])
}

/// The purpose of samples that are drawn from a density.
pub(crate) const SAMPLES: u64 = 7;

/// Uniform on (0, 1).
pub(crate) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) * 2f64.powi(-53)
}

/// A standard normal number (Box & Muller 1958).
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (-2.0 * uniform(rng).ln()).sqrt() * (std::f64::consts::TAU * uniform(rng)).cos()
}

/// `m` of `n` numbers, rising: selection sampling (Knuth, The Art of Computer Programming, 3.4.2 S).
pub(crate) fn choose(rng: &mut ChaCha8Rng, n: usize, m: usize) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(m.min(n));
    for i in 0..n {
        if rng.next_u64() % ((n - i) as u64) < (m.min(n) - chosen.len()) as u64 {
            chosen.push(i);
        }
    }
    chosen
}

/// A matrix of standard normal numbers.
pub(crate) fn normal_matrix(rng: &mut ChaCha8Rng, rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || normal(rng))
}
