//! The rows: in memory or streamed, and piece by piece with their labels.

use super::Opened;
use crate::arguments::{Common, WeightKind};
use crate::failure::Failure;
use crate::options::Bytes;
use crate::progress::Progress;
use crate::reporter::Reporter;
use eigenlens::{AnyDataset, Dataset, SampleWeights, Scalar};
use eigenlens_io::{AnyArray, Budget, Labels, Loaded, Numbers, Wanted};

/// The rows of the data.
pub struct Input<'a> {
    opened: &'a Opened,
    loaded: Loaded<'a>,
    /// Labels that are not held with the rows.
    labels: Vec<Labels>,
    weights: Option<SampleWeights>,
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
        let loaded = self.table.load(&self.selection, memory, Some(tell))?;
        let mut labels = Vec::new();
        if let Loaded::InMemory(read) = &loaded {
            self.tell_findings(&read.findings, reporter)?;
            let Wanted { labels: held, required, .. } = self.selection.wanted();
            if self.labels != *held {
                labels = self.table.labels(&self.labels, required)?;
            }
            if let Some(metadata) = &self.metadata {
                let own = if labels.is_empty() { &read.labels } else { &labels };
                labels = metadata.joined(own, 0).into_owned();
                metadata.tell(reporter)?;
            }
        }
        let input = Input { opened: self, loaded, labels, weights: self.read_weights()? };
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
        if input.rows().is_some() {
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

    /// Every row with its labels, piece by piece in bounded memory; of a sparse table all at once, as
    /// it is in memory. The work is given the index of its first row.
    pub fn for_each_piece(
        &self,
        progress: &Progress,
        reporter: &Reporter,
        mut work: impl FnMut(&Numbers, &[Labels], usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Wanted { numbers, required, .. } = self.selection.wanted();
        if let Some(sparse) = self.table.source().sparse() {
            let rows = Numbers::Sparse(sparse.csr(numbers)?);
            let labels = self.table.labels(&self.labels, required)?;
            work(&rows, &self.all_labels(&labels, 0), 0)?;
            return self.tell_unmatched(reporter);
        }
        self.for_each_block(progress, reporter, |rows, labels, first| {
            work(&Numbers::Dense(rows), labels, first)
        })
    }

    /// The same with all entries, also of a sparse table.
    pub fn for_each_block(
        &self,
        progress: &Progress,
        reporter: &Reporter,
        mut work: impl FnMut(AnyArray, &[Labels], usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let wanted = Wanted { labels: self.labels.clone(), ..self.selection.wanted().clone() };
        let source = self.table.source();
        let mut reader = source.open(&wanted)?;
        let mut first = 0;
        while let Some(block) = reader.next_block()? {
            let n_rows = block.n_rows();
            work(block.numbers, &self.all_labels(&block.labels, first), first)?;
            first += n_rows;
            progress.at(reader.bytes_read(), source.n_bytes());
        }
        if first == 0 {
            return Err(self.explain(eigenlens::Error::NoRows, 0));
        }
        progress.pause();
        self.tell_unmatched(reporter)?;
        self.tell_findings(&reader.findings(), reporter)
    }

    fn read_weights(&self) -> Result<Option<SampleWeights>, Failure> {
        let Some((index, kind)) = self.weights else { return Ok(None) };
        let weights = self.table.numbers(&[index], &self.selection.wanted().required)?;
        let weights: Vec<f64> = weights.into_iter().collect();
        Ok(Some(match kind {
            WeightKind::Frequency => SampleWeights::frequency(weights),
            WeightKind::Relative => SampleWeights::relative(weights),
        }))
    }
}

impl Input<'_> {
    /// What only reading could find out, after a pass over data that are streamed: of those in
    /// memory it is told when they are read.
    pub fn tell_findings(&self, reporter: &Reporter) -> Result<(), Failure> {
        match &self.loaded {
            Loaded::Streamed(rows) => self.opened.tell_findings(&rows.findings(), reporter),
            Loaded::InMemory(_) => Ok(()),
        }
    }

    /// The data as the library takes them, with names and weights.
    pub fn data(&self) -> Result<AnyDataset<'_>, Failure> {
        let data = self.loaded.data();
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
    pub fn rows(&self) -> Option<&Numbers> {
        match &self.loaded {
            Loaded::InMemory(read) => Some(&read.numbers),
            Loaded::Streamed(_) => None,
        }
    }

    /// The labels of every sample, one entry for each label column; none where streamed.
    pub fn labels(&self) -> &[Labels] {
        match &self.loaded {
            Loaded::InMemory(read) if self.labels.is_empty() => &read.labels,
            _ => &self.labels,
        }
    }

    /// Bytes held in memory.
    pub fn bytes(&self) -> u64 {
        self.loaded.n_bytes()
    }
}
