//! Varimax rotation of the kept loadings (Kaiser 1958).

use super::diagnostics::{norm, ratio};
use crate::error::{Error, Result};
use crate::linalg::dense::thin_svd;
use crate::linalg::gemm::product;
use crate::solver::finish;
use ndarray::{Array1, Array2, ArrayView2, Zip, s};

/// Options of [`varimax`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarimaxOptions {
    /// Whether every feature counts alike (Kaiser's normalisation: rows of loadings are brought to
    /// length 1 while the rotation is sought). Otherwise features count by the square of their
    /// communality.
    pub normalize: bool,
    /// How far from stationary the criterion may be, relative to the largest value possible.
    pub tolerance: f64,
    /// The most sweeps over all pairs of factors.
    pub max_iterations: usize,
}

impl Default for VarimaxOptions {
    fn default() -> Self {
        VarimaxOptions { normalize: true, tolerance: 1e-12, max_iterations: 1000 }
    }
}

/// Rotated loadings: the same subspace, on axes with few large loadings each.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Varimax {
    /// The orthogonal R of `rotated = loadings · R` (k × k). Standardised scores rotate by the same
    /// R, and stay uncorrelated with variance 1.
    pub rotation: Array2<f64>,
    /// The rotated loadings (d × k).
    pub loadings: Array2<f64>,
    /// `√Σ_f loading²` of each rotated factor, falling (k).
    pub standard_deviations: Array1<f64>,
    /// `Σ_j [Σ_f l⁴ − (Σ_f l²)²/d]` of the (normalised, if asked for) loadings, at the start and after each sweep,
    /// in units of its largest possible value `Σ_f (Σ_j l²)²`; it never falls.
    pub criterion: Vec<f64>,
    /// Sweeps made over all pairs of factors.
    pub iterations: usize,
    /// Whether the tolerance was met.
    pub converged: bool,
}

impl Varimax {
    /// Variance that each rotated factor carries (k); the sum is that of the components.
    pub fn explained_variance(&self) -> Array1<f64> {
        self.standard_deviations.mapv(|sd| sd * sd)
    }
}

/// Rotates `loadings` (d × k) to maximise the variance of the squared loadings within factors.
///
/// Null components (columns of zeros) take no part: they stay null and last. Factors come in order
/// of falling variance, with the sign rule of the components.
pub fn varimax(loadings: ArrayView2<f64>, options: VarimaxOptions) -> Result<Varimax> {
    check(loadings, &options)?;
    let k = loadings.ncols();
    let rank: Vec<usize> =
        (0..k).filter(|&j| loadings.column(j).iter().any(|v| *v != 0.0)).collect();
    let target = target(columns(loadings, &rank), options.normalize);
    let climb = climb(&target, &options)?;

    let mut rotation = Array2::eye(k);
    for ((i, j), v) in climb.rotation.indexed_iter() {
        rotation[[rank[i], rank[j]]] = *v;
    }
    let unit = largest(&loadings);
    let scaled = loadings.as_standard_layout().mapv(|v| ratio(v, unit));
    let mut rotated = product(scaled.view(), rotation.view());
    rotated *= unit;
    let (rotation, loadings, standard_deviations) = order_and_sign(rotation, rotated);
    Ok(Varimax {
        rotation,
        loadings,
        standard_deviations,
        iterations: climb.criterion.len() - 1,
        criterion: climb.criterion,
        converged: climb.converged,
    })
}

fn check(loadings: ArrayView2<f64>, options: &VarimaxOptions) -> Result<()> {
    let refuse = |name, value: String, expected| Err(Error::Parameter { name, value, expected });
    if let Some(value) = loadings.iter().find(|v| !v.is_finite()) {
        return refuse("loadings", value.to_string(), "finite");
    }
    if !(options.tolerance > 0.0 && options.tolerance < 1.0) {
        return refuse("tolerance", options.tolerance.to_string(), "between 0 and 1");
    }
    if options.max_iterations == 0 {
        return refuse("max_iterations", "0".into(), "at least 1");
    }
    Ok(())
}

/// The loadings the rotation is sought on: rows of length 1, or the whole scaled so that its
/// fourth powers are numbers.
fn target(loadings: Array2<f64>, normalize: bool) -> Array2<f64> {
    let unit = largest(&loadings.view());
    let mut target = loadings.mapv(|v| ratio(v, unit));
    if normalize {
        for mut row in target.rows_mut() {
            // A feature outside every component has no direction; it stays 0.
            let length = norm(row.view());
            row.mapv_inplace(|v| ratio(v, length));
        }
    }
    target
}

struct Climb {
    rotation: Array2<f64>,
    criterion: Vec<f64>,
    converged: bool,
}

/// Climbs to a rotation R from which no turn of two factors raises the criterion of `A R`.
///
/// Sweeps over all pairs of factors, each turned to its best angle (Kaiser 1958): no turn goes
/// down, and a saddle or a minimum is left like any other point. The popular iteration by
/// singular value decomposition does neither: started θ away from perfect structure in two
/// factors it steps by 2θ, for ever to and fro.
fn climb(a: &Array2<f64>, options: &VarimaxOptions) -> Result<Climb> {
    // No criterion exceeds Σ_f ‖a_f‖⁴: the tolerance is measured by it.
    let bound: f64 = a.rows().into_iter().map(|r| r.dot(&r).powi(2)).sum();
    let mut rotation = Array2::eye(a.ncols());
    let mut rotated = a.clone();
    let mut values = vec![ratio(criterion(&rotated), bound)];
    let mut converged = false;
    while !converged && values.len() <= options.max_iterations {
        match sweep(&rotated, options.tolerance * bound) {
            Some(turn) => {
                // Hundreds of turns wear off the last digits of orthogonality; this restores them.
                rotation = orthogonal_factor(product(rotation.view(), turn.view()).view())?;
                rotated = product(a.view(), rotation.view());
                values.push(ratio(criterion(&rotated), bound));
            }
            None => converged = true,
        }
    }
    Ok(Climb { rotation, criterion: values, converged })
}

/// `Σ_j Σ_f (l² − mean_f l²)²`: the varimax criterion without the cancellation of its usual form.
fn criterion(rotated: &Array2<f64>) -> f64 {
    let d = rotated.nrows() as f64;
    let spread = |column: ndarray::ArrayView1<f64>| {
        let mean = column.dot(&column) / d;
        column.iter().map(|l| (l * l - mean).powi(2)).sum::<f64>()
    };
    rotated.columns().into_iter().map(spread).sum()
}

/// Turns each pair of factors of `rotated` (d × k) to its best angle in turn, and returns the
/// rotation (k × k) they make together; `None` when every pair stands within `tolerance` of it.
fn sweep(rotated: &Array2<f64>, tolerance: f64) -> Option<Array2<f64>> {
    let (d, k) = rotated.dim();
    // Factors, and the columns of the rotation, as rows: contiguous.
    let mut factors = rotated.t().as_standard_layout().into_owned();
    let mut turn = Array2::eye(k);
    let mut turned = false;
    for p in 0..k {
        for q in p + 1..k {
            let [mut a, mut b, mut c, mut e] = [0.0; 4];
            for (x, y) in factors.row(p).iter().zip(factors.row(q)) {
                let (u, v) = (x * x - y * y, 2.0 * x * y);
                a += u;
                b += v;
                c += u * u - v * v;
                e += 2.0 * u * v;
            }
            // Turned by φ, the criterion is a constant plus (cosine·cos 4φ + sine·sin 4φ)/4.
            let sine = e - 2.0 * a * b / d as f64;
            let cosine = c - (a * a - b * b) / d as f64;
            // Stationary, and not at the bottom.
            if sine.abs() <= tolerance && cosine >= -tolerance {
                continue;
            }
            let angle = sine.atan2(cosine) / 4.0;
            turn_rows(&mut factors, p, q, angle);
            turn_rows(&mut turn, p, q, angle);
            turned = true;
        }
    }
    turned.then(|| turn.t().as_standard_layout().into_owned())
}

fn turn_rows(a: &mut Array2<f64>, p: usize, q: usize, angle: f64) {
    let (sin, cos) = angle.sin_cos();
    let (x, y) = a.multi_slice_mut((s![p, ..], s![q, ..]));
    Zip::from(x).and(y).for_each(|x, y| (*x, *y) = (cos * *x + sin * *y, cos * *y - sin * *x));
}

/// The orthogonal matrix nearest to a square one.
fn orthogonal_factor(a: ArrayView2<f64>) -> Result<Array2<f64>> {
    let svd = thin_svd(a)?;
    Ok(Array2::from_shape_fn(a.dim(), |(i, j)| svd.u.row(i).dot(&svd.v.row(j))))
}

/// These columns, row-major as the products want them.
fn columns(a: ArrayView2<f64>, which: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((a.nrows(), which.len()), |(i, j)| a[[i, which[j]]])
}

fn largest(a: &ArrayView2<f64>) -> f64 {
    a.iter().fold(0.0f64, |m, v| m.max(v.abs()))
}

/// Factors by falling variance, each with its deciding entry positive: the first whose absolute
/// value is within 1e-6 of the largest. Takes and returns the rotation (k × k) and the rotated
/// loadings (d × k), and returns the factors' standard deviations (k).
fn order_and_sign(
    rotation: Array2<f64>,
    rotated: Array2<f64>,
) -> (Array2<f64>, Array2<f64>, Array1<f64>) {
    let sd: Vec<f64> = rotated.columns().into_iter().map(norm).collect();
    let order = finish::descending(&sd);
    let mut rotation = columns(rotation.view(), &order);
    let mut rotated = columns(rotated.view(), &order);
    for j in 0..order.len() {
        let sign = finish::sign_of(rotated.column(j), finish::f64_tie());
        rotation.column_mut(j).mapv_inplace(|v| v * sign);
        rotated.column_mut(j).mapv_inplace(|v| v * sign);
    }
    let sd = order.iter().map(|&j| sd[j]).collect();
    (rotation, rotated, sd)
}

#[cfg(test)]
mod tests {
    use super::super::diagnostics::tests::assert_close;
    use super::*;
    use crate::linalg::random::{normal_matrix, stream};
    use ndarray::{Axis, array};

    /// Loadings with simple structure, hidden by a rotation and noise.
    fn loadings(seed: u64, d: usize, k: usize) -> Array2<f64> {
        let mut rng = stream(seed, 0);
        let hidden = orthogonal_factor(normal_matrix(&mut rng, k, k).view()).unwrap();
        let mut simple = 0.3 * normal_matrix(&mut rng, d, k);
        for f in 0..d {
            simple[[f, f % k]] += 1.0 + (f % 5) as f64 / 4.0;
        }
        simple.dot(&hidden)
    }

    /// The definition, term by term.
    fn by_definition(l: &Array2<f64>) -> f64 {
        let d = l.nrows() as f64;
        l.columns()
            .into_iter()
            .map(|c| {
                let fourth: f64 = c.iter().map(|v| v.powi(4)).sum();
                let second: f64 = c.iter().map(|v| v.powi(2)).sum();
                fourth - second * second / d
            })
            .sum()
    }

    fn normalized(l: &Array2<f64>) -> Array2<f64> {
        let lengths = l.map_axis(Axis(1), |r| r.dot(&r).sqrt()).insert_axis(Axis(1));
        l / &lengths
    }

    /// Another way up, which shares nothing with the sweeps: the orthogonal factor of the gradient.
    /// A multiple of `‖Λ‖²`, which no rotation changes, makes the criterion convex, so that it
    /// cannot fall; the steps are short and many.
    fn by_gradient(start: &Array2<f64>, steps: usize) -> f64 {
        let d = start.nrows() as f64;
        let shift = start.iter().map(|v| v * v).sum::<f64>() / d;
        let mut rotated = start.clone();
        for _ in 0..steps {
            let means = rotated.mapv(|l| l * l).sum_axis(Axis(0)) / d;
            let pull = (rotated.mapv(|l| l * l) - means + shift) * &rotated;
            rotated = start.dot(&orthogonal_factor(start.t().dot(&pull).view()).unwrap());
        }
        by_definition(&rotated)
    }

    /// The best gain of any pair of factors over a grid of angles.
    fn gain_in_planes(l: &Array2<f64>) -> f64 {
        let mut best = f64::MIN;
        for p in 0..l.ncols() {
            for q in p + 1..l.ncols() {
                let pair = l.select(Axis(1), &[p, q]);
                for i in 0..2000 {
                    let (sin, cos) = (i as f64 * std::f64::consts::FRAC_PI_2 / 2000.0).sin_cos();
                    let turned = pair.dot(&array![[cos, -sin], [sin, cos]]);
                    best = best.max(by_definition(&turned) - by_definition(&pair));
                }
            }
        }
        best
    }

    fn check_invariants(l: &Array2<f64>, v: &Varimax) {
        let k = l.ncols();
        let identity = v.rotation.t().dot(&v.rotation);
        for ((i, j), value) in identity.indexed_iter() {
            assert_close(*value, if i == j { 1.0 } else { 0.0 }, 1e-13);
        }
        let scale = l.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!((l.dot(&v.rotation) - &v.loadings).iter().all(|e| e.abs() <= 1e-13 * scale));
        // Communalities and the total variance stay.
        let (before, after) = (l.mapv(|v| v * v), v.loadings.mapv(|v| v * v));
        let total = before.sum();
        for (a, b) in before.sum_axis(Axis(1)).iter().zip(&after.sum_axis(Axis(1))) {
            assert_close(*a, *b, 1e-13 * total);
        }
        assert_close(v.explained_variance().sum(), total, 1e-12 * total);
        for j in 0..k {
            assert!(j == 0 || v.standard_deviations[j] <= v.standard_deviations[j - 1]);
            let column = v.loadings.column(j);
            let most = column.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let deciding = column.iter().find(|v| v.abs() >= (1.0 - 1e-6) * most);
            assert!(*deciding.unwrap() >= 0.0);
        }
        for pair in v.criterion.windows(2) {
            assert!(
                pair[1] >= pair[0] - 1e-14,
                "the criterion fell from {} to {}",
                pair[0],
                pair[1]
            );
        }
        assert_eq!(v.iterations + 1, v.criterion.len());
    }

    #[test]
    fn reaches_the_criterion_of_gradient_steps() {
        for (seed, d, k) in [(1, 12, 2), (2, 15, 3), (3, 30, 5)] {
            let l = loadings(seed, d, k);
            for normalize in [false, true] {
                let options = VarimaxOptions { normalize, ..Default::default() };
                let v = varimax(l.view(), options).unwrap();
                assert!(v.converged, "{} iterations", v.iterations);
                check_invariants(&l, &v);
                let (start, end) = if normalize {
                    (normalized(&l), normalized(&v.loadings))
                } else {
                    (l.clone(), v.loadings.clone())
                };
                let expected = by_gradient(&start, 20_000);
                assert_close(by_definition(&end) / expected, 1.0, 1e-10);
            }
        }
    }

    #[test]
    fn two_factors_against_every_angle() {
        for seed in 10..20 {
            let mut rng = stream(seed, 0);
            let l = normal_matrix(&mut rng, 7, 2);
            let options = VarimaxOptions { normalize: false, ..Default::default() };
            let v = varimax(l.view(), options).unwrap();
            assert!(v.converged);
            check_invariants(&l, &v);
            let best = (0..20_000)
                .map(|i| {
                    let (sin, cos) = (i as f64 * std::f64::consts::FRAC_PI_2 / 20_000.0).sin_cos();
                    by_definition(&l.dot(&array![[cos, -sin], [sin, cos]]))
                })
                .fold(f64::MIN, f64::max);
            let found = by_definition(&v.loadings);
            assert!(found >= best * (1.0 - 1e-12) && found <= best * (1.0 + 1e-6));
        }
    }

    #[test]
    fn never_falls_and_ends_where_no_plane_gains_without_any_structure() {
        for seed in 30..60 {
            let mut rng = stream(seed, 0);
            let l = normal_matrix(&mut rng, 9, 5);
            for normalize in [false, true] {
                let options = VarimaxOptions { normalize, ..Default::default() };
                let v = varimax(l.view(), options).unwrap();
                assert!(v.converged, "seed {seed}: {} iterations", v.iterations);
                check_invariants(&l, &v);
                let end = if normalize { normalized(&v.loadings) } else { v.loadings };
                assert!(gain_in_planes(&end) <= 1e-12);
                assert_close(by_gradient(&end, 1000) / by_definition(&end), 1.0, 1e-12);
            }
        }
    }

    #[test]
    fn finds_perfect_simple_structure() {
        let simple = array![[3.0, 0.0], [2.0, 0.0], [-2.5, 0.0], [0.0, 1.0], [0.0, -1.5]];
        let (sin, cos) = 0.6f64.sin_cos();
        let v = varimax(simple.dot(&array![[cos, -sin], [sin, cos]]).view(), Default::default());
        // The sign rule: −1.5 is the largest of the second factor.
        let expected = &simple * &array![1.0, -1.0];
        for (found, expected) in v.unwrap().loadings.iter().zip(&expected) {
            assert_close(*found, *expected, 1e-11);
        }
    }

    #[test]
    fn leaves_the_flattest_start() {
        // Every squared loading is 1: the criterion is at its minimum 0 and the gradient vanishes.
        let l = array![[1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [1.0, -1.0]];
        let v = varimax(l.view(), Default::default()).unwrap();
        assert!(v.converged);
        let root = 2f64.sqrt();
        let expected = array![[root, 0.0], [0.0, root], [root, 0.0], [0.0, root]];
        for (a, b) in v.loadings.iter().zip(&expected) {
            assert_close(a.abs(), *b, 1e-12);
        }
    }

    #[test]
    fn null_factors_zero_rows_and_scale() {
        let mut l = Array2::zeros((13, 4));
        l.slice_mut(s![..12, ..3]).assign(&loadings(4, 12, 3));
        let v = varimax(l.view(), Default::default()).unwrap();
        check_invariants(&l, &v);
        assert!(v.loadings.column(3).iter().chain(v.loadings.row(12)).all(|v| *v == 0.0));
        assert_eq!(v.rotation[[3, 3]], 1.0);
        assert_eq!(v.standard_deviations[3], 0.0);
        // Column-major loadings are the same loadings.
        let transposed = l.t().as_standard_layout().into_owned();
        assert_eq!(varimax(transposed.t(), Default::default()).unwrap(), v);
        for scale in [1e-300, 1e300] {
            let other = varimax((&l * scale).view(), Default::default()).unwrap();
            for (a, b) in other.loadings.iter().zip(&v.loadings) {
                assert_close(a / scale, *b, 1e-9);
            }
        }
        let nothing = varimax(Array2::zeros((5, 2)).view(), Default::default()).unwrap();
        assert!(nothing.converged && nothing.rotation == Array2::<f64>::eye(2));
        let empty = varimax(Array2::zeros((5, 0)).view(), Default::default()).unwrap();
        assert_eq!(empty.loadings.dim(), (5, 0));
        let one = varimax(array![[-2.0], [1.0]].view(), Default::default()).unwrap();
        assert_eq!(one.rotation, array![[-1.0]]);
    }

    #[test]
    fn what_cannot_be_rotated_is_named() {
        let refused = |l: Array2<f64>, options| {
            matches!(varimax(l.view(), options), Err(Error::Parameter { .. }))
        };
        assert!(refused(array![[1.0, f64::NAN]], VarimaxOptions::default()));
        let l = array![[1.0, 2.0]];
        assert!(refused(l.clone(), VarimaxOptions { tolerance: 0.0, ..Default::default() }));
        assert!(refused(l.clone(), VarimaxOptions { max_iterations: 0, ..Default::default() }));
        let stopped = VarimaxOptions { max_iterations: 1, ..Default::default() };
        assert!(!varimax(loadings(1, 12, 3).view(), stopped).unwrap().converged);
    }
}
