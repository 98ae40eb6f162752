//! `eigenlens verify`.

use crate::arguments::{Common, Verify};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::input::Opened;
use crate::output::print;
use crate::progress::Progress;
use crate::reporter::Reporter;
use crate::target::{self, TargetArgs};
use eigenlens::{AnyDataset, Method, Target, Value, Verification};
use eigenlens_io::{StoredModel, json};

pub fn run(args: &Verify, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let stored = read_model(&args.model, common.threads)?;
    let opened = Opened::for_model(&args.data.data, &stored, &args.reading, common, reporter)?;
    let progress = Progress::bytes(reporter, "reading");
    let tell = |done, total| progress.at(done, total);
    // Half of a budget for the table, where it fits; else it is streamed.
    let input = opened.load(common.memory.map(|m| m.0 / 2), &progress, &tell, reporter)?;
    let data = input.data()?;
    if stored.preprocessing.term_weights.is_some() && data.shape().streamed {
        return Err(Failure::usage(
            "a model of weighted terms is verified with the table in memory only",
            "use a larger `--memory`",
        ));
    }
    let prepared = opened.prepared(&stored, &data).map_err(|e| opened.explain(e, 0))?;
    let data = &prepared.data();
    let target = match Method::named(stored.model.method()) {
        Some(method) if method.supervised => recorded_target(&stored, &opened, reporter)?,
        _ => None,
    };
    let target = target.map(|target| prepared.target(&target)).transpose();
    let target = target.map_err(|e| opened.explain(e, 0))?;
    let found = match (data, &target) {
        (data, Some(target)) => stored.model.verify_target(data, target),
        (AnyDataset::F32(data), None) => stored.model.verify_f32(data),
        (AnyDataset::F64(data), None) => stored.model.verify_f64(data),
    };
    let found = found.map_err(|e| opened.explain(e, 0))?;
    input.tell_findings(reporter)?;
    if common.json {
        print(&format!("{}\n", json::to_json_lines(&value(&found))))?;
    } else {
        print(&text(&found))?;
    }
    if found.passed() {
        return Ok(());
    }
    Err(Failure::Check(format!(
        "the model does not fit {}: the largest deviation is {:.1e}, the tolerance {:.1e}",
        opened.name(),
        worst(&found),
        found.tolerance
    )))
}

/// The target that a supervised model was fitted to: the columns that its file names.
fn recorded_target(
    stored: &StoredModel,
    opened: &Opened,
    reporter: &Reporter,
) -> Result<Option<Target>, Failure> {
    let args = TargetArgs::recorded(&stored.origin.options).ok_or_else(|| {
        Failure::usage(
            "the model does not say which column its target was",
            "verify it where it was made, which knows the target",
        )
    })?;
    target::read(Some(&args), opened, reporter)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m: f64, v| if v.is_nan() { f64::INFINITY } else { m.max(*v) })
}

fn worst(found: &Verification) -> f64 {
    let all = [found.total_error, found.orthogonality, found.mean_error];
    largest(&all).max(largest(&found.residuals)).max(largest(&found.value_errors))
}

fn text(found: &Verification) -> String {
    let line = |name: &str, value: f64| format!("{name:<16}{value:.1e}\n");
    [
        format!("{:<16}{}\n", "rows", found.rows),
        line("mean", found.mean_error),
        line("residual", largest(&found.residuals)),
        line("variances", largest(&found.value_errors)),
        line("total variance", found.total_error),
        line("orthogonality", found.orthogonality),
        line("tolerance", found.tolerance),
        format!("{:<16}{}\n", "verdict", if found.passed() { "passed" } else { "FAILED" }),
    ]
    .concat()
}

fn value(found: &Verification) -> Value {
    Value::map([
        ("rows", Value::from(found.rows)),
        ("mean_error", found.mean_error.into()),
        ("residuals", Value::list(found.residuals.iter().copied())),
        ("value_errors", Value::list(found.value_errors.iter().copied())),
        ("total_error", found.total_error.into()),
        ("orthogonality", found.orthogonality.into()),
        ("tolerance", found.tolerance.into()),
        ("passed", found.passed().into()),
    ])
}
