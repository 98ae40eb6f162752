//! The rows: in memory or streamed, and piece by piece with their labels.

use super::matrix::{Matrix, Rows};
use super::{Body, Chosen, Opened};
use crate::arguments::{Common, WeightKind};
use crate::failure::Failure;
use crate::options::Bytes;
use crate::progress::Progress;
use crate::reporter::Reporter;
use eigenlens::AnyDataset;
use eigenlens::{Csr, Dataset, SampleWeights, Scalar};
use eigenlens_io::{AnyArray, Budget, Labels, Loaded, Wanted};

/// The rows of the data.
pub struct Input<'a> {
    opened: &'a Opened,
    held: Held<'a>,
    /// Labels that are not held with the rows.
    labels: Vec<Labels>,
    weights: Option<SampleWeights>,
}

enum Held<'a> {
    Table(Loaded<'a>),
    Matrix(&'a Matrix),
}

/// Some rows.
#[derive(Clone, Copy)]
pub enum Piece<'a> {
    Dense(&'a AnyArray),
    Sparse(&'a Csr<f64>),
}

impl<'a> Piece<'a> {
    pub fn n_rows(self) -> usize {
        match self {
            Piece::Dense(x) => x.dim().0,
            Piece::Sparse(x) => x.n_rows(),
        }
    }

    /// As the library takes them.
    pub fn data(self) -> AnyDataset<'a> {
        match self {
            Piece::Dense(AnyArray::F32(x)) => AnyDataset::F32(Dataset::from(x)),
            Piece::Dense(AnyArray::F64(x)) => AnyDataset::F64(Dataset::from(x)),
            Piece::Sparse(x) => AnyDataset::F64(Dataset::sparse(x)),
        }
    }
}

impl Opened {
    /// Reads the rows, if they take at most `memory` bytes; else they will be streamed.
    pub fn load<'a>(
        &'a self,
        memory: Option<u64>,
        progress: &'a Progress,
        tell: &'a (dyn Fn(u64, u64) + Sync),
        reporter: &Reporter,
    ) -> Result<Input<'a>, Failure> {
        let input = match &self.body {
            Body::Table(chosen) => {
                let loaded = chosen.table.load(&chosen.selection, memory, Some(tell))?;
                let mut labels = Vec::new();
                if let Loaded::InMemory(read) = &loaded {
                    self.tell_findings(&read.findings, reporter)?;
                    if chosen.labels != chosen.selection.wanted().labels {
                        labels = chosen.read_labels()?;
                    }
                }
                let weights = chosen.read_weights()?;
                Input { opened: self, held: Held::Table(loaded), labels, weights }
            }
            Body::Matrix(matrix) => Input {
                opened: self,
                held: Held::Matrix(matrix),
                labels: matrix.names.iter().cloned().collect(),
                weights: None,
            },
        };
        progress.pause();
        Ok(input)
    }

    /// Reads all rows, for what needs them at once: within `--memory`, or refused.
    pub fn load_all<'a>(
        &'a self,
        common: &Common,
        progress: &'a Progress,
        tell: &'a (dyn Fn(u64, u64) + Sync),
        reporter: &Reporter,
    ) -> Result<Input<'a>, Failure> {
        let Some(Bytes(budget)) = common.memory else {
            return self.load(None, progress, tell, reporter);
        };
        // The other half is for what is made of them.
        let table = budget.saturating_sub(Budget::RESERVED) / 2;
        let input = self.load(Some(table), progress, tell, reporter)?;
        if input.piece().is_some() {
            return Ok(input);
        }
        // Labels and a wrong guess at the rows may need more than is known of.
        let wanted = self.table_bytes().max(table);
        Err(Failure::File(eigenlens_io::Error::Memory {
            what: format!("{} with all its samples", self.name()),
            needed: Budget::RESERVED + 3 * wanted + (1 << 20),
            budget,
        }))
    }

    /// Every row with its labels, piece by piece, in bounded memory where the data are a table. The
    /// work is given the index of its first row.
    pub fn for_each_piece(
        &self,
        progress: &Progress,
        reporter: &Reporter,
        mut work: impl FnMut(Piece, &[Labels], usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let chosen = match &self.body {
            Body::Table(chosen) => chosen,
            Body::Matrix(matrix) => {
                let labels: Vec<Labels> = matrix.names.iter().cloned().collect();
                return work(matrix.piece(), &labels, 0);
            }
        };
        let labels = chosen.labels.clone();
        let wanted = Wanted { labels, ..chosen.selection.wanted().clone() };
        let source = chosen.table.source();
        let mut reader = source.open(&wanted)?;
        let mut first = 0;
        while let Some(block) = reader.next_block()? {
            work(Piece::Dense(&block.numbers), &block.labels, first)?;
            first += block.n_rows();
            progress.at(reader.bytes_read(), source.n_bytes());
        }
        if first == 0 {
            return Err(self.explain(eigenlens::Error::NoRows, 0));
        }
        progress.pause();
        self.tell_findings(&reader.findings(), reporter)
    }
}

impl Matrix {
    fn piece(&self) -> Piece<'_> {
        match &self.rows {
            Rows::Dense(x) => Piece::Dense(x),
            Rows::Sparse(x) => Piece::Sparse(x),
        }
    }
}

impl Chosen {
    fn read_labels(&self) -> Result<Vec<Labels>, Failure> {
        let required = self.selection.wanted().required.clone();
        let wanted = Wanted { numbers: Vec::new(), labels: self.labels.clone(), required };
        let mut all = vec![Labels::default(); self.labels.len()];
        let mut reader = self.table.source().open(&wanted)?;
        while let Some(block) = reader.next_block()? {
            for (all, more) in all.iter_mut().zip(&block.labels) {
                all.append(more);
            }
        }
        Ok(all)
    }

    fn read_weights(&self) -> Result<Option<SampleWeights>, Failure> {
        let Some((index, kind)) = self.weights else { return Ok(None) };
        let required = self.selection.wanted().required.clone();
        let wanted = Wanted { numbers: vec![index], labels: Vec::new(), required };
        let mut all = Vec::new();
        let mut reader = self.table.source().open(&wanted)?;
        while let Some(block) = reader.next_block()? {
            match block.numbers {
                AnyArray::F32(numbers) => all.extend(numbers.iter().map(|w| f64::from(*w))),
                AnyArray::F64(numbers) => all.extend(numbers.iter()),
            }
        }
        Ok(Some(match kind {
            WeightKind::Frequency => SampleWeights::frequency(all),
            WeightKind::Relative => SampleWeights::relative(all),
        }))
    }
}

impl Input<'_> {
    /// What only reading could find out, after a pass over data that are streamed: of those in
    /// memory it is told when they are read.
    pub fn tell_findings(&self, reporter: &Reporter) -> Result<(), Failure> {
        match &self.held {
            Held::Table(Loaded::Streamed(rows)) => {
                self.opened.tell_findings(&rows.findings(), reporter)
            }
            _ => Ok(()),
        }
    }

    /// The data as the library takes them, with names and weights.
    pub fn data(&self) -> Result<AnyDataset<'_>, Failure> {
        let data = match (self.piece(), &self.held) {
            (Some(piece), _) => piece.data(),
            (None, Held::Table(Loaded::Streamed(rows))) if rows.is_f32() => {
                AnyDataset::F32(Dataset::streamed(rows))
            }
            (None, Held::Table(Loaded::Streamed(rows))) => AnyDataset::F64(Dataset::streamed(rows)),
            _ => return Err(Failure::Internal("data that are nowhere".into())),
        };
        let names = self.opened.feature_names();
        let data = match data {
            AnyDataset::F32(d) => AnyDataset::F32(self.weighed(d.with_feature_names(names)?)),
            AnyDataset::F64(d) => AnyDataset::F64(self.weighed(d.with_feature_names(names)?)),
        };
        Ok(self.opened.with_policy(data))
    }

    fn weighed<'d, T: Scalar>(&self, data: Dataset<'d, T>) -> Dataset<'d, T> {
        match &self.weights {
            Some(weights) => data.with_weights(weights.clone()),
            None => data,
        }
    }

    /// All rows, where they are in memory.
    pub fn piece(&self) -> Option<Piece<'_>> {
        match &self.held {
            Held::Table(Loaded::InMemory(read)) => Some(Piece::Dense(&read.numbers)),
            Held::Table(Loaded::Streamed(_)) => None,
            Held::Matrix(matrix) => Some(matrix.piece()),
        }
    }

    /// The labels of every sample, one entry for each label column; none where streamed.
    pub fn labels(&self) -> &[Labels] {
        match &self.held {
            Held::Table(Loaded::InMemory(read)) if self.labels.is_empty() => &read.labels,
            _ => &self.labels,
        }
    }

    /// Bytes held in memory.
    pub fn bytes(&self) -> u64 {
        match &self.held {
            Held::Table(Loaded::InMemory(read)) => match &read.numbers {
                AnyArray::F32(x) => 4 * x.len() as u64,
                AnyArray::F64(x) => 8 * x.len() as u64,
            },
            Held::Table(Loaded::Streamed(_)) => 0,
            Held::Matrix(matrix) => matrix.bytes(),
        }
    }
}
