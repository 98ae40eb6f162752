//! A gamma distribution in the place of the permuted HSIC.

use super::hsic::GammaTest;
use super::side::Side;
use super::sums::Sums;
use crate::error::{Error, Result};
use statrs::distribution::{ContinuousCDF, Gamma};

/// Fewer samples have too few permutations for a distribution.
const FEWEST: usize = 6;

pub(super) fn test(x: &Side, y: &Side) -> Result<GammaTest> {
    if x.len() < FEWEST {
        return Err(Error::NotDefined {
            what: "the gamma approximation",
            why: format!("it needs at least {FEWEST} samples, not {}", x.len()),
        });
    }
    let sums = Sums::of(x, y)?;
    let (mean, variance) = permutation_moments(&sums);
    let pairs = (sums.n as f64 - 1.0) * (sums.n as f64 - 1.0);
    // Where a side does not vary, or every order gives the same, nothing speaks against independence.
    let p_value = match (mean > 0.0 && variance > 0.0)
        .then(|| Gamma::new(mean * mean / variance, mean / variance))
    {
        Some(Ok(gamma)) => gamma.sf(sums.cross.max(0.0)),
        _ => 1.0,
    };
    Ok(GammaTest {
        estimate: sums.estimate(),
        p_value,
        null_mean: mean / pairs,
        null_variance: variance / (pairs * pairs),
    })
}

/// Mean and variance of `tr(K̃ P L̃ Pᵀ)` over all permutations P (Kazi-Aoual, Hitier, Sabatier &
/// Lebreton 1995, for centred matrices).
pub(super) fn permutation_moments(sums: &Sums) -> (f64, f64) {
    let n = sums.n as f64;
    let (x, y) = (&sums.x, &sums.y);
    let mean = x.trace * y.trace / (n - 1.0);
    let spread = |s: &super::sums::SideSums| (n - 1.0) * s.squares - s.trace * s.trace;
    let peaks = |s: &super::sums::SideSums| {
        n * (n + 1.0) * s.diagonal_squares - (n - 1.0) * (s.trace * s.trace + 2.0 * s.squares)
    };
    let first = 2.0 * spread(x) * spread(y) / ((n - 1.0) * (n - 1.0) * (n + 1.0) * (n - 2.0));
    let second = peaks(x) * peaks(y) / ((n + 1.0) * n * (n - 1.0) * (n - 2.0) * (n - 3.0));
    (mean, (first + second).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::sums::squared_product;
    use super::*;
    use crate::data::Dataset;
    use crate::kernel::Kernel;
    use crate::linalg::random;
    use crate::options::Options;

    fn permutations(n: u32) -> Vec<Vec<u32>> {
        if n == 0 {
            return vec![Vec::new()];
        }
        let smaller = permutations(n - 1);
        let insert = |at: usize, p: &Vec<u32>| {
            let mut longer = p.clone();
            longer.insert(at, n - 1);
            longer
        };
        (0..n as usize).flat_map(|at| smaller.iter().map(move |p| insert(at, p))).collect()
    }

    #[test]
    fn moments_are_those_of_all_permutations() {
        let options = Options::default();
        for n in [6, 7] {
            let x = random::normal_matrix(&mut random::stream(1, n), n as usize, 2);
            let mut y = random::normal_matrix(&mut random::stream(2, n), n as usize, 3);
            y[[0, 0]] = 5.0;
            let x = Side::new(&Kernel::Linear, &Dataset::from(&x), &options).unwrap();
            let y = Side::new(&Kernel::Linear, &Dataset::from(&y), &options).unwrap();
            let all: Vec<f64> = permutations(n as u32)
                .iter()
                .map(|order| squared_product(&x, &y, Some(order)))
                .collect();
            let count = all.len() as f64;
            let mean = all.iter().sum::<f64>() / count;
            let variance = all.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
            let (found_mean, found_variance) = permutation_moments(&Sums::of(&x, &y).unwrap());
            assert!((found_mean - mean).abs() < 1e-12 * mean, "{found_mean} {mean}");
            assert!(
                (found_variance - variance).abs() < 1e-10 * variance,
                "{found_variance} {variance}"
            );
        }
    }
}
