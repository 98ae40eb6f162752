//! Seeded random numbers, by the construction the library documents for its own streams: ChaCha with eight
//! rounds, uniform numbers from 53 bits, normal ones by Box & Muller.

use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A stream of numbers.
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream that the library draws from for a purpose: 1 is the start of an iteration, 2 that of a
    /// randomised range finder, 3 are the probes of a certificate.
    pub fn stream(seed: u64, purpose: u64) -> Random {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(purpose);
        Random(rng)
    }

    /// The numbers of one case: others for every family and every index, the same whatever else is run.
    pub fn of_case(seed: u64, family: &str, index: usize) -> Random {
        // FNV-1a of the name, so that adding a family leaves the others as they are.
        let hash = |h: u64, byte: u8| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let name = family.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
        Random::stream(seed, name.wrapping_add(index as u64))
    }

    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) * 2f64.powi(-53)
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A whole number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.uniform() * (high + 1 - low) as f64) as usize
    }

    /// A number between two, evenly in its logarithm.
    pub fn log_between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.uniform())
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.between(0, from.len() - 1)]
    }

    /// Standard normal entries.
    pub fn matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_simple_fn((rows, columns), || self.normal())
    }

    /// Orthonormal columns (rows × columns), as far as rounding goes.
    pub fn orthonormal(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        orthonormalized(self.matrix(rows, columns))
    }
}

/// Gram & Schmidt, twice.
pub fn orthonormalized(mut block: Array2<f64>) -> Array2<f64> {
    for j in 0..block.ncols() {
        for _ in 0..2 {
            for i in 0..j {
                let known = block.column(i).to_owned();
                let inside = known.dot(&block.column(j));
                block.column_mut(j).scaled_add(-inside, &known);
            }
        }
        let length = block.column(j).dot(&block.column(j)).sqrt();
        block.column_mut(j).mapv_inplace(|v| v / length);
    }
    block
}
