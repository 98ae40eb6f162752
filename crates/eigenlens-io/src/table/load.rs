//! A selection in memory where it fits, else as a stream.

use super::Table;
use super::choice::Selection;
use super::streamed::Streamed;
use crate::error::{Error, NO_ROWS, Place, Result};
use crate::pool;
use crate::source::{Block, Labels, Note, Source};
use eigenlens::AnyArray;
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
    pub numbers: AnyArray,
    /// One entry for each label column.
    pub labels: Vec<Labels>,
    /// What only reading could find out.
    pub findings: Vec<Note>,
}

impl Table {
    /// Reads a selection into memory if that takes at most `memory` bytes (`None`: no limit), else
    /// prepares to stream it.
    ///
    /// Rows are put into one growing array, so that the data are never there twice.
    pub fn load<'a>(
        &'a self,
        selection: &Selection,
        memory: Option<u64>,
        progress: Option<Progress<'a>>,
    ) -> Result<Loaded<'a>> {
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
        Ok(Some(InMemory { numbers, labels, findings }))
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
            Ok(InMemory { numbers: block.numbers, labels: block.labels, findings })
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
    reserve(&mut all, n)?;
    Ok(all)
}

fn reserve<T>(all: &mut Vec<T>, more: usize) -> Result<()> {
    let size = size_of::<T>() as u64;
    all.try_reserve_exact(more).map_err(|_| Error::Memory {
        what: String::from("the table"),
        needed: size.saturating_mul((all.len() as u64).saturating_add(more as u64)),
        budget: size * all.capacity() as u64,
    })
}

fn extend<T: Copy>(all: &mut Vec<T>, more: Array2<T>) -> Result<()> {
    let (more, _) = more.into_raw_vec_and_offset();
    if all.capacity() - all.len() < more.len() {
        // Large vectors grow by remapping pages, not by copying, so that small steps are cheap.
        reserve(all, more.len().max(all.len() / 16))?;
    }
    all.extend_from_slice(&more);
    Ok(())
}
