//! Pictures of models: any plot of the one table of plots.

use crate::data::DataArgs;
use crate::errors;
use crate::model::Model;
use eigenlens::{AnyDataset, Options};
use eigenlens_io::write::Output;
use eigenlens_views::{
    Drawing, Error, ImageShape, LabelColumn, PLOTS, Plot, PlotOption, Request, Samples,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A picture: shown in notebooks, saved as SVG or PNG.
#[pyclass(frozen, module = "eigenlens._core")]
pub struct Picture(Drawing);

#[pymethods]
impl Picture {
    /// The text of the SVG.
    #[getter]
    fn svg(&self) -> &str {
        self.0.picture.svg()
    }

    /// What is not obvious from the picture, such as samples that are not shown.
    #[getter]
    fn note(&self) -> Option<&str> {
        self.0.note.as_deref()
    }

    /// The bytes of a PNG.
    fn png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.to_png()?))
    }

    /// Writes the picture to a file whose name ends in `.svg` or `.png`; it appears whole or not at all.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let bytes = match extension.as_deref() {
            Some("svg") => self.svg().as_bytes().to_vec(),
            Some("png") => self.to_png()?,
            _ => {
                let said = "is no picture's name; use one that ends in `.svg` or `.png`";
                return Err(PyValueError::new_err(format!("`{}` {said}", path.display())));
            }
        };
        let mut output = Output::create(&path, &[]).map_err(errors::owned_file)?;
        output.put(&bytes).map_err(errors::owned_file)?;
        output.commit().map_err(errors::owned_file)
    }

    fn _repr_svg_(&self) -> &str {
        self.svg()
    }
}

impl Picture {
    fn to_png(&self) -> PyResult<Vec<u8>> {
        let png = self.0.picture.png(eigenlens_report::Picture::SCALE);
        png.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// Names and descriptions of all plots, or of those that show a model, without samples if there are none.
#[pyfunction]
#[pyo3(signature = (model=None, has_data=true))]
pub fn plots(model: Option<&Model>, has_data: bool) -> Vec<(&'static str, &'static str)> {
    let fits =
        |plot: &&&Plot| model.is_none_or(|model| plot.check(model.model(), has_data).is_ok());
    PLOTS.iter().filter(fits).map(|plot| (plot.name, plot.about)).collect()
}

/// What may be asked of a plot: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PlotOptions {
    /// Two components, counted from 0.
    axes: Option<(usize, usize)>,
    /// What colours the samples, as text, and what it is called.
    color: Option<(String, Vec<String>)>,
    /// What the samples are called.
    names: Option<Vec<String>>,
    /// Width and height of the images that samples are.
    image_size: Option<(usize, usize)>,
    seed: u64,
}

/// Draws a plot of a model, with samples where there are any.
#[pyfunction]
pub fn draw<'py>(
    py: Python<'py>,
    model: &Model,
    kind: Option<&str>,
    data: Option<DataArgs<'py>>,
    options: PlotOptions,
) -> PyResult<Picture> {
    let plot = named(kind, data.is_some(), options.image_size.is_some())?;
    plot.check_options(options.given()).map_err(in_words)?;
    plot.check(model.model(), data.is_some()).map_err(in_words)?;
    let drawn = match data {
        None => options.request(model).and_then(|request| plot.draw(&request)),
        Some(data) => data.take()?.run(py, None, |data| {
            let steps = model.stored().preprocessing.without_fill();
            let prepared = steps.apply(data, &Options::default())?;
            match options.draw(plot, model, prepared.data()) {
                Err(Error::Samples(error)) => Err(error),
                drawn => Ok(drawn),
            }
        })?,
    };
    drawn.map(Picture).map_err(in_words)
}

fn named(kind: Option<&str>, has_data: bool, has_size: bool) -> PyResult<&'static Plot> {
    let Some(name) = kind else { return Ok(Plot::default_for(has_data, has_size)) };
    Plot::named(name).ok_or_else(|| {
        let names: Vec<&str> = PLOTS.iter().map(|plot| plot.name).collect();
        PyValueError::new_err(format!("`{name}` is no plot; there are {}", names.join(", ")))
    })
}

impl PlotOptions {
    fn given(&self) -> impl Iterator<Item = PlotOption> {
        let given = [
            (PlotOption::Axes, self.axes.is_some()),
            (PlotOption::Color, self.color.is_some()),
            (PlotOption::Names, self.names.is_some()),
            (PlotOption::ImageSize, self.image_size.is_some()),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(option, _)| option)
    }

    fn request<'m>(&self, model: &'m Model) -> Result<Request<'static, 'm>, Error> {
        let request = image_request(model, self.image_size)?.with_seed(self.seed);
        match self.axes {
            Some((x, y)) => request.with_axes([x, y]),
            None => Ok(request),
        }
    }

    /// Draws these samples.
    fn draw(&self, plot: &Plot, model: &Model, data: AnyDataset) -> Result<Drawing, Error> {
        let samples = self.samples(data).map_err(Error::Samples)?;
        let samples = samples.with_fill(model.stored().preprocessing.fill.as_deref());
        plot.draw(&self.request(model)?.with_samples(samples))
    }

    fn samples<'d>(&self, data: AnyDataset<'d>) -> eigenlens::Result<Samples<'d, '_>> {
        let n = data.n_samples().unwrap_or(0);
        let color = self.color.as_ref().map(|(name, values)| column("`color`", name, values, n));
        let names = self.names.as_ref().map(|values| column("`names`", "name", values, n));
        Ok(Samples::new(data).with_color(color.transpose()?).with_names(names.transpose()?))
    }
}

/// A model to be drawn, its images as large as is said, or else as they were read.
pub fn image_request(
    model: &Model,
    image_size: Option<(usize, usize)>,
) -> Result<Request<'static, '_>, Error> {
    let said = image_size.map(|(width, height)| ImageShape { width, height });
    let read = model.stored().origin.image;
    let read = read.map(|read| ImageShape { width: read.width, height: read.height });
    Request::new(model.model()).with_image_shape(said, read)
}

/// Text that belongs to n samples.
pub fn column<'a>(
    what: &'static str,
    name: &str,
    values: &'a [String],
    n: usize,
) -> eigenlens::Result<LabelColumn<'a>> {
    if values.len() != n {
        let found = format!("{} entries", values.len());
        let expected = format!("one for each of {n} samples");
        return Err(eigenlens::Error::Shape { what, found, expected });
    }
    Ok(LabelColumn { name: name.into(), values: values.iter().map(String::as_str).collect() })
}

/// Why there is no picture, in Python's words.
pub fn in_words(error: Error) -> PyErr {
    let said = error.to_string();
    let hint = match error {
        Error::NotDefined(error) | Error::Samples(error) | Error::Library(error) => {
            return errors::library(error);
        }
        Error::NeedsData { .. } => "; give `X`",
        Error::Option { option: PlotOption::Axes, .. } => "; leave out `components`",
        Error::Option { option: PlotOption::Color, .. } => "; leave out `color`",
        Error::Option { option: PlotOption::Names, .. } => "; leave out `names`",
        Error::Option { option: PlotOption::ImageSize, .. } => "; leave out `image_size`",
        Error::Axes { .. } => ", counted from 0",
        Error::NoImageShape => "; use `image_size=(width, height)`",
        _ => "",
    };
    PyValueError::new_err(format!("{said}{hint}"))
}
