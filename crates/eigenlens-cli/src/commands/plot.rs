//! `eigenlens plot`.

use crate::arguments::{Common, Plot, PlotKind};
use crate::describe::{read_model, scree};
use crate::failure::Failure;
use crate::images;
use crate::output::default_path;
use crate::pictures::{self, PictureOutput, Samples};
use crate::reporter::Reporter;
use clap::ValueEnum;
use eigenlens_io::StoredModel;
use eigenlens_report::Picture;
use std::path::PathBuf;

pub fn run(args: &Plot, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let kind = args.kind.unwrap_or(match (args.data.is_empty(), args.image_size) {
        (_, Some(_)) => PlotKind::Images,
        (true, None) => PlotKind::Scree,
        (false, None) => PlotKind::Scores,
    });
    check(args, kind)?;
    let inputs = [&args.data[..], std::slice::from_ref(&args.model)].concat();
    let path = args.output.clone().unwrap_or_else(|| default_file(args, kind));
    let output = PictureOutput::create(&path, &inputs)?;
    let stored = read_model(&args.model, common.threads)?;
    let axes = axes(args, &stored)?;
    if kind == PlotKind::Imputation {
        if args.data.is_empty() {
            return Err(need_table(args, kind));
        }
        let picture =
            pictures::imputation_picture(&args.data, &stored, &args.reading, common, reporter)?;
        return output.write(&picture.draw()?, reporter);
    }
    let samples = if args.data.is_empty() {
        None
    } else {
        let marked = [args.color.as_ref(), args.names.as_ref()];
        Some(Samples::read(&args.data, &stored, &args.reading, marked, common, reporter)?)
    };
    output.write(&draw(args, kind, &stored, samples.as_ref(), axes, reporter)?, reporter)
}

fn draw(
    args: &Plot,
    kind: PlotKind,
    stored: &StoredModel,
    samples: Option<&Samples>,
    axes: [usize; 2],
    reporter: &Reporter,
) -> Result<Picture, Failure> {
    let model = &*stored.model;
    let need = || samples.ok_or_else(|| need_table(args, kind));
    Ok(match kind {
        PlotKind::Scree => match scree(model, &model.summary(), "") {
            Some(scree) => scree.draw()?,
            None => return Err(pictures::no_picture(model, "scree")),
        },
        PlotKind::Loadings => pictures::loadings(model)?.draw()?,
        PlotKind::HeatMap => pictures::heat_map(model)?.draw()?,
        PlotKind::Circle => pictures::circle(model, axes)?.draw()?,
        PlotKind::Posterior => {
            let picture = need()?.posterior_picture(stored, axes)?;
            reporter.info(&picture.caption);
            picture.draw()?
        }
        PlotKind::Imputation => return Err(need_table(args, kind)),
        PlotKind::Scores => need()?.scores_picture(stored, axes)?.draw()?,
        PlotKind::Biplot => need()?.biplot(stored, axes)?.draw()?,
        PlotKind::Monitoring => {
            let samples = need()?;
            let picture = samples.monitoring(model)?;
            if let Some((shown, of)) = samples.monitored_of() {
                reporter
                    .info(format!("shown: {shown} of {of} samples, those without missing entries"));
            }
            picture.draw()?
        }
        PlotKind::Path => pictures::path(model)?.draw()?,
        PlotKind::Images => match images::shape(stored, args.image_size)? {
            Some(shape) => match model.as_pca() {
                Some(pca) => images::grid(pca, shape, samples.map(|s| &s.first))?.draw()?,
                None => return Err(pictures::no_picture(model, "images")),
            },
            None => {
                return Err(Failure::usage(
                    "it is not known how large the images are",
                    "use `--image-size WIDTHxHEIGHT`",
                ));
            }
        },
    })
}

fn need_table(args: &Plot, kind: PlotKind) -> Failure {
    Failure::usage(
        format!("a picture of samples (`--kind {}`) needs the table", word(kind)),
        format!("use `eigenlens plot {} DATA`", args.model.display()),
    )
}

/// Pictures of the plane of two components.
const PLANES: [PlotKind; 4] =
    [PlotKind::Scores, PlotKind::Biplot, PlotKind::Circle, PlotKind::Posterior];

/// Options that a picture would ignore are refused.
fn check(args: &Plot, kind: PlotKind) -> Result<(), Failure> {
    let of_samples = matches!(
        kind,
        PlotKind::Scores | PlotKind::Biplot | PlotKind::Monitoring | PlotKind::Posterior
    );
    let refuse = |option: &str| {
        Err(Failure::usage(
            format!("`{option}` does not fit `--kind {}`", word(kind)),
            format!("leave out `{option}`"),
        ))
    };
    if args.color.is_some() && !(of_samples && kind != PlotKind::Monitoring) {
        return refuse("--color");
    }
    if args.names.is_some() && !of_samples {
        return refuse("--names");
    }
    if args.image_size.is_some() && kind != PlotKind::Images {
        return refuse("--image-size");
    }
    if args.axes.is_some() && !PLANES.contains(&kind) {
        let takers: Vec<String> = PLANES.iter().map(|kind| format!("`{}`", word(*kind))).collect();
        return Err(Failure::usage(
            format!(
                "`--axes` does not fit `--kind {}`, which shows no plane of two components",
                word(kind)
            ),
            format!("leave out `--axes`, or use one of the kinds {}", takers.join(", ")),
        ));
    }
    Ok(())
}

fn axes(args: &Plot, stored: &StoredModel) -> Result<[usize; 2], Failure> {
    let k = stored.model.n_components();
    // A model of one component is shown on a line.
    let most = k.max(2);
    match args.axes.as_deref() {
        None => Ok([0, 1]),
        Some(&[x, y]) if (1..=most).contains(&x) && (1..=most).contains(&y) && x != y => {
            Ok([x - 1, y - 1])
        }
        _ => Err(Failure::usage(
            format!("`--axes` must be two different components of 1 to {k}"),
            "use `--axes 1,2`",
        )),
    }
}

fn word(kind: PlotKind) -> String {
    kind.to_possible_value().map_or_else(String::new, |value| value.get_name().into())
}

fn default_file(args: &Plot, kind: PlotKind) -> PathBuf {
    default_path(&args.model, &format!("{}.svg", word(kind)))
}
