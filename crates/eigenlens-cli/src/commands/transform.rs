//! `eigenlens transform`.

use super::fit::write_scores;
use crate::arguments::{Common, Transform};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::input::Opened;
use crate::output::{TableOutput, print, view};
use crate::progress::Progress;
use crate::reporter::Reporter;
use eigenlens::Value;
use eigenlens_io::write::Complete;
use eigenlens_io::{AnyArray, StoredModel, json};
use ndarray::{Array2, ArrayView2, Axis, concatenate};
use std::path::Path;

pub fn run(args: &Transform, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    if args.reading.weights.is_some() {
        return Err(Failure::usage(
            "`--weights` does not fit `transform`: scores do not depend on weights",
            "leave out `--weights`",
        ));
    }
    let inputs = [&args.data.data[..], std::slice::from_ref(&args.model)].concat();
    let to_stdout = args.output == Path::new("-");
    let table = match common.json && to_stdout {
        true => TableOutput::json("scores")?,
        false => TableOutput::create(&args.output, &inputs)?,
    };
    let stored = read_model(&args.model, common)?;
    let opened = Opened::for_model(&args.data.data, &stored, &args.reading, common, reporter)?
        .with_metadata(&args.metadata, common, reporter)?;
    let (scores, n_samples) = match args.standard_errors {
        true => write_with_errors(&stored, &opened, table, reporter)?,
        false => write_scores(&stored, &opened, table, reporter)?,
    };
    scores.commit()?;
    if to_stdout {
        return Ok(());
    }
    let path = args.output.display().to_string();
    reporter.info(format!("scores: {path}"));
    if !common.json {
        return Ok(());
    }
    let value = Value::map([
        ("n_samples", Value::from(n_samples)),
        ("n_components", stored.model.n_components().into()),
        ("component_names", Value::list(stored.model.component_names())),
        ("files", Value::map([("scores", Value::from(path))])),
    ]);
    print(&format!("{}\n", json::to_json_lines(&value)))
}

/// Scores with what missing entries cost them: least squares on what is observed for a PCA, the posterior for
/// a density. Gives the file and the number of samples.
fn write_with_errors(
    stored: &StoredModel,
    opened: &Opened,
    mut table: TableOutput,
    reporter: &Reporter,
) -> Result<(Complete, usize), Failure> {
    let model = &*stored.model;
    let (Some(uncertain), None) = (model.uncertain_scores(), &stored.preprocessing.term_weights)
    else {
        return Err(Failure::usage(
            format!("`--standard-errors` does not fit a model of the method `{}`", model.method()),
            "leave out `--standard-errors`",
        ));
    };
    let names = model.component_names();
    let with = |ending: &str| names.iter().map(|n| format!("{n}_{ending}")).collect::<Vec<_>>();
    let second = if uncertain.has_certainty() { with("certainty") } else { Vec::new() };
    let columns = [names.clone(), with("error"), second].concat();
    table.begin(&opened.label_names(), &columns, false, opened.n_samples().0)?;
    let progress = Progress::bytes(reporter, "scoring");
    let mut n_samples = 0;
    opened.for_each_piece(&progress, reporter, |rows, labels, first| {
        let data = opened.with_policy(rows.data());
        let found = uncertain.scores_with_errors(&data).map_err(|e| opened.explain(e, first))?;
        let all = [Some(&found.scores), Some(&found.standard_errors), found.certainty.as_ref()];
        let matrix = joined(&all.into_iter().flatten().map(|m| m.view()).collect::<Vec<_>>())?;
        n_samples += matrix.nrows();
        table.write(labels, view(&AnyArray::F64(matrix)))
    })?;
    Ok((table.complete()?, n_samples))
}

fn joined(matrices: &[ArrayView2<f64>]) -> Result<Array2<f64>, Failure> {
    let all = concatenate(Axis(1), matrices).map_err(|e| Failure::Internal(e.to_string()))?;
    Ok(all.as_standard_layout().into_owned())
}
