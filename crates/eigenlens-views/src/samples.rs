//! Samples that are loaded, with what colours and names them.

use eigenlens::model::normal_ellipse;
use eigenlens::{AnyDataset, Model, Options, Result, dispatch};
use eigenlens_report::{Coloring, Ellipse};
use ndarray::Array2;
use std::collections::{BTreeSet, HashMap};

/// Samples as the model sees them, and their labels.
pub struct Samples<'d, 'a> {
    data: AnyDataset<'d>,
    fill: Option<&'a [f64]>,
    columns: Vec<LabelColumn<'a>>,
    color: Option<LabelColumn<'a>>,
    names: Option<LabelColumn<'a>>,
}

/// Text that belongs to the samples.
#[derive(Clone, Debug, Default)]
pub struct LabelColumn<'a> {
    /// What it is called.
    pub name: String,
    /// The text of each sample (n).
    pub values: Vec<&'a str>,
}

/// The share of a normal distribution that an ellipse holds, and the confidence of limits.
pub(crate) const CONFIDENCE: f64 = 0.95;
/// Groups beyond this number colour nothing.
const MOST_GROUPS: usize = 20;
/// Samples beyond this number have no room for names.
const MOST_NAMES: usize = 2000;

impl<'d, 'a> Samples<'d, 'a> {
    /// Samples without labels. Counts are weighted as in training; missing entries have their policy.
    pub fn new(data: AnyDataset<'d>) -> Samples<'d, 'a> {
        Samples { data, fill: None, columns: Vec::new(), color: None, names: None }
    }

    /// With what goes into missing entries (d) before the model sees them.
    pub fn with_fill(self, fill: Option<&'a [f64]>) -> Samples<'d, 'a> {
        Samples { fill, ..self }
    }

    /// Coloured and named by the labels that suit. The target of the fit colours the samples, as it says most,
    /// else the first column that has a few values; the first that has a value of its own for each names them.
    pub fn with_labels(self, labels: &[LabelColumn<'a>], target: Option<&str>) -> Samples<'d, 'a> {
        let n = self.len();
        let target = target.and_then(|name| labels.iter().find(|column| column.name == name));
        let color = target.or_else(|| labels.iter().find(|column| column.has_groups()));
        let names = labels.iter().find(|column| column.names_samples(n));
        let (color, names) = (color.cloned(), names.cloned());
        Samples { columns: labels.to_vec(), color, names, ..self }
    }

    /// Coloured by this column, where one is given.
    pub fn with_color(self, column: Option<LabelColumn<'a>>) -> Samples<'d, 'a> {
        Samples { color: column.or(self.color), ..self }
    }

    /// Named by this column, where one is given.
    pub fn with_names(self, column: Option<LabelColumn<'a>>) -> Samples<'d, 'a> {
        Samples { names: column.or(self.names), ..self }
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.data.n_samples().unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All that is known of the samples besides their features: the columns given, then what colours them where
    /// it is none of those.
    pub(crate) fn columns(&self) -> Vec<&LabelColumn<'a>> {
        let other =
            self.color.iter().filter(|color| self.columns.iter().all(|c| c.name != color.name));
        self.columns.iter().chain(other).collect()
    }

    /// What colours the samples.
    pub(crate) fn color(&self) -> Option<&LabelColumn<'a>> {
        self.color.as_ref()
    }

    pub(crate) fn data(&self) -> &AnyDataset<'d> {
        &self.data
    }

    /// Scores (n × k) under a model.
    pub(crate) fn scores(&self, model: &dyn Model) -> Result<Array2<f64>> {
        let options = Options::default();
        Ok(match (&self.data, self.fill) {
            (AnyDataset::F32(d), None) => model.transform_f32(d)?.mapv(f64::from),
            (AnyDataset::F64(d), None) => model.transform_f64(d)?,
            (AnyDataset::F32(d), Some(fill)) => {
                model.transform_f32(&d.fill_missing(fill, &options)?.dataset())?.mapv(f64::from)
            }
            (AnyDataset::F64(d), Some(fill)) => {
                model.transform_f64(&d.fill_missing(fill, &options)?.dataset())?
            }
        })
    }

    /// The first samples, where they are dense.
    pub(crate) fn first_rows(&self, most: usize) -> Option<Array2<f64>> {
        dispatch!(&self.data, d => d.first_rows(most))
    }

    /// The names of the samples; empty where they have none.
    pub(crate) fn names(&self) -> Vec<String> {
        match &self.names {
            Some(column) => column.values.iter().map(|label| (*label).to_owned()).collect(),
            None => Vec::new(),
        }
    }

    /// Groups, or numbers where there are too many different ones to be groups.
    pub(crate) fn coloring(&self) -> Coloring {
        let Some(column) = &self.color else { return Coloring::default() };
        match column.numbers().filter(|_| !column.has_groups()) {
            Some(values) => Coloring::Values { name: column.name.clone(), values },
            None => {
                let (names, of) = column.groups();
                Coloring::Groups { names, of }
            }
        }
    }
}

impl LabelColumn<'_> {
    /// Its values as numbers, where they all are.
    pub(crate) fn numbers(&self) -> Option<Vec<f64>> {
        self.values.iter().map(|value| value.parse().ok()).collect()
    }

    /// Its different values, in the order in which they come, and which of them each sample has.
    pub(crate) fn groups(&self) -> (Vec<String>, Vec<usize>) {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut names: Vec<String> = Vec::new();
        let of = (self.values.iter())
            .map(|label| {
                *places.entry(label).or_insert_with(|| {
                    names.push((*label).into());
                    names.len() - 1
                })
            })
            .collect();
        (names, of)
    }

    /// Whether it has a few values, each several times.
    pub(crate) fn has_groups(&self) -> bool {
        let mut values = BTreeSet::new();
        for label in &self.values {
            values.insert(label);
            if values.len() > MOST_GROUPS {
                return false;
            }
        }
        values.len() > 1 && 2 * values.len() <= self.values.len()
    }

    /// Whether it has a value of its own for each sample.
    fn names_samples(&self, n: usize) -> bool {
        n <= MOST_NAMES && self.values.iter().collect::<BTreeSet<_>>().len() == n
    }
}

/// An ellipse for each group.
pub(crate) fn ellipses(points: &[[f64; 2]], coloring: &Coloring) -> Result<Vec<Ellipse>> {
    let Coloring::Groups { names, of } = coloring else { return Ok(Vec::new()) };
    let mut ellipses = Vec::new();
    for group in 0..names.len() {
        let members: Vec<[f64; 2]> =
            points.iter().zip(of).filter(|(_, g)| **g == group).map(|(p, _)| *p).collect();
        if let Some(e) = normal_ellipse(&members, CONFIDENCE)? {
            ellipses.push(Ellipse { group: Some(group), center: e.center, axes: e.axes });
        }
    }
    Ok(ellipses)
}

pub(crate) fn ellipse_caption(ellipses: &[Ellipse]) -> String {
    if ellipses.is_empty() {
        return String::new();
    }
    "Ellipses hold 95 % of a normal distribution with each group's mean and covariance.".into()
}
