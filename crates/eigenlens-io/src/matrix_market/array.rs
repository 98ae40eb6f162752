//! Array files: dense, and read whole, for they store column after column.

use super::assemble;
use super::parse::{self, Banner};
use crate::budget;
use crate::error::Result;
use crate::input::Input;
use crate::lines::Lines;
use crate::source::{Block, BlockReader, Column, Note, Source, Told, Wanted};
use crate::sparse::Names;
use crate::transpose::chosen_columns;
use eigenlens::AnyArray;
use ndarray::Array2;

/// A dense matrix whose numbers are not read yet.
pub(super) struct ArrayFile {
    pub(super) input: Input,
    pub(super) banner: Banner,
    pub(super) names: Names,
    /// Bytes of memory that reading may take.
    pub(super) memory: Option<u64>,
}

impl ArrayFile {
    fn n_samples(&self) -> usize {
        if self.names.is_transposed { self.banner.n_columns } else { self.banner.n_rows }
    }

    fn read(&self, wanted: &Wanted) -> Result<Block> {
        self.names.check(&wanted.labels)?;
        let features = self.names.features(&wanted.numbers)?;
        let matrix = self.matrix()?;
        let text = |&column: &usize| {
            let numbers = |feature| Ok(matrix.column(feature).to_vec());
            self.names.labels(column, 0..matrix.nrows(), numbers)
        };
        let labels = wanted.labels.iter().map(text).collect::<Result<_>>()?;
        let numbers = match features.iter().copied().eq(0..matrix.ncols()) {
            true => matrix,
            false => chosen_columns(&matrix, &features),
        };
        Ok(Block { numbers: AnyArray::F64(numbers), labels })
    }

    /// All numbers (samples × features).
    fn matrix(&self) -> Result<Array2<f64>> {
        // As text, in one piece, and turned.
        let needed = 24 * self.banner.n_stored as u64;
        let what = || format!("the array in {}", self.input.path().display());
        budget::check(self.memory, needed, what)?;
        let mut lines = Lines::open(&self.input)?;
        let banner = Banner::read(&mut lines, &self.input)?;
        let values = parse::values(&mut lines, &banner)?;
        Ok(assemble::dense(values, &banner, self.names.is_transposed))
    }
}

impl Source for ArrayFile {
    fn columns(&self) -> &[Column] {
        &self.names.columns
    }

    fn n_rows(&self) -> Option<usize> {
        Some(self.n_samples())
    }

    fn rows_guess(&self) -> usize {
        self.n_samples()
    }

    fn is_f32(&self) -> bool {
        false
    }

    fn notes(&self) -> &[Note] {
        &self.names.notes
    }

    fn open(&self, wanted: &Wanted) -> Result<Box<dyn BlockReader + Send + '_>> {
        Ok(Box::new(Reader { source: self, block: Some(self.read(wanted)?) }))
    }

    fn n_bytes(&self) -> u64 {
        self.input.n_bytes()
    }

    fn read_whole(&self, wanted: &Wanted, _: &Told) -> Option<Result<(Block, Vec<Note>)>> {
        Some(self.read(wanted).map(|block| (block, Vec::new())))
    }

    fn has_values(&self, _: usize) -> Option<bool> {
        Some(true)
    }
}

/// Gives the one block there is.
struct Reader<'a> {
    source: &'a ArrayFile,
    block: Option<Block>,
}

impl BlockReader for Reader<'_> {
    fn next_block(&mut self) -> Result<Option<Block>> {
        Ok(self.block.take())
    }

    fn bytes_read(&self) -> u64 {
        self.source.n_bytes()
    }
}
