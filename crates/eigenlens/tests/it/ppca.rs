//! Probabilistic PCA against what it is defined as: dense Gaussians, and the iteration in plain
//! loops.

use crate::support::{Oracle, Random, assert_all_close, assert_close, frobenius, jacobi};
use eigenlens::{Algorithm, Dataset, Missing, Model, Options, Pca, Ppca, PpcaModel, Value};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use std::ops::ControlFlow;

/// The inverse and the logarithm of the determinant of a symmetric positive definite matrix.
pub fn invert(a: &Array2<f64>) -> (Array2<f64>, f64) {
    let n = a.nrows();
    let (mut left, mut right) = (a.clone(), Array2::<f64>::eye(n));
    let mut log = 0.0;
    for p in 0..n {
        let pivot = left[[p, p]];
        assert!(pivot > 0.0, "not definite");
        log += pivot.ln();
        for j in 0..n {
            left[[p, j]] /= pivot;
            right[[p, j]] /= pivot;
        }
        for i in (0..n).filter(|&i| i != p) {
            let factor = left[[i, p]];
            for j in 0..n {
                left[[i, j]] -= factor * left[[p, j]];
                right[[i, j]] -= factor * right[[p, j]];
            }
        }
    }
    (right, log)
}

/// The log-density of what is observed of a row under N(μ, C), computed as it is defined.
pub fn log_density(x: ArrayView1<f64>, mean: &[f64], c: &Array2<f64>) -> f64 {
    let seen: Vec<usize> = (0..x.len()).filter(|&f| !x[f].is_nan()).collect();
    let m = seen.len();
    let part = Array2::from_shape_fn((m, m), |(i, j)| c[[seen[i], seen[j]]]);
    let (inverse, log) = invert(&part);
    let r: Array1<f64> = seen.iter().map(|&f| x[f] - mean[f]).collect();
    -0.5 * (m as f64 * std::f64::consts::TAU.ln() + log + r.dot(&inverse.dot(&r)))
}

/// The covariance with the divisor n, and the mean.
fn moments(x: &Array2<f64>) -> (Array2<f64>, Vec<f64>) {
    let oracle = Oracle::new(x, true, false);
    let n = x.nrows() as f64;
    (oracle.covariance.clone() * ((n - 1.0) / n), oracle.mean)
}

/// Tipping & Bishop's closed form by Jacobi's rotations: W Wᵀ + σ²I, and σ².
fn closed_form(x: &Array2<f64>, k: usize) -> (Array2<f64>, f64) {
    let (s, _) = moments(x);
    let d = s.nrows();
    let (values, vectors) = jacobi(&s);
    let noise = if k < d { values[k..].iter().sum::<f64>() / (d - k) as f64 } else { 0.0 };
    let mut c = Array2::<f64>::eye(d) * noise;
    for j in 0..k {
        let u = vectors.row(j);
        for f in 0..d {
            for g in 0..d {
                c[[f, g]] += (values[j] - noise) * u[f] * u[g];
            }
        }
    }
    (c, noise)
}

/// Data of rank k plus noise, with a mean.
pub fn noisy(random: &mut Random, n: usize, d: usize, k: usize, noise: f64) -> Array2<f64> {
    let w = random.matrix(d, k);
    let z = random.matrix(n, k);
    let mut x = z.dot(&w.t()) + random.matrix(n, d) * noise;
    for (f, mut column) in x.columns_mut().into_iter().enumerate() {
        column += 3.0 + f as f64;
    }
    x
}

/// The same with holes at random.
pub fn with_missing_values(random: &mut Random, x: &Array2<f64>, rate: f64) -> Array2<f64> {
    x.mapv(|v| if random.uniform() < rate { f64::NAN } else { v })
}

fn tight() -> Options {
    Options { tolerance: Some(1e-11), max_iterations: 20_000, ..Options::default() }
}

#[test]
fn the_closed_form_is_tipping_and_bishops() {
    let mut random = Random::new(1);
    for (n, d) in [(40, 5), (200, 9), (7, 12)] {
        let x = noisy(&mut random, n, d, 2, 0.7);
        let (s, mean) = moments(&x);
        for k in [1, 2, (n - 1).min(d - 1)] {
            let model = Ppca::new(k).fit(&x).unwrap();
            let (c, noise) = closed_form(&x, k);
            let size = frobenius(&s);
            assert_all_close("C", &model.covariance(), &c, 1e-11 * size);
            assert_close("σ²", model.noise_variance(), noise, 1e-11 * size);
            for (a, b) in model.mean().iter().zip(&mean) {
                assert_close("μ", *a, *b, 1e-11);
            }
        }
    }
}

#[test]
fn as_many_components_as_features_give_the_covariance() {
    let x = noisy(&mut Random::new(2), 60, 6, 3, 0.5);
    let (s, mean) = moments(&x);
    let model = Ppca::new(6).fit(&x).unwrap();
    assert_eq!(model.noise_variance(), 0.0);
    assert_all_close("C", &model.covariance(), &s, 1e-12 * frobenius(&s));
    // One component fewer is the same Gaussian: the last variance is the noise.
    let fewer = Ppca::new(5).fit(&x).unwrap();
    assert_all_close("C", &fewer.covariance(), &s, 1e-12 * frobenius(&s));
    let data = Dataset::from(&x);
    let (all, less) = (model.log_likelihood(&data).unwrap(), fewer.log_likelihood(&data).unwrap());
    let naive: f64 = x.rows().into_iter().map(|r| log_density(r, &mean, &s)).sum();
    assert_close("ln L", all.total, naive, 1e-9 * naive.abs());
    assert_close("ln L", less.total, naive, 1e-9 * naive.abs());
    assert_eq!(all.n_parameters, less.n_parameters);
    assert_eq!(all.n_parameters, 6.0 * 7.0 / 2.0 + 6.0);
    // And iterating arrives there too.
    let em = Ppca::new(6).algorithm(Algorithm::Em).options(tight()).fit(&data).unwrap();
    assert_all_close("C", &em.covariance(), &s, 1e-6 * frobenius(&s));
    assert_eq!(em.n_components(), 6);
}

#[test]
fn without_noise_posterior_means_are_whitened_scores() {
    let mut random = Random::new(3);
    let x = noisy(&mut random, 80, 6, 2, 1e-7);
    let data = Dataset::from(&x);
    let n = 80.0f64;
    let (_, white) = Pca::new(2).whiten(true).fit_transform(&data).unwrap();
    let (model, z) = Ppca::new(2).fit_transform(&data).unwrap();
    // The whitened scores of PCA have the divisor n − 1.
    assert_all_close("E[z]", &z, &(white * (n / (n - 1.0)).sqrt()), 1e-6);
    let posterior = model.posterior(&data).unwrap();
    assert_all_close("E[z]", &posterior.means, &z, 1e-9);
    assert!(posterior.standard_deviations().iter().all(|s| *s < 1e-5));
    // With exactly no noise as well: k = d.
    let (_, white) = Pca::new(6).whiten(true).fit_transform(&data).unwrap();
    let (_, z) = Ppca::new(6).fit_transform(&data).unwrap();
    assert_all_close("E[z]", &z, &(white * (n / (n - 1.0)).sqrt()), 1e-6);
}

#[test]
fn the_likelihood_is_that_of_a_dense_gaussian() {
    let mut random = Random::new(4);
    let x = noisy(&mut random, 50, 7, 3, 0.4);
    let missing_counts = with_missing_values(&mut random, &x, 0.3);
    for standardize in [false, true] {
        for k in [1, 3, 6] {
            let model = Ppca::new(k).standardize(standardize).fit(&x).unwrap();
            let (c, mean) = (model.covariance(), model.mean().to_vec());
            for rows in [&x, &missing_counts] {
                let found = model.log_likelihood(rows).unwrap();
                let mut total = 0.0;
                for (row, l) in rows.rows().into_iter().zip(&found.samples) {
                    let naive = log_density(row, &mean, &c);
                    assert_close("ln p", *l, naive, 1e-9 * (1.0 + naive.abs()));
                    total += naive;
                }
                assert_close("ln L", found.total, total, 1e-8 * total.abs());
                let p = model.n_parameters();
                assert_close("AIC", found.aic, 2.0 * p - 2.0 * total, 1e-7 * total.abs());
                assert_close("BIC", found.bic, p * 50f64.ln() - 2.0 * total, 1e-7 * total.abs());
            }
            let training = model.log_likelihood(&x).unwrap().total;
            let stated = model.training_log_likelihood().unwrap();
            assert_close("ln L of the training data", stated, training, 1e-9 * training.abs());
        }
    }
}

#[test]
fn both_reconstructions_are_what_they_are_said_to_be() {
    let x = noisy(&mut Random::new(5), 60, 6, 2, 0.5);
    let data = Dataset::from(&x);
    let model = Ppca::new(2).fit(&data).unwrap();
    let pca = Pca::new(2).fit(&data).unwrap();
    let optimal = model.reconstruct(&data).unwrap();
    assert_all_close("optimal", &optimal, &pca.reconstruct(&data).unwrap(), 1e-12);
    let z = model.transform(&data).unwrap();
    let back = model.inverse_transform(z.view()).unwrap();
    assert_all_close("from scores", &back, &optimal, 1e-11);
    let mean = Array1::from(model.mean().to_vec());
    let shrunk = z.dot(&model.weights().t()) + &mean;
    assert_all_close("shrunk", &model.reconstruct_shrunk(&data).unwrap(), &shrunk, 1e-11);
    assert!(frobenius(&(&shrunk - &x)) > frobenius(&(&optimal - &x)));
}

/// One state of the textbook's iteration.
struct Naive {
    w: Array2<f64>,
    mean: Array1<f64>,
    noise: f64,
}

impl Naive {
    fn of(model: &PpcaModel) -> Naive {
        Naive {
            w: model.weights(),
            mean: Array1::from(model.mean().to_vec()),
            noise: model.noise_variance(),
        }
    }

    fn covariance(&self) -> Array2<f64> {
        self.w.dot(&self.w.t()) + Array2::<f64>::eye(self.w.nrows()) * self.noise
    }

    fn log_likelihood(&self, x: &Array2<f64>) -> f64 {
        let (c, mean) = (self.covariance(), self.mean.to_vec());
        let seen = |r: &ArrayView1<f64>| r.iter().any(|v| !v.is_nan());
        x.rows().into_iter().filter(seen).map(|r| log_density(r, &mean, &c)).sum()
    }

    /// One step for data with holes, straight from the definition: for every row the posterior of z
    /// given what it has, then for every feature a regression of x on (z, 1) over the rows that have
    /// it.
    fn step(&self, x: &Array2<f64>) -> Naive {
        let (d, k) = self.w.dim();
        let mut a = vec![Array2::<f64>::zeros((k + 1, k + 1)); d];
        let mut b = vec![Array1::<f64>::zeros(k + 1); d];
        let (mut squares, mut entries) = (0.0, 0.0);
        for row in x.rows() {
            let seen: Vec<usize> = (0..d).filter(|&f| !row[f].is_nan()).collect();
            let mut m = Array2::<f64>::eye(k) * self.noise;
            let mut right = Array1::<f64>::zeros(k);
            for &f in &seen {
                let w = self.w.row(f);
                for i in 0..k {
                    right[i] += w[i] * (row[f] - self.mean[f]);
                    for j in 0..k {
                        m[[i, j]] += w[i] * w[j];
                    }
                }
            }
            let (inverse, _) = invert(&m);
            let z = inverse.dot(&right);
            let mut second = Array2::<f64>::zeros((k + 1, k + 1));
            for i in 0..k {
                for j in 0..k {
                    second[[i, j]] = self.noise * inverse[[i, j]] + z[i] * z[j];
                }
                second[[i, k]] = z[i];
                second[[k, i]] = z[i];
            }
            second[[k, k]] = 1.0;
            for &f in &seen {
                a[f] += &second;
                for j in 0..k {
                    b[f][j] += row[f] * z[j];
                }
                b[f][k] += row[f];
                squares += row[f] * row[f];
                entries += 1.0;
            }
        }
        let mut next = Naive { w: Array2::zeros((d, k)), mean: Array1::zeros(d), noise: 0.0 };
        for f in 0..d {
            let solution = invert(&a[f]).0.dot(&b[f]);
            for j in 0..k {
                next.w[[f, j]] = solution[j];
            }
            next.mean[f] = solution[k];
            squares += solution.dot(&a[f].dot(&solution)) - 2.0 * solution.dot(&b[f]);
        }
        next.noise = squares / entries;
        next
    }
}

/// A model after this many of the textbook's steps.
fn after(x: &Array2<f64>, k: usize, steps: usize) -> PpcaModel {
    let options = Options { max_iterations: steps, tolerance: Some(1e-15), ..Options::default() };
    let data = Dataset::from(x).with_missing(Missing::Em);
    Ppca::new(k).algorithm(Algorithm::PlainEm).options(options).fit(&data).unwrap()
}

#[test]
fn every_step_is_the_textbooks() {
    let mut random = Random::new(6);
    let whole = noisy(&mut random, 70, 6, 2, 0.6);
    let missing_counts = with_missing_values(&mut random, &whole, 0.25);
    // Few entries, which are gathered, also in part of the rows only and under few patterns.
    let wide = noisy(&mut random, 605, 30, 4, 0.6);
    let sparse = with_missing_values(&mut random, &wide, 0.7);
    let mut mixed = sparse.clone();
    mixed.slice_mut(s![..250, ..]).assign(&wide.slice(s![..250, ..]));
    let few =
        Array2::from_shape_fn(
            (605, 30),
            |(i, f)| {
                if (i + f) % 3 == 0 { wide[[i, f]] } else { f64::NAN }
            },
        );
    // Most entries, in patterns that no two rows share: by bits, and for many components as products.
    let most = with_missing_values(&mut random, &wide, 0.2);
    let wider = noisy(&mut random, 301, 71, 4, 0.6);
    let wider = with_missing_values(&mut random, &wider, 0.45);
    let repeated = [(&whole, 2), (&missing_counts, 2), (&mixed, 7), (&few, 3)];
    let apart = [
        (&sparse, 2),
        (&sparse, 7),
        (&sparse, 9),
        (&most, 1),
        (&most, 5),
        (&most, 13),
        (&wider, 12),
    ];
    for (x, k) in repeated.into_iter().chain(apart) {
        for steps in [1, 2, 5] {
            let before = Naive::of(&after(x, k, steps));
            let expected = before.step(x);
            let found = Naive::of(&after(x, k, steps + 1));
            let size = frobenius(&expected.covariance());
            assert_all_close("C", &found.covariance(), &expected.covariance(), 1e-9 * size);
            assert_close("σ²", found.noise, expected.noise, 1e-9 * size);
            for (a, b) in found.mean.iter().zip(&expected.mean) {
                assert_close("μ", *a, *b, 1e-9);
            }
        }
    }
}

#[test]
fn without_holes_the_step_is_that_of_the_covariance() {
    // Tipping & Bishop 1999, equations 29 and 30, on S alone.
    let x = noisy(&mut Random::new(7), 60, 5, 2, 0.8);
    let (s, _) = moments(&x);
    let before = Naive::of(&after(&x, 2, 3));
    let (w, d) = (&before.w, 5.0);
    let m = w.t().dot(w) + Array2::<f64>::eye(2) * before.noise;
    let inverse = invert(&m).0;
    let inner = Array2::<f64>::eye(2) * before.noise + inverse.dot(&w.t()).dot(&s).dot(w);
    // The inner matrix is not symmetric: solve by its normal equations.
    let right = s.dot(w);
    let normal = inner.t().dot(&inner);
    let next = right.dot(&invert(&normal).0.dot(&inner.t()));
    let noise = (&s - &s.dot(w).dot(&inverse).dot(&next.t())).diag().sum() / d;
    let found = after(&x, 2, 4);
    let expected = next.dot(&next.t()) + Array2::<f64>::eye(5) * noise;
    assert_all_close("C", &found.covariance(), &expected, 1e-10 * frobenius(&s));
}

#[test]
fn the_iteration_arrives_at_the_closed_form() {
    let mut random = Random::new(8);
    for (n, d, k) in [(60, 5, 1), (100, 8, 3), (30, 40, 4)] {
        let x = noisy(&mut random, n, d, 2, 0.8);
        let data = Dataset::from(&x);
        let exact = Ppca::new(k).fit(&data).unwrap();
        let found = Ppca::new(k).algorithm(Algorithm::Em).options(tight()).fit(&data).unwrap();
        let size = frobenius(&exact.covariance());
        assert_all_close("C", &found.covariance(), &exact.covariance(), 1e-7 * size);
        assert_close("σ²", found.noise_variance(), exact.noise_variance(), 1e-7 * size);
        let (a, b) =
            (found.training_log_likelihood().unwrap(), exact.training_log_likelihood().unwrap());
        assert_close("ln L", a, b, 1e-8 * b.abs());
        assert!(found.certificate().relative_residual() < 1e-9);
        assert!(found.em().unwrap().converged && exact.em().is_none());
    }
}

#[test]
fn the_likelihood_never_falls_and_is_what_it_says() {
    let mut random = Random::new(9);
    for (rate, algorithm) in [
        (0.0, Algorithm::PlainEm),
        (0.2, Algorithm::PlainEm),
        (0.2, Algorithm::Em),
        (0.6, Algorithm::Em),
    ] {
        let x = noisy(&mut random, 90, 7, 2, 0.5);
        let x = with_missing_values(&mut random, &x, rate);
        let data = Dataset::from(&x).with_missing(Missing::Em);
        let mut seen = Vec::new();
        let model = Ppca::new(2)
            .algorithm(algorithm)
            .options(Options { max_iterations: 60, ..Options::default() })
            .fit_observed(&data, &mut |step| {
                seen.push(step.log_likelihood);
                ControlFlow::Continue(())
            })
            .unwrap();
        let trace = &model.em().unwrap().trace;
        assert_eq!(trace[1..], seen[..]);
        assert!(trace.windows(2).all(|w| w[1] >= w[0]), "{trace:?}");
        assert!(trace.len() > 5);
        let naive = Naive::of(&model).log_likelihood(&x);
        assert_close("ln L", model.training_log_likelihood().unwrap(), naive, 1e-8 * naive.abs());
    }
}

#[test]
fn watching_may_end_the_iteration() {
    let mut random = Random::new(10);
    let x = noisy(&mut random, 50, 5, 2, 0.5);
    let x = with_missing_values(&mut random, &x, 0.2);
    let data = Dataset::from(&x).with_missing(Missing::Em);
    let mut steps = 0;
    let model = Ppca::new(2)
        .fit_observed(&data, &mut |_| {
            steps += 1;
            if steps == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(steps, 4);
    assert!(!model.em().unwrap().converged);
    assert!(model.warnings().iter().any(|w| w.to_string().contains("still changed")));
}

#[test]
fn holes_are_integrated_out() {
    // The maximum of the likelihood, found by climbing from the closed form of the whole data with
    // naive steps, is where the fast iteration ends.
    let mut random = Random::new(11);
    let x = noisy(&mut random, 120, 6, 2, 0.5);
    let x = with_missing_values(&mut random, &x, 0.2);
    let data = Dataset::from(&x).with_missing(Missing::Em);
    let model = Ppca::new(2).options(tight()).fit(&data).unwrap();
    let mut state = Naive::of(&model);
    let before = state.log_likelihood(&x);
    for _ in 0..5 {
        state = state.step(&x);
    }
    let after = state.log_likelihood(&x);
    assert!(after - before < 1e-7 * before.abs(), "{before} {after}");
    let size = frobenius(&state.covariance());
    assert_all_close("C", &model.covariance(), &state.covariance(), 1e-6 * size);
    assert!(model.certificate().relative_residual() < 1e-8, "{}", model.certificate());
    assert_eq!(model.missing().unwrap().policy, Missing::Em);
    // PCA under the same policy has the same components and, but for the divisor, variances.
    let pca = Pca::new(2).options(tight()).fit(&data).unwrap();
    assert_all_close("U", &pca.components().to_owned(), &model.components().to_owned(), 1e-12);
    let n = 120.0;
    for (a, b) in pca.explained_variance().iter().zip(model.explained_variance()) {
        assert_close("λ", *a, b * n / (n - 1.0), 1e-12 * a);
    }
}

/// The numbers of a table with a header, without its first columns.
fn golden(text: &str, skip: usize) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').filter_map(|v| v.parse().ok()).skip(skip).collect())
        .collect();
    let d = rows[0].len();
    Array2::from_shape_vec((rows.len(), d), rows.concat()).unwrap()
}

#[test]
fn iris_and_usarrests_have_the_likelihood_of_a_dense_implementation() {
    let iris = golden(include_str!("../../../../golden/iris/data.csv"), 0);
    let arrests = golden(include_str!("../../../../golden/usarrests/data.csv"), 0);
    for x in [&iris, &arrests] {
        assert_eq!(x.ncols(), 4);
        let data = Dataset::from(x);
        let (_, mean) = moments(x);
        for k in 1..=3 {
            let (c, noise) = closed_form(x, k);
            let naive: f64 = x.rows().into_iter().map(|r| log_density(r, &mean, &c)).sum();
            for algorithm in [Algorithm::Auto, Algorithm::Em] {
                let ppca = Ppca::new(k).algorithm(algorithm).options(tight());
                let model = ppca.fit(&data).unwrap();
                let found = model.training_log_likelihood().unwrap();
                assert_close("ln L", found, naive, 1e-7 * naive.abs());
                assert_close("σ²", model.noise_variance(), noise, 1e-6 * noise);
            }
        }
    }
    // The four published eigenvalues of iris give the likelihood of k = 2 by hand: divisor n.
    let published = [4.22824171, 0.24267075, 0.0782095, 0.02383509];
    let l: Vec<f64> = published.iter().map(|v| v * 149.0 / 150.0).collect();
    let noise = (l[2] + l[3]) / 2.0;
    let model = Ppca::new(2).fit(&iris).unwrap();
    assert_close("σ²", model.noise_variance(), noise, 1e-7);
    let by_hand =
        -75.0 * (4.0 * std::f64::consts::TAU.ln() + l[0].ln() + l[1].ln() + 2.0 * noise.ln() + 4.0);
    let found = model.training_log_likelihood().unwrap();
    assert_close("ln L", found, by_hand, 1e-3);
}

/// `tr C = tr S`: what the components carry and the noise beside them is the total that is told, with one divisor.
#[test]
fn the_variances_of_a_summary_add_up() {
    let x = Random::new(4).matrix(40, 6);
    let model = Ppca::new(2).fit(&x).unwrap();
    let summary = Model::summary(&model);
    let value = |name: &str| {
        let found = summary.values.get(name);
        found.cloned().unwrap()
    };
    let (Value::List(variances), Value::Number(noise), Value::Number(total)) =
        (value("explained_variance"), value("noise_variance"), value("total_variance"))
    else {
        panic!("other kinds of values")
    };
    let variances = variances.iter().map(|v| match v {
        Value::Number(v) => *v,
        other => panic!("{other:?}"),
    });
    let sum = variances.sum::<f64>() + 4.0 * noise;
    assert!((sum - total).abs() < 1e-12 * total, "{sum} {total}");
    // The same by hand: squares about the means, divided by n.
    let centered = &x - &x.mean_axis(Axis(0)).unwrap();
    let by_hand = centered.iter().map(|v| v * v).sum::<f64>() / 40.0;
    assert!((by_hand - total).abs() < 1e-12 * total, "{by_hand} {total}");
}

/// Posterior means are of unit size whatever that of the data, also those returned by the fit.
#[test]
fn posterior_means_of_huge_data_are_numbers() {
    let x = Random::new(5).matrix(30, 4) * 5e307;
    let (model, scores) = Ppca::new(2).fit_transform(&x).unwrap();
    let again = model.transform(&x).unwrap();
    assert_eq!(scores, again);
    assert!(scores.iter().all(|z| z.abs() < 10.0), "{scores}");
}
