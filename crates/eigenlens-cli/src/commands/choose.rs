//! `eigenlens choose`.

use crate::arguments::{Choose, Common};
use crate::failure::Failure;
use crate::input::Opened;
use crate::missing::where_values_are_missing;
use crate::output::print;
use crate::pictures::PictureOutput;
use crate::progress::Progress;
use crate::reporter::Reporter;
use eigenlens::model::number;
use eigenlens::n_components::{self, Need, Outcome, Sample};
use eigenlens::{AnyDataset, DataShape, Plan, dispatch};
use eigenlens::{Missing, NComponents, Options, Pca, Prepared, Preprocessing, Rule, Value};
use eigenlens_io::{Budget, json};
use eigenlens_report::{ChoiceOfK, Column, Table};
use ndarray::Array2;

pub fn run(args: &Choose, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let picture = match &args.output {
        Some(path) => Some(PictureOutput::create(path, &args.data.data)?),
        None => None,
    };
    let opened = Opened::for_fit(&args.data.data, &args.reading, &[], common, reporter)?;
    let progress = Progress::bytes(reporter, "reading");
    let tell = |done, total| progress.at(done, total);
    let options = Options {
        threads: common.threads.map(usize::from),
        seed: common.seed(),
        ..Options::default()
    };
    let budget = share(&opened, &options, common)?;
    let input = opened.load(budget.table, &progress, &tell, reporter)?;
    let options = Options { memory: budget.left(input.bytes()), ..options };
    let data = input.data()?;
    if budget.all.is_some() {
        rules_plan(data.shape(), &options)
            .map_err(|e| opened.explain(budget.explain(e, input.bytes()), 0))?;
    }
    let spinner = Progress::spinner(reporter, "comparing");
    let explain = |e| opened.explain(e, 0);
    // Holes are gone before the rules see the data, or integrated out.
    let resolves = opened.missing() != Missing::Em;
    let (_, prepared) = Preprocessing::learn(None, resolves, &data, &options).map_err(explain)?;
    let data = &prepared.data();
    let pca =
        Pca::new(components(data)).standardize(args.scale).center(!args.no_center).options(options);
    let mut tell = spinner.steps().observer();
    let model = dispatch!(data, d => pca.fit_observed(d, &mut tell))
        .map_err(|e| where_values_are_missing(e, data, true, explain))?;
    let rows = sample_rows(data).map_err(explain)?;
    let sample = rows.as_ref().map(|(rows, of)| Sample { rows: rows.view(), of: *of });
    let spectrum = model.spectrum().map_err(explain)?;
    let outcomes =
        n_components::apply_all(&Rule::all(), &spectrum.view(), sample.as_ref(), common.seed());
    drop(spinner);
    input.tell_findings(reporter)?;
    if let Some(missing_report) = prepared.missing_report().or(model.missing()) {
        reporter.info(format!("missing: {missing_report}"));
    }
    if let Some(Sample { rows, of }) = sample.filter(|_| model.missing().is_some()) {
        reporter.info(format!(
            "rules that look at samples: they see {} of {of}, those without missing values",
            rows.nrows()
        ));
    }

    if let Some(output) = picture {
        output.write(&drawing(&outcomes, model.explained_variance()).draw()?, reporter)?;
    }
    if common.json {
        return print(&format!("{}\n", json::to_json_lines(&value(&outcomes))));
    }
    print(&format!("{}\n{}\n", table(&outcomes).to_text(110), disagreement(&outcomes)))
}

/// How the budget is shared: rules that look at samples need the most of it.
fn share(opened: &Opened, options: &Options, common: &Common) -> Result<Budget, Failure> {
    let budget = Budget::new(common.memory.map(|memory| memory.0))?;
    if budget.all.is_none() {
        return Ok(budget);
    }
    let budget = budget.beside("the weights", opened.weight_bytes())?;
    let shape = DataShape { n_samples: Some(opened.n_samples().1.max(2)), ..opened.shape() };
    let plan = rules_plan(shape, options).map_err(|e| opened.explain(e, 0))?;
    Ok(budget.with_table(opened.table_bytes(), &plan))
}

/// The plan of a fit whose components are chosen by a rule that looks at samples.
fn rules_plan(shape: DataShape, options: &Options) -> eigenlens::Result<Plan> {
    let rule = Rule::all().into_iter().find(|rule| rule.need() == Need::Data);
    let n_components = rule.map_or(NComponents::All, NComponents::Rule);
    // Holes are gone before rules see samples.
    let shape = shape.with_missing(Missing::Error);
    Pca::new(n_components).options(options.clone()).plan(shape)
}

/// All components; where missing entries are integrated out those that an iteration has in reasonable time, and
/// never all of them, as the smallest variance is the noise then.
fn components(data: &AnyDataset) -> NComponents {
    const MOST: usize = 20;
    match data.missing() {
        Missing::Em => {
            let d = dispatch!(data, d => d.n_features());
            NComponents::Fixed(d.saturating_sub(1).clamp(1, MOST))
        }
        _ => NComponents::All,
    }
}

/// Rows for rules that look at samples, and how many there are. Where missing entries are integrated out these are
/// rows without any: what a model puts into missing entries would only confirm it.
fn sample_rows(data: &AnyDataset) -> eigenlens::Result<Option<(Array2<f64>, usize)>> {
    if data.missing() != Missing::Em {
        return dispatch!(data, d => d.sample_rows());
    }
    let whole = match Prepared::complete_rows(data) {
        Ok(whole) => whole,
        Err(eigenlens::Error::NothingLeft { .. }) => {
            let (n, d) = dispatch!(data, d => (d.n_samples(), d.n_features()));
            return Ok(Some((Array2::zeros((0, d)), n.unwrap_or(0))));
        }
        Err(error) => return Err(error),
    };
    let rows = match whole.data() {
        AnyDataset::F32(d) => d.sample_rows()?,
        AnyDataset::F64(d) => d.sample_rows()?,
    };
    let of = dispatch!(data, d => d.n_samples());
    Ok(rows.map(|(rows, left)| (rows, of.unwrap_or(left))))
}

/// The first thing a rule went by, or why it has no answer.
fn why(outcome: &Outcome) -> String {
    match outcome {
        Outcome::NotComputed { reason, .. } => format!("not computed: {reason}"),
        Outcome::Chosen(choice) => {
            let thresholds =
                choice.evidence.thresholds.iter().map(|(name, v)| format!("{name} {}", number(*v)));
            let notes = choice.evidence.notes.iter().cloned();
            let words: Vec<String> = thresholds.take(2).chain(notes.take(1)).collect();
            let curve = choice.evidence.curves.first().map(|curve| curve.name.replace('_', " "));
            if words.is_empty() { curve.unwrap_or_default() } else { words.join("; ") }
        }
    }
}

fn table(outcomes: &[Outcome]) -> Table {
    Table {
        caption: String::new(),
        columns: vec![
            Column::text("rule"),
            Column::number("components", ""),
            Column::text("what it went by"),
        ],
        rows: (outcomes.iter())
            .map(|outcome| {
                let k = outcome.n_components().map_or("–".into(), |k| k.to_string());
                vec![outcome.rule().to_string(), k, why(outcome)]
            })
            .collect(),
    }
}

/// How far the rules are apart.
fn disagreement(outcomes: &[Outcome]) -> String {
    let mut found: Vec<(usize, &str)> = (outcomes.iter())
        .filter_map(|o| match o {
            Outcome::Chosen(choice) => Some((choice.n_components, choice.rule.name())),
            Outcome::NotComputed { .. } => None,
        })
        .collect();
    found.sort_by_key(|(k, _)| *k);
    let (Some(least), Some(most)) = (found.first(), found.last()) else {
        return "no rule could be computed".into();
    };
    let median = found[found.len() / 2].0;
    if least.0 == most.0 {
        return format!("all {} rules agree: {}", found.len(), least.0);
    }
    let times = found.iter().filter(|(k, _)| *k == median).count();
    format!(
        "the rules disagree: {} ({}) to {} ({}); the median is {median}, chosen by {times} of {}",
        least.0,
        least.1,
        most.0,
        most.1,
        found.len()
    )
}

fn drawing(outcomes: &[Outcome], heights: &[f64]) -> ChoiceOfK {
    ChoiceOfK {
        heights: heights.to_vec(),
        rules: (outcomes.iter())
            .map(|outcome| eigenlens_report::Rule {
                name: outcome.rule().name().into(),
                n_components: outcome.n_components(),
                note: match outcome {
                    Outcome::NotComputed { reason, .. } => reason.to_string(),
                    Outcome::Chosen(_) => String::new(),
                },
            })
            .collect(),
        ..ChoiceOfK::default()
    }
}

fn value(outcomes: &[Outcome]) -> Value {
    let rule = |outcome: &Outcome| {
        let reason = match outcome {
            Outcome::NotComputed { reason, .. } => Value::from(reason.to_string()),
            Outcome::Chosen(_) => Value::Null,
        };
        let evidence = match outcome {
            Outcome::NotComputed { .. } => Value::Null,
            Outcome::Chosen(choice) => Value::map(
                choice.evidence.thresholds.iter().map(|(name, v)| (*name, Value::from(*v))),
            ),
        };
        Value::map([
            ("rule", Value::from(outcome.rule().name())),
            ("n_components", outcome.n_components().into()),
            ("not_computed", reason),
            ("thresholds", evidence),
        ])
    };
    Value::map([
        ("rules", Value::List(outcomes.iter().map(rule).collect())),
        ("disagreement", Value::from(disagreement(outcomes))),
    ])
}
