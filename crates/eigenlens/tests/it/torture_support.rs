//! Data and oracles for the torture tests: nothing here uses the code under test.

use eigenlens::{Csr, Pca, PcaModel, Result, RowReader, Rows, Scalar, Solver, Warning};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// SplitMix64: small, and ours.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    /// Standard normal (Box & Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn normals(&mut self, n: usize, d: usize) -> Array2<f64> {
        Array2::from_shape_simple_fn((n, d), || self.normal())
    }
}

/// Independent columns of standard deviations 1, 0.8, 0.64, …, rotated: distinct variances.
pub fn distinct(seed: u64, n: usize, d: usize) -> Array2<f64> {
    let mut random = Random::new(seed);
    let mut x = random.normals(n, d);
    for (f, mut column) in x.columns_mut().into_iter().enumerate() {
        column *= 0.8f64.powi(f as i32 % 40);
    }
    reflect_columns(&mut x, &mut random);
    x
}

/// `x ← x H₁ H₂ H₃` with random Householder reflections: an orthogonal change of features.
pub fn reflect_columns(x: &mut Array2<f64>, random: &mut Random) {
    for _ in 0..3 {
        let mut v = random.normals(x.ncols(), 1).remove_axis(Axis(1));
        v /= v.dot(&v).sqrt();
        let along = x.dot(&v);
        for (mut row, a) in x.rows_mut().into_iter().zip(&along) {
            row.scaled_add(-2.0 * a, &v);
        }
    }
}

/// An n × d matrix with the given singular values, and no structure besides.
pub fn with_singular_values(seed: u64, n: usize, d: usize, values: &[f64]) -> Array2<f64> {
    let mut random = Random::new(seed);
    let mut x = Array2::zeros((n, d));
    for (j, v) in values.iter().enumerate() {
        x[[j, j]] = *v;
    }
    reflect_columns(&mut x, &mut random);
    let mut turned = x.reversed_axes().as_standard_layout().into_owned();
    reflect_columns(&mut turned, &mut random);
    turned.reversed_axes().as_standard_layout().into_owned()
}

/// `x` above `−x`: its mean is exactly 0, its singular values are √2 times those of `x`.
pub fn mirrored(x: &Array2<f64>) -> Array2<f64> {
    let negative = x.mapv(|v| -v);
    ndarray::concatenate(Axis(0), &[x.view(), negative.view()]).unwrap()
}

pub fn to_f32(x: &Array2<f64>) -> Array2<f32> {
    x.mapv(|v| v as f32)
}

pub fn widened<T: Scalar>(x: &Array2<T>) -> Array2<f64> {
    x.mapv(|v| v.to_f64())
}

/// `x` less its column means, by compensated sums of deviations from the first row.
pub fn centered(x: &Array2<f64>) -> Array2<f64> {
    let mut shifted = x - &x.row(0);
    for _ in 0..2 {
        for mut column in shifted.columns_mut() {
            let mean = kahan(column.iter().copied()) / column.len() as f64;
            column -= mean;
        }
    }
    shifted
}

pub fn kahan(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for v in values {
        let next = sum + v;
        lost += if sum.abs() >= v.abs() { (sum - next) + v } else { (v - next) + sum };
        sum = next;
    }
    sum + lost
}

/// Singular values (descending) and right vectors (rows) by one-sided Jacobi rotations
/// (Hestenes 1958), scaled first: accurate, slow, and nothing like the code under test.
pub fn jacobi_svd(a: &Array2<f64>) -> (Vec<f64>, Array2<f64>) {
    let size = a.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let scale = if size > 0.0 { size } else { 1.0 };
    let d = a.ncols();
    // Columns as rows, for speed; beside each the right vector.
    let mut b: Vec<Vec<f64>> =
        a.columns().into_iter().map(|c| c.iter().map(|v| v / scale).collect()).collect();
    let mut v: Vec<Vec<f64>> =
        (0..d).map(|j| (0..d).map(|i| f64::from(u8::from(i == j))).collect()).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    for _ in 0..60 {
        let mut rotated = false;
        for p in 0..d {
            for q in p + 1..d {
                let (alpha, beta, gamma) =
                    (dot(&b[p], &b[p]), dot(&b[q], &b[q]), dot(&b[p], &b[q]));
                if gamma == 0.0 || gamma.abs() <= 1e-16 * (alpha.sqrt() * beta.sqrt()) {
                    continue;
                }
                rotated = true;
                let zeta = (beta - alpha) / (2.0 * gamma);
                let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = c * t;
                for list in [&mut b, &mut v] {
                    let (left, right) = list.split_at_mut(q);
                    for (x, y) in left[p].iter_mut().zip(right[0].iter_mut()) {
                        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                    }
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let norms: Vec<f64> = b.iter().map(|c| dot(c, c).sqrt()).collect();
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&i, &j| norms[j].total_cmp(&norms[i]));
    let vectors = Array2::from_shape_fn((d, d), |(j, f)| v[order[j]][f]);
    (order.iter().map(|&j| norms[j] * scale).collect(), vectors)
}

/// Explained variances and components of data by [`jacobi_svd`].
pub fn oracle(x: &Array2<f64>, center: bool) -> (Vec<f64>, Array2<f64>) {
    let data = if center { centered(x) } else { x.clone() };
    let (singular, vectors) = jacobi_svd(&data);
    let divisor = (x.nrows() - 1) as f64;
    (singular.iter().map(|s| s * s / divisor).collect(), vectors)
}

/// How far apart two unit vectors are, up to their sign.
pub fn sine(a: ndarray::ArrayView1<f64>, b: ndarray::ArrayView1<f64>) -> f64 {
    let plus = (&a - &b).mapv(|v| v * v).sum().sqrt();
    let minus = (&a + &b).mapv(|v| v * v).sum().sqrt();
    plus.min(minus)
}

pub const ROUTES: [Solver; 6] = [
    Solver::Auto,
    Solver::Covariance,
    Solver::Dual,
    Solver::Svd,
    Solver::Iterative,
    Solver::Randomized { oversampling: 10, power_iterations: 6 },
];

/// The routes that promise accuracy to rounding.
pub const EXACT_ROUTES: [Solver; 5] =
    [Solver::Auto, Solver::Covariance, Solver::Dual, Solver::Svd, Solver::Iterative];

pub fn close(found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= tolerance,
        "{found:e} is {error:e} from {expected:e}, more than {tolerance:e}"
    );
}

pub fn relatively_close(found: f64, expected: f64, tolerance: f64) {
    close(found, expected, tolerance * expected.abs());
}

pub fn has(model: &PcaModel, what: impl Fn(&Warning) -> bool) -> bool {
    model.warnings().iter().any(what)
}

/// "OK" of the torture list: orthonormal, sorted, not negative, shares in [0, 1], no NaN, a
/// certificate, and LAPACK's ratios below 35.
pub fn check_ok<T: Scalar>(x: &Array2<T>, center: bool, model: &PcaModel, scores: &Array2<T>) {
    let (n, d) = x.dim();
    let k = model.n_components();
    let u = model.components();
    assert_eq!(u.dim(), (k, d));
    assert_eq!(scores.dim(), (n, k));
    let values = model.standard_deviations();
    assert!(values.windows(2).all(|w| w[0] >= w[1]), "not sorted: {values:?}");
    assert!(values.iter().all(|v| *v >= 0.0 && v.is_finite()), "{values:?}");
    let ratios = model.explained_variance_ratio();
    assert!(ratios.iter().all(|r| (0.0..=1.0).contains(r)), "{ratios:?}");
    assert!(ratios.iter().sum::<f64>() <= 1.0 + 1e-6);
    assert!(u.iter().all(|v| v.is_finite()) && scores.iter().all(|v| v.to_f64().is_finite()));
    assert!(model.mean().iter().all(|v| v.is_finite()));
    let certificate = model.certificate();
    assert!(certificate.residuals.iter().all(|r| r.is_finite() && *r >= 0.0));
    assert!(certificate.value_errors.iter().all(|r| r.is_finite() && *r >= 0.0));
    assert!(certificate.angles.iter().all(|a| (0.0..=1.0).contains(a)));
    assert!(certificate.to_string().contains("residual"));
    // ‖U Uᵀ − I‖ / (max(n, d) ε)
    let size = n.max(d) as f64;
    let mut gram = u.dot(&u.t());
    gram.diag_mut().mapv_inplace(|v| v - 1.0);
    let ratio = one_norm(gram.view()) / (size * f64::EPSILON);
    assert!(ratio < 35.0, "orthogonality ratio {ratio}");
    // ‖Xcᵀ(Xc u) − s² u‖ / (s₁² max(n, d) ε), on data scaled to size 1.
    let wide = widened(x);
    let size_of = wide.iter().fold(0.0f64, |m, v| m.max(v.abs())).max(f64::MIN_POSITIVE);
    let scaled = wide.mapv(|v| v / size_of);
    let xc = if center { centered(&scaled) } else { scaled };
    let singular: Vec<f64> = values.iter().map(|v| v / size_of * ((n - 1) as f64).sqrt()).collect();
    let top = singular.first().copied().unwrap_or(0.0);
    if top > 0.0 {
        let useful = model.rank();
        let z = xc.dot(&u.t());
        let mut residual = xc.t().dot(&z);
        for (j, mut column) in residual.columns_mut().into_iter().enumerate().take(useful) {
            column.scaled_add(-singular[j] * singular[j], &u.row(j));
        }
        let residual = residual.slice(s![.., ..useful]);
        let ratio = one_norm(residual) / (top * top * size * T::EPSILON);
        assert!(ratio < 35.0, "residual ratio {ratio}");
        // The scores are the data along the components; those of null components are 0.
        let own: Array2<f64> = scores.mapv(|v| v.to_f64() / size_of);
        let difference = &own.slice(s![.., ..useful]) - &z.slice(s![.., ..useful]);
        let ratio = one_norm(difference.view()) / (top * size * T::EPSILON);
        assert!(ratio < 35.0, "score ratio {ratio}");
        assert!(own.slice(s![.., useful..]).iter().all(|v| *v == 0.0));
    }
}

/// Fits on a route and checks that the result is OK.
pub fn fit_ok<T: Scalar>(x: &Array2<T>, center: bool, k: usize, solver: Solver) -> PcaModel {
    let pca = Pca::new(k).center(center).solver(solver);
    let (model, scores) =
        pca.fit_transform(x).unwrap_or_else(|e| panic!("{:?} of {:?}: {e}", solver, x.dim()));
    check_ok(x, center, &model, &scores);
    model
}

pub fn one_norm(a: ArrayView2<f64>) -> f64 {
    a.columns().into_iter().map(|c| c.iter().map(|v| v.abs()).sum()).fold(0.0, f64::max)
}

/// A matrix lent in blocks of the given sizes, over and over.
pub struct InBlocks<T> {
    pub rows: Array2<T>,
    pub sizes: Vec<usize>,
    pub counted: bool,
}

impl<T: Scalar> InBlocks<T> {
    pub fn new(rows: &Array2<T>, size: usize) -> Self {
        InBlocks { rows: rows.clone(), sizes: vec![size], counted: true }
    }
}

struct BlockReader<'a, T> {
    of: &'a InBlocks<T>,
    at: usize,
    block: usize,
}

impl<T: Scalar> Rows<T> for InBlocks<T> {
    fn n_features(&self) -> usize {
        self.rows.ncols()
    }

    fn n_samples(&self) -> Option<usize> {
        self.counted.then(|| self.rows.nrows())
    }

    fn open(&self) -> Result<Box<dyn RowReader<T> + '_>> {
        Ok(Box::new(BlockReader { of: self, at: 0, block: 0 }))
    }
}

impl<T: Scalar> RowReader<T> for BlockReader<'_, T> {
    fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, T>>> {
        let n = self.of.rows.nrows();
        if self.at == n {
            return Ok(None);
        }
        let size = self.of.sizes[self.block % self.of.sizes.len()].min(at_most);
        let end = (self.at + size).min(n);
        let rows = self.of.rows.slice(s![self.at..end, ..]);
        self.at = end;
        self.block += 1;
        Ok(Some(rows))
    }
}

/// The same matrix in compressed rows, zeros left out.
pub fn compressed<T: Scalar>(x: &Array2<T>) -> Csr<T> {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.rows() {
        for (f, v) in row.iter().enumerate().filter(|(_, v)| v.to_f64() != 0.0) {
            columns.push(f as u32);
            values.push(*v);
        }
        starts.push(values.len());
    }
    Csr::new(x.nrows(), x.ncols(), starts, columns, values).unwrap()
}

/// Normal data of which only a share is not zero.
pub fn sparse_normals(seed: u64, n: usize, d: usize, density: f64) -> Array2<f64> {
    let mut random = Random::new(seed);
    Array2::from_shape_simple_fn((n, d), || {
        if random.uniform() < density { random.normal() + 0.5 } else { 0.0 }
    })
}

/// Every number of a model, bit by bit.
pub fn bits(model: &PcaModel) -> Vec<u64> {
    let certificate = model.certificate();
    let ratios = model.explained_variance_ratio();
    model
        .components()
        .iter()
        .chain(model.explained_variance())
        .chain(&ratios)
        .chain(model.mean())
        .chain(model.scale().unwrap_or_default())
        .chain(&certificate.residuals)
        .chain(&certificate.angles)
        .map(|v| v.to_bits())
        .chain([model.total_variance().to_bits(), certificate.orthogonality.to_bits()])
        .collect()
}

pub fn score_bits<T: Scalar>(scores: &Array2<T>) -> Vec<u64> {
    scores.iter().map(|v| v.to_f64().to_bits()).collect()
}

pub fn column_sds(x: &Array2<f64>) -> Array1<f64> {
    let divisor = (x.nrows() - 1) as f64;
    centered(x).columns().into_iter().map(|c| (c.dot(&c) / divisor).sqrt()).collect()
}
