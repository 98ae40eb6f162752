//! How components go with what is known of samples.

use crate::errors;
use eigenlens::model::association::{self, Annotation};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Value, p-value, adjusted p-value, samples, groups.
type Association = (Option<f64>, Option<f64>, Option<f64>, usize, Option<usize>);
/// The associations of each column, `None` where its texts name samples; then every group on every component.
type Found = (Vec<Option<Vec<Association>>>, Vec<GroupMean>);
/// Annotation, group, component (counted from 0), samples, mean, v-test.
type GroupMean = (usize, String, usize, usize, f64, Option<f64>);

/// Numbers, or a text for each sample.
#[derive(FromPyObject)]
pub enum Column {
    #[pyo3(annotation = "list of numbers")]
    Numbers(Vec<f64>),
    #[pyo3(annotation = "list of text")]
    Texts(Vec<Option<String>>),
}

/// Every column with every component, column by column; then every group on every component. A column of texts
/// that name samples has `None` in place of its associations.
#[pyfunction]
pub fn associations(
    py: Python<'_>,
    scores: PyReadonlyArray2<'_, f64>,
    columns: Vec<Column>,
) -> PyResult<Found> {
    let scores = scores.as_array();
    py.detach(|| {
        let annotations: Vec<Option<Annotation>> = columns.into_iter().map(annotation).collect();
        let known: Vec<Annotation> = annotations.iter().flatten().cloned().collect();
        let found = association::associations(scores, &known).map_err(errors::library)?;
        let mut rows = found.rows().into_iter();
        let mut groups = Vec::new();
        let mut tables = Vec::with_capacity(annotations.len());
        for (column, annotation) in annotations.iter().enumerate() {
            let Some(annotation) = annotation else {
                tables.push(None);
                continue;
            };
            let row = rows.next().ok_or_else(|| PyValueError::new_err("a column is missing"))?;
            let entry = |a: &association::Association| {
                (a.value, a.p_value, a.adjusted_p_value, a.n_samples, a.n_groups)
            };
            tables.push(Some(row.iter().map(entry).collect()));
            if let Annotation::Groups { names, of } = annotation {
                let means = association::group_means(scores, of).map_err(errors::library)?;
                groups.extend(means.indexed_iter().map(|((group, component), mean)| {
                    let name = names[group].clone();
                    (column, name, component, mean.n_samples, mean.mean, mean.v_test)
                }));
            }
        }
        Ok((tables, groups))
    })
}

fn annotation(column: Column) -> Option<Annotation> {
    match column {
        Column::Numbers(numbers) => Some(Annotation::Numbers(numbers)),
        Column::Texts(texts) => {
            let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
            Annotation::from_texts(&texts)
        }
    }
}
