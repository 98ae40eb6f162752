//! Kernel PCA. The truth is that of the kernel of the stored points: every value, the centring and the pairs in
//! double-double.

use super::columns::{shift, table};
use crate::compare::{Claimed, compare};
use crate::double_double::DoubleDouble;
use crate::matrix::{Matrix, dot};
use crate::problem::Judged;
use crate::random::Random;
use crate::truth::Truth;
use eigenlens::{Bandwidth, Kernel, KernelPca, KernelPcaModel, Result, Scalar};
use ndarray::Array2;

/// Points (n × d).
fn points(random: &mut Random) -> Array2<f64> {
    let (n, d) = (random.between(6, 32), random.between(1, 5));
    table(random, n, d)
}

pub fn rbf(random: &mut Random) -> Result<Judged> {
    let mut x = points(random);
    if random.chance(0.4) {
        let offset = random.log_between(1.0, 1e6);
        shift(random, &mut x, offset);
    }
    let gamma = random.log_between(1e-12, 10.0);
    judge(random, &x, Kernel::Rbf { gamma: Bandwidth::Gamma(gamma) })
}

pub fn sigmoid(random: &mut Random) -> Result<Judged> {
    let mut x = points(random);
    if random.chance(0.4) {
        let offset = random.log_between(1.0, 1e4);
        shift(random, &mut x, offset);
    }
    let gamma = Some(random.log_between(1e-10, 1.0));
    let coef0 = random.pick(&[-1.0, 0.0, 0.0, 1.0]);
    judge(random, &x, Kernel::Sigmoid { gamma, coef0 })
}

pub fn products(random: &mut Random) -> Result<Judged> {
    let mut x = points(random);
    if random.chance(0.5) {
        let offset = random.log_between(1.0, 1e6);
        shift(random, &mut x, offset);
    }
    let degree = random.between(2, 4) as u32;
    let (gamma, coef0) = (random.log_between(1e-8, 1.0), random.pick(&[0.0, 1.0, 10.0]));
    let kernel = match random.chance(0.4) {
        true => Kernel::Linear,
        false => Kernel::Polynomial { degree, gamma, coef0 },
    };
    judge(random, &x, kernel)
}

pub fn single(random: &mut Random) -> Result<Judged> {
    let mut x = points(random);
    let offset = random.pick(&[0.0, 1.0, 1e2, 1e4]) * random.log_between(0.5, 2.0);
    shift(random, &mut x, offset);
    let gamma = random.log_between(1e-8, 3.0);
    let kernel = match random.between(0, 3) {
        0 => Kernel::Linear,
        1 => Kernel::Polynomial { degree: 2, gamma, coef0: 1.0 },
        2 => Kernel::Sigmoid { gamma: Some(gamma), coef0: 0.0 },
        _ => Kernel::Rbf { gamma: Bandwidth::Gamma(gamma) },
    };
    judge(random, &x.mapv(|v| v as f32), kernel)
}

/// More samples than are decomposed whole. The centred linear kernel is `Z Zᵀ` of the centred points Z (n × d), and that of
/// degree 2 the same of all products of two features and, √(2c/γ) times, the features: the truth is that of a
/// factor with few columns.
pub fn large(random: &mut Random) -> Result<Judged> {
    let (n, d) = (random.between(520, 700), random.between(2, 6));
    let mut x = table(random, n, d);
    if random.chance(0.4) {
        let offset = random.log_between(1.0, 1e4);
        shift(random, &mut x, offset);
    }
    let number = |v: f64| DoubleDouble::from(v);
    let entry = |i: usize, f: usize| number(x[[i, f]]);
    let (kernel, mut features) = match random.chance(0.5) {
        true => (Kernel::Linear, Matrix::from_fn(d, n, |f, i| entry(i, f))),
        false => {
            // (γ x·y + 1)² = γ² (x·y)² + 2 γ x·y + 1, the last of which centring takes out.
            let gamma = random.log_between(1e-4, 1.0);
            let root = (number(2.0) * number(gamma)).sqrt();
            let features = Matrix::from_fn(d * d + d, n, |f, i| match f.checked_sub(d * d) {
                None => number(gamma) * entry(i, f / d) * entry(i, f % d),
                Some(f) => root * entry(i, f),
            });
            (Kernel::Polynomial { degree: 2, gamma, coef0: 1.0 }, features)
        }
    };
    for f in 0..features.rows() {
        let row = features.row_mut(f);
        let sum = row.iter().fold(DoubleDouble::ZERO, |sum, v| sum + *v);
        let mean = sum / number(n as f64);
        row.iter_mut().for_each(|v| *v -= mean);
    }
    judge_by(random, &x, kernel, &Truth::of_factor(&features))
}

/// Fits and compares.
fn judge<T: Scalar>(random: &mut Random, x: &Array2<T>, kernel: Kernel) -> Result<Judged> {
    let truth = Truth::of_symmetric(centered(matrix(x, &kernel)));
    judge_by(random, x, kernel, &truth)
}

fn judge_by<T: Scalar>(
    random: &mut Random,
    x: &Array2<T>,
    kernel: Kernel,
    truth: &Truth,
) -> Result<Judged> {
    let (n, d) = x.dim();
    // Values below 0 are no components.
    let positive = truth.count_above(DoubleDouble::ZERO).max(1);
    let k = random.between(1, positive.min(8));
    let model = KernelPca::new(k).kernel(kernel).fit(x)?;
    let claimed = Claimed {
        values: model.eigenvalues(),
        vectors: vectors(&model),
        unit_vectors: false,
        certificate: model.certificate(),
    };
    let what = format!("{n} × {d} {}, {}, k = {k}; {}", T::NAME, model.kernel(), model.plan());
    Ok(Judged { what, checks: compare(&claimed, truth) })
}

/// The eigenvectors, which models keep as dual coefficients: each over the root of its value.
fn vectors(model: &KernelPcaModel) -> Vec<Option<Vec<f64>>> {
    let Some(coefficients) = model.dual_coefficients() else { return Vec::new() };
    let each = coefficients.columns().into_iter().zip(model.eigenvalues());
    each.map(|(column, &value)| (value > 0.0).then(|| column.to_vec())).collect()
}

/// The kernel of all pairs (n × n).
fn matrix<T: Scalar>(x: &Array2<T>, kernel: &Kernel) -> Matrix {
    let (n, d) = x.dim();
    let rows = Matrix::from_fn(n, d, |i, f| DoubleDouble::from(x[[i, f]].to_f64()));
    Matrix::from_fn(n, n, |i, j| value(kernel, rows.row(i), rows.row(j)))
}

fn value(kernel: &Kernel, x: &[DoubleDouble], y: &[DoubleDouble]) -> DoubleDouble {
    let number = DoubleDouble::from;
    match *kernel {
        Kernel::Linear => dot(x, y),
        Kernel::Polynomial { degree, gamma, coef0 } => {
            (number(gamma) * dot(x, y) + number(coef0)).powi(degree)
        }
        Kernel::Sigmoid { gamma: Some(gamma), coef0 } => {
            (number(gamma) * dot(x, y) + number(coef0)).tanh()
        }
        Kernel::Rbf { gamma: Bandwidth::Gamma(gamma) } => {
            let difference: Vec<DoubleDouble> = x.iter().zip(y).map(|(x, y)| *x - *y).collect();
            (-(number(gamma) * dot(&difference, &difference))).exp()
        }
        _ => unreachable!("no family draws it"),
    }
}

/// `H K H`.
fn centered(kernel: Matrix) -> Matrix {
    let n = kernel.rows();
    let count = DoubleDouble::from(n as f64);
    let sum = |values: &[DoubleDouble]| values.iter().fold(DoubleDouble::ZERO, |sum, v| sum + *v);
    let means: Vec<DoubleDouble> = (0..n).map(|i| sum(kernel.row(i)) / count).collect();
    let mean = sum(&means) / count;
    Matrix::from_fn(n, n, |i, j| (kernel.at(i, j) - means[i]) - (means[j] - mean))
}
