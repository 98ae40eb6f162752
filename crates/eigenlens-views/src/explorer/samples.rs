//! The samples that go into the page, and what is known of them.

use super::ExplorerOptions;
use crate::error::Result;
use crate::plots::monitoring::{CAPTION, Monitored, limit_label};
use crate::request::Request;
use crate::samples::LabelColumn;
use eigenlens::dispatch;
use eigenlens::model::association::{Annotation, associations};
use eigenlens_report::{ExplorerColumn, ExplorerMonitoring, ExplorerSamples, ExplorerValues};
use ndarray::{Array2, ArrayView1, Axis};

/// Values of features beyond this number are left out unless they are asked for.
const MOST_VALUES: usize = 8_000_000;
/// Squared cosines beyond this number are left out.
const MOST_COSINES: usize = 2_000_000;
/// Columns of text with more different values neither colour nor sort.
const MOST_GROUPS: usize = 256;

/// Which samples and which of their numbers go into the page.
pub(super) struct Shown {
    /// How many samples there are.
    of: usize,
    /// Those that go in, in order.
    rows: Vec<usize>,
    k: usize,
    n_features: usize,
    features: FeatureValues,
}

/// What becomes of the values of the features.
enum FeatureValues {
    In(Array2<f64>),
    NotWanted,
    TooMany,
    Sparse,
}

impl Shown {
    pub fn of(request: &Request, options: &ExplorerOptions, k: usize) -> Result<Option<Shown>> {
        let Some(samples) = request.samples() else { return Ok(None) };
        let (of, d) = (samples.len(), request.model().n_features());
        let n = options.max_samples.map_or(of, |most| most.min(of));
        // Evenly spaced: ordered data keep their proportions.
        let rows: Vec<usize> =
            (0..n).map(|i| (i as u128 * of as u128 / n as u128) as usize).collect();
        let features = match options.include_features {
            Some(false) => FeatureValues::NotWanted,
            None if n.saturating_mul(d) > MOST_VALUES => FeatureValues::TooMany,
            _ => match dispatch!(samples.data(), x => x.dense_rows(&rows)) {
                Some(values) => FeatureValues::In(values),
                None => FeatureValues::Sparse,
            },
        };
        Ok(Some(Shown { of, rows, k, n_features: d, features }))
    }

    /// How many numbers that are.
    pub fn n_numbers(&self) -> usize {
        let d = if matches!(self.features, FeatureValues::In(_)) { self.n_features } else { 0 };
        self.rows.len().saturating_mul(self.k + d)
    }

    /// What is not in the page, and how it would be.
    pub fn left_out(&self) -> Vec<String> {
        let mut left_out = Vec::new();
        if self.rows.len() < self.of {
            left_out.push(format!(
                "{} of {} samples are in this page, evenly spaced.",
                self.rows.len(),
                self.of
            ));
        }
        let why = match self.features {
            FeatureValues::In(_) => return left_out,
            FeatureValues::NotWanted => "as was asked for",
            FeatureValues::TooMany => "as they are many: ask for them, or for fewer samples",
            FeatureValues::Sparse => "as the table is sparse",
        };
        left_out.push(format!(
            "The values of the features are not in this page, {why}. Groups are compared by their scores."
        ));
        left_out
    }

    fn pick(&self, values: ArrayView1<f64>) -> Vec<f64> {
        self.rows.iter().map(|&row| values[row]).collect()
    }
}

/// The samples with their scores, diagnostics, labels and values.
pub(super) fn samples(request: &Request, shown: &Shown) -> Result<ExplorerSamples> {
    let Some(samples) = request.samples() else { return Ok(ExplorerSamples::default()) };
    let scores = request.scores(samples)?;
    let names = samples.names();
    let columns: Vec<&LabelColumn> = samples.columns();
    let color = samples.color().and_then(|color| columns.iter().position(|c| c.name == color.name));
    let all: Vec<Vec<f64>> =
        scores.columns().into_iter().take(shown.k).map(|z| z.to_vec()).collect();
    let columns: Vec<Option<ExplorerColumn>> =
        columns.into_iter().map(|column| self::column(column, shown, &all)).collect();
    // Columns that are names only do not colour: the place moves with those before it.
    let color = color
        .filter(|&place| columns[place].is_some())
        .map(|place| columns[..place].iter().flatten().count());
    let columns: Vec<ExplorerColumn> = columns.into_iter().flatten().collect();
    // Many groups are too many for a picture, but not for a page that can be asked about each.
    let is_groups =
        |column: &ExplorerColumn| matches!(column.values, ExplorerValues::Groups { .. });
    let color = color.or_else(|| columns.iter().position(is_groups));
    let monitored = request.model().pca().and_then(|pca| Monitored::of(pca, samples.data()).ok());
    let features = match &shown.features {
        FeatureValues::In(values) => values.columns().into_iter().map(|x| x.to_vec()).collect(),
        _ => Vec::new(),
    };
    Ok(ExplorerSamples {
        numbers: shown.rows.iter().map(|row| row + 1).collect(),
        of: shown.of,
        names: match names.is_empty() {
            true => names,
            false => shown.rows.iter().map(|&row| names[row].clone()).collect(),
        },
        scores: all.iter().map(|z| shown.pick(ArrayView1::from(z))).collect(),
        squared_cosines: monitored.as_ref().map_or_else(Vec::new, |found| cosines(found, shown)),
        monitoring: monitored.map(|found| monitoring(found, shown)),
        columns,
        color,
        features,
    })
}

/// A column that has groups or numbers; one that has a value of its own for each sample is a name.
fn column(column: &LabelColumn, shown: &Shown, scores: &[Vec<f64>]) -> Option<ExplorerColumn> {
    let (values, annotation) = match column.numbers().filter(|_| !column.has_groups()) {
        Some(values) => {
            let shown = shown.pick(ArrayView1::from(&values));
            (ExplorerValues::Numbers(shown), Annotation::Numbers(values))
        }
        None => {
            let (names, of) = column.groups();
            if names.len() > MOST_GROUPS || (names.len() == shown.of && shown.of > 2) {
                return None;
            }
            let shown = shown.rows.iter().map(|&row| of[row]).collect();
            let of = of.into_iter().map(Some).collect();
            let annotation = Annotation::Groups { names: names.clone(), of };
            (ExplorerValues::Groups { names, of: shown }, annotation)
        }
    };
    let association = scores.iter().map(|z| share(z, &annotation)).collect();
    Some(ExplorerColumn { name: column.name.clone(), values, association })
}

/// The share of a component's variance that an annotation goes with: r² or η², and 0 where nothing varies.
fn share(scores: &[f64], annotation: &Annotation) -> f64 {
    let column = ArrayView1::from(scores).insert_axis(Axis(1));
    let found = associations(column, std::slice::from_ref(annotation));
    let value = found.ok().and_then(|found| found[[0, 0]].value).unwrap_or(0.0);
    match annotation {
        Annotation::Groups { .. } => value,
        _ => value * value,
    }
}

fn monitoring(found: Monitored, shown: &Shown) -> ExplorerMonitoring {
    let spread = |values: &[f64]| match &found.rows {
        None => shown.pick(ArrayView1::from(values)),
        Some(rows) => {
            let mut all = vec![f64::NAN; shown.of];
            rows.iter().zip(values).for_each(|(&row, value)| all[row] = *value);
            shown.pick(ArrayView1::from(&all))
        }
    };
    let mut caption = String::from(CAPTION);
    if let Some(rows) = &found.rows {
        caption.push_str(&format!(
            " They are known of the {} samples without missing entries.",
            rows.len()
        ));
    }
    ExplorerMonitoring {
        t_squared: spread(&found.t_squared),
        q: spread(&found.q),
        limits: [found.t_squared_limit, found.q_limit],
        limit_label: limit_label(),
        caption,
    }
}

fn cosines(found: &Monitored, shown: &Shown) -> Vec<Vec<f64>> {
    let too_many = shown.rows.len().saturating_mul(shown.k) > MOST_COSINES;
    if too_many || found.rows.is_some() {
        return Vec::new();
    }
    found.squared_cosines.columns().into_iter().take(shown.k).map(|c| shown.pick(c)).collect()
}
