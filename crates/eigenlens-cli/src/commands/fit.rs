//! `eigenlens fit`.

use crate::arguments::{self, Common};
use crate::describe::{model_value, plan_value, summary};
use crate::failure::Failure;
use crate::input::{Input, Opened};
use crate::methods::FitMethod;
use crate::methods::transform;
use crate::missing::where_values_are_missing;
use crate::options::Bytes;
use crate::output::{TableOutput, create, default_model_path, print, view};
use crate::progress::Progress;
use crate::reporter::Reporter;
use crate::target::{self, TargetArgs};
use eigenlens::{
    AnyDataset, DataShape, Estimator, FitContext, Fitted, Method, Missing, Model, Operation,
    OptionValues, Options, Plan, Scalar, Target, Value, Warning,
};
use eigenlens_io::write::{Complete, Output, check_distinct, commit_together};
use eigenlens_io::{AnyArray, Budget, Labels, Numbers, Origin, StoredModel, json};
use ndarray::{Array2, ArrayView2, s};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

pub fn run(args: &FitMethod, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let FitMethod { values, target: target_args, fit: args } = args;
    let values = with_options(values, args, common);
    let method = values.method();
    values.check()?;
    check_outputs(args, &values)?;
    if args.plan {
        return plan(args, &values, target_args.as_ref(), common, reporter);
    }
    let outputs = Outputs::create(args, method, common, reporter)?;
    let targets = target::names(target_args.as_ref());
    let opened = Opened::for_fit(&args.data.data, &args.reading, targets, common, reporter)?
        .with_metadata(&args.metadata, common, reporter)?;
    let target = target::read(target_args.as_ref(), &opened, common, reporter)?;
    let memory = share(&opened, &values, target.as_ref(), common)?;

    let progress = Progress::bytes(reporter, "reading");
    let tell = |done, total| progress.at(done, total);
    let input = opened.load(memory.table, &progress, &tell, reporter)?;
    let values = values.within(memory.left(input.bytes()));
    let data = input.data()?;
    check_missing(args, method, &opened)?;

    // A stream shows how far each pass is.
    let spinner = input.rows().map(|_| Progress::spinner(reporter, "fitting"));
    let mut observer = spinner.as_ref().map(Progress::steps).unwrap_or_default().observer();
    // Under a budget scores are made afterwards, block by block.
    let want_scores = outputs.scores.is_some() && memory.all.is_none() && input.rows().is_some();
    let mut context = FitContext::new()
        .with_target(target.as_ref())
        .with_observer(&mut observer)
        .with_scores(want_scores)
        .with_n_samples(opened.n_samples().0);
    let fitted = values.fit(&data, &mut context).map_err(|e| {
        where_values_are_missing(e, &data, method.takes_missing, |e| {
            explain(&memory, e, &opened, input.bytes())
        })
    })?;
    drop(spinner);
    let kernel = match &args.kernel_file {
        Some(_) => Some(implied_kernel(args, &values, &data)?),
        None => None,
    };
    input.tell_findings(reporter)?;
    let Fitted { model, scores, preprocessing, missing, shape } = fitted;
    // Scores that the model holds cost no memory, and must not depend on the budget.
    let scores = match (&outputs.scores, scores) {
        (Some(_), None) => model.training_scores().map(|held| in_type_of(&opened, held)),
        (_, scores) => scores,
    };
    tell_choice(&*model, &values, &shape, reporter);
    if let Some(missing) = missing {
        reporter.info(format!("missing: {missing}"));
    }
    mind_warnings(&*model, common, reporter)?;

    // Columns that a policy for missing values left out are no features.
    let mut columns = opened.origin_columns();
    if let Some(names) = model.feature_names().filter(|names| names.len() < columns.len()) {
        let kept: HashSet<&String> = names.iter().collect();
        columns.retain(|column| kept.contains(&column.name));
    }
    let stored = StoredModel {
        model,
        preprocessing,
        origin: Origin {
            program: concat!("eigenlens ", env!("CARGO_PKG_VERSION")).into(),
            options: record(&values, &shape, target_args.as_ref(), &opened),
            columns,
            labels: opened.label_names(),
            image: opened.image_shape(),
        },
    };
    let written = outputs.write(&stored, scores, kernel, &input, &opened, reporter)?;
    let text = if common.json {
        let files = written.files.iter().map(|(name, path)| (*name, Value::from(path)));
        let result = Value::map([("model", model_value(&stored)), ("files", Value::map(files))]);
        format!("{}\n", json::to_json_lines(&result))
    } else {
        summary(&*stored.model, 100)
    };
    if written.to_stdout {
        // The table is the result; what else there is to say goes to stderr.
        reporter.info(text.trim_end());
        return Ok(());
    }
    print(&text)
}

/// The kernel that an embedding is the kernel PCA of, or what that is made of.
fn implied_kernel(
    args: &arguments::Fit,
    values: &OptionValues,
    data: &AnyDataset,
) -> Result<Array2<f64>, Failure> {
    let found = build(values, &data.shape())?.implied_kernel(data)?;
    let Some(name) = &args.kernel_part else { return Ok(found.kernel) };
    let known: Vec<&str> = found.parts.iter().map(|(known, _)| *known).collect();
    let part = found.parts.iter().find(|(known, _)| known == name);
    part.map(|(_, matrix)| matrix.clone()).ok_or_else(|| {
        let of = values.method().name;
        Failure::usage(
            format!("`--kernel-part {name}` does not fit: the kernel of `{of}` is made of none"),
            format!(
                "there are: {}",
                if known.is_empty() { "none".into() } else { known.join(", ") }
            ),
        )
    })
}

/// What was said of the method, with what every fit is asked for.
fn with_options(values: &OptionValues, args: &arguments::Fit, common: &Common) -> OptionValues {
    let defaults = Options::default();
    let options = Options {
        threads: common.threads.map(usize::from),
        memory: None,
        seed: common.seed(),
        tolerance: args.options.tolerance,
        max_iterations: args.options.max_iterations.unwrap_or(defaults.max_iterations),
    };
    values.with_options(options)
}

/// What the model file says was asked for.
fn record(
    values: &OptionValues,
    shape: &DataShape,
    target: Option<&TargetArgs>,
    opened: &Opened,
) -> BTreeMap<String, String> {
    let mut record = values.record(shape);
    record.extend(target.map(TargetArgs::record).into_iter().flatten());
    if opened.missing() != Missing::Error {
        record.insert("missing".into(), opened.missing().name().into());
    }
    record
}

/// Rows that were left out have no scores, where the method cannot score rows with missing entries.
fn check_missing(args: &arguments::Fit, method: &Method, opened: &Opened) -> Result<(), Failure> {
    if args.scores.is_some() && opened.missing() == Missing::DropRows && !method.takes_missing {
        return Err(Failure::usage(
            format!("`{}` has no scores for rows with missing values", method.name),
            "leave out `--scores`, or use `--missing mean`",
        ));
    }
    Ok(())
}

/// Refuses outputs that the method does not have.
fn check_outputs(args: &arguments::Fit, values: &OptionValues) -> Result<(), Failure> {
    let method = values.method();
    if args.scores.is_some() && !values.rows_are_samples() {
        return Err(Failure::usage(
            "`--scores` does not fit a covariance matrix, which has no samples",
            "leave out `--scores`",
        ));
    }
    let against = Operation::named("implied_kernel").and_then(|of| of.reason_against(method));
    if let (Some(_), Some(reason)) = (&args.kernel_file, against) {
        return Err(Failure::usage(
            format!("`--kernel-file` does not fit the method `{}`: {reason}", method.name),
            "leave out `--kernel-file`",
        ));
    }
    let said = [
        ("--components-file", args.components_file.is_some()),
        ("--loadings-file", args.loadings_file.is_some()),
    ];
    match said.iter().find(|(_, said)| *said && !method.linear) {
        Some((option, _)) => Err(Failure::usage(
            format!("`{option}` does not fit the method `{}`", method.name),
            format!("leave out `{option}`: scores are not linear in the features"),
        )),
        None => Ok(()),
    }
}

/// How the budget is shared.
fn share(
    opened: &Opened,
    values: &OptionValues,
    target: Option<&Target>,
    common: &Common,
) -> Result<Budget, Failure> {
    let budget = Budget::new(common.memory.map(|Bytes(bytes)| bytes))?;
    let budget = budget.beside("the target", target.map_or(0, Target::n_bytes))?;
    let budget = budget.beside("the weights", opened.weight_bytes())?;
    if budget.all.is_none() {
        // What cannot be meant is said before anything is read.
        build(values, &opened.shape())?;
        return Ok(budget);
    }
    // The kernel of a target is made for the plan already: it must fit.
    let memory = target.and(budget.all);
    let plan = in_memory_plan(opened, values, target, memory)
        .map_err(|failure| with_whole_budget(&budget, failure))?;
    Ok(budget.with_table(opened.table_bytes(), &plan))
}

/// The same of an error that has its words already.
fn with_whole_budget(budget: &Budget, failure: Failure) -> Failure {
    match failure {
        Failure::Library { error, data } => {
            Failure::Library { error: budget.explain(error, 0), data }
        }
        failure => failure,
    }
}

/// An error of the fit, with the whole budget that it would need where it is about memory.
fn explain(budget: &Budget, error: eigenlens::Error, opened: &Opened, table: u64) -> Failure {
    match budget.explain(error, table) {
        eigenlens::Error::Memory { route: what, needed, budget } => {
            Failure::File(eigenlens_io::Error::Memory { what, needed, budget })
        }
        error => opened.explain(error, 0),
    }
}

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>, Failure> {
    Ok(values.method().build(values, shape)?)
}

/// The plan for the table in memory: made from its shape alone.
fn in_memory_plan(
    opened: &Opened,
    values: &OptionValues,
    target: Option<&Target>,
    memory: Option<u64>,
) -> Result<Plan, Failure> {
    let estimator = build(&values.within(memory), &opened.shape())?;
    let rows = target.map_or(opened.n_samples().1, Target::n_samples);
    let shape = DataShape { n_samples: Some(rows.max(2)), ..opened.shape() };
    plan_shape(shape, opened, &*estimator, target).map_err(|e| opened.explain(e, 0))
}

/// The plan of a shape, with the policy for missing values where the method itself carries it out.
fn plan_shape(
    shape: DataShape,
    opened: &Opened,
    estimator: &dyn Estimator,
    target: Option<&Target>,
) -> eigenlens::Result<Plan> {
    let own = estimator.method().takes_missing;
    let missing = if own { opened.missing() } else { Missing::Error };
    estimator.plan(&shape.with_missing(missing), target)
}

/// `--plan`: nothing is read but the beginning of the files, nothing is written.
fn plan(
    args: &arguments::Fit,
    values: &OptionValues,
    target: Option<&TargetArgs>,
    common: &Common,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let targets = target::names(target);
    let opened = Opened::for_fit(&args.data.data, &args.reading, targets, common, reporter)?;
    let target = target::read(target, &opened, common, reporter)?;
    let memory = share(&opened, values, target.as_ref(), common)?;
    let streams = memory.table == Some(0) && !opened.is_sparse();
    let (known, guess) = opened.n_samples();
    let plan = if streams {
        let progress = Progress::bytes(reporter, "reading");
        let tell = |done, total| progress.at(done, total);
        let input = opened.load(Some(0), &progress, &tell, reporter)?;
        let estimator = build(&values.within(memory.all), &opened.shape())?;
        plan_shape(input.data()?.shape(), &opened, &*estimator, target.as_ref())
            .map_err(|e| explain(&memory, e, &opened, 0))?
    } else {
        // A sparse table is in memory already.
        let held = if opened.is_sparse() { opened.table_bytes() } else { 0 };
        in_memory_plan(&opened, values, target.as_ref(), memory.left(held))?
    };
    let table = if streams { 0 } else { opened.table_bytes() };
    if common.json {
        let value = Value::map([
            ("plan", plan_value(&plan)),
            ("n_features", Value::from(opened.n_features())),
            ("n_samples", known.into()),
            ("n_samples_guess", guess.into()),
            ("streamed", streams.into()),
            ("table_memory", table.into()),
        ]);
        return print(&format!("{}\n", json::to_json_lines(&value)));
    }
    let rows = known.map_or_else(|| format!("about {guess}"), |n| n.to_string());
    let place = if streams {
        "streamed: too large for the budget".into()
    } else {
        format!("in memory: {}", Bytes(table.max(1)))
    };
    print(&format!(
        "method      {}\ncomponents  {}\ntable       {rows} × {}, {place}\nplan        {plan}\n",
        values.method().name,
        values.n_components(&opened.shape()),
        opened.n_features()
    ))
}

fn tell_choice(model: &dyn Model, values: &OptionValues, shape: &DataShape, reporter: &Reporter) {
    let n_components = values.n_components(shape);
    let said = if values.has_n_components() {
        format!("asked for as {n_components}")
    } else {
        format!("{n_components}, as nothing was said; --components to choose")
    };
    reporter.info(format!("{} ({said})", model.size()));
    reporter.info(format!("plan: {}", model.plan()));
}

fn mind_warnings(model: &dyn Model, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    // A more careful route is no fault of the result: its certificate is judged like any other.
    let faults = model.warnings().iter().filter(|w| !matches!(w, Warning::Escalated { .. }));
    let faults: Vec<String> = faults.map(ToString::to_string).collect();
    if common.strict && !faults.is_empty() {
        return Err(Failure::Check(faults.join("; ")));
    }
    for warning in model.warnings() {
        reporter.warn(warning.to_string());
    }
    Ok(())
}

/// Everything that is written, made before anything is read.
struct Outputs {
    model: (Output, PathBuf),
    scores: Option<TableOutput>,
    components: Option<TableOutput>,
    loadings: Option<TableOutput>,
    kernel: Option<TableOutput>,
}

/// What was written.
struct Written {
    files: Vec<(&'static str, String)>,
    to_stdout: bool,
}

impl Outputs {
    fn create(
        args: &arguments::Fit,
        method: &Method,
        common: &Common,
        reporter: &Reporter,
    ) -> Result<Outputs, Failure> {
        let inputs = &args.data.data;
        let first = inputs.first().map_or(Path::new("-"), PathBuf::as_path);
        let (model, reason) = match &args.output {
            Some(path) => (path.clone(), None),
            None => default_model_path(first, method.name)?,
        };
        match reason {
            Some(reason) if common.strict => return Err(Failure::Check(reason)),
            Some(reason) => reporter.warn(reason),
            None => {}
        }
        let tables = [&args.scores, &args.components_file, &args.loadings_file, &args.kernel_file];
        let tables = tables.into_iter().flatten().map(PathBuf::as_path);
        check_distinct(&tables.chain([model.as_path()]).collect::<Vec<_>>())?;
        let table = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| TableOutput::create(path, inputs)).transpose()
        };
        Ok(Outputs {
            scores: table(&args.scores)?,
            components: table(&args.components_file)?,
            loadings: table(&args.loadings_file)?,
            kernel: table(&args.kernel_file)?,
            model: (create(&model, inputs)?, model),
        })
    }

    fn write(
        self,
        stored: &StoredModel,
        scores: Option<AnyArray>,
        kernel: Option<Array2<f64>>,
        input: &Input,
        opened: &Opened,
        reporter: &Reporter,
    ) -> Result<Written, Failure> {
        let model = &*stored.model;
        let (names, features) = (model.component_names(), model.feature_labels());
        let linear = model.linear();
        // What one fit gives appears together, when all of it is complete.
        let mut complete: Vec<(&'static str, PathBuf, Complete)> = Vec::new();
        if let Some(table) = self.scores {
            let path = table.path.clone();
            let scores = match scores {
                Some(scores) if input.rows().is_some() => {
                    table.write_all(&opened.label_names(), input.labels(), &names, &scores)?
                }
                Some(scores) => {
                    write_pieces(stored, opened, table, reporter, |rows, first| {
                        Ok(rows_of(&scores, first, rows.n_rows()))
                    })?
                    .0
                }
                None => write_scores(stored, opened, table, reporter)?.0,
            };
            complete.push(("scores", path, scores));
        }
        if let (Some(table), Some(linear)) = (self.components, &linear) {
            let path = table.path.clone();
            let matrix = AnyArray::F64(linear.components.to_owned());
            let table = write_named(table, "component", &names, &features, matrix)?;
            complete.push(("components", path, table));
        }
        if let (Some(table), Some(linear)) = (self.loadings, linear) {
            let path = table.path.clone();
            let matrix = AnyArray::F64(linear.loadings);
            let table = write_named(table, "feature", &features, &names, matrix)?;
            complete.push(("loadings", path, table));
        }
        if let (Some(table), Some(kernel)) = (self.kernel, kernel) {
            let path = table.path.clone();
            let samples: Vec<String> = (1..=kernel.nrows()).map(|i| format!("s{i}")).collect();
            let table = table.write_all(&[], &[], &samples, &AnyArray::F64(kernel))?;
            complete.push(("kernel", path, table));
        }
        let (mut output, path) = self.model;
        output.put(&stored.to_bytes(&path)?)?;
        complete.push(("model", path, output.complete()?));
        Written::together(complete, reporter)
    }
}

impl Written {
    /// Gives all files their names, and tells them.
    fn together(
        complete: Vec<(&'static str, PathBuf, Complete)>,
        reporter: &Reporter,
    ) -> Result<Written, Failure> {
        let mut written = Written { files: Vec::new(), to_stdout: false };
        let mut files = Vec::new();
        for (what, path, file) in complete {
            files.push(file);
            match path == Path::new("-") {
                true => written.to_stdout = true,
                false => written.files.push((what, path.display().to_string())),
            }
        }
        commit_together(files)?;
        for (what, path) in &written.files {
            reporter.info(format!("{what}: {path}"));
        }
        Ok(written)
    }
}

/// The scores of a table, block by block. Gives the file, whose name is still to be given, and the number of
/// samples.
pub fn write_scores(
    stored: &StoredModel,
    opened: &Opened,
    table: TableOutput,
    reporter: &Reporter,
) -> Result<(Complete, usize), Failure> {
    let mut holed = 0;
    let written = write_pieces(stored, opened, table, reporter, |rows, first| {
        holed += with_missing_values(rows);
        scores(stored, rows, opened).map_err(|e| opened.explain(e, first))
    })?;
    if holed > 0 {
        let how = match stored.preprocessing.fill {
            Some(_) => "the means of the training samples stand in for them",
            None => {
                "their scores are fitted to what is observed, with less certainty (`transform \
                 --standard-errors` says how much)"
            }
        };
        reporter.info(format!("{holed} samples have missing values: {how}"));
    }
    Ok(written)
}

/// Scores of every piece of a table, with its labels. The work is given the index of the first row. Gives the
/// file and the number of samples.
fn write_pieces(
    stored: &StoredModel,
    opened: &Opened,
    mut table: TableOutput,
    reporter: &Reporter,
    mut scores: impl FnMut(&Numbers, usize) -> Result<AnyArray, Failure>,
) -> Result<(Complete, usize), Failure> {
    let is_f32 = opened.is_f32() && stored.preprocessing.term_weights.is_none();
    let names = stored.model.component_names();
    table.begin(&opened.label_names(), &names, is_f32, opened.n_samples().0)?;
    let progress = Progress::bytes(reporter, "scoring");
    let mut n_samples = 0;
    opened.for_each_piece(&progress, reporter, |rows, labels, first| {
        let scores = scores(rows, first)?;
        n_samples += scores.dim().0;
        table.write(labels, view(&scores))
    })?;
    Ok((table.complete()?, n_samples))
}

/// Scores in the type that those of the table have.
fn in_type_of(opened: &Opened, scores: ArrayView2<f64>) -> AnyArray {
    if opened.is_f32() {
        AnyArray::F32(scores.mapv(f32::from_f64))
    } else {
        AnyArray::F64(scores.to_owned())
    }
}

/// Some rows, in an array of their own.
fn rows_of(numbers: &AnyArray, first: usize, count: usize) -> AnyArray {
    let rows = s![first..first + count, ..];
    match numbers {
        AnyArray::F32(x) => AnyArray::F32(x.slice(rows).to_owned()),
        AnyArray::F64(x) => AnyArray::F64(x.slice(rows).to_owned()),
    }
}

/// Samples with a missing value.
fn with_missing_values(rows: &Numbers) -> usize {
    fn count<T: Scalar>(x: &Array2<T>) -> usize {
        x.rows().into_iter().filter(|row| row.iter().any(|v| v.to_f64().is_nan())).count()
    }
    match rows {
        Numbers::Dense(AnyArray::F32(x)) => count(x),
        Numbers::Dense(AnyArray::F64(x)) => count(x),
        Numbers::Sparse(_) => 0,
    }
}

/// A matrix whose rows have names.
pub fn write_named(
    table: TableOutput,
    what: &str,
    rows: &[String],
    columns: &[String],
    matrix: AnyArray,
) -> Result<Complete, Failure> {
    let mut labels = Labels::default();
    rows.iter().for_each(|row| labels.push(row));
    let matrix = match matrix {
        AnyArray::F64(m) => AnyArray::F64(Array2::from_shape_fn(m.dim(), |at| m[at])),
        other => other,
    };
    table.write_all(&[what.to_string()], &[labels], columns, &matrix)
}

/// The scores of rows under a model, prepared as in training.
pub fn scores(
    stored: &StoredModel,
    rows: &Numbers,
    opened: &Opened,
) -> eigenlens::Result<AnyArray> {
    let prepared = opened.prepared(stored, &opened.with_policy(rows.data()))?;
    transform(&*stored.model, &prepared.data())
}
