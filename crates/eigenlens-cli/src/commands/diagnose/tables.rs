//! The tables of the command: in files, as text, as JSON.

use super::found::{Monitored, UnusualSample};
use crate::failure::Failure;
use crate::output::TableOutput;
use eigenlens::model::association::{Annotation, Association, GroupMean};
use eigenlens::model::number;
use eigenlens::{Model, Value};
use eigenlens_io::write::Complete;
use eigenlens_io::{AnyArray, Labels};
use eigenlens_report::{Column, Table};
use ndarray::Array2;
use std::path::PathBuf;

/// Associations that are listed.
const LISTED: usize = 10;

/// All that was found.
pub struct Tables {
    pub n_samples: usize,
    pub monitored: Option<Monitored>,
    /// The names of the components (k).
    pub components: Vec<String>,
    /// Labels and metadata that are numbers or groups, by name (m).
    pub annotations: Vec<(String, Annotation)>,
    /// m × k.
    pub found: Array2<Association>,
    /// Groups × components of each annotation; none of numbers (m).
    pub means: Vec<Option<Array2<GroupMean>>>,
}

/// Rows of text and numbers, for a file.
#[derive(Default)]
pub struct Rows {
    label_names: Vec<&'static str>,
    labels: Vec<Labels>,
    number_names: Vec<String>,
    numbers: Vec<f64>,
}

impl Rows {
    fn new(label_names: &[&'static str], number_names: &[&str]) -> Rows {
        Rows {
            label_names: label_names.to_vec(),
            labels: vec![Labels::default(); label_names.len()],
            number_names: number_names.iter().map(|name| (*name).to_owned()).collect(),
            numbers: Vec::new(),
        }
    }

    fn push(&mut self, labels: &[&str], numbers: &[Option<f64>]) {
        self.labels.iter_mut().zip(labels).for_each(|(column, text)| column.push(text));
        self.numbers.extend(numbers.iter().map(|value| value.unwrap_or(f64::NAN)));
    }

    /// A row for each feature of a PCA.
    pub fn features(model: &dyn Model) -> Result<Rows, Failure> {
        let Some(pca) = model.pca() else { return Ok(Rows::default()) };
        let found = pca.feature_diagnostics()?.table(&model.component_names());
        let names: Vec<&str> = found.names.iter().map(String::as_str).collect();
        let mut rows = Rows::new(&["feature"], &names);
        for (f, values) in found.values.rows().into_iter().enumerate() {
            let name = model.feature_names().and_then(|names| names.get(f).cloned());
            let name = name.unwrap_or_else(|| (f + 1).to_string());
            rows.push(&[&name], &values.iter().copied().map(Some).collect::<Vec<_>>());
        }
        Ok(rows)
    }

    /// Writes them as a table, whose name is still to be given.
    pub fn write(self, table: TableOutput) -> Result<Complete, Failure> {
        let shape = (self.labels.first().map_or(0, Labels::len), self.number_names.len());
        let numbers = Array2::from_shape_vec(shape, self.numbers)
            .map_err(|error| Failure::Internal(error.to_string()))?;
        let labels: Vec<String> = self.label_names.iter().map(|name| (*name).to_owned()).collect();
        table.write_all(&labels, &self.labels, &self.number_names, &AnyArray::F64(numbers))
    }
}

impl Tables {
    /// A row for each annotation with each component.
    pub fn associations(&self) -> Rows {
        let mut rows = Rows::new(
            &["column", "component", "measure"],
            &["value", "p_value", "adjusted_p_value", "n_samples", "n_groups"],
        );
        for ((m, k), found) in self.found.indexed_iter() {
            rows.push(
                &[&self.annotations[m].0, &self.components[k], measure(found)],
                &[
                    found.value,
                    found.p_value,
                    found.adjusted_p_value,
                    Some(found.n_samples as f64),
                    found.n_groups.map(|groups| groups as f64),
                ],
            );
        }
        rows
    }

    /// A row for each group on each component.
    pub fn groups(&self) -> Rows {
        let mut rows =
            Rows::new(&["column", "group", "component"], &["n_samples", "mean", "v_test"]);
        for ((column, annotation), means) in self.annotations.iter().zip(&self.means) {
            let (Annotation::Groups { names, .. }, Some(means)) = (annotation, means) else {
                continue;
            };
            for ((group, k), found) in means.indexed_iter() {
                rows.push(
                    &[column, &names[group], &self.components[k]],
                    &[Some(found.n_samples as f64), Some(found.mean), found.v_test],
                );
            }
        }
        rows
    }

    pub fn text(&self) -> String {
        let mut text = format!("{:<15}{}\n", "samples", self.n_samples);
        if let Some(monitored) = &self.monitored {
            text.push_str(&monitored.text());
        }
        if self.annotations.is_empty() {
            text.push_str(
                "\nno label is a number or a group: `--labels COLUMN` names one, `--metadata FILE` brings a \
                 table of them\n",
            );
            return text;
        }
        text.push('\n');
        text.push_str(&self.association_table().to_text(100));
        text
    }

    /// The least probable by chance.
    fn association_table(&self) -> Table {
        let mut all: Vec<_> =
            self.found.indexed_iter().filter(|(_, found)| found.p_value.is_some()).collect();
        all.sort_by(|(_, a), (_, b)| {
            let key = |found: &Association| (found.p_value, found.value.map(|v| -v.abs()));
            key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
        });
        let cell = |value: Option<f64>| value.map_or(String::new(), number);
        let row = |((m, k), found): &((usize, usize), &Association)| {
            vec![
                self.annotations[*m].0.clone(),
                self.components[*k].clone(),
                if found.n_groups.is_some() { "η²" } else { "r" }.into(),
                cell(found.value),
                cell(found.p_value),
                cell(found.adjusted_p_value),
            ]
        };
        Table {
            caption: format!(
                "how components go with labels ({} of {} tests)",
                all.len().min(LISTED),
                all.len()
            ),
            columns: vec![
                Column::text("label"),
                Column::text("component"),
                Column::text(""),
                Column::number("value", ""),
                Column::number("p", ""),
                Column::number("adjusted p", ""),
            ],
            rows: all.iter().take(LISTED).map(row).collect(),
        }
    }

    pub fn value(&self, written: &[(&'static str, PathBuf)]) -> Value {
        let optional = |value: Option<f64>| value.map_or(Value::Null, Value::from);
        let associations = self.found.indexed_iter().map(|((m, k), found)| {
            Value::map([
                ("column", Value::from(&self.annotations[m].0)),
                ("component", Value::from(&self.components[k])),
                ("measure", measure(found).into()),
                ("value", optional(found.value)),
                ("p_value", optional(found.p_value)),
                ("adjusted_p_value", optional(found.adjusted_p_value)),
                ("n_samples", found.n_samples.into()),
            ])
        });
        let associations = Value::List(associations.collect());
        let files =
            written.iter().map(|(what, path)| (*what, Value::from(path.display().to_string())));
        let mut all = vec![("n_samples", Value::from(self.n_samples))];
        all.extend(self.monitored.iter().map(|monitored| ("monitoring", monitored.value())));
        all.push(("associations", associations));
        all.push(("files", Value::map(files)));
        Value::map(all)
    }
}

/// What the value of an association is.
fn measure(found: &Association) -> &'static str {
    if found.n_groups.is_some() { "eta_squared" } else { "correlation" }
}

impl Monitored {
    fn text(&self) -> String {
        let share = (1e10 * self.confidence).round() / 1e8;
        let line = |name: &str, limit: Option<f64>, above: usize, unknown: &str| match limit {
            Some(limit) => {
                let samples = if above == 1 { "sample" } else { "samples" };
                format!("{name:<15}{share} % limit {}; {above} {samples} above it\n", number(limit))
            }
            None => format!("{name:<15}no limit: {unknown}\n"),
        };
        let of = if self.are_new { "new" } else { "training" };
        let mut text =
            line("T²", self.t_squared_limit, self.above_t_squared, "too few training samples");
        text.push_str(&line(
            "Q",
            self.q_limit,
            self.above_q,
            "the model does not know all variances",
        ));
        text.push_str(&format!("{:<15}for {of} samples, if these were normal\n\n", "limits"));
        let row = |sample: &UnusualSample| {
            let (t, q) = (number(sample.t_squared), number(sample.q));
            vec![sample.row.to_string(), t, q, sample.labels.clone()]
        };
        let table = Table {
            caption: "most unusual samples".into(),
            columns: vec![
                Column::number("row", ""),
                Column::number("T²", ""),
                Column::number("Q", ""),
                Column::text("labels"),
            ],
            rows: self.unusual.iter().map(row).collect(),
        };
        text.push_str(&table.to_text(100));
        text
    }

    fn value(&self) -> Value {
        let optional = |value: Option<f64>| value.map_or(Value::Null, Value::from);
        let unusual = self.unusual.iter().map(|sample| {
            Value::map([
                ("row", Value::from(sample.row)),
                ("t_squared", sample.t_squared.into()),
                ("q", sample.q.into()),
            ])
        });
        Value::map([
            ("confidence", Value::from(self.confidence)),
            ("samples", if self.are_new { "new" } else { "training" }.into()),
            ("t_squared_limit", optional(self.t_squared_limit)),
            ("q_limit", optional(self.q_limit)),
            ("above_t_squared_limit", self.above_t_squared.into()),
            ("above_q_limit", self.above_q.into()),
            ("most_unusual", Value::List(unusual.collect())),
        ])
    }
}
