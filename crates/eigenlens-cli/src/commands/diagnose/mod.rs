//! `eigenlens diagnose`: what is behind scores and components, as tables.

mod found;
mod tables;

use super::fit::scores;
use crate::arguments::{Common, Diagnose};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::input::Opened;
use crate::output::{TableOutput, print, view};
use crate::progress::Progress;
use crate::reporter::Reporter;
use eigenlens::model::diagnostics::{DiagnosticTable, SampleDiagnostics};
use eigenlens::{AnyDataset, Model, PcaModel, dispatch};
use eigenlens_io::write::{Complete, commit_together};
use eigenlens_io::{AnyArray, Labels, json};
use found::Found;
use std::path::PathBuf;
use tables::{Rows, Tables};

pub fn run(args: &Diagnose, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let mut files = Files::create(args)?;
    let stored = read_model(&args.model, common)?;
    let model = &*stored.model;
    check(args, model)?;
    let opened = Opened::for_model(&args.data.data, &stored, &args.reading, common, reporter)?
        .with_metadata(&args.metadata, common, reporter)?;
    let mut found = Found::new(args, &opened);
    let progress = Progress::bytes(reporter, "reading");
    opened.for_each_piece(&progress, reporter, |rows, labels, first| {
        let explain = |error| opened.explain(error, first);
        found.add_scores(scores(&stored, rows, &opened).map_err(explain)?, labels)?;
        if let Some(pca) = model.pca() {
            let data = opened.with_policy(rows.data());
            let prepared = opened.prepared(&stored, &data).map_err(explain)?;
            let data = prepared.data();
            let samples = dispatch!(&data, d => pca.sample_diagnostics(d)).map_err(explain)?;
            files.write_samples(pca, &data, &samples, &opened, labels)?;
            found.add_samples(pca, &samples, &data, first).map_err(explain)?;
        }
        Ok(())
    })?;
    drop(progress);
    let tables = found.tables(model)?;
    let written = files.finish(model, &tables)?;
    for (what, path) in &written {
        reporter.info(format!("{what}: {}", path.display()));
    }
    print(&match common.json {
        true => format!("{}\n", json::to_json_lines(&tables.value(&written))),
        false => tables.text(),
    })
}

/// What a model cannot have is refused before anything is read.
fn check(args: &Diagnose, model: &dyn Model) -> Result<(), Failure> {
    let given = [
        ("--output", args.output.is_some()),
        ("--contributions-file", args.contributions_file.is_some()),
        ("--features-file", args.features_file.is_some()),
        ("--new", args.new),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) if model.pca().is_none() => Err(Failure::usage(
            format!(
                "`{flag}` does not fit a model of the method `{}`: T², Q and what belongs to them are \
                 those of PCA",
                model.method()
            ),
            "use `--associations-file` and `--groups-file`, which any model has",
        )),
        _ => Ok(()),
    }
}

/// How a table is completed, so that only its name is still to be given.
type CompleteTable<'c> = &'c dyn Fn(TableOutput) -> Result<Complete, Failure>;

/// The tables that go to files.
struct Files {
    samples: Option<TableOutput>,
    contributions: Option<TableOutput>,
    features: Option<TableOutput>,
    associations: Option<TableOutput>,
    groups: Option<TableOutput>,
    /// Whether the tables of samples have their columns.
    begun: bool,
}

impl Files {
    fn create(args: &Diagnose) -> Result<Files, Failure> {
        let beside =
            [std::slice::from_ref(&args.model), args.metadata.metadata.as_slice()].concat();
        let inputs = [&args.data.data[..], &beside].concat();
        let create = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| TableOutput::create(path, &inputs)).transpose()
        };
        Ok(Files {
            samples: create(&args.output)?,
            contributions: create(&args.contributions_file)?,
            features: create(&args.features_file)?,
            associations: create(&args.associations_file)?,
            groups: create(&args.groups_file)?,
            begun: false,
        })
    }

    /// Writes what there is a table for.
    fn write_samples(
        &mut self,
        pca: &PcaModel,
        data: &AnyDataset,
        samples: &SampleDiagnostics,
        opened: &Opened,
        labels: &[Labels],
    ) -> Result<(), Failure> {
        let write = |table: &mut TableOutput, found: DiagnosticTable| {
            if !self.begun {
                table.begin(&opened.label_names(), &found.names, false, opened.n_samples().0)?;
            }
            table.write(labels, view(&AnyArray::F64(found.values)))
        };
        if let Some(table) = &mut self.samples {
            write(table, samples.table(&(pca as &dyn Model).component_names()))?;
        }
        if let Some(table) = &mut self.contributions {
            let parts = dispatch!(data, d => pca.feature_contributions(d))?;
            write(table, parts.table(opened.feature_names()))?;
        }
        self.begun = true;
        Ok(())
    }

    /// Writes the tables of features, associations and groups, and gives all files their names at once.
    fn finish(
        self,
        model: &dyn Model,
        tables: &Tables,
    ) -> Result<Vec<(&'static str, PathBuf)>, Failure> {
        let mut written = Vec::new();
        let mut files: Vec<Complete> = Vec::new();
        let features = |table| Rows::features(model)?.write(table);
        let outputs: [(_, _, CompleteTable); 5] = [
            ("samples", self.samples, &TableOutput::complete),
            ("contributions", self.contributions, &TableOutput::complete),
            ("features", self.features, &features),
            ("associations", self.associations, &|table| tables.associations().write(table)),
            ("groups", self.groups, &|table| tables.groups().write(table)),
        ];
        for (what, table, complete) in outputs {
            let Some(table) = table else { continue };
            written.push((what, table.path.clone()));
            files.push(complete(table)?);
        }
        commit_together(files)?;
        Ok(written)
    }
}
