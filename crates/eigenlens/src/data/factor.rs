//! The thin factor of a centred label kernel, `H K H = ΔΔᵀ`, one row for each sample.

use super::target::UNLABELLED;
use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView2};

/// Δ (n × ℓ): its weighted mean over the labelled samples is 0, and so is every unlabelled row.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    body: Body,
    /// ℓ.
    width: usize,
}

#[derive(Clone, Debug)]
enum Body {
    /// Row i is `e_c − shares`, with c the class of sample i.
    OneHot {
        codes: Vec<u32>,
        shares: Vec<f64>,
    },
    Dense(Array2<f64>),
}

impl Factor {
    /// The factor of the delta kernel: one column for each class.
    pub fn one_hot(codes: Vec<u32>, classes: usize, counts: Option<&[f64]>) -> Factor {
        let mut shares = vec![0.0; classes];
        for (i, &code) in codes.iter().enumerate().filter(|(_, c)| **c != UNLABELLED) {
            shares[code as usize] += counts.map_or(1.0, |c| c[i]);
        }
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|s| *s /= total);
        Factor { body: Body::OneHot { codes, shares }, width: classes }
    }

    /// Any factor (n × ℓ), centred here; rows with a NaN are unlabelled.
    pub fn dense(mut rows: Array2<f64>, counts: Option<&[f64]>) -> Factor {
        let width = rows.ncols();
        let labelled: Vec<bool> =
            rows.rows().into_iter().map(|row| row.iter().all(|v| !v.is_nan())).collect();
        let count = |i: usize| {
            if labelled[i] { counts.map_or(1.0, |c| c[i]) } else { 0.0 }
        };
        let weight: f64 = (0..rows.nrows()).map(count).sum();
        for mut column in rows.columns_mut() {
            // Twice: what the rounding of the first mean leaves is taken out by the second.
            for _ in 0..2 {
                let sum: f64 = (column.iter().enumerate())
                    .filter(|(i, _)| count(*i) > 0.0)
                    .map(|(i, v)| count(i) * v)
                    .sum();
                let mean = sum / weight;
                column.iter_mut().for_each(|v| *v -= mean);
            }
        }
        for (mut row, labelled) in rows.rows_mut().into_iter().zip(&labelled) {
            if !labelled {
                row.fill(0.0);
            }
        }
        Factor { body: Body::Dense(rows), width }
    }

    /// The number of columns, ℓ.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of samples, n.
    pub fn len(&self) -> usize {
        match &self.body {
            Body::OneHot { codes, .. } => codes.len(),
            Body::Dense(rows) => rows.nrows(),
        }
    }

    /// The codes of the classes, where the kernel is the delta kernel.
    pub fn codes(&self) -> Option<&[u32]> {
        match &self.body {
            Body::OneHot { codes, .. } => Some(codes),
            Body::Dense(_) => None,
        }
    }

    /// The rows as a matrix, where they are one.
    pub fn rows(&self) -> Option<ArrayView2<'_, f64>> {
        match &self.body {
            Body::OneHot { .. } => None,
            Body::Dense(rows) => Some(rows.view()),
        }
    }

    /// Δ as a matrix (n × ℓ).
    pub fn to_matrix(&self) -> Array2<f64> {
        let mut matrix = Array2::zeros((self.len(), self.width));
        let lines = matrix.as_slice_mut().unwrap_or_default().chunks_exact_mut(self.width.max(1));
        for (i, line) in lines.enumerate() {
            self.write_row(i, line);
        }
        matrix
    }

    /// One row of Δ, into the first ℓ places of `out`.
    pub fn write_row(&self, i: usize, out: &mut [f64]) {
        let out = &mut out[..self.width];
        match &self.body {
            Body::OneHot { codes, .. } if codes[i] == UNLABELLED => out.fill(0.0),
            Body::OneHot { codes, shares } => {
                out.iter_mut().zip(shares).for_each(|(o, s)| *o = -s);
                out[codes[i] as usize] += 1.0;
            }
            Body::Dense(rows) => out.iter_mut().zip(rows.row(i)).for_each(|(o, v)| *o = *v),
        }
    }

    /// `sums += δ zᵀ` (ℓ × b), with δ row i. For classes the share of the mean is left to
    /// [`Factor::finish`].
    #[inline(always)]
    pub fn add_outer(&self, i: usize, z: &[f64], sums: &mut [f64]) {
        let b = z.len();
        let mut add = |at: usize, factor: f64| {
            let line = &mut sums[at * b..(at + 1) * b];
            line.iter_mut().zip(z).for_each(|(s, z)| *s += factor * z);
        };
        match &self.body {
            Body::OneHot { codes, .. } if codes[i] == UNLABELLED => {}
            Body::OneHot { codes, .. } => add(codes[i] as usize, 1.0),
            Body::Dense(rows) => rows.row(i).iter().enumerate().for_each(|(at, &v)| add(at, v)),
        }
    }

    /// Makes `Δᵀ Z` (ℓ × b) of sums made by [`Factor::add_outer`].
    pub fn finish(&self, sums: &mut [f64]) {
        let Body::OneHot { shares, .. } = &self.body else { return };
        let b = sums.len() / self.width.max(1);
        for j in 0..b {
            let total: f64 = (0..self.width).map(|c| sums[c * b + j]).sum();
            (0..self.width).for_each(|c| sums[c * b + j] -= shares[c] * total);
        }
    }

    /// Lays a right operand out for [`FactorRhs::write`].
    pub fn right<'f>(&'f self, q: ArrayView2<f64>) -> FactorRhs<'f> {
        let mut lines = q.as_standard_layout().into_owned();
        if let Body::OneHot { shares, .. } = &self.body {
            for mut column in lines.columns_mut() {
                let mean: f64 = shares.iter().zip(&column).map(|(s, q)| s * q).sum();
                column.mapv_inplace(|q| q - mean);
            }
        }
        FactorRhs { factor: self, width: q.ncols(), lines: lines.into_raw_vec_and_offset().0 }
    }

    /// Refuses another number of rows than there are labels.
    pub fn check_rows(&self, rows: usize) -> Result<()> {
        if rows == self.len() {
            return Ok(());
        }
        Err(Error::Shape {
            what: "the target",
            found: format!("{} values", self.len()),
            expected: format!("one for each of {rows} samples"),
        })
    }

    /// The same for the rows of a batch, before all are known.
    pub fn check_reaches(&self, end: usize) -> Result<()> {
        if end <= self.len() { Ok(()) } else { self.check_rows(end) }
    }
}

/// Δ times Q (ℓ × b), row by row.
pub(crate) struct FactorRhs<'f> {
    factor: &'f Factor,
    /// b.
    width: usize,
    /// Q row by row; of classes less their mean, so that a row of the product is a line of it.
    lines: Vec<f64>,
}

impl FactorRhs<'_> {
    /// Line `c` of Q (b), of classes less their mean.
    pub fn line(&self, c: usize) -> &[f64] {
        &self.lines[c * self.width..(c + 1) * self.width]
    }

    /// Row i of `Δ Q`, into `out` (b).
    #[inline(always)]
    pub fn write(&self, i: usize, out: &mut [f64]) {
        match &self.factor.body {
            Body::OneHot { codes, .. } if codes[i] == UNLABELLED => out.fill(0.0),
            Body::OneHot { codes, .. } => {
                out.copy_from_slice(self.line(codes[i] as usize));
            }
            Body::Dense(rows) => {
                out.fill(0.0);
                let lines = self.lines.chunks_exact(self.width);
                for (&v, line) in rows.row(i).iter().zip(lines) {
                    out.iter_mut().zip(line).for_each(|(o, q)| *o += v * q);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn classes_and_their_columns_are_the_same_factor() {
        let codes = vec![0, 2, 1, UNLABELLED, 2, 0, 1, 1];
        let counts = [1.0, 2.0, 1.0, 3.0, 0.0, 1.0, 2.0, 1.0];
        let columns = Array2::from_shape_fn((8, 3), |(i, c)| match codes[i] {
            UNLABELLED => f64::NAN,
            code => f64::from(u8::from(code as usize == c)),
        });
        for counts in [None, Some(&counts[..])] {
            let classes = Factor::one_hot(codes.clone(), 3, counts);
            let dense = Factor::dense(columns.clone(), counts);
            let (a, b) = (classes.to_matrix(), dense.to_matrix());
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-15));
            let q = array![[1.0, -2.0], [0.5, 3.0], [4.0, 0.25]];
            let z = Array2::from_shape_fn((8, 2), |(i, j)| (i * 3 + j) as f64 * 0.7 - 4.0);
            for factor in [&classes, &dense] {
                let mut sums = vec![0.0; 6];
                for i in 0..8 {
                    factor.add_outer(i, z.row(i).as_slice().unwrap(), &mut sums);
                    let mut out = [0.0; 2];
                    factor.right(q.view()).write(i, &mut out);
                    let expected = a.row(i).dot(&q);
                    assert!((0..2).all(|j| (out[j] - expected[j]).abs() < 1e-14));
                }
                factor.finish(&mut sums);
                let expected = a.t().dot(&z);
                assert!(sums.iter().zip(&expected).all(|(s, e)| (s - e).abs() < 1e-13));
            }
        }
    }
}
