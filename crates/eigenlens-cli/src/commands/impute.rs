//! `eigenlens impute`.

use crate::arguments::{Common, Impute};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::input::Opened;
use crate::output::{TableOutput, print, view};
use crate::progress::Progress;
use crate::reporter::Reporter;
use eigenlens::model::ppca::ImputedEntry;
use eigenlens::model::{Density, Imputed, number};
use eigenlens::{AnyDataset, Dataset, Model, Value};
use eigenlens_io::write::{check_distinct, commit_together};
use eigenlens_io::{AnyArray, json};
use eigenlens_report::{Column, Table};
use ndarray::Array2;
use std::path::{Path, PathBuf};

pub fn run(args: &Impute, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let draws = args.draws.unwrap_or(0);
    if draws > 0 && args.output == Path::new("-") {
        return Err(Failure::usage(
            "several tables do not fit into standard output",
            "use `--output FILE`: its name gets a number for each table",
        ));
    }
    let inputs = [&args.data.data[..], std::slice::from_ref(&args.model)].concat();
    let paths: Vec<PathBuf> = match draws {
        0 => vec![args.output.clone()],
        _ => (1..=draws).map(|draw| numbered(&args.output, draw)).collect(),
    };
    let outputs = paths.iter().chain(&args.standard_errors).map(PathBuf::as_path);
    check_distinct(&outputs.collect::<Vec<_>>())?;
    let mut tables: Vec<TableOutput> =
        paths.iter().map(|p| TableOutput::create(p, &inputs)).collect::<Result<_, _>>()?;
    let mut errors = (args.standard_errors.as_ref())
        .map(|path| TableOutput::create(path, &inputs))
        .transpose()?;
    let stored = read_model(&args.model, common)?;
    let density = need_density(&*stored.model, "impute")?;
    let opened = Opened::for_filling(&args.data.data, &stored, &args.reading, common, reporter)?;
    if opened.is_sparse() {
        return Err(Failure::usage(
            "a sparse matrix has no missing entries to fill: those that are not stored are 0",
            "use a dense table",
        ));
    }
    let (labels, features, n) =
        (opened.label_names(), stored.model.feature_labels(), opened.n_samples().0);
    for table in &mut tables {
        table.begin(&labels, &features, opened.is_f32(), n)?;
    }
    if let Some(table) = &mut errors {
        table.begin(&labels, &features, false, n)?;
    }
    let mut tally = Tally::new(features.len());
    let progress = Progress::bytes(reporter, "imputing");
    opened.for_each_block(&progress, reporter, |numbers, labels, first| {
        let seed = common.seed().wrapping_add((first as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let data = match &numbers {
            AnyArray::F32(x) => AnyDataset::F32(Dataset::from(x)),
            AnyArray::F64(x) => AnyDataset::F64(Dataset::from(x)),
        };
        let found = density.impute(&data, draws, seed).map_err(|e| opened.explain(e, first))?;
        let Imputed { tables: filled, entries } = found;
        for (table, numbers) in tables.iter_mut().zip(&filled) {
            table.write(labels, view(numbers))?;
        }
        let (rows, d) = view(&filled[0]).dim();
        if let Some(table) = &mut errors {
            let mut matrix = Array2::zeros((rows, d));
            entries.iter().for_each(|e| matrix[[e.row, e.column]] = e.standard_error);
            table.write(labels, view(&AnyArray::F64(matrix)))?;
        }
        tally.add(rows, &entries);
        Ok(())
    })?;
    drop(progress);
    let complete = tables.into_iter().chain(errors).map(TableOutput::complete);
    commit_together(complete.collect::<Result<_, _>>()?)?;
    for path in paths.iter().filter(|path| *path != Path::new("-")) {
        reporter.info(format!("table: {}", path.display()));
    }
    if let Some(path) = &args.standard_errors {
        reporter.info(format!("standard errors: {}", path.display()));
    }
    let text = if common.json {
        format!("{}\n", json::to_json_lines(&tally.value(&features)))
    } else {
        tally.text(&features)
    };
    let to_stdout = [Some(&args.output), args.standard_errors.as_ref()];
    if to_stdout.into_iter().flatten().any(|p| p == Path::new("-")) {
        reporter.info(text.trim_end());
        return Ok(());
    }
    print(&text)
}

/// The density in a model, or why there is none.
pub fn need_density<'a>(model: &'a dyn Model, what: &str) -> Result<&'a dyn Density, Failure> {
    model.density().ok_or_else(|| {
        Failure::usage(
            format!("`{what}` does not fit a model of the method `{}`", model.method()),
            "fit a model with `eigenlens fit ppca`, `bayesian-pca` or `ppca-mixture`",
        )
    })
}

/// `table.3.csv` for the third draw of `table.csv`.
fn numbered(path: &Path, draw: usize) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let name = match name.split_once('.') {
        Some((stem, ending)) => format!("{stem}.{draw}.{ending}"),
        None => format!("{name}.{draw}"),
    };
    path.with_file_name(name)
}

/// Holes filled, by feature.
struct Tally {
    rows: usize,
    missing_counts: Vec<usize>,
    errors: Vec<f64>,
}

impl Tally {
    fn new(d: usize) -> Tally {
        Tally { rows: 0, missing_counts: vec![0; d], errors: vec![0.0; d] }
    }

    fn add(&mut self, rows: usize, entries: &[ImputedEntry]) {
        self.rows += rows;
        for entry in entries {
            self.missing_counts[entry.column] += 1;
            self.errors[entry.column] += entry.standard_error;
        }
    }

    fn mean_error(&self, f: usize) -> f64 {
        self.errors[f] / self.missing_counts[f].max(1) as f64
    }

    fn text(&self, features: &[String]) -> String {
        let missing_counts: usize = self.missing_counts.iter().sum();
        let row = |f: usize| {
            vec![
                features[f].clone(),
                self.missing_counts[f].to_string(),
                number(self.mean_error(f)),
            ]
        };
        let table = Table {
            columns: vec![
                Column::text("feature"),
                Column::number("missing", ""),
                Column::number("mean standard error", ""),
            ],
            rows: (0..features.len())
                .filter(|&f| self.missing_counts[f] > 0)
                .take(20)
                .map(row)
                .collect(),
            ..Table::default()
        };
        let entries = self.rows * features.len();
        let all =
            format!("{missing_counts} of {entries} entries filled in {} samples\n", self.rows);
        if missing_counts == 0 { all } else { format!("{all}\n{}", table.to_text(100)) }
    }

    fn value(&self, features: &[String]) -> Value {
        let feature = |f: usize| {
            Value::map([
                ("name", Value::from(&features[f])),
                ("missing", self.missing_counts[f].into()),
                ("mean_standard_error", self.mean_error(f).into()),
            ])
        };
        Value::map([
            ("n_samples", Value::from(self.rows)),
            ("filled", self.missing_counts.iter().sum::<usize>().into()),
            ("features", Value::List((0..features.len()).map(feature).collect())),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_numbered_before_the_ending() {
        assert_eq!(numbered(Path::new("a/b.csv.gz"), 3), Path::new("a/b.3.csv.gz"));
        assert_eq!(numbered(Path::new("b"), 1), Path::new("b.1"));
    }
}
