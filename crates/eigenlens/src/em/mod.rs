//! Expectation maximisation for data with missing entries: the Gaussian `N(μ, W Wᵀ + σ²I)` of probabilistic
//! PCA, fitted to whatever entries there are. Nothing is filled in first.
//!
//! For a row with the observed entries o (Tipping & Bishop 1999; Ilin & Raiko 2010, JMLR 11):
//! `M = σ²I + Σ_o w_f w_fᵀ`, `E[z] = M⁻¹ Σ_o w_f (x_f − μ_f)`, `cov[z] = σ²M⁻¹`. The maximisation is
//! one (k + 1) × (k + 1) system for each feature, over the rows that have it.
//!
//! What makes it fast: where patterns repeat, the sums over entries are products with a matrix of
//! zeros and ones (rows of one pattern share a row of it), so that they run in the micro-kernel:
//! `M = mask · {w_f w_fᵀ}` before and `Σ E[z zᵀ] = maskᵀ · {E[z zᵀ]}` after. Where every row has its own,
//! only entries that are there are touched, found by bits or, where few are, by lists, so that an
//! iteration costs so much an observed entry. What need be found out only once is kept from pass to
//! pass. Rows fall into the fixed units of every other pass, and chunks of them choose by what they
//! hold, so the bits do not depend on the number of threads.

mod accelerate;
mod bits;
mod chunk;
mod conditional;
mod expectation;
mod gather;
mod iteration;
mod lanes;
mod maximization;
mod patterns;
mod pieces;
mod posterior;
mod residuals;
mod widths;

pub(crate) use chunk::{Chunk, map_chunks};
pub(crate) use conditional::{Conditional, Latent};
pub(crate) use expectation::responsibilities;
pub use iteration::Progress;
pub(crate) use iteration::{Em, Estimate, Observer, fit, fit_mixture, least_samples};
pub(crate) use maximization::FactorGaussian;
pub(crate) use patterns::Group;
pub(crate) use residuals::expected_covariance_times;

use crate::data::DataShape;
use crate::error::Result;
use crate::passes::{RowGrid, Scaler};
use crate::scalar::Scalar;

/// The log-likelihood of the observed entries under one Gaussian, in standardised units.
pub(crate) fn log_likelihood<T: Scalar>(
    grid: &RowGrid<T>,
    scaler: &Scaler,
    part: FactorGaussian,
) -> Result<f64> {
    Ok(expectation::expect(&pieces::Rows::new(grid, scaler, part.k(), 0), &[part])?.log_likelihood)
}

/// Bytes that an iteration allocates.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// At the peak.
    pub peak: u64,
    /// Of these, for what is kept from pass to pass.
    pub room: u64,
}

/// What an iteration with k latent dimensions takes. Of data in memory what passes want may take as much
/// memory again, as far as a budget allows: enough for float64 rows of some tens of features.
pub(crate) fn memory(shape: &DataShape, k: usize, parts: usize, budget: Option<u64>) -> Memory {
    let d = shape.n_features;
    let unit = crate::passes::reduction_block_rows(d) as u64;
    let sums = expectation::sums_bytes(d, k, parts);
    // Sums of the units side by side, buffers of their rows, a unit that waits when streamed.
    let side_by_side = expectation::units(d, k, parts) as u64 + 4;
    let rows_at_once = chunk::ROWS as u64;
    let buffers = 32 * (d as u64 + 64) * 8 * 3 * rows_at_once
        + 32 * rows_at_once * 8 * parts as u64 * (k as u64 + 8) * (k as u64 + 8);
    // Scores of rows with missing entries: two reduction blocks with zeros in their missing entries, and what is found.
    let element = shape.element_bytes();
    let scores =
        2 * unit * (d as u64 * (element + 1) + 3 * (8 * k as u64 + 64)) + unit * 8 * k as u64;
    let weights = 8 * shape.n_weights.unwrap_or(0) as u64;
    // What is found about the rows is kept only of dense data in memory.
    let kept = !shape.streamed && shape.n_stored.is_none();
    let rows = shape.n_samples.filter(|_| kept).unwrap_or(0) as u64;
    let least = side_by_side * sums
        + buffers
        + scores
        + unit * d as u64 * element
        + weights
        + 2 * rows
        + (2 << 20);
    let left = budget.map_or(u64::MAX, |b| b.saturating_sub(least));
    let room = (rows * d as u64 * element).min(left);
    Memory { peak: least + room, room }
}
