//! `eigenlens plot`.

use crate::arguments::{Common, Plot as PlotArgs};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::output::default_path;
use crate::pictures::{PictureOutput, Table, request};
use crate::reporter::Reporter;
use eigenlens_views::{Error, Plot, PlotOption, Request};
use std::path::PathBuf;

pub fn run(args: &PlotArgs, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let has_data = !args.data.is_empty();
    let plot = args.kind.unwrap_or(Plot::default_for(has_data, args.image_size.is_some()));
    check(args, plot)?;
    let inputs = [&args.data[..], std::slice::from_ref(&args.model)].concat();
    let path = args.output.clone().unwrap_or_else(|| default_file(args, plot));
    let output = PictureOutput::create(&path, &inputs)?;
    let stored = read_model(&args.model, common)?;
    let request = with_axes(request(&stored, args.image_size)?, args)?.with_seed(common.seed());
    plot.check(&*stored.model, has_data).map_err(|error| in_words(error, args))?;
    let table = Table {
        paths: &args.data,
        reading: &args.reading,
        metadata: &args.metadata,
        color: args.color.as_ref(),
        names: args.names.as_ref(),
    };
    let draw = |request: &Request| plot.draw(request);
    let drawing = table.with_samples(request, &stored, common, reporter, draw)?;
    if let Some(note) = &drawing.note {
        reporter.info(note);
    }
    output.write(&drawing.picture, reporter)
}

/// A plot without its table, with the command that has one.
fn in_words(error: Error, args: &PlotArgs) -> Failure {
    let needs_data = matches!(error, Error::NeedsData { .. });
    match error.into() {
        Failure::Usage { what, .. } if needs_data => {
            Failure::usage(what, format!("use `eigenlens plot {} DATA`", args.model.display()))
        }
        failure => failure,
    }
}

/// Options that a picture would ignore are refused.
fn check(args: &PlotArgs, plot: &Plot) -> Result<(), Error> {
    let given = [
        (PlotOption::Color, args.color.is_some()),
        (PlotOption::Names, args.names.is_some()),
        (PlotOption::ImageSize, args.image_size.is_some()),
        (PlotOption::Axes, args.axes.is_some()),
    ];
    plot.check_options(
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(option, _)| option),
    )
}

/// Components are counted from 1 on the command line.
fn with_axes<'d, 'a>(request: Request<'d, 'a>, args: &PlotArgs) -> Result<Request<'d, 'a>, Error> {
    match args.axes.as_deref() {
        None => Ok(request),
        Some(&[x, y]) if x > 0 && y > 0 => request.with_axes([x - 1, y - 1]),
        Some(_) => Err(Error::Axes { n_components: request.model().n_components() }),
    }
}

fn default_file(args: &PlotArgs, plot: &Plot) -> PathBuf {
    default_path(&args.model, &format!("{}.svg", plot.name))
}
