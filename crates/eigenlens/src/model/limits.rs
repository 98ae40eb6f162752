//! Control limits: how large T² and Q may be before a sample is out of the ordinary.
//!
//! All assume normal samples. n means Σw where samples have weights, and k counts the components
//! that carry variance: null components add nothing to T².

use super::diagnostics::check_length;
use crate::error::{Error, Result};
use ndarray::{Array1, ArrayView1};
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::beta::checked_beta_reg;
use statrs::function::gamma::checked_gamma_ur;

/// The limit on T² of a **training** sample that a share `confidence` of them stays below:
/// `(n−1)²/n · B`, B the quantile of Beta(k/2, (n−k−1)/2) (Tracy, Young & Mason 1992).
///
/// A training sample has moved the mean and the variances its own way, so its T² is at most
/// `(n−1)²/n` and the limit for new samples would be too wide. 0 for k = 0. Not defined for
/// n ≤ k + 1.
pub fn t_squared_limit_training(
    n_samples: f64,
    n_components: usize,
    confidence: f64,
) -> Result<f64> {
    let tail = upper_tail(confidence)?;
    let k = n_components as f64;
    let m = n_samples - k - 1.0;
    require_samples("the limit of T² for training samples", n_samples, n_components, 1, m)?;
    if n_components == 0 {
        return Ok(0.0);
    }
    // Beta(k/2, m/2) is kF/(m + kF) with F of k and m degrees of freedom.
    let f = k * f_quantile(k, m, tail);
    Ok((n_samples - 1.0) / n_samples * (n_samples - 1.0) * (f / (m + f)))
}

/// The limit on T² of a **new** sample that a share `confidence` of them stays below:
/// `k(n²−1)/(n(n−k)) · F`, F the quantile of the F distribution with k and n−k degrees of freedom.
///
/// 0 for k = 0. Not defined for n ≤ k.
pub fn t_squared_limit_new(n_samples: f64, n_components: usize, confidence: f64) -> Result<f64> {
    let tail = upper_tail(confidence)?;
    let k = n_components as f64;
    let m = n_samples - k;
    require_samples("the limit of T² for new samples", n_samples, n_components, 0, m)?;
    if n_components == 0 {
        return Ok(0.0);
    }
    let n = n_samples;
    Ok(k * ((n + 1.0) / n) * ((n - 1.0) / m) * f_quantile(k, m, tail))
}

/// A limit on Q and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct QLimit {
    /// The limit on the residual norm `‖r‖ = √Q`, which exists where Q itself would underflow.
    pub residual_norm: f64,
    /// The approximation used.
    pub method: QLimitMethod,
}

impl QLimit {
    /// The limit on Q.
    pub fn q(&self) -> f64 {
        self.residual_norm * self.residual_norm
    }
}

/// How a limit on Q was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QLimitMethod {
    /// From the discarded eigenvalues: a power of Q is nearly normal (Jackson & Mudholkar 1979).
    JacksonMudholkar,
    /// From the discarded eigenvalues: a shifted χ² with the first three moments of Q (Pearson
    /// 1959; Imhof 1961), where Jackson & Mudholkar's power is not positive.
    ThreeMoments,
    /// From the mean and variance of the training Q: `g χ²_h` (Box 1954; Nomikos & MacGregor 1995).
    TwoMoments,
}

/// The limit on Q from **all** discarded standard deviations `√λ_j`, j > k, in any order.
///
/// With `θ_i = Σ λ_jⁱ` and `h = 1 − 2θ₁θ₃/(3θ₂²)`, Jackson & Mudholkar take `(Q/θ₁)ʰ` for normal
/// with mean `1 + θ₂h(h−1)/θ₁²` and variance `2θ₂h²/θ₁²`. A few large discarded eigenvalues above a
/// long flat tail make h negative; their formula is then far too wide or has no value, and the
/// three-moment χ² takes its place. No discarded variance at all gives the limit 0.
pub fn q_limit_from_spectrum(
    discarded_standard_deviations: ArrayView1<f64>,
    confidence: f64,
) -> Result<QLimit> {
    let tail = upper_tail(confidence)?;
    check_values("discarded_standard_deviations", discarded_standard_deviations)?;
    // In units of the largest: sixth powers of standard deviations leave the range of numbers soon.
    let unit = discarded_standard_deviations.iter().fold(0.0f64, |m, &v| m.max(v));
    if unit == 0.0 {
        let method = QLimitMethod::JacksonMudholkar;
        return Ok(QLimit { residual_norm: 0.0, method });
    }
    let theta = |power: i32| -> f64 {
        discarded_standard_deviations.iter().map(|sd| (sd / unit).powi(2 * power)).sum()
    };
    let (theta1, theta2, theta3) = (theta(1), theta(2), theta(3));
    let h = 1.0 - 2.0 * theta1 * theta3 / (3.0 * theta2 * theta2);
    let (limit, method) = if h > 0.0 {
        let mean = 1.0 + theta2 * h * (h - 1.0) / (theta1 * theta1);
        let base = mean + normal_quantile(tail) * h * (2.0 * theta2).sqrt() / theta1;
        (theta1 * base.max(0.0).powf(1.0 / h), QLimitMethod::JacksonMudholkar)
    } else {
        // Mean θ₁, variance 2θ₂ and third central moment 8θ₃; θ₂² ≤ θ₁θ₃ keeps the limit positive.
        let degrees = theta2.powi(3) / (theta3 * theta3);
        let deviation = chi_squared_quantile(degrees, tail) - degrees;
        (theta1 + theta3 / theta2 * deviation, QLimitMethod::ThreeMoments)
    };
    Ok(QLimit { residual_norm: unit * limit.sqrt(), method })
}

/// The limit on Q from the residual norms (n) of the training samples and their weights (n), for
/// when the discarded eigenvalues are not known.
pub fn q_limit_from_residuals(
    residual_norms: ArrayView1<f64>,
    weights: Option<ArrayView1<f64>>,
    confidence: f64,
) -> Result<QLimit> {
    check_values("residual_norms", residual_norms)?;
    let n = residual_norms.len();
    let ones = Array1::ones(n);
    let weights = weights.unwrap_or_else(|| ones.view());
    check_length("the sample weights", weights.len(), n)?;
    check_values("weights", weights)?;
    let total = weights.sum();
    require_samples("the limit of Q", total, 0, 1, total - 1.0)?;

    let unit = residual_norms.iter().fold(0.0f64, |m, &v| m.max(v));
    let unit = if unit > 0.0 { unit } else { 1.0 };
    let q = residual_norms.mapv(|r| (r / unit).powi(2));
    let mean = q.dot(&weights) / total;
    let variance = q.mapv(|v| (v - mean).powi(2)).dot(&weights) / (total - 1.0);
    let limit = q_limit_from_moments(mean, variance.sqrt(), confidence)?;
    Ok(QLimit { residual_norm: limit.residual_norm * unit, ..limit })
}

/// The limit on Q from the mean and the standard deviation of the training Q: `g χ²_h` with
/// `g = v/(2m)` and `h = 2m²/v`, m the mean and v the variance.
pub fn q_limit_from_moments(mean: f64, standard_deviation: f64, confidence: f64) -> Result<QLimit> {
    let tail = upper_tail(confidence)?;
    check_value("mean", mean)?;
    check_value("standard_deviation", standard_deviation)?;
    let spread = if mean > 0.0 { standard_deviation / mean } else { 0.0 };
    // Q that hardly varies has its mean as its limit; spread² would underflow on the way there.
    let limit = if spread < 1e-100 {
        mean
    } else {
        let degrees = 2.0 / (spread * spread);
        mean * (chi_squared_quantile(degrees, tail) / degrees)
    };
    Ok(QLimit { residual_norm: limit.sqrt(), method: QLimitMethod::TwoMoments })
}

fn upper_tail(confidence: f64) -> Result<f64> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(1.0 - confidence);
    }
    Err(Error::Parameter {
        name: "confidence",
        value: confidence.to_string(),
        expected: "between 0 and 1, both excluded",
    })
}

fn require_samples(
    what: &'static str,
    n: f64,
    k: usize,
    extra: usize,
    degrees_of_freedom: f64,
) -> Result<()> {
    if degrees_of_freedom > 0.0 && n.is_finite() {
        return Ok(());
    }
    let why = format!(
        "{n} samples leave no degrees of freedom beside {k} components; more than {} are needed",
        k + extra
    );
    Err(Error::NotDefined { what, why })
}

/// Refuses values that are no standard deviations, norms or weights.
pub(super) fn check_values(name: &'static str, values: ArrayView1<f64>) -> Result<()> {
    values.iter().try_for_each(|&value| check_value(name, value))
}

pub(super) fn check_value(name: &'static str, value: f64) -> Result<()> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::Parameter { name, value: value.to_string(), expected: "finite and not negative" })
}

// Upper quantiles. Those of statrs 0.19.1 for Beta and F lose digits from n = 1e5 on (α is 6 % off
// at 1e7) and loop for ever at 1e8; its distribution functions are good, so they are inverted here.

/// The number that a standard normal variable exceeds with probability `tail`.
fn normal_quantile(tail: f64) -> f64 {
    -Normal::standard().inverse_cdf(tail)
}

/// The number that a χ² variable exceeds with probability `tail`.
fn chi_squared_quantile(degrees: f64, tail: f64) -> f64 {
    if degrees > 1e6 {
        // Cornish & Fisher 1937; the next term is of relative size degrees⁻².
        let (z, root) = (normal_quantile(tail), (2.0 * degrees).sqrt());
        let correction = 2.0 / 3.0 * (z * z - 1.0) + (z * z * z - 7.0 * z) / (9.0 * root);
        return degrees + root * z + correction;
    }
    solve(degrees, tail, |x| checked_gamma_ur(degrees / 2.0, x / 2.0).unwrap_or(0.0))
}

/// The number that an F variable with k and m degrees of freedom exceeds with probability `tail`.
fn f_quantile(k: f64, m: f64, tail: f64) -> f64 {
    if m > 1e6 * k.max(1.0) {
        // kF is χ²_k but for a term of order 1/m (Scheffé & Tukey 1944), exact to order 1/m².
        let q = chi_squared_quantile(k, tail);
        return q * (1.0 + (q - k + 2.0) / (2.0 * m)) / k;
    }
    solve(1.0, tail, |x| checked_beta_reg(m / 2.0, k / 2.0, m / (m + k * x)).unwrap_or(0.0))
}

/// The x > 0 at which the falling function `survival` passes `tail`, by bisection on the exponent:
/// safe whatever the shape, and its cost does not matter here.
fn solve(start: f64, tail: f64, survival: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (start, start);
    while low > f64::MIN_POSITIVE && survival(low) <= tail {
        low /= 16.0;
    }
    while high < 1e300 && survival(high) > tail {
        high *= 16.0;
    }
    loop {
        let middle = if high > 2.0 * low { low.sqrt() * high.sqrt() } else { 0.5 * (low + high) };
        if middle <= low || middle >= high {
            return high;
        }
        if survival(middle) > tail { low = middle } else { high = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::super::diagnostics::tests::{assert_close, pca};
    use super::*;
    use crate::linalg::random::{normal, normal_matrix, stream};
    use ndarray::array;

    fn assert_relative(found: f64, expected: f64, tolerance: f64) {
        let error = (found / expected - 1.0).abs();
        assert!(error <= tolerance, "{found} is not {expected}: off by {error:e}");
    }

    #[test]
    fn quantiles_of_printed_tables() {
        // NIST/SEMATECH e-Handbook 1.3.6.7, and standard tables of F with four decimals.
        for (k, m, tail, printed, unit) in [
            (2.0, 10.0, 0.05, 4.1028, 1e-4),
            (1.0, 1.0, 0.05, 161.448, 1e-3),
            (5.0, 20.0, 0.01, 4.103, 1e-3),
            (10.0, 100.0, 0.05, 1.927, 1e-3),
            (3.0, 60.0, 0.10, 2.177, 1e-3),
        ] {
            assert_close(f_quantile(k, m, tail), printed, unit / 2.0);
        }
        for (degrees, tail, printed, unit) in [
            (5.0, 0.01, 15.0863, 1e-4),
            (1.0, 0.05, 3.841, 1e-3),
            (10.0, 0.05, 18.307, 1e-3),
            (100.0, 0.01, 135.807, 1e-3),
            (30.0, 0.95, 18.493, 1e-3),
        ] {
            assert_close(chi_squared_quantile(degrees, tail), printed, unit / 2.0);
        }
        assert_close(normal_quantile(0.025), 1.959963984540054, 1e-14);
    }

    #[test]
    fn quantiles_in_closed_form() {
        // With two degrees of freedom above, both have elementary tails.
        for tail in [1e-6f64, 0.01, 0.05, 0.5, 0.99] {
            assert_relative(chi_squared_quantile(2.0, tail), -2.0 * tail.ln(), 1e-13);
            for m in [1.0f64, 7.5, 100.0, 1e4, 1e6, 1.9e6, 2.1e6, 1e9, 1e15] {
                let exact = m / 2.0 * (-2.0 / m * tail.ln()).exp_m1();
                // The distribution function is good to about ε·m; below the median its value is
                // near 1 and says less about x.
                let tolerance = (1e-12 + 2e-15 * m.min(2e6)) / (1.0 - tail);
                assert_relative(f_quantile(2.0, m, tail), exact, tolerance);
            }
        }
    }

    #[test]
    fn quantiles_hold_across_their_switches() {
        for tail in [0.001, 0.05, 0.4] {
            let below = solve(1e6, tail, |x| checked_gamma_ur(5e5 + 5.0, x / 2.0).unwrap());
            assert_relative(chi_squared_quantile(1e6 + 10.0, tail), below, 1e-10);
            let m = 1e7 + 1.0;
            let direct =
                solve(1.0, tail, |x| checked_beta_reg(m / 2.0, 5.0, m / (m + 10.0 * x)).unwrap());
            assert_relative(f_quantile(10.0, m, tail), direct, 1e-7);
        }
        // Few degrees of freedom: a tail that holds nearly nothing ends at 0, not in a loop.
        let tiny = chi_squared_quantile(1e-5, 0.05);
        assert!((0.0..1e-200).contains(&tiny));
    }

    #[test]
    fn t_squared_limits() {
        // n = 20, k = 2: (19²/20)·B and 2·399/(20·18)·F, both elementary for k = 2.
        let tail = 0.05f64;
        let beta = 1.0 - tail.powf(2.0 / 17.0);
        let training = t_squared_limit_training(20.0, 2, 0.95).unwrap();
        assert_close(training, 361.0 / 20.0 * beta, 1e-11);
        let f = 9.0 * (tail.powf(-2.0 / 18.0) - 1.0);
        let new = t_squared_limit_new(20.0, 2, 0.95).unwrap();
        assert_close(new, 2.0 * 399.0 / 360.0 * f, 1e-11);
        // Both tend to χ², from below and from above, whatever the size.
        let limit = chi_squared_quantile(5.0, 0.01);
        for n in [50.0, 1e3, 1e6, 1e7, 1e8, 1e12] {
            let training = t_squared_limit_training(n, 5, 0.99).unwrap();
            let new = t_squared_limit_new(n, 5, 0.99).unwrap();
            assert!(training < limit * (1.0 + 1e-9) && limit < new * (1.0 + 1e-9));
            assert_relative(training, limit, 20.0 / n + 1e-9);
            assert_relative(new, limit, 20.0 / n + 1e-9);
        }
        assert_eq!(t_squared_limit_training(5.0, 0, 0.95).unwrap(), 0.0);
    }

    #[test]
    fn limits_that_do_not_exist_say_so() {
        for result in [
            t_squared_limit_training(4.0, 3, 0.95),
            t_squared_limit_new(3.0, 3, 0.95),
            t_squared_limit_new(f64::NAN, 3, 0.95),
            q_limit_from_residuals(array![1.0].view(), None, 0.95).map(|l| l.q()),
        ] {
            assert!(matches!(result, Err(Error::NotDefined { .. })), "{result:?}");
        }
        for confidence in [0.0, 1.0, -1.0, f64::NAN] {
            let results = [
                t_squared_limit_training(20.0, 2, confidence),
                t_squared_limit_new(20.0, 2, confidence),
                q_limit_from_spectrum(array![1.0].view(), confidence).map(|l| l.q()),
                q_limit_from_moments(1.0, 1.0, confidence).map(|l| l.q()),
            ];
            assert!(results.iter().all(|r| matches!(r, Err(Error::Parameter { .. }))));
        }
        let nan = q_limit_from_spectrum(array![1.0, f64::NAN].view(), 0.95);
        assert!(matches!(nan, Err(Error::Parameter { .. })));
    }

    /// Jackson & Mudholkar (1979) as printed: eigenvalues in, limit out.
    fn as_printed(eigenvalues: &[f64], deviate: f64) -> f64 {
        let theta1: f64 = eigenvalues.iter().sum();
        let theta2: f64 = eigenvalues.iter().map(|l| l * l).sum();
        let theta3: f64 = eigenvalues.iter().map(|l| l * l * l).sum();
        let h0 = 1.0 - 2.0 * theta1 * theta3 / (3.0 * theta2.powi(2));
        let inner = deviate * (2.0 * theta2 * h0.powi(2)).sqrt() / theta1
            + theta2 * h0 * (h0 - 1.0) / theta1.powi(2)
            + 1.0;
        theta1 * inner.powf(1.0 / h0)
    }

    #[test]
    fn jackson_and_mudholkar_as_printed() {
        let eigenvalues = [2.0, 1.5, 0.7, 0.7, 0.2, 0.05];
        let sd = Array1::from_iter(eigenvalues.map(f64::sqrt));
        for (confidence, deviate) in [(0.95, 1.6448536269514722), (0.99, 2.3263478740408408)] {
            let expected = as_printed(&eigenvalues, deviate);
            let limit = q_limit_from_spectrum(sd.view(), confidence).unwrap();
            assert_relative(limit.q(), expected, 1e-12);
            assert_eq!(limit.method, QLimitMethod::JacksonMudholkar);
            // The same in other units, where λ and its powers do not exist.
            for scale in [1e-300, 1e300] {
                let limit = q_limit_from_spectrum((&sd * scale).view(), confidence).unwrap();
                assert_relative(limit.residual_norm / scale, expected.sqrt(), 1e-12);
            }
        }
        // Equal eigenvalues: h = 1/3, Wilson & Hilferty's cube root of χ².
        let limit = q_limit_from_spectrum(Array1::from_elem(8, 2.0).view(), 0.95).unwrap();
        let cube = 1.0 - 2.0 / 72.0 + 1.6448536269514722 * (2.0f64 / 72.0).sqrt();
        assert_relative(limit.q(), 4.0 * 8.0 * cube.powi(3), 1e-12);
    }

    #[test]
    fn no_discarded_variance_has_the_limit_zero() {
        for sd in [Array1::zeros(0), Array1::zeros(4)] {
            assert_eq!(q_limit_from_spectrum(sd.view(), 0.95).unwrap().q(), 0.0);
        }
        assert_eq!(q_limit_from_moments(0.0, 0.0, 0.95).unwrap().q(), 0.0);
        assert_close(q_limit_from_moments(2.0, 0.0, 0.95).unwrap().q(), 2.0, 1e-15);
        assert_close(q_limit_from_moments(2.0, 1e-9, 0.95).unwrap().q(), 2.0, 1e-8);
        let zeros = Array1::zeros(5);
        assert_eq!(q_limit_from_residuals(zeros.view(), None, 0.95).unwrap().q(), 0.0);
    }

    /// Share of simulated `Q = Σ λ_j z_j²` below the limit.
    fn coverage(sd: &Array1<f64>, limit: f64, draws: usize) -> f64 {
        let mut rng = stream(7, 0);
        let below = (0..draws)
            .filter(|_| sd.iter().map(|s| (s * normal(&mut rng)).powi(2)).sum::<f64>() <= limit);
        below.count() as f64 / draws as f64
    }

    #[test]
    fn q_limits_cover_what_they_say() {
        let falling = Array1::from_shape_fn(10, |j| 0.7f64.powi(j as i32));
        let mut spiked = Array1::from_elem(101, 0.1f64.sqrt());
        spiked[0] = 10f64.sqrt();
        for (sd, method) in
            [(falling, QLimitMethod::JacksonMudholkar), (spiked, QLimitMethod::ThreeMoments)]
        {
            for confidence in [0.95, 0.99] {
                let limit = q_limit_from_spectrum(sd.view(), confidence).unwrap();
                assert_eq!(limit.method, method);
                // Five standard errors of the simulation and a little for the approximation.
                let margin = 5.0 * (confidence * (1.0 - confidence) / 2e4f64).sqrt() + 0.003;
                assert_close(coverage(&sd, limit.q(), 20_000), confidence, margin);
            }
        }
        // Moments of a sample of Q agree with the spectrum it was drawn from.
        let mut rng = stream(8, 0);
        let sd: Array1<f64> = array![1.0, 0.9, 0.8, 0.7, 0.6];
        let residuals = Array1::from_shape_simple_fn(20_000, || {
            sd.iter().map(|s| (s * normal(&mut rng)).powi(2)).sum::<f64>().sqrt()
        });
        let moments = q_limit_from_residuals(residuals.view(), None, 0.95).unwrap();
        let spectrum = q_limit_from_spectrum(sd.view(), 0.95).unwrap();
        assert_relative(moments.q(), spectrum.q(), 0.03);
        let tiny = q_limit_from_residuals((&residuals * 1e-300).view(), None, 0.95).unwrap();
        assert_relative(tiny.residual_norm * 1e300, moments.residual_norm, 1e-12);
    }

    #[test]
    fn weights_count_residuals() {
        let weighted = q_limit_from_residuals(
            array![1.0, 2.0, 3.0].view(),
            Some(array![2.0, 0.0, 3.0].view()),
            0.95,
        );
        let repeated = q_limit_from_residuals(array![1.0, 1.0, 3.0, 3.0, 3.0].view(), None, 0.95);
        assert_relative(weighted.unwrap().q(), repeated.unwrap().q(), 1e-14);
    }

    #[test]
    fn training_limit_covers_training_samples() {
        // k = d: T² of a training row is exactly a scaled Beta variable.
        let (n, k, fits) = (12, 3, 400);
        let limit = t_squared_limit_training(n as f64, k, 0.95).unwrap();
        let mut rng = stream(9, 0);
        let mut below = 0;
        for _ in 0..fits {
            let p = pca(&normal_matrix(&mut rng, n, k), k, false);
            let whitened = &p.scores / &p.sd;
            below += whitened.rows().into_iter().filter(|z| z.dot(z) <= limit).count();
        }
        let share = below as f64 / (n * fits) as f64;
        assert_close(share, 0.95, 5.0 * (0.95 * 0.05 / (n * fits) as f64).sqrt());
    }
}
