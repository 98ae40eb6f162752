//! `eigenlens score`: how likely samples are under a model.

use super::impute::need_density;
use crate::arguments::{Common, Score};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::input::Opened;
use crate::output::{TableOutput, print, view};
use crate::progress::Progress;
use crate::reporter::Reporter;
use eigenlens::Value;
use eigenlens::model::number;
use eigenlens_io::{AnyArray, Labels, json};
use eigenlens_report::{Column, Table};
use ndarray::Array2;
use std::path::Path;

/// Samples that are listed.
const LISTED: usize = 5;

pub fn run(args: &Score, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let inputs = [&args.data.data[..], std::slice::from_ref(&args.model)].concat();
    let mut table =
        (args.output.as_ref()).map(|path| TableOutput::create(path, &inputs)).transpose()?;
    let stored = read_model(&args.model, common)?;
    let density = need_density(&*stored.model, "score")?;
    let names = density.score_names();
    let by_p_value = names.last().is_some_and(|name| name == "p_value");
    let opened = Opened::for_model(&args.data.data, &stored, &args.reading, common, reporter)?;
    if let Some(table) = &mut table {
        table.begin(&opened.label_names(), &names, false, opened.n_samples().0)?;
    }
    let mut all = All::default();
    let progress = Progress::bytes(reporter, "scoring");
    opened.for_each_piece(&progress, reporter, |piece, labels, first| {
        let data = piece.data();
        let columns = density.score_samples(&data).map_err(|e| opened.explain(e, first))?;
        all.add(first, &columns, labels, by_p_value);
        match &mut table {
            Some(table) => table.write(labels, view(&AnyArray::F64(columns))),
            None => Ok(()),
        }
    })?;
    drop(progress);
    let to_stdout = args.output.as_deref() == Some(Path::new("-"));
    if let (Some(table), Some(path)) = (table, &args.output) {
        table.finish()?;
        if !to_stdout {
            reporter.info(format!("scores: {}", path.display()));
        }
    }
    let parameters = density.n_parameters();
    let text = if common.json {
        format!("{}\n", json::to_json_lines(&all.value(parameters)))
    } else {
        all.text(parameters)
    };
    if to_stdout {
        reporter.info(text.trim_end());
        return Ok(());
    }
    print(&text)
}

/// The likelihood of all samples together, and the least likely of them.
#[derive(Default)]
struct All {
    rows: usize,
    total: f64,
    /// p-value (or log-likelihood), row from 1, distance, labels: the most unusual first.
    odd: Vec<(f64, usize, f64, String)>,
    by_p_value: bool,
}

impl All {
    fn add(&mut self, first: usize, columns: &Array2<f64>, labels: &[Labels], by_p_value: bool) {
        self.by_p_value = by_p_value;
        for (i, row) in columns.rows().into_iter().enumerate() {
            self.rows += 1;
            self.total += row[0];
            let (key, distance) = if by_p_value { (row[3], row[1]) } else { (row[0], 0.0) };
            if self.odd.len() < LISTED || self.odd.iter().any(|o| key < o.0) {
                let names: Vec<&str> = labels.iter().filter_map(|l| l.get(i)).collect();
                let at = self.odd.partition_point(|o| o.0 <= key);
                self.odd.insert(at, (key, first + i + 1, distance, names.join(", ")));
                self.odd.truncate(LISTED);
            }
        }
    }

    fn aic(&self, parameters: f64) -> f64 {
        2.0 * parameters - 2.0 * self.total
    }

    fn bic(&self, parameters: f64) -> f64 {
        parameters * (self.rows.max(1) as f64).ln() - 2.0 * self.total
    }

    fn text(&self, parameters: f64) -> String {
        let key = if self.by_p_value { "p-value" } else { "ln p" };
        let mut columns = vec![Column::number("row", ""), Column::number(key, "")];
        if self.by_p_value {
            columns.push(Column::number("distance", ""));
        }
        columns.push(Column::text("labels"));
        let row = |(value, row, distance, labels): &(f64, usize, f64, String)| {
            let mut cells = vec![row.to_string(), number(*value)];
            if self.by_p_value {
                cells.push(number(*distance));
            }
            cells.push(labels.clone());
            cells
        };
        let table = Table {
            caption: "most unusual samples".into(),
            columns,
            rows: self.odd.iter().map(row).collect(),
        };
        format!(
            "samples         {}\nlog-likelihood  {} ({} for each sample)\nAIC             {}\n\
             BIC             {}\nparameters      {parameters}\n\n{}",
            self.rows,
            number(self.total),
            number(self.total / self.rows.max(1) as f64),
            number(self.aic(parameters)),
            number(self.bic(parameters)),
            table.to_text(100)
        )
    }

    fn value(&self, parameters: f64) -> Value {
        let odd = self.odd.iter().map(|(key, row, distance, _)| {
            let name = if self.by_p_value { "p_value" } else { "log_likelihood" };
            Value::map([
                ("row", Value::from(*row)),
                (name, (*key).into()),
                ("distance", (*distance).into()),
            ])
        });
        Value::map([
            ("n_samples", Value::from(self.rows)),
            ("log_likelihood", self.total.into()),
            ("n_parameters", parameters.into()),
            ("aic", self.aic(parameters).into()),
            ("bic", self.bic(parameters).into()),
            ("most_unusual", Value::List(odd.collect())),
        ])
    }
}
