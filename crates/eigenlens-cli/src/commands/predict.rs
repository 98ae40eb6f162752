//! `eigenlens predict`: the most probable class of every sample, with the probability of each.

use crate::arguments::{Common, Predict};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::input::Opened;
use crate::output::{TableOutput, print, view};
use crate::progress::Progress;
use crate::reporter::Reporter;
use eigenlens::Value;
use eigenlens::model::{Classifier, most_probable};
use eigenlens_io::{AnyArray, Labels, json};
use eigenlens_report::{Column, Table};
use std::path::Path;

pub fn run(args: &Predict, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let inputs = [&args.data.data[..], std::slice::from_ref(&args.model)].concat();
    let mut table = TableOutput::create(&args.output, &inputs)?;
    let stored = read_model(&args.model, common)?;
    let classifier = stored.model.classifier().ok_or_else(|| {
        Failure::usage(
            format!("`predict` does not fit a model of the method `{}`", stored.model.method()),
            "fit a model with classes, such as `eigenlens fit ppca-mixture`",
        )
    })?;
    let classes = classifier.classes();
    let opened = Opened::for_model(&args.data.data, &stored, &args.reading, common, reporter)?
        .with_metadata(&args.metadata, common, reporter)?;
    let labels = [opened.label_names(), vec![unused(classifier, &opened.label_names())]].concat();
    let names: Vec<String> = classes.iter().map(|class| format!("probability_{class}")).collect();
    table.begin(&labels, &names, false, opened.n_samples().0)?;
    let mut sizes = vec![0; classes.len()];
    let progress = Progress::bytes(reporter, "predicting");
    opened.for_each_piece(&progress, reporter, |piece, labels, first| {
        let data = opened.with_policy(piece.data());
        let found = classifier.predict_proba(&data).map_err(|e| opened.explain(e, first))?;
        let mut predicted = Labels::default();
        for class in most_probable(&found) {
            sizes[class] += 1;
            predicted.push(&classes[class]);
        }
        table.write(&[labels, &[predicted]].concat(), view(&AnyArray::F64(found)))
    })?;
    drop(progress);
    let to_stdout = args.output == Path::new("-");
    table.finish()?;
    if !to_stdout {
        reporter.info(format!("classes: {}", args.output.display()));
    }
    let text = if common.json { value(&classes, &sizes) } else { text(&classes, &sizes) };
    if to_stdout {
        reporter.info(text.trim_end());
        return Ok(());
    }
    print(&text)
}

/// The name of the column with the class: one that no label has.
fn unused(classifier: &dyn Classifier, labels: &[String]) -> String {
    let name = classifier.class_name().to_string();
    if labels.contains(&name) { format!("predicted_{name}") } else { name }
}

fn text(classes: &[String], sizes: &[usize]) -> String {
    let row = |(class, size): (&String, &usize)| vec![class.clone(), size.to_string()];
    let table = Table {
        columns: vec![Column::text("class"), Column::number("samples", "")],
        rows: classes.iter().zip(sizes).map(row).collect(),
        ..Table::default()
    };
    table.to_text(100)
}

fn value(classes: &[String], sizes: &[usize]) -> String {
    let class = |(name, size): (&String, &usize)| {
        Value::map([("name", Value::from(name)), ("n_samples", (*size).into())])
    };
    let classes = Value::List(classes.iter().zip(sizes).map(class).collect());
    format!("{}\n", json::to_json_lines(&Value::map([("classes", classes)])))
}
