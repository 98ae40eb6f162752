//! Products of matrices, parallel over fixed pieces: the same bits for any number of threads.

use super::simd::{How, Left, Tile};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// Rows of a tall matrix handled as one piece; fixed, so that sums always associate alike.
const PIECE: usize = 1024;

/// Pieces whose partial sums are held at once.
const WAVE: usize = 16;

/// `Aᵀ B` for tall A (d × m) and B (d × n), both row-major: m × n.
///
/// Pieces of rows are summed in order.
pub(crate) fn transposed_product(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    let (d, m, n) = (a.nrows(), a.ncols(), b.ncols());
    if m == 0 || n == 0 || d == 0 {
        return Array2::zeros((m, n));
    }
    let ((a, a_stride), (b, b_stride)) = (rows_of(&a), rows_of(&b));
    let starts: Vec<usize> = (0..d).step_by(PIECE).collect();
    let mut total = Array2::zeros((m, n));
    for wave in starts.chunks(WAVE) {
        let part = |&start: &usize| {
            let (a, b) = (&a[start * a_stride..], &b[start * b_stride..]);
            let mut sum = Array2::zeros((m, n));
            add_piece_product(a, a_stride, b, b_stride, PIECE.min(d - start), &mut sum);
            sum
        };
        let parts: Vec<_> = wave.par_iter().map(part).collect();
        for part in &parts {
            total += part;
        }
    }
    total
}

/// `C −= A B` for tall A (d × m) and C (d × n), and `Aᵀ C` of what is left: A is fetched once for both.
pub(crate) fn subtract_and_project(
    a: ArrayView2<f64>,
    b: &Array2<f64>,
    c: &mut Array2<f64>,
) -> Array2<f64> {
    /// Rows that stay in the cache until they are needed again.
    const ROWS: usize = 128;
    let (m, n) = (a.ncols(), b.ncols());
    let mut total = Array2::zeros((m, n));
    if m == 0 || n == 0 || a.nrows() == 0 {
        return total;
    }
    let negative = b.mapv(|b| -b);
    let (right, right_stride) = rows_of(&negative.view());
    let (a, stride) = rows_of(&a);
    for (wave, c) in slice_mut(c).chunks_mut(WAVE * PIECE * n).enumerate() {
        let part = |(piece, c): (usize, &mut [f64])| {
            let mut sum = Array2::zeros((m, n));
            let first = (wave * WAVE + piece) * PIECE;
            for (block, c) in c.chunks_mut(ROWS * n).enumerate() {
                let (a, rows) = (&a[(first + block * ROWS) * stride..], c.len() / n);
                let left = Left::new(a, rows, m, stride, 1);
                f64::product(left, right, right_stride, n, c, n, How::default());
                add_piece_product(a, stride, c, n, rows, &mut sum);
            }
            sum
        };
        let parts: Vec<_> = c.par_chunks_mut(PIECE * n).enumerate().map(part).collect();
        parts.iter().for_each(|part| total += part);
    }
    total
}

/// `C += Aᵀ B` of some rows of A and B.
fn add_piece_product(
    a: &[f64],
    a_stride: usize,
    b: &[f64],
    b_stride: usize,
    rows: usize,
    c: &mut Array2<f64>,
) {
    let (m, n) = c.dim();
    let left = Left::new(a, m, rows, 1, a_stride);
    f64::product(left, b, b_stride, n, slice_mut(c), n, How::default());
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
    if m == 0 {
        // A sum of nothing.
        return if fresh {
            c.fill(0.0)
        };
    }
    let (a, a_stride) = rows_of(&a);
    let (b, b_stride) = rows_of(&b);
    slice_mut(c).par_chunks_mut(PIECE * n).enumerate().for_each(|(piece, c)| {
        let start = piece * PIECE;
        let rows = PIECE.min(d - start);
        let left = Left::new(&a[start * a_stride..], rows, m, a_stride, 1);
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
