//! `eigenlens fit`.

use crate::arguments::{self, Common};
use crate::describe::{component_names, feature_names, model_value, plan_value, summary};
use crate::failure::Failure;
use crate::holes::{Whole, where_holes_are};
use crate::input::{Input, OWN_MEMORY, Opened, Piece};
use crate::methods::{AnyData, FitMethod, Fitted, Method, Wishes};
use crate::output::{TableOutput, create, default_path, print, view};
use crate::progress::{Progress, Steps};
use crate::talk::Talk;
use crate::target;
use crate::terms;
use crate::wishes::{Bytes, components_text};
use eigenlens::{
    Csr, Dataset, Missing, Model, NComponents, Options, Scalar, Target, TermWeights, Value, Warning,
};
use eigenlens_io::write::Output;
use eigenlens_io::{Labels, Numbers, Origin, StoredModel, json};
use ndarray::{Array2, ArrayView2, s};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub fn run(method: &FitMethod, common: &Common, talk: &Talk) -> Result<(), Failure> {
    let (method, asked) = method.asked();
    check_outputs(asked, method)?;
    if asked.plan {
        return plan(asked, method, common, talk);
    }
    let outputs = Outputs::create(asked)?;
    let targets = target::names(method.target());
    let opened = Opened::for_fit(&asked.data.data, &asked.reading, targets, common, talk)?;
    let mut wishes = wishes(method, asked, &opened, common);
    wishes.target = target::read(method.target(), &opened, talk)?;
    let memory = Memory::share(&opened, method, &wishes, common)?;

    let progress = Progress::bytes(talk, "reading");
    let tell = |done, total| progress.at(done, total);
    let input = opened.load(memory.table, &progress, &tell, talk)?;
    let (n, _) = opened.n_samples();
    let n = input.n_samples().or(n);
    wishes.components = components(method, asked, n, opened.n_features());
    wishes.options.memory = memory.all.map(|all| all.saturating_sub(input.bytes()));
    let weighted = weigh(&input, &opened, method)?;
    let data = data(&input, &opened, &weighted)?;
    check_missing(asked, method, &opened)?;
    let whole =
        if method.takes_holes() { None } else { Whole::of(&data, &opened, &wishes.options)? };
    let data = whole.as_ref().map_or(data, Whole::data);
    if let (Some(whole), Some(target)) = (&whole, &wishes.target) {
        wishes.target = Some(whole.target(target).map_err(|e| opened.explain(e, 0))?);
    }

    // A stream shows how far each pass is.
    let spinner = input.piece().map(|_| Progress::spinner(talk, "fitting"));
    wishes.steps = spinner.as_ref().map(Progress::steps).unwrap_or_default();
    // Under a budget scores are made afterwards, block by block.
    let want_scores = outputs.scores.is_some() && memory.all.is_none() && input.piece().is_some();
    let fitted = method.fit(&wishes, &data, want_scores).map_err(|e| {
        let e = match &whole {
            Some(whole) => whole.in_original_rows(e),
            None => e,
        };
        where_holes_are(e, &data, method.takes_holes(), |e| {
            memory.explain(e, &opened, input.bytes())
        })
    })?;
    drop(spinner);
    let Fitted { model, scores } = fitted;
    // Scores that the model holds cost no memory, and must not depend on the budget.
    let scores = match (&outputs.scores, scores) {
        (Some(_), None) => model.training_scores().map(|held| in_type_of(&opened, held)),
        (_, scores) => scores,
    };
    tell_choice(&*model, asked, &wishes, talk);
    let treated = whole.as_ref().and_then(Whole::treatment).or(model.missing());
    if let Some(treatment) = treated {
        talk.say(format!("missing: {treatment}"));
    }
    mind_warnings(&*model, common, talk)?;

    // Columns that a policy for missing values left out are no features.
    let mut columns = opened.origin_columns();
    if let Some(names) = model.feature_names() {
        columns.retain(|column| names.contains(&column.name));
    }
    let stored = StoredModel {
        model,
        fill: whole.as_ref().and_then(Whole::fill).map(<[f64]>::to_vec),
        term_weights: weighted.as_ref().map(|(weights, _)| weights.clone()),
        origin: Origin {
            program: concat!("eigenlens ", env!("CARGO_PKG_VERSION")).into(),
            options: in_words(method, &wishes, &opened),
            columns,
            labels: opened.label_names(),
            image: opened.image_shape(),
        },
    };
    let written = outputs.write(&stored, scores, &input, &opened, talk)?;
    let text = if common.json {
        let files = written.files.iter().map(|(name, path)| (*name, Value::from(path)));
        let result = Value::map([("model", model_value(&stored)), ("files", Value::map(files))]);
        format!("{}\n", json::to_json_lines(&result))
    } else {
        summary(&*stored.model, 100)
    };
    if written.to_stdout {
        // The table is the result; what else there is to say goes to stderr.
        talk.say(text.trim_end());
        return Ok(());
    }
    print(&text)
}

/// The wishes, with what was not said filled in.
fn wishes(method: &dyn Method, asked: &arguments::Fit, opened: &Opened, common: &Common) -> Wishes {
    let defaults = Options::default();
    Wishes {
        components: components(method, asked, opened.n_samples().0, opened.n_features()),
        options: Options {
            threads: common.threads.map(usize::from),
            memory: None,
            seed: common.seed,
            tolerance: asked.wishes.tolerance,
            max_iterations: asked.wishes.max_iterations.unwrap_or(defaults.max_iterations),
        },
        target: None,
        steps: Steps::default(),
    }
}

fn components(
    method: &dyn Method,
    asked: &arguments::Fit,
    n: Option<usize>,
    d: usize,
) -> NComponents {
    asked.wishes.components.clone().unwrap_or_else(|| method.default_components(n, d))
}

/// Everything asked for in the words of the command line.
fn in_words(method: &dyn Method, wishes: &Wishes, opened: &Opened) -> BTreeMap<String, String> {
    let mut words = method.wishes_in_words(wishes);
    if opened.missing() != Missing::Error {
        words.insert("missing".into(), opened.missing().name().into());
    }
    words
}

/// Rows that were left out have no scores, where the method cannot score rows with holes.
fn check_missing(
    asked: &arguments::Fit,
    method: &dyn Method,
    opened: &Opened,
) -> Result<(), Failure> {
    if asked.scores.is_some() && opened.missing() == Missing::DropRows && !method.takes_holes() {
        return Err(Failure::usage(
            format!("`{}` has no scores for rows with missing values", method.about().name),
            "leave out `--scores`, or use `--missing mean`",
        ));
    }
    Ok(())
}

/// Refuses outputs that the method does not have.
fn check_outputs(asked: &arguments::Fit, method: &dyn Method) -> Result<(), Failure> {
    let about = method.about();
    let said = [
        ("--components-file", asked.components_file.is_some()),
        ("--loadings-file", asked.loadings_file.is_some()),
    ];
    match said.iter().find(|(_, said)| *said && !about.linear) {
        Some((option, _)) => Err(Failure::usage(
            format!("`{option}` does not fit the method `{}`", about.name),
            format!("leave out `{option}`: scores are not linear in the features"),
        )),
        None => Ok(()),
    }
}

/// How the budget is shared.
struct Memory {
    /// For the table in memory; it is streamed where it needs more.
    table: Option<u64>,
    /// For everything but the program and its readers.
    all: Option<u64>,
}

impl Memory {
    fn share(
        opened: &Opened,
        method: &dyn Method,
        wishes: &Wishes,
        common: &Common,
    ) -> Result<Memory, Failure> {
        let Some(Bytes(budget)) = common.memory else {
            return Ok(Memory { table: None, all: None });
        };
        if budget <= OWN_MEMORY {
            return Err(Failure::File(eigenlens_io::Error::Memory {
                what: "the program with its readers".into(),
                needed: OWN_MEMORY + (8 << 20),
                budget,
            }));
        }
        let all = budget - OWN_MEMORY;
        let fit = in_memory_plan(opened, method, wishes, Some(u64::MAX))?;
        let together = opened.table_bytes().saturating_add(fit.peak_memory);
        let table = if together <= all { all - fit.peak_memory } else { 0 };
        Ok(Memory { table: Some(table), all: Some(all) })
    }

    /// An error of the fit, with the whole budget that it would need: a hint must be enough.
    fn explain(&self, error: eigenlens::Error, opened: &Opened, table: u64) -> Failure {
        match (error, self.all) {
            (eigenlens::Error::Memory { route, needed, .. }, Some(all)) => {
                Failure::File(eigenlens_io::Error::Memory {
                    what: route,
                    needed: needed.saturating_add(OWN_MEMORY + table),
                    budget: all + OWN_MEMORY,
                })
            }
            (error, _) => opened.explain(error, 0),
        }
    }
}

/// The plan for the table in memory: made from its shape alone.
fn in_memory_plan(
    opened: &Opened,
    method: &dyn Method,
    wishes: &Wishes,
    memory: Option<u64>,
) -> Result<eigenlens::Plan, Failure> {
    let rows = wishes.target.as_ref().map_or(opened.n_samples().1, Target::n_samples);
    let shape = (rows.max(2), opened.n_features());
    let mut wishes = wishes.clone();
    wishes.options.memory = memory;
    if let Some(sparse) = opened.sparse() {
        let data = plannable(AnyData::F64(Dataset::sparse(sparse)), method, opened);
        return method.plan(&wishes, &data).map_err(|e| opened.explain(e, 0));
    }
    let policy = |data| plannable(data, method, opened);
    // One number that stands for all of them: a plan looks at none.
    let (f32s, f64s) = ([0f32], [0f64]);
    let planned = if opened.is_f32() {
        let x = ArrayView2::from_shape((1, 1), &f32s[..]).ok();
        let x = x.as_ref().and_then(|x| x.broadcast(shape));
        x.map(|x| method.plan(&wishes, &policy(AnyData::F32(Dataset::dense(x)))))
    } else {
        let x = ArrayView2::from_shape((1, 1), &f64s[..]).ok();
        let x = x.as_ref().and_then(|x| x.broadcast(shape));
        x.map(|x| method.plan(&wishes, &policy(AnyData::F64(Dataset::dense(x)))))
    };
    planned
        .unwrap_or_else(|| Err(eigenlens::Error::Internal("a shape cannot be planned".into())))
        .map_err(|e| opened.explain(e, 0))
}

/// Data with the policy for missing values, where the method itself carries it out.
fn plannable<'a>(data: AnyData<'a>, method: &dyn Method, opened: &Opened) -> AnyData<'a> {
    if method.takes_holes() { opened.with_policy(data) } else { data }
}

/// `--plan`: nothing is read but the beginning of the files, nothing is written.
fn plan(
    asked: &arguments::Fit,
    method: &dyn Method,
    common: &Common,
    talk: &Talk,
) -> Result<(), Failure> {
    let targets = target::names(method.target());
    let opened = Opened::for_fit(&asked.data.data, &asked.reading, targets, common, talk)?;
    let mut wishes = wishes(method, asked, &opened, common);
    wishes.target = target::read(method.target(), &opened, talk)?;
    let memory = Memory::share(&opened, method, &wishes, common)?;
    let streams = memory.table == Some(0);
    let (known, guess) = opened.n_samples();
    let plan = if streams {
        let progress = Progress::bytes(talk, "reading");
        let tell = |done, total| progress.at(done, total);
        let input = opened.load(Some(0), &progress, &tell, talk)?;
        wishes.options.memory = memory.all;
        method.plan(&wishes, &input.data()?).map_err(|e| memory.explain(e, &opened, 0))?
    } else {
        in_memory_plan(&opened, method, &wishes, memory.all)?
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
        method.about().name,
        components_text(&wishes.components),
        opened.n_features()
    ))
}

/// Counts weighted as asked, with what was learned.
fn weigh(
    input: &Input,
    opened: &Opened,
    method: &dyn Method,
) -> Result<Option<(TermWeights, Csr<f64>)>, Failure> {
    let Some(weighting) = method.weighting() else { return Ok(None) };
    let Some(counts) = input.counts()? else {
        return Err(Failure::usage(
            "weighting terms needs the table in memory, and it does not fit the budget",
            "use a larger `--memory`, or `--weighting none`",
        ));
    };
    let weights = TermWeights::fit(weighting, &counts).map_err(|e| opened.explain(e, 0))?;
    let weighted = weights.apply(&counts).map_err(|e| opened.explain(e, 0))?;
    Ok(Some((weights, weighted)))
}

fn data<'a>(
    input: &'a Input,
    opened: &Opened,
    weighted: &'a Option<(TermWeights, Csr<f64>)>,
) -> Result<AnyData<'a>, Failure> {
    match weighted {
        Some((_, counts)) => {
            let names = opened.feature_names();
            Ok(AnyData::F64(Dataset::sparse(counts).with_feature_names(names)?))
        }
        None => input.data(),
    }
}

fn tell_choice(model: &dyn Model, asked: &arguments::Fit, wishes: &Wishes, talk: &Talk) {
    let wish = components_text(&wishes.components);
    let said = if asked.wishes.components.is_some() {
        format!("asked for as {wish}")
    } else {
        format!("{wish}, as nothing was said; --components to choose")
    };
    match model.as_mixture() {
        Some(mixture) => talk.say(format!(
            "parts: {} of {} latent dimensions ({said})",
            mixture.n_parts(),
            mixture.latent_dimension()
        )),
        None => talk.say(format!("components: {} ({said})", model.n_components())),
    }
    talk.say(format!("plan: {}", model.plan()));
}

fn mind_warnings(model: &dyn Model, common: &Common, talk: &Talk) -> Result<(), Failure> {
    // A more careful route is no fault of the result: its certificate is judged like any other.
    let faults = model.warnings().iter().filter(|w| !matches!(w, Warning::Escalated { .. }));
    let faults: Vec<String> = faults.map(ToString::to_string).collect();
    if common.strict && !faults.is_empty() {
        return Err(Failure::Check(faults.join("; ")));
    }
    for warning in model.warnings() {
        talk.warn(warning.to_string());
    }
    Ok(())
}

/// Everything that is written, made before anything is read.
struct Outputs {
    model: (Output, PathBuf),
    scores: Option<TableOutput>,
    components: Option<TableOutput>,
    loadings: Option<TableOutput>,
}

/// What was written.
struct Written {
    files: Vec<(&'static str, String)>,
    to_stdout: bool,
}

impl Outputs {
    fn create(asked: &arguments::Fit) -> Result<Outputs, Failure> {
        let inputs = &asked.data.data;
        let first = inputs.first().map_or(Path::new("-"), PathBuf::as_path);
        let model =
            asked.output.clone().unwrap_or_else(|| default_path(first, "model.safetensors"));
        let tables = [&asked.scores, &asked.components_file, &asked.loadings_file];
        let mut all: Vec<&PathBuf> = tables.into_iter().flatten().collect();
        all.push(&model);
        if let Some(twice) =
            all.iter().enumerate().find_map(|(i, a)| all[..i].contains(a).then_some(a))
        {
            return Err(Failure::usage(
                format!("two outputs would go to `{}`", twice.display()),
                "give each output a name of its own",
            ));
        }
        let table = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| TableOutput::create(path, inputs)).transpose()
        };
        Ok(Outputs {
            scores: table(&asked.scores)?,
            components: table(&asked.components_file)?,
            loadings: table(&asked.loadings_file)?,
            model: (create(&model, inputs)?, model),
        })
    }

    fn write(
        self,
        stored: &StoredModel,
        scores: Option<Numbers>,
        input: &Input,
        opened: &Opened,
        talk: &Talk,
    ) -> Result<Written, Failure> {
        let model = &*stored.model;
        let (names, features) = (component_names(model), feature_names(model));
        let linear = model.linear();
        let mut written = Written { files: Vec::new(), to_stdout: self.model.1 == Path::new("-") };
        let mut tell = |what: &'static str, path: &Path| {
            if path == Path::new("-") {
                written.to_stdout = true;
            } else {
                talk.say(format!("{what}: {}", path.display()));
                written.files.push((what, path.display().to_string()));
            }
        };
        if let Some(table) = self.scores {
            let path = table.path.clone();
            match scores {
                Some(scores) if input.piece().is_some() => {
                    table.write_all(&opened.label_names(), input.labels(), &names, &scores)?;
                }
                Some(scores) => write_pieces(stored, opened, table, talk, |rows, first| {
                    Ok(rows_of(&scores, first, rows.n_rows()))
                })?,
                None => write_scores(stored, opened, table, talk)?,
            }
            tell("scores", &path);
        }
        if let (Some(table), Some(linear)) = (self.components, &linear) {
            let path = table.path.clone();
            let matrix = Numbers::F64(linear.components.to_owned());
            write_named(table, "component", &names, &features, matrix)?;
            tell("components", &path);
        }
        if let (Some(table), Some(linear)) = (self.loadings, linear) {
            let path = table.path.clone();
            write_named(table, "feature", &features, &names, Numbers::F64(linear.loadings))?;
            tell("loadings", &path);
        }
        let (mut output, path) = self.model;
        output.put(&stored.to_bytes(&path)?)?;
        output.commit()?;
        tell("model", &path);
        Ok(written)
    }
}

/// The scores of a table, block by block.
pub fn write_scores(
    stored: &StoredModel,
    opened: &Opened,
    table: TableOutput,
    talk: &Talk,
) -> Result<(), Failure> {
    let mut holed = 0;
    write_pieces(stored, opened, table, talk, |rows, first| {
        holed += with_holes(rows);
        terms::scores(stored, rows, opened).map_err(|e| opened.explain(e, first))
    })?;
    if holed > 0 {
        let how = match stored.fill {
            Some(_) => "the means of the training samples stand in for them",
            None => {
                "their scores are fitted to what is observed, with less certainty (`transform \
                 --standard-errors` says how much)"
            }
        };
        talk.say(format!("{holed} samples have missing values: {how}"));
    }
    Ok(())
}

/// Scores of every piece of a table, with its labels. The work is given the index of the first row.
fn write_pieces(
    stored: &StoredModel,
    opened: &Opened,
    mut table: TableOutput,
    talk: &Talk,
    mut scores: impl FnMut(Piece, usize) -> Result<Numbers, Failure>,
) -> Result<(), Failure> {
    let is_f32 = opened.is_f32() && stored.term_weights.is_none();
    let names = component_names(&*stored.model);
    table.begin(&opened.label_names(), &names, is_f32, opened.n_samples().0)?;
    let progress = Progress::bytes(talk, "scoring");
    opened.for_each_piece(&progress, |rows, labels, first| {
        table.write(labels, view(&scores(rows, first)?))
    })?;
    table.finish()
}

/// Scores in the type that those of the table have.
fn in_type_of(opened: &Opened, scores: ArrayView2<f64>) -> Numbers {
    if opened.is_f32() {
        Numbers::F32(scores.mapv(f32::from_f64))
    } else {
        Numbers::F64(scores.to_owned())
    }
}

/// Some rows, in an array of their own.
fn rows_of(numbers: &Numbers, first: usize, count: usize) -> Numbers {
    let rows = s![first..first + count, ..];
    match numbers {
        Numbers::F32(x) => Numbers::F32(x.slice(rows).to_owned()),
        Numbers::F64(x) => Numbers::F64(x.slice(rows).to_owned()),
    }
}

/// Samples with a missing value.
fn with_holes(rows: Piece) -> usize {
    fn count<T: Scalar>(x: &Array2<T>) -> usize {
        x.rows().into_iter().filter(|row| row.iter().any(|v| v.to_f64().is_nan())).count()
    }
    match rows {
        Piece::Dense(Numbers::F32(x)) => count(x),
        Piece::Dense(Numbers::F64(x)) => count(x),
        Piece::Sparse(_) => 0,
    }
}

/// A matrix whose rows have names.
fn write_named(
    table: TableOutput,
    what: &str,
    rows: &[String],
    columns: &[String],
    matrix: Numbers,
) -> Result<(), Failure> {
    let mut labels = Labels::default();
    rows.iter().for_each(|row| labels.push(row));
    let matrix = match matrix {
        Numbers::F64(m) => Numbers::F64(Array2::from_shape_fn(m.dim(), |at| m[at])),
        other => other,
    };
    table.write_all(&[what.to_string()], &[labels], columns, &matrix)
}
