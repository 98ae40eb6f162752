//! Operators other than the covariance of data: a matrix that is given, and data beside labels.

use super::columns::{shift, table, tall};
use crate::compare::{Claimed, compare};
use crate::double_double::DoubleDouble;
use crate::matrix::{Matrix, add_scaled, dot};
use crate::problem::{Judged, claimed};
use crate::random::Random;
use crate::truth::Truth;
use eigenlens::{Pca, Result, SupervisedPca, Target};
use ndarray::Array2;

/// The matrix as it is stored is the truth; standardised it is divided by the roots of its diagonal.
pub fn covariance(random: &mut Random) -> Result<Judged> {
    let d = random.between(2, 16);
    let step = random.log_between(0.05, 2.0);
    let mut root = random.orthonormal(d, d);
    let close = random.chance(0.3).then(|| random.log_between(1e-14, 1e-3));
    for (j, mut column) in root.columns_mut().into_iter().enumerate() {
        let variance = match close {
            Some(gap) if j < 3 => 1.0 - gap * j as f64,
            _ => 10f64.powf(-step * j as f64),
        };
        column *= variance.sqrt();
    }
    // Both halves by the same sums: symmetric to the last bit.
    let matrix =
        Array2::from_shape_fn((d, d), |(i, j)| root.row(i.max(j)).dot(&root.row(i.min(j))));
    let standardize = random.chance(0.4);
    let k = random.between(1, d);
    let entry = |i: usize, j: usize| DoubleDouble::from(matrix[[i, j]]);
    let scale = |i: usize| match standardize {
        true => entry(i, i).sqrt(),
        false => DoubleDouble::ONE,
    };
    let truth =
        Truth::of_symmetric(Matrix::from_fn(d, d, |i, j| entry(i, j) / (scale(i) * scale(j))));
    let model = Pca::new(k).standardize(standardize).fit_covariance(matrix.view(), None)?;
    let what = format!(
        "{d} × {d} covariance, values of 10^-{step:.1}j, gap {close:?}, k = {k}, standardised: {standardize}"
    );
    Ok(Judged { what, checks: compare(&claimed(&model), &truth) })
}

/// `(1 − s) Xᵀ X / tr + s M Mᵀ / tr` of centred data X (n × d), with a column of M for the sum of each class.
pub fn supervised(random: &mut Random) -> Result<Judged> {
    let (n, d, _) = tall(random);
    let classes = random.between(2, 5);
    let codes: Vec<usize> =
        (0..n).map(|i| if i < classes { i } else { random.between(0, classes - 1) }).collect();
    let mut x = table(random, n, d);
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        row[codes[i] % d] += 2.0;
    }
    if random.chance(0.4) {
        let offset = random.log_between(1.0, 1e5);
        shift(random, &mut x, offset);
    }
    let supervision = random.pick(&[1.0, 1.0, 0.5, 0.1]);
    let most = if supervision == 1.0 { d.min(classes - 1) } else { d };
    let k = random.between(1, most);
    let truth = truth_beside_classes(&x, &codes, classes, supervision);
    let target = Target::classes(codes.iter().map(|c| format!("class {c}")));
    let model = SupervisedPca::new(k).supervision(supervision).fit(&x, &target)?;
    let vectors = model.components().rows().into_iter().map(|row| Some(row.to_vec())).collect();
    let claimed = Claimed {
        values: model.eigenvalues(),
        vectors,
        unit_vectors: true,
        certificate: model.certificate(),
    };
    let what = format!(
        "{n} × {d}, {classes} classes, supervision {supervision}, k = {k}; {}",
        model.plan()
    );
    Ok(Judged { what, checks: compare(&claimed, &truth) })
}

fn truth_beside_classes(x: &Array2<f64>, codes: &[usize], classes: usize, share: f64) -> Truth {
    let (n, d) = x.dim();
    let mut rows = Matrix::from_fn(n, d, |i, f| DoubleDouble::from(x[[i, f]]));
    for f in 0..d {
        let sum = (0..n).fold(DoubleDouble::ZERO, |sum, i| sum + rows.at(i, f));
        let mean = sum / DoubleDouble::from(n as f64);
        (0..n).for_each(|i| rows.row_mut(i)[f] -= mean);
    }
    let mut sums = Matrix::from_fn(classes, d, |_, _| DoubleDouble::ZERO);
    for (i, &code) in codes.iter().enumerate() {
        add_scaled(sums.row_mut(code), DoubleDouble::ONE, rows.row(i));
    }
    let squares = |matrix: &Matrix| {
        let each = (0..matrix.rows()).map(|i| dot(matrix.row(i), matrix.row(i)));
        each.fold(DoubleDouble::ZERO, |sum, square| sum + square)
    };
    let factor = |share: f64, matrix: &Matrix| (DoubleDouble::from(share) / squares(matrix)).sqrt();
    let of_rows = factor(1.0 - share, &rows);
    let of_sums = factor(share, &sums);
    Truth::of_factor(&Matrix::from_fn(n + classes, d, |i, f| match i.checked_sub(n) {
        None => rows.at(i, f) * of_rows,
        Some(class) => sums.at(class, f) * of_sums,
    }))
}
