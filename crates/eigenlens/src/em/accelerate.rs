//! Squared extrapolation of the iteration (Varadhan & Roland 2008): two steps tell where the next
//! ones lead. Whoever uses it checks that the likelihood does not fall.

use super::maximization::FactorGaussian;

/// The extrapolation from three states in a row, no longer than `most` steps; `None` where the two
/// steps tell nothing more.
pub(super) fn extrapolate(
    first: &FactorGaussian,
    second: &FactorGaussian,
    third: &FactorGaussian,
    most: f64,
) -> Option<(FactorGaussian, f64)> {
    // Lengths in units of the noise, as the likelihood feels them.
    let size = first.noise.max(f64::MIN_POSITIVE);
    let mut step = 0.0;
    let mut bend = 0.0;
    let mut add = |a: f64, b: f64, c: f64, unit: f64| {
        step += (b - a).powi(2) / unit;
        bend += ((c - b) - (b - a)).powi(2) / unit;
    };
    for ((a, b), c) in first.w.iter().zip(&second.w).zip(&third.w) {
        add(*a, *b, *c, size);
    }
    for ((a, b), c) in first.mean.iter().zip(&second.mean).zip(&third.mean) {
        add(*a, *b, *c, size);
    }
    add(first.noise.ln(), second.noise.ln(), third.noise.ln(), 1.0);
    if step <= 0.0 || bend <= 0.0 {
        return None;
    }
    let length = (step / bend).sqrt().min(most);
    if length <= 1.0 {
        return None;
    }
    let jump =
        |a: f64, b: f64, c: f64| a + 2.0 * length * (b - a) + length * length * ((c - b) - (b - a));
    let mut next = third.clone();
    for (((n, a), b), c) in next.w.iter_mut().zip(&first.w).zip(&second.w).zip(&third.w) {
        *n = jump(*a, *b, *c);
    }
    let means = first.mean.iter().zip(&second.mean).zip(&third.mean);
    for (n, ((a, b), c)) in next.mean.iter_mut().zip(means) {
        *n = jump(*a, *b, *c);
    }
    let noise = jump(first.noise.ln(), second.noise.ln(), third.noise.ln()).exp();
    (noise.is_finite() && noise > 0.0).then(|| {
        next.noise = noise;
        (next, length)
    })
}
