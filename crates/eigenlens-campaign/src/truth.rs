//! The true eigenpairs of a symmetric positive (or kernel) matrix, to about thirty digits.

use crate::double_double::DoubleDouble;
use crate::matrix::{Matrix, add_scaled, dot, norm, symmetric_eigen};
use std::ops::Range;

/// Eigenvalues this close, relative to the largest, count as one: a hundred thousand times what the arithmetic here
/// leaves, and far below any gap that data of f64 numbers resolve.
const TIE: f64 = 1e-24;

/// A symmetric matrix by its eigenpairs; what is not listed is 0.
pub struct Truth {
    dim: usize,
    /// Those that are not 0, descending.
    values: Vec<DoubleDouble>,
    /// Their unit vectors, as rows.
    vectors: Matrix,
}

impl Truth {
    /// Of the matrix itself (d × d).
    pub fn of_symmetric(matrix: Matrix) -> Truth {
        let dim = matrix.rows();
        let (values, vectors) = symmetric_eigen(matrix);
        Truth::of_pairs(dim, values, vectors)
    }

    /// Of `Zᵀ Z` for Z (n × d): from whichever of `Zᵀ Z` and `Z Zᵀ` is smaller. They have the same values, and
    /// `Zᵀ w / ‖Zᵀ w‖` is the vector that goes with w.
    pub fn of_factor(factor: &Matrix) -> Truth {
        let (n, d) = (factor.rows(), factor.columns());
        if n >= d {
            return Truth::of_symmetric(factor.transposed().gram());
        }
        let (values, left) = symmetric_eigen(factor.gram());
        let mut vectors = Matrix::from_fn(n, d, |_, _| DoubleDouble::ZERO);
        for j in 0..n {
            for i in 0..n {
                add_scaled(vectors.row_mut(j), left.at(j, i), factor.row(i));
            }
        }
        Truth::of_pairs(d, values, vectors)
    }

    /// Of `Zᵀ Z` for Z (m × d) with rows that are orthogonal by construction: they are the vectors, and their
    /// squared lengths the values.
    pub fn of_orthogonal_rows(rows: Matrix) -> Truth {
        let squares: Vec<DoubleDouble> =
            (0..rows.rows()).map(|j| dot(rows.row(j), rows.row(j))).collect();
        let mut order: Vec<usize> = (0..squares.len()).collect();
        order.sort_by(|&i, &j| {
            squares[j].partial_cmp(&squares[i]).unwrap_or(std::cmp::Ordering::Equal)
        });
        let d = rows.columns();
        let sorted = Matrix::from_fn(order.len(), d, |i, f| rows.at(order[i], f));
        Truth::of_pairs(d, order.iter().map(|&j| squares[j]).collect(), sorted)
    }

    /// Leaves out what is rounding of 0, and brings vectors to unit length.
    fn of_pairs(dim: usize, values: Vec<DoubleDouble>, vectors: Matrix) -> Truth {
        let size = values.iter().fold(0.0f64, |m, v| m.max(v.to_f64().abs()));
        let kept: Vec<usize> =
            (0..values.len()).filter(|&j| values[j].to_f64().abs() > TIE * size).collect();
        let mut unit = Matrix::from_fn(kept.len(), dim, |i, f| vectors.at(kept[i], f));
        for i in 0..kept.len() {
            let length = norm(unit.row(i));
            unit.row_mut(i).iter_mut().for_each(|v| *v = *v / length);
        }
        Truth { dim, values: kept.iter().map(|&j| values[j]).collect(), vectors: unit }
    }

    /// The largest value.
    pub fn largest(&self) -> DoubleDouble {
        self.value(0)
    }

    /// The value at a position, from 0 for the largest.
    pub fn value(&self, position: usize) -> DoubleDouble {
        self.listed(position).map_or(DoubleDouble::ZERO, |at| self.values[at])
    }

    /// How many values are above a threshold (of at least 0).
    pub fn count_above(&self, threshold: DoubleDouble) -> usize {
        self.values.iter().filter(|v| **v > threshold).count()
    }

    /// `S u`.
    pub fn apply(&self, u: &[DoubleDouble]) -> Vec<DoubleDouble> {
        let mut product = vec![DoubleDouble::ZERO; self.dim];
        for (j, &value) in self.values.iter().enumerate() {
            let v = self.vectors.row(j);
            add_scaled(&mut product, value * dot(v, u), v);
        }
        product
    }

    /// What of `u` lies outside the span of the vectors at some positions, together with all whose values equal one of
    /// theirs: of a repeated value only the whole space is a fact.
    pub fn outside(&self, u: &[DoubleDouble], positions: Range<usize>) -> Vec<DoubleDouble> {
        let size = self.size();
        let theirs: Vec<DoubleDouble> = positions.map(|p| self.value(p)).collect();
        let equal = |v: DoubleDouble| theirs.iter().any(|t| (*t - v).abs().to_f64() <= TIE * size);
        if !equal(DoubleDouble::ZERO) {
            let mut rest = u.to_vec();
            for j in (0..self.values.len()).filter(|&j| equal(self.values[j])) {
                let v = self.vectors.row(j);
                add_scaled(&mut rest, -dot(v, u), v);
            }
            return rest;
        }
        // The null space is what the other vectors leave.
        let mut rest = vec![DoubleDouble::ZERO; self.dim];
        for j in (0..self.values.len()).filter(|&j| !equal(self.values[j])) {
            let v = self.vectors.row(j);
            add_scaled(&mut rest, dot(v, u), v);
        }
        rest
    }

    /// How wrong the span of the vectors at some positions may itself be: rounding over the gap to the values beside
    /// them, and for vectors made from the other side of a factor over their share of the largest value besides.
    pub fn noise(&self, positions: Range<usize>) -> f64 {
        let size = self.size();
        let mut noise = 0.0f64;
        for position in positions.clone() {
            let value = self.value(position).to_f64();
            let others = (0..self.dim.min(self.values.len() + 1)).map(|p| self.value(p).to_f64());
            let gaps = others.map(|v| (v - value).abs()).filter(|gap| *gap > TIE * size);
            let gap = gaps.fold(size, f64::min);
            let share = (size / value.abs().max(TIE * size)).sqrt();
            noise = noise.max(1e-30 * size / gap * share.min(1e8));
        }
        noise
    }

    /// The largest modulus of a value.
    fn size(&self) -> f64 {
        self.values.iter().fold(0.0, |m, v| m.max(v.to_f64().abs()))
    }

    /// Which of the listed values is at a position; none where it is 0: those come after the positive
    /// ones and before the negative ones.
    fn listed(&self, position: usize) -> Option<usize> {
        let positive = self.values.iter().filter(|v| **v > DoubleDouble::ZERO).count();
        let zeros = self.dim - self.values.len();
        match position {
            p if p < positive => Some(p),
            p if p < positive + zeros => None,
            p => Some(p - zeros).filter(|&at| at < self.values.len()),
        }
    }
}
