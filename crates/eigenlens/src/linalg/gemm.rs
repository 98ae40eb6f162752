//! Products of matrices, parallel over fixed pieces: the same bits for any number of threads.

use super::simd::{How, Left, Tile};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// Rows of a tall matrix handled as one piece; fixed, so that sums always associate alike.
const PIECE: usize = 1024;

/// `Aᵀ B` for tall A (d × m) and B (d × n), both row-major: m × n.
///
/// Pieces of rows are summed in order.
pub(crate) fn transposed_product(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    let (d, m, n) = (a.nrows(), a.ncols(), b.ncols());
    let (a, a_stride) = rows_of(&a);
    let (b, b_stride) = rows_of(&b);
    let one = |start: usize| {
        let depth = PIECE.min(d - start);
        let left = Left::new(&a[start * a_stride..], m, depth, 1, a_stride);
        let mut c = Array2::zeros((m, n));
        f64::product(
            left,
            &b[start * b_stride..],
            b_stride,
            n,
            slice_mut(&mut c),
            n,
            How::default(),
        );
        c
    };
    if m == 0 || n == 0 || d == 0 {
        return Array2::zeros((m, n));
    }
    // A wave of pieces at a time bounds the memory of the partial sums.
    let starts: Vec<usize> = (0..d).step_by(PIECE).collect();
    let mut total = Array2::zeros((m, n));
    for wave in starts.chunks(16) {
        let parts: Vec<_> = wave.par_iter().map(|&start| one(start)).collect();
        for part in &parts {
            total += part;
        }
    }
    total
}

/// `C = A B` or `C += A B` for tall A (d × m) and small B (m × n), row-major.
pub(crate) fn product_into(
    a: ArrayView2<f64>,
    b: ArrayView2<f64>,
    c: &mut Array2<f64>,
    fresh: bool,
) {
    let (m, n) = (a.ncols(), b.ncols());
    let d = a.nrows();
    if n == 0 || d == 0 {
        return;
    }
    let (a, a_stride) = rows_of(&a);
    let (b, b_stride) = rows_of(&b);
    slice_mut(c).par_chunks_mut(PIECE * n).enumerate().for_each(|(piece, c)| {
        let start = piece * PIECE;
        let rows = PIECE.min(d - start);
        let left =
            Left::new(if m == 0 { &[] } else { &a[start * a_stride..] }, rows, m, a_stride, 1);
        f64::product(left, b, b_stride, n, c, n, How { fresh, ..How::default() });
    });
}

/// `C = A B` for square A (d × d) and thin B (d × n): smaller pieces of rows than
/// [`product_into`], so that a matrix of a few hundred rows is shared too.
pub(crate) fn product_rows(a: ArrayView2<f64>, b: ArrayView2<f64>, c: &mut Array2<f64>) {
    const ROWS: usize = 64;
    let (d, n) = (a.nrows(), b.ncols());
    if n == 0 || d == 0 {
        return;
    }
    let (a, a_stride) = rows_of(&a);
    let (b, b_stride) = rows_of(&b);
    slice_mut(c).par_chunks_mut(ROWS * n).enumerate().for_each(|(piece, c)| {
        let rows = c.len() / n;
        let left = Left::new(&a[piece * ROWS * a_stride..], rows, d, a_stride, 1);
        f64::product(left, b, b_stride, n, c, n, How { fresh: true, ..How::default() });
    });
}

/// `A B`, row-major.
pub(crate) fn product(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    let mut c = Array2::zeros((a.nrows(), b.ncols()));
    product_into(a, b, &mut c, true);
    c
}

/// The entries of a view whose rows are contiguous, and the distance between rows.
///
/// Every matrix the solvers make is row-major; a column range of one still has contiguous rows.
pub(crate) fn rows_of<'a, T>(a: &ArrayView2<'a, T>) -> (&'a [T], usize) {
    let (rows, columns) = a.dim();
    if rows == 0 || columns == 0 {
        return (&[], columns.max(1));
    }
    let stride = if rows == 1 { columns } else { a.strides()[0].unsigned_abs() };
    assert!(rows == 1 || a.strides()[0] > 0, "rows must run forward");
    assert!(columns == 1 || a.strides()[1] == 1, "a solver's matrix must be row-major");
    let length = (rows - 1) * stride + columns;
    // SAFETY: the view's entries span exactly `length` elements from its first one: rows are
    // contiguous (asserted) and a positive `stride` apart.
    (unsafe { std::slice::from_raw_parts(a.as_ptr(), length) }, stride)
}

/// The entries of an owned row-major matrix.
pub(crate) fn slice_mut(a: &mut Array2<f64>) -> &mut [f64] {
    a.as_slice_mut().expect("an owned solver matrix is in standard layout")
}
