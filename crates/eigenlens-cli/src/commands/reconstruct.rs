//! `eigenlens reconstruct`.

use crate::arguments::{Common, Reading, Reconstruct};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::input::Opened;
use crate::output::{TableOutput, print, view};
use crate::progress::Progress;
use crate::reporter::Reporter;
use eigenlens::model::{number, percent};
use eigenlens::{Dataset, Method, Model, Operation, Options, PreImage, Resolved, Scalar, Value};
use eigenlens_io::write::{check_distinct, commit_together};
use eigenlens_io::{AnyArray, Labels, StoredModel, json};
use eigenlens_report::{Column, Table};
use ndarray::Array2;
use std::path::Path;

pub fn run(args: &Reconstruct, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    if args.reading.weights.is_some() {
        return Err(Failure::usage(
            "`--weights` does not fit `reconstruct`",
            "leave out `--weights`",
        ));
    }
    let inputs = [&args.data.data[..], std::slice::from_ref(&args.model)].concat();
    let outputs = [&args.output, &args.errors];
    check_distinct(&outputs.into_iter().flatten().map(|p| p.as_path()).collect::<Vec<_>>())?;
    let table = |path: &Option<std::path::PathBuf>| {
        path.as_ref().map(|path| TableOutput::create(path, &inputs)).transpose()
    };
    let (mut rows, mut errors) = (table(&args.output)?, table(&args.errors)?);
    let to_stdout =
        [&args.output, &args.errors].iter().any(|p| p.as_deref() == Some(Path::new("-")));
    let stored = read_model(&args.model, common)?;
    if stored.preprocessing.term_weights.is_some() {
        return Err(Failure::usage(
            "a model of weighted terms gives weighted counts back, not the table",
            "fit with `--weighting none`",
        ));
    }
    if args.from_scores {
        return from_scores(args, &stored, rows, common, reporter);
    }
    let model = &*stored.model;
    let approximate = model.linear().is_none();
    if args.pre_image.is_some() && !approximate {
        return Err(Failure::usage(
            format!("`--pre-image` does not fit a model of the method `{}`", model.method()),
            "leave out `--pre-image`: its reconstruction is exact",
        ));
    }
    let opened = Opened::for_model(&args.data.data, &stored, &args.reading, common, reporter)?;
    let labels = opened.label_names();
    let n = opened.n_samples().0;
    if let Some(table) = &mut rows {
        table.begin(&labels, &model.feature_labels(), opened.is_f32(), n)?;
    }
    if let Some(table) = &mut errors {
        let mut names = vec!["error".to_string(), "relative_error".into()];
        names.extend(approximate.then(|| "feature_distance".into()));
        table.begin(&labels, &names, false, n)?;
    }
    let mut loss = Loss::default();
    let progress = Progress::bytes(reporter, "reconstructing");
    opened.for_each_block(&progress, reporter, |numbers, labels, first| {
        let way = args.pre_image.unwrap_or_default();
        let (back, samples) =
            round_trip(&stored, &numbers, way, &opened).map_err(|e| opened.explain(e, first))?;
        loss.add(first, &samples, labels);
        if let Some(table) = &mut rows {
            table.write(labels, view(&back))?;
        }
        if let Some(table) = &mut errors {
            let width = if approximate { 3 } else { 2 };
            let columns = Array2::from_shape_fn((samples.len(), width), |(i, j)| match j {
                0 => samples[i].error,
                1 => samples[i].relative(),
                _ => samples[i].left.unwrap_or(f64::NAN),
            });
            table.write(labels, view(&AnyArray::F64(columns)))?;
        }
        Ok(())
    })?;
    drop(progress);
    let tables = [rows, errors].into_iter().flatten();
    commit_together(tables.map(TableOutput::complete).collect::<Result<_, _>>()?)?;
    for (what, path) in [("reconstruction", &args.output), ("errors", &args.errors)] {
        if let Some(path) = path.as_ref().filter(|path| *path != Path::new("-")) {
            reporter.info(format!("{what}: {}", path.display()));
        }
    }
    let text = if common.json {
        format!("{}\n", json::to_json_lines(&loss.value(model)))
    } else {
        loss.text(model)
    };
    if to_stdout {
        reporter.info(text.trim_end());
        return Ok(());
    }
    print(&text)
}

/// Samples from the scores in a table, whose columns are found by the names of the components.
fn from_scores(
    args: &Reconstruct,
    stored: &StoredModel,
    rows: Option<TableOutput>,
    common: &Common,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let model = &*stored.model;
    let Some(mut table) = rows else {
        return Err(Failure::usage(
            "`--from-scores` needs a place for the samples",
            "use `-o FILE`",
        ));
    };
    let way_back = Method::named(model.method())
        .and_then(|method| Operation::named("inverse_transform")?.reason_against(method));
    if let Some(reason) = way_back {
        return Err(Failure::usage(
            format!("`--from-scores` does not fit a model of `{}`: {reason}", model.method()),
            "leave out `--from-scores`",
        ));
    }
    let reading = Reading { columns: model.component_names(), ..args.reading.clone() };
    let opened = Opened::for_fit(&args.data.data, &reading, &[], common, reporter)?;
    table.begin(
        &opened.label_names(),
        &model.feature_labels(),
        opened.is_f32(),
        opened.n_samples().0,
    )?;
    let progress = Progress::bytes(reporter, "reconstructing");
    let mut n_samples = 0;
    opened.for_each_block(&progress, reporter, |scores, labels, first| {
        let samples = match &scores {
            AnyArray::F32(z) => model.inverse_transform_f32(z.view()).map(AnyArray::F32),
            AnyArray::F64(z) => model.inverse_transform_f64(z.view()).map(AnyArray::F64),
        };
        let samples = samples.map_err(|e| opened.explain(e, first))?;
        n_samples += samples.dim().0;
        table.write(labels, view(&samples))
    })?;
    drop(progress);
    let (path, is_stdout) = (table.path.clone(), table.is_stdout());
    table.finish()?;
    let loss = Loss { rows: n_samples, ..Loss::default() };
    let ratio = loss.compression(model);
    if !is_stdout {
        reporter.info(format!("samples: {}", path.display()));
    }
    match common.json && !is_stdout {
        true => {
            let value = Value::map([
                ("n_samples", Value::from(n_samples)),
                ("n_features", model.n_features().into()),
                ("compression_ratio", ratio.into()),
            ]);
            print(&format!("{}\n", json::to_json_lines(&value)))
        }
        false => {
            let (d, k) = (model.n_features(), model.n_components());
            reporter.info(format!(
                "{n_samples} samples of {d} features from {k} scores each: {ratio:.2} : 1"
            ));
            Ok(())
        }
    }
}

/// What the round trip did to a sample.
struct Sample {
    /// Its distance from what came back, in the units of the table.
    error: f64,
    /// Its distance from the mean, in the units of the table.
    distance: f64,
    /// Both between standardised features, where the model standardises them.
    standardized: Option<(f64, f64)>,
    /// What an approximate pre-image leaves, as a distance in feature space.
    left: Option<f64>,
}

impl Sample {
    fn relative(&self) -> f64 {
        if self.distance > 0.0 { self.error / self.distance } else { 0.0 }
    }
}

fn round_trip(
    stored: &StoredModel,
    numbers: &AnyArray,
    way: PreImage,
    opened: &Opened,
) -> eigenlens::Result<(AnyArray, Vec<Sample>)> {
    let (model, fill, options) = (&*stored.model, opened.fill(stored), Options::default());
    let missing = opened.missing();
    match numbers {
        AnyArray::F32(x) => {
            let data = Dataset::from(x).with_missing(missing);
            let whole = fill.map(|fill| data.fill_missing(fill, &options)).transpose()?;
            let data = whole.as_ref().map_or(data, Resolved::dataset);
            let (back, left) = match model.pre_images_f32(&data, way).transpose()? {
                Some(found) => (found.rows, found.distances),
                None => (model.reconstruct_f32(&data)?, Vec::new()),
            };
            let samples = samples(model, x, &back, &left);
            Ok((AnyArray::F32(back), samples))
        }
        AnyArray::F64(x) => {
            let data = Dataset::from(x).with_missing(missing);
            let whole = fill.map(|fill| data.fill_missing(fill, &options)).transpose()?;
            let data = whole.as_ref().map_or(data, Resolved::dataset);
            let (back, left) = match model.pre_images_f64(&data, way).transpose()? {
                Some(found) => (found.rows, found.distances),
                None => (model.reconstruct_f64(&data)?, Vec::new()),
            };
            let samples = samples(model, x, &back, &left);
            Ok((AnyArray::F64(back), samples))
        }
    }
}

fn samples<T: Scalar>(
    model: &dyn Model,
    x: &Array2<T>,
    back: &Array2<T>,
    left: &[f64],
) -> Vec<Sample> {
    let linear = model.linear();
    let mean = linear.as_ref().map_or(&[][..], |linear| linear.mean);
    let scale = linear.as_ref().and_then(|linear| linear.scale.as_deref());
    (x.rows().into_iter().zip(back.rows()).enumerate())
        .map(|(i, (x, back))| {
            let (mut error, mut distance) = (0.0f64, 0.0f64);
            let mut standardized = scale.map(|_| (0.0f64, 0.0f64));
            // Of a sample with missing entries, what there is of it.
            let there = x.iter().zip(back).enumerate().filter(|(_, (x, _))| !x.to_f64().is_nan());
            for (f, (x, back)) in there {
                let lost = x.to_f64() - back.to_f64();
                let from_mean = x.to_f64() - mean.get(f).copied().unwrap_or(0.0);
                error = error.hypot(lost);
                distance = distance.hypot(from_mean);
                // A constant feature was left out by the fit, and is here.
                if let (Some(sums), Some(s)) =
                    (&mut standardized, scale.map(|scale| scale[f]).filter(|s| *s > 0.0))
                {
                    *sums = (sums.0.hypot(lost / s), sums.1.hypot(from_mean / s));
                }
            }
            Sample { error, distance, standardized, left: left.get(i).copied() }
        })
        .collect()
}

/// (error / distance)², from the roots.
fn squared_ratio((error, distance): (f64, f64)) -> f64 {
    if distance > 0.0 { (error / distance).powi(2) } else { 0.0 }
}

/// The errors of all samples together, and the worst of them.
#[derive(Default)]
struct Loss {
    rows: usize,
    /// √Σ error² and √Σ distance²: roots, because squares may leave the range of numbers.
    error: f64,
    distance: f64,
    /// The same of standardised features, where the model standardises them.
    standardized: Option<(f64, f64)>,
    /// The sum of distances left in feature space, and how many there are.
    left: (f64, usize),
    /// Error, row from 1, labels.
    worst: Vec<(f64, usize, String)>,
}

const WORST: usize = 5;

impl Loss {
    fn add(&mut self, first: usize, samples: &[Sample], labels: &[Labels]) {
        for (i, sample) in samples.iter().enumerate() {
            self.rows += 1;
            self.error = self.error.hypot(sample.error);
            self.distance = self.distance.hypot(sample.distance);
            if let Some((error, distance)) = sample.standardized {
                let sums = self.standardized.get_or_insert((0.0, 0.0));
                *sums = (sums.0.hypot(error), sums.1.hypot(distance));
            }
            if let Some(left) = sample.left {
                self.left = (self.left.0 + left, self.left.1 + 1);
            }
            if self.worst.len() < WORST || self.worst.iter().any(|w| w.0 < sample.error) {
                let names: Vec<&str> = labels.iter().filter_map(|l| l.get(i)).collect();
                let at = self.worst.partition_point(|w| w.0 >= sample.error);
                self.worst.insert(at, (sample.error, first + i + 1, names.join(", ")));
                self.worst.truncate(WORST);
            }
        }
    }

    /// The squared error as a share of the variation about the mean, in the units of the table.
    fn relative(&self) -> f64 {
        squared_ratio((self.error, self.distance))
    }

    /// The same of standardised features: of training samples what the fit does not keep.
    fn standardized_relative(&self) -> Option<f64> {
        self.standardized.map(squared_ratio)
    }

    /// The squared error in words. A model of standardised features counts variance in standard
    /// deviations: its loss is told as the fit tells it, and in the units of the table.
    fn squared_error(&self) -> String {
        let of_table = percent(self.relative());
        match self.standardized_relative() {
            None => format!("{of_table} of the variation about the mean"),
            Some(standardized) => format!(
                "{} of the variance of the standardised features, as the fit counts it\n{:<19}\
                 {of_table} of the variation about the mean in the units of the table",
                percent(standardized),
                ""
            ),
        }
    }

    fn root_mean_square(&self, model: &dyn Model) -> f64 {
        self.error / (self.rows as f64 * model.n_features() as f64).sqrt()
    }

    /// Numbers in the table over numbers that are kept: scores, components and mean.
    fn compression(&self, model: &dyn Model) -> f64 {
        let (n, d, k) = (self.rows as f64, model.n_features() as f64, model.n_components() as f64);
        n * d / (n * k + k * d + d)
    }

    /// The mean distance that approximate pre-images leave in feature space.
    fn mean_left(&self) -> Option<f64> {
        (self.left.1 > 0).then(|| self.left.0 / self.left.1 as f64)
    }

    fn text(&self, model: &dyn Model) -> String {
        if let Some(left) = self.mean_left() {
            return format!(
                "samples            {}\ncomponents         {} in feature space\n\
                 pre-images         approximate: {} away in feature space, on average\n\
                 root mean square   {} per entry from the samples\n",
                self.rows,
                model.n_components(),
                number(left),
                number(self.root_mean_square(model)),
            );
        }
        let units = if self.standardized.is_some() { ", in the units of the table" } else { "" };
        let table = Table {
            caption: format!("largest errors{units}"),
            columns: vec![
                Column::number("row", ""),
                Column::number("error", ""),
                Column::text("labels"),
            ],
            rows: (self.worst.iter())
                .map(|(error, row, labels)| vec![row.to_string(), number(*error), labels.clone()])
                .collect(),
        };
        format!(
            "samples            {}\ncomponents         {} of {} features\n\
             squared error      {}\n\
             root mean square   {} per entry{units}\ncompression        {:.2} : 1\n\n{}",
            self.rows,
            model.n_components(),
            model.n_features(),
            self.squared_error(),
            number(self.root_mean_square(model)),
            self.compression(model),
            table.to_text(100)
        )
    }

    fn value(&self, model: &dyn Model) -> Value {
        let worst = self.worst.iter().map(|(error, row, _)| {
            Value::map([("row", Value::from(*row)), ("error", (*error).into())])
        });
        Value::map([
            ("n_samples", Value::from(self.rows)),
            ("n_components", model.n_components().into()),
            ("n_features", model.n_features().into()),
            ("total_error", self.error.into()),
            ("relative_squared_error", self.relative().into()),
            ("relative_squared_error_standardized", self.standardized_relative().into()),
            ("root_mean_square_error", self.root_mean_square(model).into()),
            ("compression_ratio", self.compression(model).into()),
            ("approximate", self.mean_left().is_some().into()),
            ("feature_distance", self.mean_left().into()),
            ("largest", Value::List(worst.collect())),
        ])
    }
}
