//! Products of matrices, parallel over fixed pieces: the same bits for any number of threads.

use super::simd::{GemmFlags, Left, Tile};
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
    transposed(a, b, false)
}

/// The lower triangle of `AᵀA`; above it there may be anything.
pub(crate) fn lower_gram(a: ArrayView2<f64>) -> Array2<f64> {
    transposed(a, a, true)
}

fn transposed(a: ArrayView2<f64>, b: ArrayView2<f64>, lower: bool) -> Array2<f64> {
    let (d, m, n) = (a.nrows(), a.ncols(), b.ncols());
    let mut total = Array2::zeros((m, n));
    if m == 0 || n == 0 || d == 0 {
        return total;
    }
    let ((a, a_stride), (b, b_stride)) = (rows_of(&a), rows_of(&b));
    let add = |start: usize, c: &mut [f64]| {
        let depth = PIECE.min(d - start);
        let b = &b[start * b_stride..];
        let lines = shared_rows(depth * n);
        c.par_chunks_mut(lines * n).enumerate().for_each(|(part, c)| {
            let first = part * lines;
            let left = Left::new(&a[start * a_stride + first..], c.len() / n, depth, 1, a_stride);
            let below_diagonal = lower.then_some(first as isize);
            f64::product(
                left,
                b,
                b_stride,
                n,
                c,
                n,
                GemmFlags { below_diagonal, ..GemmFlags::default() },
            );
        });
    };
    let starts: Vec<usize> = (0..d).step_by(PIECE).collect();
    if let [start] = starts[..] {
        add(start, slice_mut(&mut total));
        return total;
    }
    for wave in starts.chunks(WAVE) {
        let part = |&start: &usize| {
            let mut sum = Array2::zeros((m, n));
            add(start, slice_mut(&mut sum));
            sum
        };
        let parts: Vec<_> = wave.par_iter().map(part).collect();
        for part in &parts {
            total += part;
        }
    }
    total
}

/// Rows of a product that one task computes, where each takes this many multiplications: enough to be
/// worth a task, few enough that all threads have some. Any number gives the same bits.
fn shared_rows(multiplications: usize) -> usize {
    ((1 << 18) / multiplications.max(1) / 8 * 8).clamp(64, PIECE)
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
                f64::product(left, right, right_stride, n, c, n, GemmFlags::default());
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
    f64::product(left, b, b_stride, n, slice_mut(c), n, GemmFlags::default());
}

/// `C = A B` or `C += A B` for tall A (d × m) and small B (m × n), row-major.
pub(crate) fn product_into(
    a: ArrayView2<f64>,
    b: ArrayView2<f64>,
    c: &mut Array2<f64>,
    overwrite: bool,
) {
    let (m, n) = (a.ncols(), b.ncols());
    let d = a.nrows();
    if n == 0 || d == 0 {
        return;
    }
    if m == 0 {
        // A sum of nothing.
        return if overwrite {
            c.fill(0.0)
        };
    }
    let (a, a_stride) = rows_of(&a);
    let (b, b_stride) = rows_of(&b);
    let lines = shared_rows(m * n);
    slice_mut(c).par_chunks_mut(lines * n).enumerate().for_each(|(part, c)| {
        let left = Left::new(&a[part * lines * a_stride..], c.len() / n, m, a_stride, 1);
        f64::product(left, b, b_stride, n, c, n, GemmFlags { overwrite, ..GemmFlags::default() });
    });
}

/// `C = A B` for a few rows of A (n × m, one after the other) on the calling thread.
pub(crate) fn product_of_rows(a: &[f64], n: usize, m: usize, b: ArrayView2<f64>, c: &mut [f64]) {
    let columns = b.ncols();
    if m == 0 || n == 0 || columns == 0 {
        return c.fill(0.0);
    }
    let (b, b_stride) = rows_of(&b);
    let flags = GemmFlags { overwrite: true, ..GemmFlags::default() };
    f64::product(Left::new(a, n, m, m, 1), b, b_stride, columns, c, columns, flags);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(rows: usize, columns: usize, seed: usize) -> Array2<f64> {
        Array2::from_shape_fn((rows, columns), |(i, j)| {
            ((i * 7919 + j * 104_729 + seed) % 17) as f64 - 8.0
        })
    }

    /// Sizes beyond one piece of sums and one share of rows, against plain sums. Whole numbers: exact.
    #[test]
    fn products_are_those_of_plain_loops() {
        for (d, m, n) in [(1, 1, 1), (70, 3, 5), (1030, 150, 70), (300, 260, 301)] {
            let (a, b) = (whole(d, m, 1), whole(d, n, 2));
            let plain = a.t().dot(&b);
            assert_eq!(transposed_product(a.view(), b.view()), plain);
            assert_eq!(product(a.t().as_standard_layout().view(), b.view()), plain);
            let (found, gram) = (lower_gram(a.view()), a.t().dot(&a));
            for ((i, j), v) in gram.indexed_iter().filter(|((i, j), _)| j <= i) {
                assert_eq!(found[[i, j]], *v, "{i}, {j} of {m}");
            }
        }
    }
}
