//! A selection in memory where it fits, else as a stream.

use super::Table;
use super::choice::Selection;
use super::streamed::Streamed;
use crate::budget::reserve;
use crate::error::{Error, NO_ROWS, Place, Result};
use crate::pool;
use crate::source::{Block, Labels, Note, Source, SparseRows, Wanted};
use crate::sparse::AnyCsr;
use eigenlens::{AnyArray, AnyDataset, Dataset};
use ndarray::Array2;

/// Told how far a reading is: bytes read, bytes in all (0 when unknown).
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// The data of a selection.
pub enum Loaded<'a> {
    /// Read, and held in memory.
    InMemory(InMemory),
    /// Too large for the budget: read again for each pass.
    Streamed(Streamed<'a>),
}

/// A table in memory.
#[derive(Clone, Debug)]
pub struct InMemory {
    /// The features (samples × features). Missing values are NaN.
    pub numbers: Numbers,
    /// One entry for each label column.
    pub labels: Vec<Labels>,
    /// What only reading could find out.
    pub findings: Vec<Note>,
    /// Bytes held for the features, with what a sparse source holds beside them.
    held_bytes: u64,
}

/// Some rows of numbers.
#[derive(Clone, Debug)]
pub enum Numbers {
    /// All entries.
    Dense(AnyArray),
    /// Those that are not 0.
    Sparse(AnyCsr),
}

impl Numbers {
    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Numbers::Dense(x) => x.dim().0,
            Numbers::Sparse(x) => x.dim().0,
        }
    }

    /// As the library takes them.
    pub fn data(&self) -> AnyDataset<'_> {
        match self {
            Numbers::Dense(AnyArray::F32(x)) => AnyDataset::F32(Dataset::from(x)),
            Numbers::Dense(AnyArray::F64(x)) => AnyDataset::F64(Dataset::from(x)),
            Numbers::Sparse(x) => x.data(),
        }
    }
}

impl Loaded<'_> {
    /// As the library takes them.
    pub fn data(&self) -> AnyDataset<'_> {
        match self {
            Loaded::InMemory(read) => read.numbers.data(),
            Loaded::Streamed(rows) if rows.is_f32() => AnyDataset::F32(Dataset::streamed(rows)),
            Loaded::Streamed(rows) => AnyDataset::F64(Dataset::streamed(rows)),
        }
    }

    /// Bytes held in memory for the features.
    pub fn n_bytes(&self) -> u64 {
        match self {
            Loaded::InMemory(read) => read.held_bytes,
            Loaded::Streamed(_) => 0,
        }
    }

    /// What only reading could find out; of a stream complete after the first pass.
    pub fn findings(&self) -> Vec<Note> {
        match self {
            Loaded::InMemory(read) => read.findings.clone(),
            Loaded::Streamed(rows) => rows.findings(),
        }
    }
}

impl InMemory {
    fn dense(numbers: AnyArray, labels: Vec<Labels>, findings: Vec<Note>) -> InMemory {
        let held_bytes = match &numbers {
            AnyArray::F32(x) => 4 * x.len() as u64,
            AnyArray::F64(x) => 8 * x.len() as u64,
        };
        InMemory { numbers: Numbers::Dense(numbers), labels, findings, held_bytes }
    }
}

impl Table {
    /// Reads a selection into memory if that takes at most `memory` bytes (`None`: no limit), else
    /// prepares to stream it. A sparse source holds its numbers already.
    ///
    /// Rows are put into one growing array, so that the data are never there twice.
    pub fn load<'a>(
        &'a self,
        selection: &Selection,
        memory: Option<u64>,
        progress: Option<Progress<'a>>,
    ) -> Result<Loaded<'a>> {
        if let Some(sparse) = self.source.sparse() {
            return pool::run(|| self.load_sparse(sparse, selection)).map(Loaded::InMemory);
        }
        let budget = memory.unwrap_or(u64::MAX);
        let rows = self.source.n_rows().unwrap_or_else(|| self.source.rows_guess());
        let streamed = || Loaded::Streamed(Streamed::new(self, selection, progress));
        if bytes_for(rows, selection, self.source()) > budget {
            return Ok(streamed());
        }
        Ok(match pool::run(|| self.load_within(selection, rows, budget, progress))? {
            Some(in_memory) => Loaded::InMemory(in_memory),
            None => streamed(),
        })
    }

    fn load_sparse(&self, sparse: &dyn SparseRows, selection: &Selection) -> Result<InMemory> {
        let Wanted { numbers, labels, .. } = selection.wanted();
        let held_bytes = sparse.held_bytes(numbers);
        let numbers = Numbers::Sparse(sparse.csr(numbers)?);
        let labels = self.labels(labels, &[])?;
        Ok(InMemory { numbers, labels, findings: Vec::new(), held_bytes })
    }

    /// The text of these columns, over all rows where the `required` columns hold numbers.
    pub fn labels(&self, columns: &[usize], required: &[usize]) -> Result<Vec<Labels>> {
        let mut all = vec![Labels::default(); columns.len()];
        if columns.is_empty() {
            return Ok(all);
        }
        let (labels, required) = (columns.to_vec(), required.to_vec());
        let mut reader = self.source.open(&Wanted { numbers: Vec::new(), labels, required })?;
        while let Some(block) = reader.next_block()? {
            for (all, more) in all.iter_mut().zip(&block.labels) {
                all.append(more);
            }
        }
        Ok(all)
    }

    /// The numbers of these columns (n × q), over all rows where the `required` columns hold numbers.
    pub fn numbers(&self, columns: &[usize], required: &[usize]) -> Result<Array2<f64>> {
        let (numbers, required) = (columns.to_vec(), required.to_vec());
        let mut reader = self.source.open(&Wanted { numbers, labels: Vec::new(), required })?;
        let rows = self.source.n_rows().unwrap_or_else(|| self.source.rows_guess());
        let mut all = reserved(rows.saturating_mul(columns.len()))?;
        while let Some(block) = reader.next_block()? {
            match block.numbers {
                AnyArray::F32(numbers) => extend(&mut all, numbers.mapv(f64::from))?,
                AnyArray::F64(numbers) => extend(&mut all, numbers)?,
            }
        }
        let shape = (all.len() / columns.len().max(1), columns.len());
        Array2::from_shape_vec(shape, all).map_err(|error| self.unusable(error.to_string()))
    }

    /// `None` when the guess was wrong and the rows do not fit after all.
    fn load_within(
        &self,
        selection: &Selection,
        rows: usize,
        budget: u64,
        progress: Option<Progress<'_>>,
    ) -> Result<Option<InMemory>> {
        // Under a budget labels are counted as they come, and so are rows whose number is a guess.
        let is_known = self.source.n_rows().is_some() && selection.wanted().labels.is_empty();
        if (budget == u64::MAX || is_known)
            && let Some(whole) = self.read_whole(selection, progress)
        {
            return whole.map(Some);
        }
        let mut labels = vec![Labels::default(); selection.wanted().labels.len()];
        let columns = selection.wanted().numbers.len();
        // A little more than the guess: memory that is never touched is never used, and most
        // guesses then need no second allocation.
        let expected = rows.saturating_add(rows / 64).saturating_mul(columns);
        let mut numbers = match self.source.is_f32() {
            true => Growing::F32(reserved(expected)?),
            false => Growing::F64(reserved(expected)?),
        };
        let mut reader = self.source.open(selection.wanted())?;
        let total = self.source.n_bytes();
        let mut n_rows = 0;
        while let Some(block) = reader.next_block()? {
            n_rows += block.n_rows();
            for (all, more) in labels.iter_mut().zip(&block.labels) {
                all.append(more);
            }
            numbers.append(block)?;
            if let Some(progress) = progress {
                progress(reader.bytes_read(), total);
            }
            let held = numbers.n_bytes() + labels.iter().map(Labels::n_bytes).sum::<u64>();
            if held > budget {
                return Ok(None);
            }
        }
        let findings = reader.findings();
        if n_rows == 0 {
            return Err(self.unusable(NO_ROWS.into()));
        }
        let numbers = numbers.finish(n_rows, columns).map_err(|e| self.unusable(e.to_string()))?;
        Ok(Some(InMemory::dense(numbers, labels, findings)))
    }

    fn read_whole(
        &self,
        selection: &Selection,
        progress: Option<Progress<'_>>,
    ) -> Option<Result<InMemory>> {
        let total = self.source.n_bytes();
        let told = |share: f64| {
            if let Some(progress) = progress {
                progress((share * total as f64) as u64, total);
            }
        };
        let whole = self.source.read_whole(selection.wanted(), &told)?;
        Some(whole.and_then(|(block, findings)| {
            if block.n_rows() == 0 {
                return Err(self.unusable(NO_ROWS.into()));
            }
            Ok(InMemory::dense(block.numbers, block.labels, findings))
        }))
    }

    fn unusable(&self, what: String) -> Error {
        Error::Content { file: self.first_file().to_owned(), place: Place::default(), what }
    }
}

fn bytes_for(rows: usize, selection: &Selection, source: &dyn Source) -> u64 {
    let size: u64 = if source.is_f32() { 4 } else { 8 };
    // How long labels are is not known: a word and its place.
    let row = size * selection.wanted().numbers.len() as u64
        + 16 * selection.wanted().labels.len() as u64;
    (rows as u64).saturating_mul(row)
}

enum Growing {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Growing {
    fn append(&mut self, block: Block) -> Result<()> {
        match (self, block.numbers) {
            (Self::F32(all), AnyArray::F32(more)) => extend(all, more),
            (Self::F64(all), AnyArray::F64(more)) => extend(all, more),
            (Self::F64(all), AnyArray::F32(more)) => extend(all, more.mapv(f64::from)),
            (Self::F32(_), AnyArray::F64(_)) => Err(Error::Usage {
                what: String::from("a source of single precision gave double precision"),
                hint: None,
            }),
        }
    }

    fn n_bytes(&self) -> u64 {
        match self {
            Self::F32(all) => 4 * all.len() as u64,
            Self::F64(all) => 8 * all.len() as u64,
        }
    }

    fn finish(
        self,
        rows: usize,
        columns: usize,
    ) -> std::result::Result<AnyArray, ndarray::ShapeError> {
        Ok(match self {
            Self::F32(mut all) => {
                all.shrink_to_fit();
                AnyArray::F32(Array2::from_shape_vec((rows, columns), all)?)
            }
            Self::F64(mut all) => {
                all.shrink_to_fit();
                AnyArray::F64(Array2::from_shape_vec((rows, columns), all)?)
            }
        })
    }
}

fn reserved<T>(n: usize) -> Result<Vec<T>> {
    let mut all = Vec::new();
    reserve(&mut all, n, the_table)?;
    Ok(all)
}

/// What the memory is for.
fn the_table() -> String {
    "the table".into()
}

fn extend<T: Copy>(all: &mut Vec<T>, more: Array2<T>) -> Result<()> {
    let (more, _) = more.into_raw_vec_and_offset();
    if all.capacity() - all.len() < more.len() {
        // Large vectors grow by remapping pages, not by copying, so that small steps are cheap.
        reserve(all, more.len().max(all.len() / 16), the_table)?;
    }
    all.extend_from_slice(&more);
    Ok(())
}
