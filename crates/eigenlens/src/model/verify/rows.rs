//! Rows as a check reads them: widened to f64, missing entries treated as the model says it did.

use crate::data::{AnyDataset, Csr, Dataset, Missing, Source};
use crate::error::{Error, Result};
use crate::linalg::dense::power_of_two;
use crate::passes::{RowGrid, reduction_block_rows};
use crate::scalar::Scalar;
use std::collections::BTreeMap;

/// Data to read from the beginning as often as needed.
pub(crate) struct Reader<'a> {
    data: AnyDataset<'a>,
    treatment: Treatment,
    /// Column f is multiplied by 2⁻ᵉ.
    exponents: Option<Vec<i32>>,
    /// Columns that are read, where some are not.
    kept: Option<Vec<usize>>,
}

/// What is done with missing entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Treatment {
    /// They are an error.
    #[default]
    Refuse,
    /// They stay NaN.
    Keep,
    /// Their rows are left out.
    DropRows,
    /// These numbers take their place.
    Fill(Vec<f64>),
}

/// Consecutive rows.
pub(crate) struct Batch {
    /// Number of each row in the data.
    pub numbers: Vec<usize>,
    /// Weight of each row, above 0.
    pub weights: Vec<f64>,
    pub entries: Entries,
    pub n_features: usize,
}

/// The entries of some rows.
pub(crate) enum Entries {
    /// Row by row.
    Dense(Vec<f64>),
    /// Columns and values of each row; others are 0.
    Sparse(Vec<(Vec<u32>, Vec<f64>)>),
}

impl Batch {
    pub fn rows(&self) -> usize {
        self.numbers.len()
    }

    /// One row with all its entries.
    pub fn dense_row(&self, row: usize) -> Vec<f64> {
        match &self.entries {
            Entries::Dense(x) => x[row * self.n_features..(row + 1) * self.n_features].to_vec(),
            Entries::Sparse(rows) => {
                let mut dense = vec![0.0; self.n_features];
                let (columns, values) = &rows[row];
                columns.iter().zip(values).for_each(|(f, v)| dense[*f as usize] = *v);
                dense
            }
        }
    }
}

/// Entries held at a time.
const ENTRIES: usize = 1 << 15;

impl<'a> Reader<'a> {
    pub fn new(data: &'a AnyDataset<'_>, treatment: Treatment) -> Reader<'a> {
        Reader { data: data.borrowed(), treatment, exponents: None, kept: None }
    }

    /// The same with missing entries as they are.
    pub fn keeping(data: &'a AnyDataset<'_>) -> Reader<'a> {
        Reader::new(data, Treatment::Keep)
    }

    /// The same without columns that have a missing entry.
    pub fn with_columns(self, kept: Option<Vec<usize>>) -> Reader<'a> {
        Reader { kept, ..self }
    }

    /// The same with columns multiplied by powers of two.
    pub fn scaled_by(&self, exponents: Option<&[i32]>) -> Reader<'_> {
        Reader {
            data: self.data.borrowed(),
            treatment: self.treatment.clone(),
            exponents: exponents.map(<[i32]>::to_vec),
            kept: self.kept.clone(),
        }
    }

    pub fn n_features(&self) -> usize {
        self.kept.as_ref().map_or(self.data.n_features(), Vec::len)
    }

    /// The number of samples, where it is known before reading and none is left out.
    pub fn n_samples(&self) -> Option<usize> {
        self.data.n_samples().filter(|_| self.treatment != Treatment::DropRows)
    }

    pub fn is_f32(&self) -> bool {
        matches!(self.data, AnyDataset::F32(_))
    }

    fn is_sparse(&self) -> bool {
        dispatch!(&self.data, d => d.is_sparse())
    }

    /// The distance from 1 to the next number of the elements' type.
    pub fn epsilon(&self) -> f64 {
        if self.is_f32() { f32::EPSILON as f64 } else { f64::EPSILON }
    }

    /// Two entries of a component closer than this (relatively) tie under the sign rule.
    pub fn sign_tie(&self) -> f64 {
        if self.is_f32() { f32::SIGN_TIE } else { f64::SIGN_TIE }
    }

    /// A feature's name, or its number in words.
    pub fn column_name(&self, column: usize) -> String {
        let column = self.kept.as_ref().map_or(column, |kept| kept[column]);
        dispatch!(&self.data, d => d.column_name(column))
    }

    pub fn feature_names(&self) -> Option<Vec<String>> {
        let names = dispatch!(&self.data, d => d.feature_names())?;
        Some(match &self.kept {
            Some(kept) => kept.iter().filter_map(|&f| names.get(f).cloned()).collect(),
            None => names.to_vec(),
        })
    }

    /// Bytes that reading takes.
    pub fn memory(n_features: usize) -> u64 {
        let rows = rows_at_a_time(n_features) + reduction_block_rows(n_features);
        8 * (rows * n_features) as u64
    }

    /// Calls `visit` with all rows of weight above 0 in order, a few at a time; returns the number of all rows.
    pub fn for_each(&self, visit: &mut dyn FnMut(&Batch) -> Result<()>) -> Result<usize> {
        dispatch!(&self.data, d => self.read(d, visit))
    }

    fn read<T: Scalar>(
        &self,
        data: &Dataset<T>,
        visit: &mut dyn FnMut(&Batch) -> Result<()>,
    ) -> Result<usize> {
        let data = data.borrowed().with_missing(Missing::Error);
        let grid = RowGrid::surveying(&data)?;
        match data.source() {
            Source::Sparse(x) if self.stays_sparse() => {
                self.read_sparse(&data, x, grid.counts(), visit)
            }
            _ => self.read_dense(&data, &grid, visit),
        }
    }

    /// Whether the rows are sparse and store no missing entry: seen without making them whole.
    pub fn is_complete_and_sparse(&self) -> bool {
        fn complete<T: Scalar>(data: &Dataset<T>) -> bool {
            let Source::Sparse(x) = data.source() else { return false };
            (0..x.n_rows()).all(|row| x.row(row).1.iter().all(|v| !v.to_f64().is_nan()))
        }
        dispatch!(&self.data, d => complete(d))
    }

    /// Entries or columns that are replaced or left out need whole rows.
    pub fn stays_sparse(&self) -> bool {
        self.is_sparse() && self.treatment == Treatment::Refuse && self.kept.is_none()
    }

    fn read_dense<T: Scalar>(
        &self,
        data: &Dataset<T>,
        grid: &RowGrid<T>,
        visit: &mut dyn FnMut(&Batch) -> Result<()>,
    ) -> Result<usize> {
        let d = data.n_features();
        let step = rows_at_a_time(d);
        let width = self.n_features();
        grid.for_each_batch(reduction_block_rows(d), |rows| {
            let mut scratch = Vec::new();
            for first in (0..rows.rows).step_by(step) {
                let mut batch =
                    Batch::empty(Entries::Dense(Vec::with_capacity(step * width)), width);
                for i in first..(first + step).min(rows.rows) {
                    let block = rows.block(i, i + 1, &mut scratch);
                    let weight = block.count(0);
                    if weight > 0.0 {
                        self.push(data, &mut batch, block.first, weight, block.row(0))?;
                    }
                }
                if batch.rows() > 0 {
                    visit(&batch)?;
                }
            }
            Ok(())
        })
    }

    fn push<T: Scalar>(
        &self,
        data: &Dataset<T>,
        batch: &mut Batch,
        number: usize,
        weight: f64,
        row: &[T],
    ) -> Result<()> {
        let Entries::Dense(entries) = &mut batch.entries else { return Ok(()) };
        let start = entries.len();
        for at in 0..self.n_features() {
            let f = self.kept.as_ref().map_or(at, |kept| kept[at]);
            let mut x = row[f].to_f64();
            if x.is_infinite() || (x.is_nan() && self.treatment == Treatment::Refuse) {
                return Err(data.bad_entry(number, f, x));
            }
            if x.is_nan() {
                match &self.treatment {
                    Treatment::DropRows => {
                        entries.truncate(start);
                        return Ok(());
                    }
                    // As it would have been stored.
                    Treatment::Fill(fill) => x = T::from_f64(fill[f]).to_f64(),
                    _ => {}
                }
            }
            entries.push(self.scaled(at, x));
        }
        batch.numbers.push(number);
        batch.weights.push(weight);
        Ok(())
    }

    fn read_sparse<T: Scalar>(
        &self,
        data: &Dataset<T>,
        x: &Csr<T>,
        counts: Option<&[f64]>,
        visit: &mut dyn FnMut(&Batch) -> Result<()>,
    ) -> Result<usize> {
        const ROWS: usize = 256;
        for first in (0..x.n_rows()).step_by(ROWS) {
            let mut batch = Batch::empty(Entries::Sparse(Vec::new()), data.n_features());
            for row in first..(first + ROWS).min(x.n_rows()) {
                let weight = counts.map_or(1.0, |counts| counts[row]);
                if weight > 0.0 {
                    let entries = self.sparse_row(data, row, x.row(row))?;
                    batch.numbers.push(row);
                    batch.weights.push(weight);
                    let Entries::Sparse(rows) = &mut batch.entries else { continue };
                    rows.push(entries);
                }
            }
            visit(&batch)?;
        }
        if x.n_rows() == 0 { Err(Error::NoRows) } else { Ok(x.n_rows()) }
    }

    /// Entries stored twice count with their sum.
    fn sparse_row<T: Scalar>(
        &self,
        data: &Dataset<T>,
        row: usize,
        (columns, values): (&[u32], &[T]),
    ) -> Result<(Vec<u32>, Vec<f64>)> {
        let mut sums: BTreeMap<u32, T> = BTreeMap::new();
        for (&f, &v) in columns.iter().zip(values) {
            if !v.to_f64().is_finite() {
                return Err(data.bad_entry(row, f as usize, v.to_f64()));
            }
            let sum = sums.entry(f).or_default();
            *sum = *sum + v;
        }
        let scaled = sums.iter().map(|(&f, v)| self.scaled(f as usize, v.to_f64()));
        Ok((sums.keys().copied().collect(), scaled.collect()))
    }

    fn scaled(&self, f: usize, x: f64) -> f64 {
        match &self.exponents {
            // In two steps: one power of two alone may be no number.
            Some(e) => x * power_of_two(-e[f] / 2) * power_of_two(-e[f] + e[f] / 2),
            None => x,
        }
    }
}

impl Batch {
    fn empty(entries: Entries, n_features: usize) -> Batch {
        Batch { numbers: Vec::new(), weights: Vec::new(), entries, n_features }
    }
}

fn rows_at_a_time(n_features: usize) -> usize {
    (ENTRIES / n_features.max(1)).clamp(1, 128)
}
