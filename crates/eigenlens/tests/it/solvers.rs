//! The solver matrix: LAPACK's test ratios on every route, the iteration on operators of known
//! spectra, and whether certificates tell the truth.

// Indices run over several arrays at once, as they do in the equations.
#![expect(clippy::needless_range_loop)]

use crate::support::*;
use eigenlens::solver::{self, Evidence, NoneMissed};
use eigenlens::{
    Error, Lsa, Operator, Options, Pca, PcaModel, Result, Scalar, Solver, SymmetricMatrix, Warning,
};
use ndarray::{Array1, Array2, ArrayView2, s};

/// The bound LAPACK's own tests put on their ratios.
const RATIO: f64 = 35.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Full,
    LowRank,
    /// Variances that agree to ten digits, in two groups.
    Clustered,
}

const KINDS: [Kind; 3] = [Kind::Full, Kind::LowRank, Kind::Clustered];

fn variances(kind: Kind, n: usize, d: usize) -> Vec<f64> {
    let rank = (n - 1).min(d);
    match kind {
        Kind::Full => (0..rank).map(|j| 2.0 / (1.0 + j as f64)).collect(),
        Kind::LowRank => (0..rank.div_ceil(3)).map(|j| 2.0 / (1.0 + j as f64)).collect(),
        Kind::Clustered => (0..rank)
            .map(|j| if 2 * j < rank { 1.0 } else { 0.25 } + 1e-10 * (rank - j) as f64)
            .collect(),
    }
}

/// All components: ‖Xc − Z U‖ and ‖UUᵀ − I‖ in units of rounding, and the planted values.
fn check_ratios<T: Scalar>(x: &Array2<f64>, values: &[f64], scale: f64, solver: Solver) {
    let context = format!("{solver:?} {:?} {} × {scale:e}", x.dim(), T::NAME);
    let (n, d) = x.dim();
    let table = Table::<T>::new(&(x * scale), Storage::RowMajor);
    let (model, scores) = Pca::new(n.min(d)).solver(solver).fit_transform(table.dataset()).unwrap();
    let u = model.components();
    let orthogonality = orthogonality(u) / (d as f64 * f64::EPSILON);
    assert!(orthogonality < RATIO, "{context}: orthogonality {orthogonality}");
    // In units of the scale, so that squares are numbers.
    let mut centered = table.values();
    for (mut column, m) in centered.columns_mut().into_iter().zip(model.mean()) {
        column.mapv_inplace(|v| (v - m) / scale);
    }
    let z = widen(&scores).mapv(|v| v / scale);
    let rest = frobenius(&(&centered - &z.dot(&u)));
    let ratio = rest / (frobenius(&centered) * n.max(d) as f64 * T::EPSILON);
    assert!(ratio < RATIO, "{context}: ‖Xc − Z U‖ ratio {ratio}");
    let near = 100.0 * T::EPSILON * values[0];
    for j in 0..n.min(d) {
        let deviation = model.standard_deviations()[j] / scale;
        let value = values.get(j).copied().unwrap_or(0.0);
        assert_close(&context, deviation * deviation, value, near);
    }
    // Rounded to float32, data of low rank have full rank, and a careful route sees it.
    let useful = model.rank();
    assert!(useful == values.len() || (useful > values.len() && T::NAME == "f32"), "{context}");
    let residual = model.certificate().relative_residual();
    // A bound by random probes is ten times a usual product.
    let probed = matches!(model.certificate().evidence, Evidence::Probes { .. });
    let most = if T::NAME == "f32" { 1e-6 } else { 1e-12 } * if probed { 10.0 } else { 1.0 };
    assert!(residual <= most, "{context}: residual {residual:e}");
    let found = model.verify(table.dataset()).unwrap();
    assert!(found.passed(), "{context}: {:?}", found.failures().collect::<Vec<_>>());
    let out_of_range = scale * scale > 1e300 || scale * scale < 1e-300;
    let warned = model.warnings().contains(&Warning::VarianceOutOfRange);
    assert_eq!(
        warned,
        out_of_range && T::NAME == "f64" && scale.log10().abs() > 200.0,
        "{context}"
    );
}

fn check_matrix<T: Scalar>(sizes: &[usize], scales: &[f64]) {
    let mut random = Random::new(11);
    for &n in sizes {
        for &d in sizes {
            for kind in KINDS {
                let values = variances(kind, n, d);
                let (x, _) = random.planted(n, d, &values);
                for &scale in scales {
                    for solver in SOLVERS {
                        check_ratios::<T>(&x, &values, scale, solver);
                    }
                }
            }
        }
    }
}

#[test]
fn lapack_ratios_f64() {
    check_matrix::<f64>(&[2, 3, 10, 16, 30, 40], &[1.0]);
}

#[test]
fn lapack_ratios_f32() {
    check_matrix::<f32>(&[2, 3, 10, 16, 30, 40], &[1.0]);
}

#[test]
fn lapack_ratios_at_every_scale_f64() {
    check_matrix::<f64>(&[3, 10, 30], &[1e-150, 1e150, 1e-300, 1e300]);
}

#[test]
fn lapack_ratios_at_every_scale_f32() {
    check_matrix::<f32>(&[3, 10, 30], &[1e-30, 1e25]);
}

/// Whitening, reconstruction, diagnostics and densities do not depend on the unit of the data.
#[test]
fn derived_quantities_at_every_scale() {
    let x = Random::new(5).ordinary(30, 6);
    let plain = Pca::new(3).whiten(true).fit_transform(&x).unwrap();
    let reference = plain.0.sample_diagnostics(&x).unwrap();
    let likelihood = plain.0.log_likelihood(&x).unwrap();
    // Powers of two, so that the data differ in nothing but their unit.
    for exponent in [-1000, -500, -20, 20, 500, 1000] {
        let scale = 2f64.powi(exponent);
        let scaled = &x * scale;
        for storage in [Storage::RowMajor, Storage::Sparse, Storage::Streamed(5, false)] {
            let table = Table::<f64>::new(&scaled, storage);
            let data = table.dataset();
            for solver in SOLVERS.into_iter().filter(|&s| feasible(storage, s, 30, 6)) {
                let context = format!("{storage:?} {solver:?} 2^{exponent}");
                let pca = Pca::new(3).whiten(true).solver(solver);
                let (model, scores) = pca.fit_transform(&data).unwrap();
                assert_eq!(scores, model.transform(&data).unwrap(), "{context}");
                assert_all_close(&context, &scores, &plain.1, 1e-9);
                let back = model.reconstruct(&data).unwrap().mapv(|v| v / scale);
                let expected = plain.0.reconstruct(&x).unwrap();
                assert_all_close(&context, &back, &expected, 1e-9);
                let rows = model.sample_diagnostics(&data).unwrap();
                for i in 0..30 {
                    assert_close(&context, rows.t_squared[i], reference.t_squared[i], 1e-9);
                    let distance = rows.residual_norms[i] / scale;
                    assert_close(&context, distance, reference.residual_norms[i], 1e-9);
                }
                let density = model.log_likelihood(&data).unwrap();
                let jacobian = 6.0 * f64::from(exponent) * std::f64::consts::LN_2;
                let expected = likelihood.mean - jacobian;
                assert_close(&context, density.mean, expected, 1e-9 * (1.0 + expected.abs()));
                // Standardised, the unit is gone altogether.
                let (model, _) = pca.standardize(true).fit_transform(&data).unwrap();
                let same = Pca::new(3).standardize(true).fit(&x).unwrap();
                for j in 0..3 {
                    let (a, b) = (model.explained_variance()[j], same.explained_variance()[j]);
                    assert_close(&context, a, b, 1e-11);
                }
            }
        }
    }
}

/// The same where a few of many components make it an iteration.
#[test]
fn krylov_paths_on_larger_data() {
    let mut random = Random::new(21);
    for (n, d) in [(500, 450), (450, 500), (430, 430), (1200, 260)] {
        let count = (n - 1).min(d);
        let spectra: [Vec<f64>; 3] = [
            // A slow decay.
            (0..count).map(|j| 10.0 / (1.0 + j as f64)).collect(),
            // Three equal values at the top, then a cluster, then noise of one size.
            (0..count)
                .map(|j| {
                    if j < 3 {
                        10.0
                    } else if j < 8 {
                        5.0
                    } else {
                        1.0
                    }
                })
                .collect(),
            // Low rank.
            (0..12).map(|j| 10.0 - 0.5 * j as f64).collect(),
        ];
        for values in &spectra {
            let (x, u) = random.planted(n, d, values);
            for k in [1, 4, 8] {
                for solver in SOLVERS {
                    // The full factorisation is slow and has its own tests.
                    if solver == Solver::Svd && k != 4 {
                        continue;
                    }
                    let context = format!("{solver:?} {n} × {d} k = {k} of {:?}", &values[..9]);
                    let (model, scores) = Pca::new(k).solver(solver).fit_transform(&x).unwrap();
                    check_planted(&context, &model, values, &u);
                    let variance = scores.column(k - 1).mapv(|v| v * v).sum() / (n as f64 - 1.0);
                    assert_close(&context, variance, values[k - 1], 1e-8 * values[0]);
                }
            }
        }
    }
}

fn check_planted(context: &str, model: &PcaModel, values: &[f64], u: &Array2<f64>) {
    let k = model.n_components();
    let certificate = model.certificate();
    let residual = certificate.relative_residual();
    assert!(residual <= 1e-9, "{context}: residual {residual:e}");
    assert!(orthogonality(model.components()) < 1e-12, "{context}");
    for j in 0..k {
        let error = (model.explained_variance()[j] - values[j]).abs() / values[0];
        let bound = certificate.value_errors[j] + 1e-13;
        assert!(error <= bound, "{context}: value error {error:e} over {bound:e}");
        // Everything the value's equals span.
        let same: Vec<usize> =
            (0..values.len()).filter(|&i| (values[i] - values[j]).abs() < 1e-9).collect();
        let span = u.select(ndarray::Axis(0), &same);
        let angle = outside(model.components().slice(s![j..j + 1, ..]), span.view());
        assert!(angle < 1e-6, "{context}: angle {angle:e} of component {j}");
        if certificate.angles[j] < 1.0 {
            assert_eq!(same.len(), 1, "{context}: component {j} is not alone");
            let bound = certificate.angles[j] + 1e-12;
            assert!(angle <= bound, "{context}: angle {angle:e} over {bound:e}");
        } else {
            let grouped = certificate.groups.iter().any(|g| g.contains(&j));
            assert!(grouped, "{context}: component {j} is undetermined, but in no group");
            assert!(same.len() > 1, "{context}: component {j} is called undetermined");
        }
    }
    assert!(!matches!(certificate.none_missed, NoneMissed::Disproved), "{context}");
}

/// float32 data far from 0: values right to 1e-6 of themselves.
#[test]
fn float32_far_from_zero() {
    let (n, d) = (20_000, 20);
    let mut random = Random::new(31);
    let x = random.matrix(n, d) + 1e5;
    for storage in [Storage::RowMajor, Storage::ColumnMajor, Storage::Streamed(777, false)] {
        let table = Table::<f32>::new(&x, storage);
        let oracle = Oracle::new(&table.values(), true, false);
        for solver in [Solver::Auto, Solver::Covariance, Solver::Svd, Solver::Iterative] {
            let model = Pca::new(d).solver(solver).fit(table.dataset()).unwrap();
            for j in 0..d {
                let expected = oracle.values[j];
                assert_close("value", model.explained_variance()[j], expected, 1e-6 * expected);
            }
            for f in 0..d {
                assert_close("mean", model.mean()[f], oracle.mean[f], 1e-10 * 1e5);
            }
            let found = model.verify(table.dataset()).unwrap();
            assert!(found.passed(), "{:?}", found.failures().collect::<Vec<_>>());
        }
    }
}

/// A diagonal matrix in a random orthonormal frame (a product of reflections).
struct Planted {
    values: Vec<f64>,
    mirrors: Vec<Array1<f64>>,
}

impl Planted {
    fn new(values: Vec<f64>, seed: u64) -> Planted {
        let mut random = Random::new(seed);
        let mirrors = (0..3)
            .map(|_| random.orthonormal(values.len(), 1, false).column(0).to_owned())
            .collect();
        Planted { values, mirrors }
    }

    /// Into the frame where the operator is diagonal.
    fn turn(&self, v: &mut Array2<f64>, back: bool) {
        let mut mirrors: Vec<_> = self.mirrors.iter().collect();
        if back {
            mirrors.reverse();
        }
        for m in mirrors {
            let inside = v.t().dot(m);
            for (mut column, inside) in v.columns_mut().into_iter().zip(inside) {
                column.scaled_add(-2.0 * inside, m);
            }
        }
    }
}

impl Operator for Planted {
    fn dim(&self) -> usize {
        self.values.len()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        let mut w = v.to_owned();
        self.turn(&mut w, false);
        for (mut row, value) in w.rows_mut().into_iter().zip(&self.values) {
            row *= *value;
        }
        self.turn(&mut w, true);
        out.assign(&w);
        Ok(())
    }
}

/// The k largest: values, true residuals, orthogonality.
fn check_operator(
    context: &str,
    operator: &dyn Operator,
    exact: &[f64],
    k: usize,
    options: &Options,
) {
    let tolerance = options.tolerance.unwrap_or(1e-9);
    let mut sorted = exact.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let size = sorted.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let pairs =
        solver::largest(operator, k, options).unwrap_or_else(|e| panic!("{context}, k = {k}: {e}"));
    assert!(pairs.convergence.converged, "{context}");
    let rows = pairs.vectors.t();
    assert!(orthogonality(rows) < 1e-12, "{context}: {:e}", orthogonality(rows));
    let mut product = Array2::zeros(pairs.vectors.dim());
    operator.apply(pairs.vectors.view(), &mut product).unwrap();
    let floor = 1e-14 * size;
    for j in 0..k {
        let found = pairs.values[j];
        assert_close(
            &format!("{context}: value {j} of {k}"),
            found,
            sorted[j],
            tolerance * size + floor,
        );
        let residual = &product.column(j) - &(&pairs.vectors.column(j) * found);
        let residual = residual.dot(&residual).sqrt();
        assert!(
            residual <= tolerance * size + floor,
            "{context}: residual {:e} of pair {j} of {k}",
            residual / size
        );
    }
}

#[test]
fn repeated_values_are_all_found() {
    let d = 600;
    for multiplicity in [3, 8, 20] {
        // The repeated value on top, others below; or one above it.
        let top: Vec<f64> = (0..d)
            .map(|j| if j < multiplicity { 2.0 } else { 1.0 / (1.0 + (j - multiplicity) as f64) })
            .collect();
        let second: Vec<f64> = std::iter::once(3.0).chain(top.iter().copied()).take(d).collect();
        for (name, values) in [("top", top), ("second", second)] {
            let operator = Planted::new(values.clone(), 41);
            for k in [1, multiplicity - 1, multiplicity, multiplicity + 3] {
                let context = format!("multiplicity {multiplicity} {name}");
                check_operator(&context, &operator, &values, k, &Options::default());
            }
        }
    }
}

#[test]
fn clusters_and_the_identity() {
    let d = 500;
    let identity = Planted::new(vec![1.0; d], 42);
    let clusters: Vec<f64> =
        (0..d).map(|j| 1.0 / (1.0 + (j / 10) as f64) + 1e-8 * (j % 10) as f64).collect();
    let cluster = Planted::new(clusters.clone(), 43);
    for k in [1, 5, 12, 25] {
        check_operator("identity", &identity, &vec![1.0; d], k, &Options::default());
        check_operator("clusters", &cluster, &clusters, k, &Options::default());
    }
    let zero = Planted::new(vec![0.0; d], 44);
    check_operator("zero", &zero, &vec![0.0; d], 5, &Options::default());
}

#[test]
fn smaller_tolerances_are_met() {
    let d = 700;
    let values: Vec<f64> = (0..d).map(|j| (1.0 + j as f64).powf(-1.5)).collect();
    let operator = Planted::new(values.clone(), 45);
    for tolerance in [1e-3, 1e-6, 1e-11, 1e-13] {
        let options = Options { tolerance: Some(tolerance), ..Options::default() };
        for k in [1, 6, 20] {
            check_operator(&format!("tolerance {tolerance:e}"), &operator, &values, k, &options);
        }
    }
    // An iteration that may not go on says so.
    let options = Options { max_iterations: 2, ..Options::default() };
    let error = solver::largest(&operator, 20, &options).err().unwrap();
    assert!(matches!(error, Error::NotConverged { .. }), "{error:?}");
    let error = solver::largest(&operator, d + 1, &Options::default()).err().unwrap();
    assert!(matches!(error, Error::TooManyComponents { .. }), "{error:?}");
    let error = solver::largest(&operator, 0, &Options::default()).err().unwrap();
    assert!(matches!(error, Error::Parameter { name: "k", .. }), "{error:?}");
}

/// Spectra below 0, where the largest value is the smallest in size.
#[test]
fn negative_spectra() {
    let d = 500;
    let below: Vec<f64> = (0..d).map(|j| -1.0 - j as f64 / 50.0).collect();
    let through: Vec<f64> = (0..d).map(|j| 5.0 - j as f64 / 10.0).collect();
    let from_zero: Vec<f64> = (0..d).map(|j| -(j as f64).powi(2) / 1000.0).collect();
    for (name, values) in [("below 0", below), ("through 0", through), ("from 0", from_zero)] {
        let operator = Planted::new(values.clone(), 46);
        for k in [1, 4, 9] {
            check_operator(name, &operator, &values, k, &Options::default());
        }
    }
}

/// The Laplacian of a path of n vertices: 2 − 2 cos(πj/n), known in closed form.
struct Path {
    n: usize,
    sign: f64,
}

impl Operator for Path {
    fn dim(&self) -> usize {
        self.n
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        for i in 0..self.n {
            for j in 0..v.ncols() {
                let mut sum = 0.0;
                if i > 0 {
                    sum += v[[i, j]] - v[[i - 1, j]];
                }
                if i + 1 < self.n {
                    sum += v[[i, j]] - v[[i + 1, j]];
                }
                out[[i, j]] = self.sign * sum;
            }
        }
        Ok(())
    }
}

#[test]
fn path_graph() {
    for n in [5, 60, 300] {
        let values: Vec<f64> = (0..n)
            .map(|j| 2.0 - 2.0 * (std::f64::consts::PI * j as f64 / n as f64).cos())
            .collect();
        let negative: Vec<f64> = values.iter().map(|v| -v).collect();
        for k in [1, 3, 5] {
            check_operator("path", &Path { n, sign: 1.0 }, &values, k, &Options::default());
            check_operator("−path", &Path { n, sign: -1.0 }, &negative, k, &Options::default());
        }
    }
}

#[test]
fn a_matrix_is_an_operator() {
    let mut random = Random::new(47);
    for d in [1, 2, 30, 60] {
        let x = random.matrix(d, d);
        let matrix = &x + &x.t();
        let (values, _) = jacobi(&matrix);
        for k in [1, d.div_ceil(2), d] {
            let operator = SymmetricMatrix(matrix.view());
            check_operator("matrix", &operator, &values, k, &Options::default());
        }
    }
}

/// A model of other data does not verify.
#[test]
fn verification_catches_what_is_spoilt() {
    let mut random = Random::new(51);
    let x = random.ordinary(60, 7);
    let other = random.ordinary(60, 7);
    for storage in [Storage::RowMajor, Storage::Sparse, Storage::Streamed(7, false)] {
        let table = Table::<f64>::new(&x, storage);
        for solver in SOLVERS.into_iter().filter(|&s| feasible(storage, s, 60, 7)) {
            let model = Pca::new(3).solver(solver).fit(table.dataset()).unwrap();
            let right = model.verify(table.dataset()).unwrap();
            assert!(right.passed(), "{:?}", right.failures().collect::<Vec<_>>());
            let wrong = model.verify(&other).unwrap();
            assert!(!wrong.passed());
            let false_ones: Vec<&str> = wrong.failures().map(|c| c.claim.as_str()).collect();
            for claim in ["mean of feature", "total variance", "component 1 is an eigenvector"] {
                assert!(false_ones.iter().any(|c| c.contains(claim)), "{claim}: {false_ones:?}");
            }
            // Only the mean has moved.
            let moved = &x + 1e-6;
            let wrong = model.verify(&moved).unwrap();
            let mut false_ones = wrong.failures();
            assert!(false_ones.any(|c| c.claim.starts_with("mean of feature")), "{wrong:?}");
            // Only one entry has changed.
            let mut changed = x.clone();
            changed[[17, 2]] += 0.01;
            assert!(!model.verify(&changed).unwrap().passed());
            // Only a direction: two columns have changed places.
            let mut swapped = x.clone();
            let (a, b) = (x.column(1).to_owned(), x.column(4).to_owned());
            swapped.column_mut(1).assign(&b);
            swapped.column_mut(4).assign(&a);
            assert!(!model.verify(&swapped).unwrap().passed());
        }
    }
    let model = Pca::new(2).fit(&x).unwrap();
    let narrow = x.slice(s![.., ..5]);
    assert!(matches!(model.verify(narrow), Err(Error::Shape { .. })));
}

/// Equal variances: only their span is certified, and that tightly.
#[test]
fn equal_values_are_reported_as_groups() {
    let mut random = Random::new(52);
    let (sphere, _) = random.planted(40, 6, &[1.0; 6]);
    let (pair, u) = random.planted(40, 6, &[4.0, 4.0, 2.0, 1.0, 0.5, 0.1]);
    for solver in SOLVERS {
        let model = Pca::new(6).solver(solver).fit(&sphere).unwrap();
        let certificate = model.certificate();
        assert_eq!(certificate.groups.len(), 1, "{solver:?}: {certificate:?}");
        assert_eq!(certificate.groups[0], 0..6);
        assert!(certificate.angles.iter().all(|a| *a == 1.0));
        for k in 2..=5 {
            let model = Pca::new(k).solver(solver).fit(&pair).unwrap();
            let certificate = model.certificate();
            let context = format!("{solver:?} k = {k}: {certificate:?}");
            assert_eq!(certificate.groups.len(), 1, "{context}");
            assert_eq!(certificate.groups[0], 0..2, "{context}");
            assert!(certificate.group_angles[0] < 1e-12, "{context}");
            assert!(certificate.angles[2..].iter().all(|a| *a < 1e-12), "{context}");
            let found = model.components();
            let angle = outside(found.slice(s![..2, ..]), u.slice(s![..2, ..]));
            assert!(angle < 1e-12, "{context}");
        }
        // Cut through the pair: the first component alone is not determined.
        let model = Pca::new(1).solver(solver).fit(&pair).unwrap();
        let certificate = model.certificate();
        assert_eq!(certificate.angles, [1.0], "{solver:?}");
        assert_eq!(certificate.groups.len(), 1, "{solver:?}");
        assert_eq!(certificate.group_angles, [1.0], "{solver:?}");
        // Well separated ones are determined, wherever the cut is.
        let (x, _) = random.planted(40, 6, &[4.0, 3.0, 2.0, 1.5, 1.0, 0.8]);
        for k in 1..=6 {
            let model = Pca::new(k).solver(solver).fit(&x).unwrap();
            let certificate = model.certificate();
            let context = format!("{solver:?} k = {k}: {certificate:?}");
            assert!(certificate.groups.is_empty(), "{context}");
            assert!(certificate.angles.iter().all(|a| *a < 1e-12), "{context}");
            assert!(matches!(certificate.evidence, Evidence::Data | Evidence::Probes { .. }));
        }
    }
}

/// A deliberately rough answer is caught by its certificate, whose bounds hold all the same.
#[test]
fn rough_answers_are_certified_as_rough() {
    let mut random = Random::new(53);
    let (n, d) = (400, 300);
    let values: Vec<f64> = (0..d).map(|j| 1.0 / (1.0 + 0.05 * j as f64)).collect();
    let (x, u) = random.planted(n, d, &values);
    let solver = Solver::Randomized { oversampling: 4, power_iterations: 1 };
    let model = Pca::new(4).solver(solver).fit(&x).unwrap();
    let certificate = model.certificate();
    assert!(certificate.relative_residual() > 1e-3);
    assert!(model.warnings().iter().any(|w| matches!(w, Warning::NotCertified { .. })));
    assert!(!model.verify(&x).unwrap().passed());
    for j in 0..4 {
        // Some value lies within the residual of each one found.
        let value = model.explained_variance()[j];
        let nearest =
            values.iter().map(|v| (v - value).abs()).fold(f64::INFINITY, f64::min) / values[0];
        assert!(nearest <= certificate.residuals[j] + 1e-12);
        if certificate.angles[j] < 1.0 && !certificate.is_conditional() {
            assert!(sine(model.components().row(j), u.row(j)) <= certificate.angles[j]);
        }
    }
    // Every route that promises accuracy keeps its promise on the same data.
    for solver in SOLVERS {
        let model = Lsa::new(4).solver(solver).fit(&x).unwrap();
        assert!(model.certificate().relative_residual() <= 1e-9);
    }
}

/// An operator whose products are new matrices, laid out column by column.
struct Replacing(Array2<f64>);

impl Operator for Replacing {
    fn dim(&self) -> usize {
        self.0.nrows()
    }

    fn apply(&self, v: ArrayView2<f64>, out: &mut Array2<f64>) -> Result<()> {
        *out = v.t().dot(&self.0).reversed_axes();
        Ok(())
    }
}

#[test]
fn an_operator_may_replace_its_output() {
    for d in [40, 300] {
        let values: Vec<f64> = (0..d).map(|j| 1.0 / (1.0 + j as f64)).collect();
        let (x, _) = Random::new(48).planted(d + 10, d, &values);
        let matrix = x.t().dot(&x) / (d as f64 + 9.0);
        check_operator("replacing", &Replacing(matrix), &values, 4, &Options::default());
    }
}
