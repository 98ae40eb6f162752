//! Rows in the form kernels are computed from: panels of [`TILE`] rows, feature by feature, so that
//! a panel is either operand of the micro-kernel without being rearranged.

use super::ResolvedKernel;
use super::functions::{Norms, Start};
use super::sparse_points::{SparsePoints, SparseRows};
use super::tile;
use crate::data::Dataset;
use crate::error::{Error, Hint, Result};
use crate::linalg::aligned::Aligned;
use crate::linalg::digest;
use crate::passes::{Block, Columns, RowBatch, RowGrid, reduction_block_rows};
use crate::scalar::Scalar;
use ndarray::Array2;
use rayon::prelude::*;

/// Rows of a panel, and the side of a tile of kernel values.
pub(crate) const TILE: usize = 128;

/// The numbers a kernel is computed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    F32,
    F64,
}

/// Rows (n × d), moved and scaled as the kernel wants them.
pub(crate) struct Points {
    form: Form,
    n_features: usize,
    /// Subtracted from every row (d); empty: nothing is.
    shift: Vec<f64>,
    /// Rows have unit length.
    normalize: bool,
    /// Keep sums of moduli in place of squares.
    absolute: bool,
    /// Entries below 0 are refused.
    non_negative: bool,
    len: usize,
}

enum Form {
    F32(Vec<Panel<f32>>),
    F64(Vec<Panel<f64>>),
    Sparse(SparseRows),
    /// A precomputed kernel has no rows, only their number.
    Absent,
}

/// [`TILE`] rows: entry (i, f) is at `f·TILE + i`. Rows that are not there are 0.
pub(super) struct Panel<S> {
    values: Aligned<S>,
    /// `x·x`, by the same sums as every other product.
    norms: Vec<f64>,
}

/// A panel as a tile sees it.
#[derive(Clone, Copy)]
pub(crate) struct PanelRef<'a> {
    /// Number of its first row.
    pub first: usize,
    pub rows: usize,
    pub n_features: usize,
    /// One for each row, and zeros up to [`TILE`].
    pub norms: &'a [f64],
    pub body: Body<'a>,
}

#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    Sparse(&'a SparseRows),
    Absent,
}

/// How rows are gathered.
pub(crate) struct Gathering<'k, 'd, T: Scalar> {
    kernel: &'k ResolvedKernel,
    data: Dataset<'d, T>,
    columns: Columns,
    exact: bool,
    center: bool,
}

impl<'k, 'd, T: Scalar> Gathering<'k, 'd, T> {
    /// One pass over the data: their means, and that every entry is a number.
    pub fn new(kernel: &'k ResolvedKernel, data: &'d Dataset<'_, T>) -> Result<Self> {
        if data.weights().is_some() {
            return Err(Error::Unsupported {
                what: "sample weights".into(),
                why: "do not go with kernels",
                instead: None,
            });
        }
        let mut grid = RowGrid::new(data)?;
        let columns = Columns::of(&mut grid)?;
        if grid.exponents().is_some() && !kernel.spec().any_size {
            return Err(Error::Unsupported {
                what: "a kernel of data this large or small".into(),
                why: "would leave the range of numbers",
                instead: Some(Hint::Rescale),
            });
        }
        Ok(Gathering { kernel, data: data.unweighted(), columns, exact: false, center: false })
    }

    /// Computes in f64 whatever the type of the data.
    pub fn exact(mut self) -> Self {
        self.exact = true;
        self
    }

    /// Moves the rows by their mean also for the linear kernel, where only the centred kernel is
    /// wanted: it stays the same, and nothing cancels.
    pub fn centered(mut self) -> Self {
        self.center = true;
        self
    }

    /// The number of rows.
    pub fn n_samples(&self) -> usize {
        self.columns.rows
    }

    /// The mean of every feature (d).
    pub fn means(&self) -> &[f64] {
        &self.columns.mean_hi
    }

    /// The numbers to compute in: f32 for f32 data, where that costs no more than rounding the
    /// result to f32 does.
    pub fn arithmetic(&self) -> Arithmetic {
        let norm = self.columns.squares.iter().sum::<f64>() / self.columns.weight;
        let sane = (1e-30..1e30).contains(&norm);
        let fine = sane && self.kernel.does_in_single_precision(norm);
        if T::EPSILON > f64::EPSILON && fine && !self.exact {
            Arithmetic::F32
        } else {
            Arithmetic::F64
        }
    }

    /// Reads the rows.
    pub fn gather(&self) -> Result<Points> {
        let mut points = self.empty();
        points.read(&self.data)?;
        Ok(points)
    }

    /// No rows yet.
    pub fn empty(&self) -> Points {
        let sparse = self.data.is_sparse();
        let kernel = self.kernel;
        let form = match self.arithmetic() {
            _ if sparse && !matches!(kernel.spec().start, Start::Rows | Start::Given) => {
                Form::Sparse(SparseRows::default())
            }
            Arithmetic::F32 => Form::F32(Vec::new()),
            Arithmetic::F64 => Form::F64(Vec::new()),
        };
        // Of translated points the distances are the same, but lose no digits to an offset.
        let shifts = kernel.spec().translation_invariant || (self.center && kernel.is("linear"));
        let shift = if shifts && !sparse { self.columns.mean_hi.clone() } else { Vec::new() };
        Points::new(kernel, form, self.data.n_features(), shift)
    }
}

impl Points {
    fn new(kernel: &ResolvedKernel, form: Form, n_features: usize, shift: Vec<f64>) -> Points {
        Points {
            form,
            n_features,
            shift,
            normalize: kernel.spec().unit_rows,
            absolute: kernel.spec().moduli,
            non_negative: kernel.spec().non_negative,
            len: 0,
        }
    }

    /// Points from rows as they are kept, moved and scaled (m × d): as a stored model has them.
    pub fn from_kept(
        kernel: &ResolvedKernel,
        rows: &Array2<f64>,
        shift: Vec<f64>,
        arithmetic: Arithmetic,
    ) -> Points {
        let (m, d) = rows.dim();
        let form = match arithmetic {
            Arithmetic::F32 => Form::F32(Vec::new()),
            Arithmetic::F64 => Form::F64(Vec::new()),
        };
        let mut points = Points::new(kernel, form, d, shift);
        for first in (0..m).step_by(TILE) {
            let count = TILE.min(m - first);
            let row = |i: usize, out: &mut Vec<f64>| {
                out.clear();
                out.extend(rows.row(first + i));
            };
            match &mut points.form {
                Form::F32(panels) => panels.push(Panel::new(count, d, row)),
                Form::F64(panels) => panels.push(Panel::new(count, d, row)),
                Form::Sparse(_) | Form::Absent => {}
            }
        }
        points.len = m;
        points
    }

    /// No sparse rows yet.
    pub fn empty_sparse(kernel: &ResolvedKernel, d: usize, shift: Vec<f64>) -> Points {
        Points::new(kernel, Form::Sparse(SparseRows::default()), d, shift)
    }

    /// Appends a sparse row as it is kept, with rising columns below d.
    pub fn push_sparse(&mut self, columns: &[i64], values: &[f64]) {
        if let Form::Sparse(rows) = &mut self.form {
            rows.push_entries(
                columns.iter().map(|&c| c as u32).zip(values.iter().copied()),
                self.absolute,
            );
            self.len += 1;
        }
    }

    /// Ends of rows, columns and values, where the rows are sparse.
    pub fn sparse_parts(&self) -> Option<SparsePoints<'_>> {
        match &self.form {
            Form::Sparse(rows) => Some(rows.parts()),
            _ => None,
        }
    }

    /// In place of the rows of a precomputed kernel: their number.
    pub fn absent(kernel: &ResolvedKernel, len: usize) -> Points {
        Points { len, ..Points::new(kernel, Form::Absent, len, Vec::new()) }
    }

    /// Other rows in the same form: those that meet these in a kernel.
    pub fn like_rows_of<T: Scalar>(&self, data: &Dataset<T>) -> Result<Points> {
        let mut points = self.empty_like();
        points.read(data)?;
        Ok(points)
    }

    /// No rows, in the same form.
    pub fn empty_like(&self) -> Points {
        let form = match &self.form {
            Form::F32(_) => Form::F32(Vec::new()),
            Form::F64(_) | Form::Absent => Form::F64(Vec::new()),
            Form::Sparse(_) => Form::Sparse(SparseRows::default()),
        };
        Points { form, shift: self.shift.clone(), len: 0, ..*self }
    }

    /// The points at these positions, in the same form.
    pub fn select(&self, positions: &[usize]) -> Points {
        let mut some = self.empty_like();
        let d = self.n_features;
        for block in positions.chunks(TILE) {
            let row = |i: usize, out: &mut Vec<f64>| self.kept_row(block[i], out);
            match &mut some.form {
                Form::F32(panels) => panels.push(Panel::new(block.len(), d, row)),
                Form::F64(panels) => panels.push(Panel::new(block.len(), d, row)),
                Form::Sparse(rows) => {
                    let mut values = Vec::with_capacity(d);
                    for i in 0..block.len() {
                        row(i, &mut values);
                        rows.push(&values, self.absolute);
                    }
                }
                Form::Absent => {}
            }
            some.len += block.len();
        }
        some
    }

    fn read<T: Scalar>(&mut self, data: &Dataset<T>) -> Result<()> {
        let plain = data.unweighted();
        let grid = RowGrid::new(&plain)?;
        grid.for_each_batch(reduction_block_rows(data.n_features()), |batch| {
            self.push_batch(&plain, &batch)
        })?;
        Ok(())
    }

    /// Appends the rows of a batch, which begins at a whole panel.
    pub fn push_batch<T: Scalar>(&mut self, data: &Dataset<T>, batch: &RowBatch<T>) -> Result<()> {
        let mut scratch = Vec::new();
        for at in (0..batch.rows).step_by(TILE) {
            let block = batch.block(at, (at + TILE).min(batch.rows), &mut scratch);
            self.push_block(data, &block)?;
        }
        Ok(())
    }

    /// Appends up to [`TILE`] rows as a panel. Every panel but the last is full.
    pub fn push_block<T: Scalar>(&mut self, data: &Dataset<T>, block: &Block<T>) -> Result<()> {
        if let Some((row, column, value)) = block.find_bad() {
            return Err(data.bad_entry(row, column, value));
        }
        if self.non_negative {
            check_not_negative(block)?;
        }
        let d = self.n_features;
        let (shift, normalize) = (&self.shift, self.normalize);
        let row = |i: usize, out: &mut Vec<f64>| {
            out.clear();
            out.extend(block.row(i).iter().map(|v| v.to_f64()));
            out.iter_mut().zip(shift).for_each(|(x, s)| *x -= s);
            if normalize {
                to_unit_length(out);
            }
        };
        match &mut self.form {
            Form::F32(panels) => panels.push(Panel::new(block.rows, d, row)),
            Form::F64(panels) => panels.push(Panel::new(block.rows, d, row)),
            Form::Sparse(rows) => {
                let mut values = Vec::with_capacity(d);
                for i in 0..block.rows {
                    row(i, &mut values);
                    rows.push(&values, self.absolute);
                }
            }
            Form::Absent => {}
        }
        self.len += block.rows;
        Ok(())
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The number of features.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// The number of panels.
    pub fn n_panels(&self) -> usize {
        self.len.div_ceil(TILE)
    }

    /// What was subtracted from every row (d); empty: nothing.
    pub fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// The numbers that are kept; `None`: sparse rows, or none at all.
    pub fn arithmetic(&self) -> Option<Arithmetic> {
        match self.form {
            Form::F32(_) => Some(Arithmetic::F32),
            Form::F64(_) => Some(Arithmetic::F64),
            _ => None,
        }
    }

    /// Whether the rows themselves are not known.
    pub fn is_absent(&self) -> bool {
        matches!(self.form, Form::Absent)
    }

    /// Bytes of `n` rows of `d` features, kept.
    pub fn memory(n: usize, d: usize, arithmetic: Arithmetic) -> u64 {
        let element = if arithmetic == Arithmetic::F32 { 4 } else { 8 };
        (n.next_multiple_of(TILE) as u64).saturating_mul(d as u64 * element + 8)
    }

    /// Appends rows in true units (m × d).
    pub fn push_rows(&mut self, rows: &Array2<f64>) -> Result<()> {
        self.read(&Dataset::from(rows))
    }

    /// Shows all rows of some data in the form of these points, a panel at a time.
    pub fn for_each_panel<T: Scalar>(
        &self,
        data: &Dataset<T>,
        mut visit: impl FnMut(&PanelRef),
    ) -> Result<()> {
        let plain = data.unweighted();
        let grid = RowGrid::new(&plain)?;
        grid.for_each_batch(reduction_block_rows(data.n_features()), |batch| {
            let mut scratch = Vec::new();
            for at in (0..batch.rows).step_by(TILE) {
                let block = batch.block(at, (at + TILE).min(batch.rows), &mut scratch);
                let mut one = self.empty_like();
                one.push_block(&plain, &block)?;
                visit(&one.panel(0));
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Refuses rows that are no symmetric matrix, to a share of its largest entry.
    pub fn check_symmetric(&self, what: &'static str, share: f64) -> Result<()> {
        let mut size = 0.0f64;
        let rows = self.rows();
        rows.iter().for_each(|v| size = size.max(v.abs()));
        for i in 0..rows.nrows() {
            for j in 0..i {
                let (upper, lower) = (rows[[j, i]], rows[[i, j]]);
                if (upper - lower).abs() > share * size {
                    return Err(Error::NotSymmetric { what, row: j, column: i, upper, lower });
                }
            }
        }
        Ok(())
    }

    /// One panel.
    pub fn panel(&self, at: usize) -> PanelRef<'_> {
        let first = at * TILE;
        let rows = TILE.min(self.len - first);
        let n_features = self.n_features;
        let (norms, body): (&[f64], Body) = match &self.form {
            Form::F32(panels) => (&panels[at].norms, Body::F32(&panels[at].values)),
            Form::F64(panels) => (&panels[at].norms, Body::F64(&panels[at].values)),
            Form::Sparse(all) => (&all.norms()[first..first + rows], Body::Sparse(all)),
            Form::Absent => (&[], Body::Absent),
        };
        PanelRef { first, rows, n_features, norms, body }
    }

    /// How large `x·x`, or the sum of moduli, of the rows is.
    pub fn norms(&self) -> Norms {
        let norms = || (0..self.n_panels()).flat_map(|at| self.panel(at).norms);
        Norms {
            mean: norms().sum::<f64>() / self.len.max(1) as f64,
            largest: norms().fold(0.0, |most, norm| most.max(*norm)),
        }
    }

    /// A hash of the rows as they are kept.
    pub fn fingerprint(&self) -> u64 {
        fn of_panels<S: Scalar>(panels: &[Panel<S>]) -> u64 {
            let hashes: Vec<u64> =
                panels.par_iter().map(|panel| digest::of_numbers(&panel.values[..])).collect();
            digest::of_words(&hashes)
        }
        match &self.form {
            Form::F32(panels) => of_panels(panels),
            Form::F64(panels) => of_panels(panels),
            Form::Sparse(rows) => rows.fingerprint(),
            Form::Absent => 0,
        }
    }

    /// One row as it is kept: moved and scaled.
    pub fn kept_row(&self, row: usize, out: &mut Vec<f64>) {
        let (at, i) = (row / TILE, row % TILE);
        out.clear();
        match &self.form {
            Form::F32(panels) => {
                let values = &panels[at].values;
                out.extend((0..self.n_features).map(|f| f64::from(values[f * TILE + i])));
            }
            Form::F64(panels) => {
                let values = &panels[at].values;
                out.extend((0..self.n_features).map(|f| values[f * TILE + i]));
            }
            Form::Sparse(rows) => rows.dense_row(row, self.n_features, out),
            Form::Absent => {}
        }
    }

    /// The rows as they are kept (n × d): moved and scaled.
    pub fn kept_rows(&self) -> Array2<f64> {
        let (n, d) = if self.is_absent() { (0, 0) } else { (self.len, self.n_features) };
        let mut rows = Array2::zeros((n, d));
        let mut values = Vec::new();
        for (i, mut row) in rows.rows_mut().into_iter().enumerate() {
            self.kept_row(i, &mut values);
            row.iter_mut().zip(&values).for_each(|(to, from)| *to = *from);
        }
        rows
    }

    /// The rows (n × d) where the data had them; cosine rows keep their unit length.
    pub fn rows(&self) -> Array2<f64> {
        let mut rows = self.kept_rows();
        for mut row in rows.rows_mut() {
            row.iter_mut().zip(&self.shift).for_each(|(x, s)| *x += s);
        }
        rows
    }
}

impl<S: Scalar> Panel<S> {
    fn new(rows: usize, d: usize, mut row: impl FnMut(usize, &mut Vec<f64>)) -> Panel<S> {
        let mut values = Aligned::zeros(d * TILE);
        let mut line = Vec::with_capacity(d);
        for i in 0..rows {
            row(i, &mut line);
            for (f, &x) in line.iter().enumerate() {
                values[f * TILE + i] = S::from_f64(x);
            }
        }
        let norms = tile::self_products(&values, rows, d);
        Panel { values, norms }
    }
}

/// Refuses entries below 0, naming the first.
fn check_not_negative<T: Scalar>(block: &Block<T>) -> Result<()> {
    for i in 0..block.rows {
        let row = block.row(i);
        if let Some(column) = row.iter().position(|v| v.to_f64() < 0.0) {
            let (row, value) = (block.first + i, row[column].to_f64());
            return Err(Error::Negative { what: "the entry", row, column, value });
        }
    }
    Ok(())
}

fn to_unit_length(row: &mut [f64]) {
    let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm > 0.0 {
        row.iter_mut().for_each(|v| *v /= norm);
    }
}
