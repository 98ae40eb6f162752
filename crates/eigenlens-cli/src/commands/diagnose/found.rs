//! What a pass over the samples finds.

use super::tables::Tables;
use crate::arguments::Diagnose;
use crate::failure::Failure;
use crate::input::Opened;
use eigenlens::model::association::{Annotation, associations, group_means};
use eigenlens::model::diagnostics::SampleDiagnostics;
use eigenlens::{AnyDataset, Error, Model, PcaModel, dispatch};
use eigenlens_io::csv::MISSING_MARKS;
use eigenlens_io::{AnyArray, Labels};
use ndarray::{Array2, Axis};

/// Unusual samples that are listed.
const LISTED: usize = 10;

/// Collects scores, labels and the most unusual samples.
pub struct Found {
    confidence: f64,
    are_new: bool,
    label_names: Vec<String>,
    labels: Vec<Labels>,
    scores: Option<Array2<f64>>,
    monitored: Option<Monitored>,
}

/// T² and Q of the samples beside their limits.
pub struct Monitored {
    pub confidence: f64,
    pub are_new: bool,
    pub t_squared_limit: Option<f64>,
    pub q_limit: Option<f64>,
    pub above_t_squared: usize,
    pub above_q: usize,
    /// The most unusual first.
    pub unusual: Vec<UnusualSample>,
}

/// A sample that is far from the others.
pub struct UnusualSample {
    /// How many times its limit T² or Q is, whichever is more.
    times: f64,
    /// Its row, from 1.
    pub row: usize,
    pub t_squared: f64,
    pub q: f64,
    pub labels: String,
}

impl Found {
    pub fn new(args: &Diagnose, opened: &Opened) -> Found {
        let label_names = opened.label_names();
        Found {
            confidence: args.confidence,
            are_new: args.new,
            labels: vec![Labels::default(); label_names.len()],
            label_names,
            scores: None,
            monitored: None,
        }
    }

    pub fn add_scores(&mut self, scores: AnyArray, labels: &[Labels]) -> Result<(), Failure> {
        let scores = match scores {
            AnyArray::F32(scores) => scores.mapv(f64::from),
            AnyArray::F64(scores) => scores,
        };
        for (all, more) in self.labels.iter_mut().zip(labels) {
            all.append(more);
        }
        match &mut self.scores {
            None => self.scores = Some(scores),
            Some(all) => all
                .append(Axis(0), scores.view())
                .map_err(|error| Failure::Internal(error.to_string()))?,
        }
        Ok(())
    }

    pub fn add_samples(
        &mut self,
        pca: &PcaModel,
        samples: &SampleDiagnostics,
        data: &AnyDataset,
        first: usize,
    ) -> eigenlens::Result<()> {
        let monitored = match &mut self.monitored {
            Some(monitored) => monitored,
            empty => empty.insert(Monitored::new(pca, data, self.confidence, self.are_new)?),
        };
        monitored.add(samples, first);
        Ok(())
    }

    pub fn tables(self, model: &dyn Model) -> Result<Tables, Failure> {
        let scores = self.scores.ok_or(Error::NoRows)?;
        let mut annotations = Vec::new();
        for (name, labels) in self.label_names.iter().zip(&self.labels) {
            let texts: Vec<Option<&str>> = labels.iter().map(known_text).collect();
            annotations.extend(Annotation::from_texts(&texts).map(|found| (name.clone(), found)));
        }
        let all: Vec<Annotation> = annotations.iter().map(|(_, found)| found.clone()).collect();
        let found = associations(scores.view(), &all)?;
        let means = all.iter().map(|annotation| match annotation {
            Annotation::Groups { of, .. } => group_means(scores.view(), of).map(Some),
            _ => Ok(None),
        });
        let means = means.collect::<eigenlens::Result<_>>()?;
        let mut monitored = self.monitored;
        for sample in monitored.iter_mut().flat_map(|monitored| &mut monitored.unusual) {
            let names = self.labels.iter().filter_map(|labels| labels.get(sample.row - 1));
            sample.labels = names.collect::<Vec<_>>().join(", ");
        }
        let components = model.component_names();
        let n_samples = scores.nrows();
        Ok(Tables { n_samples, monitored, components, annotations, found, means })
    }
}

/// The text of a label, unless it says that nothing is known.
fn known_text(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    (!trimmed.is_empty() && !MISSING_MARKS.contains(&trimmed)).then_some(text)
}

impl Monitored {
    /// The limits, which exist where there are samples enough.
    fn new(
        pca: &PcaModel,
        data: &AnyDataset,
        confidence: f64,
        are_new: bool,
    ) -> eigenlens::Result<Monitored> {
        let t_squared_limit = match are_new {
            true => pca.t_squared_limit_new(confidence),
            false => pca.t_squared_limit_training(confidence),
        };
        // Without the whole spectrum the limit would have to come from the training samples, all at once.
        let q_limit = pca
            .full_spectrum()
            .and_then(|_| dispatch!(data, d => pca.q_limit(d, confidence)).ok())
            .map(|limit| limit.q())
            .filter(|limit| *limit > 0.0);
        Ok(Monitored {
            confidence,
            are_new,
            t_squared_limit: t_squared_limit.ok(),
            q_limit,
            above_t_squared: 0,
            above_q: 0,
            unusual: Vec::new(),
        })
    }

    fn add(&mut self, samples: &SampleDiagnostics, first: usize) {
        let over = |value: f64, limit: Option<f64>| limit.map_or(0.0, |limit| value / limit);
        for (i, (&t, &q)) in samples.t_squared.iter().zip(&samples.q).enumerate() {
            let (by_t, by_q) = (over(t, self.t_squared_limit), over(q, self.q_limit));
            self.above_t_squared += usize::from(by_t > 1.0);
            self.above_q += usize::from(by_q > 1.0);
            let times = by_t.max(by_q);
            let at = self.unusual.partition_point(|other| other.times >= times);
            if at < LISTED {
                let (row, labels) = (first + i + 1, String::new());
                self.unusual.insert(at, UnusualSample { times, row, t_squared: t, q, labels });
                self.unusual.truncate(LISTED);
            }
        }
    }
}
