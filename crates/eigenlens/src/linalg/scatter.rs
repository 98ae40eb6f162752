//! `PᵀP` of packed blocks of rows: the lower triangle only, at the speed of the micro-kernel.

use super::aligned::Aligned;
use super::gemm::slice_mut;
use super::simd::{Ahead, GemmFlags, Left, NonzeroRows, Tile};
use crate::scalar::Scalar;
use ndarray::Array2;
use rayon::prelude::*;
use std::sync::Mutex;

/// The length of a packed block: `rows` rows of `d` columns in panels of [`Tile::PANEL`] columns,
/// each panel row by row, padded with zeros.
pub(crate) fn packed_len<T: Tile>(d: usize, rows: usize) -> usize {
    d.next_multiple_of(T::PANEL) * rows
}

/// The lower triangle of a large symmetric sum (d × d), cut into squares that stay in a core's own
/// cache while many blocks of rows go through them. Each entry is a sum in the order of the rows,
/// so the squares' size does not touch its bits.
pub(crate) struct Squares {
    d: usize,
    squares: Vec<Square>,
}

/// Features `rows` against features `columns`, row-major with stride [`SIDE`].
pub(crate) struct Square {
    first_row: usize,
    rows: usize,
    first_column: usize,
    columns: usize,
    /// Empty until something but zeros is added: the pages are written first by the core that needs them.
    sums: Aligned<f64>,
}

/// The largest side: a multiple of every type's panel; 288 KiB of sums.
const SIDE: usize = 192;

impl Squares {
    /// A sum of nothing.
    pub fn zeros(d: usize) -> Squares {
        // Enough squares that every thread has several.
        let count = |side: usize| d.div_ceil(side).pow(2) / 2;
        let busy = 4 * rayon::current_num_threads();
        let side = match d {
            _ if count(SIDE) >= busy => SIDE,
            _ if count(SIDE / 2) >= busy => SIDE / 2,
            _ => SIDE / 4,
        };
        let square = |first_row: usize, first_column: usize| {
            let (rows, columns) = (side.min(d - first_row), side.min(d - first_column));
            Square { first_row, rows, first_column, columns, sums: Aligned::default() }
        };
        // Those on the diagonal take half the time: they come last.
        let starts = || (0..d).step_by(side);
        let below =
            starts().flat_map(|row| (0..row).step_by(side).map(move |column| (row, column)));
        let diagonal = starts().map(|first| (first, first));
        let squares = below.chain(diagonal).map(|(row, column)| square(row, column)).collect();
        Squares { d, squares }
    }

    /// Visits all squares in parallel, each thread taking the next one in their order: the small ones
    /// last, so that all are done at the same time.
    pub fn for_each(&mut self, visit: impl Fn(&mut Square) + Sync + Send) {
        let waiting = Mutex::new(self.squares.iter_mut());
        let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
        (0..rayon::current_num_threads()).into_par_iter().with_max_len(1).for_each(|_| {
            while let Some(square) = next() {
                visit(square);
            }
        });
    }

    /// The sum, both triangles (d × d).
    pub fn into_matrix(self) -> Array2<f64> {
        const ROWS: usize = 8;
        let mut matrix = Array2::zeros((self.d, self.d));
        // Sides are multiples of `ROWS`: a few rows lie in one row of squares.
        slice_mut(&mut matrix).par_chunks_mut(ROWS * self.d.max(1)).enumerate().for_each(
            |(chunk, rows)| {
                for square in &self.squares {
                    square.write(chunk * ROWS, rows, self.d);
                }
            },
        );
        matrix
    }
}

impl Square {
    /// Adds its part of `PᵀP`, for `depth` packed rows, and fetches its part of the `next` ones: they
    /// come from afar. Steps that are not among `nonzero_rows` are zeros, and passed over.
    pub fn add<T: Tile>(
        &mut self,
        packed: &[T],
        depth: usize,
        next: &[T],
        nonzero_rows: Option<&NonzeroRows>,
    ) {
        self.add_product(packed, packed, depth, next, nonzero_rows);
    }

    /// The same of `QᵀP`, which is symmetric.
    pub fn add_product<T: Tile>(
        &mut self,
        left: &[T],
        right: &[T],
        depth: usize,
        next: &[T],
        nonzero_rows: Option<&NonzeroRows>,
    ) {
        let group = |first: usize| first / NonzeroRows::GROUP;
        let counts = |first: usize, width: usize| {
            nonzero_rows.is_none_or(|nonzero_rows| {
                nonzero_rows.any(group(first)..group(first + width - 1) + 1)
            })
        };
        if depth == 0
            || !counts(self.first_row, self.rows)
            || !counts(self.first_column, self.columns)
        {
            return;
        }
        self.sums.resize(self.rows * self.columns);
        let length = depth * T::PANEL;
        let upcoming = |first: usize, width: usize| {
            let (from, to) = (first * depth, (first + width).next_multiple_of(T::PANEL) * depth);
            let part = next.get(from..to.min(next.len())).unwrap_or_default();
            // Half of the work for the rows, half for the columns.
            Ahead::new(part, self.rows.div_ceil(8) * self.columns.div_ceil(T::PANEL) * depth / 2)
        };
        let ahead =
            [upcoming(self.first_row, self.rows), upcoming(self.first_column, self.columns)];
        // One panel of columns stays in the first-level cache while the rows go by.
        for column in (0..self.columns).step_by(T::PANEL) {
            let first_column = self.first_column + column;
            let columns = T::PANEL.min(self.columns - column);
            if !counts(first_column, columns) {
                continue;
            }
            let right = &right[first_column / T::PANEL * length..][..length];
            let ahead = Some(&ahead[usize::from(2 * column >= self.columns)]);
            for row in (0..self.rows).step_by(T::PANEL) {
                let first_row = self.first_row + row;
                let rows = T::PANEL.min(self.rows - row);
                if first_row < first_column || !counts(first_row, rows) {
                    continue;
                }
                let left = &left[first_row / T::PANEL * length..][..length];
                let left = Left::new(left, rows, depth, 1, T::PANEL);
                let below_diagonal = (first_row == first_column).then_some(0);
                let nonzero_rows =
                    nonzero_rows.map(|nonzero_rows| (nonzero_rows, group(first_row)));
                let flags = GemmFlags {
                    overwrite: false,
                    padded: true,
                    below_diagonal,
                    ahead,
                    nonzero_rows,
                };
                let sums = &mut self.sums[row * self.columns + column..];
                T::product(left, right, T::PANEL, columns, sums, self.columns, flags);
            }
        }
    }
}

impl Square {
    /// Writes what it knows of a few rows from `first` on, both below and above the diagonal.
    fn write(&self, first: usize, rows: &mut [f64], d: usize) {
        let (row, column) =
            (first.wrapping_sub(self.first_row), first.wrapping_sub(self.first_column));
        if row < self.rows {
            let sums = self.sums.chunks_exact(self.columns).skip(row);
            for (i, (out, line)) in rows.chunks_exact_mut(d).zip(sums).enumerate() {
                let known = self.columns.min(first + i + 1 - self.first_column);
                out[self.first_column..][..known].copy_from_slice(&line[..known]);
            }
        }
        if column < self.columns {
            for (i, line) in self.sums.chunks_exact(self.columns).enumerate() {
                let at = self.first_row + i;
                for (r, (out, v)) in rows.chunks_exact_mut(d).zip(&line[column..]).enumerate() {
                    if at > first + r {
                        out[at] = *v;
                    }
                }
            }
        }
    }
}

/// The padded width of a row of `d` entries kept whole: whole registers, and never a multiple of
/// 4 KiB, where rows would share cache sets.
pub(crate) fn row_width<T: Scalar>(d: usize) -> usize {
    let width = d.next_multiple_of(T::PAD);
    if (width * size_of::<T>()).is_multiple_of(1024) { width + T::PAD } else { width }
}

/// Distance between the rows of a matrix of sums (d × d): whole vectors, each in one cache line.
pub(crate) fn sums_stride(d: usize) -> usize {
    d.next_multiple_of(f64::PAD)
}

/// Adds `PᵀP` to the lower triangle of `c` (d × d, rows [`sums_stride`] apart), or writes it where `overwrite` is set,
/// for rows of `width` padded entries, of which only `nonzero_rows` need be looked at.
#[expect(clippy::too_many_arguments)]
pub(crate) fn add_lower<T: Scalar>(
    rows: &[T],
    width: usize,
    depth: usize,
    d: usize,
    c: &mut [f64],
    overwrite: bool,
    ahead: Option<&Ahead>,
    nonzero_rows: Option<&NonzeroRows>,
) {
    let left = Left::new(rows, d, depth, 1, width);
    let nonzero_rows = nonzero_rows.map(|nonzero_rows| (nonzero_rows, 0));
    let flags = GemmFlags { overwrite, padded: true, below_diagonal: Some(0), ahead, nonzero_rows };
    T::product(left, rows, width, d, c, sums_stride(d), flags);
}

/// Subtracts it.
pub(crate) fn subtract_lower(rows: &[f64], width: usize, depth: usize, d: usize, c: &mut [f64]) {
    let negative: Vec<f64> = rows[..depth * width].iter().map(|v| -v).collect();
    let left = Left::new(&negative, d, depth, 1, width);
    let flags = GemmFlags { padded: true, below_diagonal: Some(0), ..GemmFlags::default() };
    f64::product(left, rows, width, d, c, sums_stride(d), flags);
}

/// How many steps [`add_lower`] takes, where registers are widest: tiles of eight rows by a panel.
pub(crate) fn lower_steps<T: Scalar>(d: usize, depth: usize) -> usize {
    (0..d).step_by(T::PANEL).map(|column| (d - column).div_ceil(8) * depth).sum()
}

/// Copies the lower triangle to the upper.
pub(crate) fn mirror(a: &mut Array2<f64>) {
    for i in 0..a.nrows() {
        for j in 0..i {
            a[[j, i]] = a[[i, j]];
        }
    }
}
