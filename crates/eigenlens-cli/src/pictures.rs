//! Pictures in files, and samples for them from tables.

use crate::arguments::{Common, Metadata, Reading};
use crate::failure::Failure;
use crate::input::Opened;
use crate::output::create;
use crate::progress::Progress;
use crate::reporter::Reporter;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use eigenlens::Options;
use eigenlens_io::write::Output;
use eigenlens_io::{ImageShape, StoredModel};
use eigenlens_report::Picture;
use eigenlens_views::{Capability, Error, LabelColumn, PLOTS, Plot, PlotOption, Request, Samples};
use std::path::{Path, PathBuf};

/// The plots by their names, with what they show.
pub fn plot_parser() -> impl TypedValueParser<Value = &'static Plot> {
    let value = |plot: &&Plot| PossibleValue::new(plot.name).help(plot.about);
    PossibleValuesParser::new(PLOTS.iter().map(value))
        .map(|name| Plot::named(&name).unwrap_or(PLOTS[0]))
}

/// `8x8` and the like.
pub fn parse_shape(text: &str) -> Result<ImageShape, String> {
    let sides = text.split_once(['x', '×']).and_then(|(width, height)| {
        Some((width.trim().parse::<usize>().ok()?, height.trim().parse::<usize>().ok()?))
    });
    match sides {
        Some((width, height)) if width > 0 && height > 0 => Ok(ImageShape { width, height }),
        _ => Err("expected width and height, such as 8x8".into()),
    }
}

/// A stored model to be drawn, its images as large as is said, or else as they were read.
pub fn request(
    stored: &StoredModel,
    size: Option<ImageShape>,
) -> Result<Request<'static, '_>, Error> {
    let shape = |ImageShape { width, height }| eigenlens_views::ImageShape { width, height };
    Request::new(&*stored.model).with_image_shape(size.map(shape), stored.origin.image.map(shape))
}

/// A table of samples, where one is given.
pub struct Table<'a> {
    pub paths: &'a [PathBuf],
    pub reading: &'a Reading,
    pub metadata: &'a Metadata,
    /// The columns that colour and name the samples, where they are asked for.
    pub color: Option<&'a String>,
    pub names: Option<&'a String>,
}

impl Table<'_> {
    /// Reads the samples, and works on the request with them.
    pub fn with_samples<R>(
        &self,
        request: Request,
        stored: &StoredModel,
        common: &Common,
        reporter: &Reporter,
        work: impl FnOnce(&Request) -> Result<R, Error>,
    ) -> Result<R, Failure> {
        if self.paths.is_empty() {
            if self.metadata.metadata.is_some() {
                return Err(Failure::usage(
                    "`--metadata` is about samples, and there is no table",
                    "name the table after the model",
                ));
            }
            return Ok(work(&request)?);
        }
        let opened = Opened::for_model(self.paths, stored, self.reading, common, reporter)?
            .with_metadata(self.metadata, common, reporter)?;
        let color = self.color.map(|name| opened.label(name)).transpose()?;
        let names = self.names.map(|name| opened.label(name)).transpose()?;
        let progress = Progress::bytes(reporter, "reading");
        let tell = |done, total| progress.at(done, total);
        let input = opened.load_all(common, &progress, &tell, reporter)?;
        let Some(rows) = input.rows() else {
            return Err(Failure::Internal("the table is not in memory".into()));
        };
        let steps = stored.preprocessing.without_fill();
        let prepared = steps.apply(&opened.with_policy(rows.data()), &Options::default());
        let prepared = prepared.map_err(|e| opened.explain(e, 0))?;
        let labels: Vec<LabelColumn> = (opened.label_names().into_iter().zip(input.labels()))
            .map(|(name, column)| LabelColumn { name, values: column.iter().collect() })
            .collect();
        let label = |index: Option<usize>| index.and_then(|index| labels.get(index)).cloned();
        let target = stored.origin.options.get("target").map(String::as_str);
        let samples = Samples::new(prepared.data())
            .with_fill(opened.fill(stored))
            .with_labels(&labels, target)
            .with_color(label(color))
            .with_names(label(names));
        work(&request.with_samples(samples)).map_err(|error| match error {
            Error::Samples(error) => opened.explain(error, 0),
            error => error.into(),
        })
    }
}

impl From<Error> for Failure {
    /// In the words of the command line.
    fn from(error: Error) -> Failure {
        let said = error.to_string();
        match error {
            Error::NeedsData { plot } => Failure::usage(
                format!("a picture of samples (`--kind {plot}`) needs the table"),
                "use `eigenlens plot MODEL DATA`",
            ),
            Error::DoesNotFit { needs: Capability::Path, .. } => {
                Failure::usage(said, "fit it with `eigenlens fit sparse-pca DATA --path 30`")
            }
            Error::DoesNotFit { plot, method, .. } => Failure::usage(
                format!("`--kind {plot}` does not fit a model of the method `{method}`"),
                "use `--kind scores`",
            ),
            Error::Option { plot, option } => option_does_not_fit(plot, option),
            Error::Axes { n_components } => Failure::usage(
                format!("`--axes` must be two different components of 1 to {n_components}"),
                "use `--axes 1,2`",
            ),
            Error::NoImageShape => Failure::usage(said, "use `--image-size WIDTHxHEIGHT`"),
            Error::ImageShape { .. } => Failure::usage(
                said,
                "use `--image-size WIDTHxHEIGHT`, whose product is the number of features",
            ),
            Error::TooFewComplete { .. } => {
                Failure::Data { what: said, hint: Some("use `--kind scores`".into()) }
            }
            Error::TooFewObserved => {
                Failure::usage(said, "use a larger table, or another `--seed`")
            }
            Error::NotDefined(_) => Failure::Check(said),
            Error::Samples(error) | Error::Library(error) => error.into(),
            Error::Picture(error) => error.into(),
            _ => Failure::Internal(said),
        }
    }
}

fn option_does_not_fit(plot: &str, option: PlotOption) -> Failure {
    let flag = match option {
        PlotOption::Axes => "--axes",
        PlotOption::Color => "--color",
        PlotOption::Names => "--names",
        PlotOption::ImageSize => "--image-size",
    };
    let (what, hint) =
        (format!("`{flag}` does not fit `--kind {plot}`"), format!("leave out `{flag}`"));
    if option != PlotOption::Axes {
        return Failure::usage(what, hint);
    }
    let takers = PLOTS.iter().filter(|plot| plot.takes(option));
    let takers: Vec<String> = takers.map(|plot| format!("`{}`", plot.name)).collect();
    Failure::usage(
        format!("{what}, which shows no plane of two components"),
        format!("{hint}, or use one of the kinds {}", takers.join(", ")),
    )
}

/// A picture's file, made before anything is read.
pub struct PictureOutput {
    output: Output,
    path: PathBuf,
    png: bool,
}

impl PictureOutput {
    pub fn create(path: &Path, inputs: &[PathBuf]) -> Result<PictureOutput, Failure> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let png = match extension.as_deref() {
            Some("svg") => false,
            Some("png") => true,
            None if path == Path::new("-") => false,
            _ => {
                return Err(Failure::usage(
                    format!("`{}` is no picture's name", path.display()),
                    "use a name that ends in `.svg` or `.png`",
                ));
            }
        };
        Ok(PictureOutput { output: create(path, inputs)?, path: path.into(), png })
    }

    pub fn write(mut self, picture: &Picture, reporter: &Reporter) -> Result<(), Failure> {
        if self.png {
            self.output.put(&picture.png(Picture::SCALE)?)?;
        } else {
            self.output.put(picture.svg().as_bytes())?;
        }
        self.output.commit()?;
        if self.path != Path::new("-") {
            reporter.info(format!("picture: {}", self.path.display()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_shape("8x6"), Ok(ImageShape { width: 8, height: 6 }));
        assert!(parse_shape("8").is_err() && parse_shape("0x3").is_err());
    }
}
