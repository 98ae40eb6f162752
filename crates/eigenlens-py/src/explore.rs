//! The interactive report of a model.

use crate::data::DataArgs;
use crate::model::Model;
use crate::picture::{column, image_request, in_words};
use eigenlens::{AnyDataset, Options};
use eigenlens_report::Explorer;
use eigenlens_views::{Error, ExplorerOptions, LabelColumn, Samples, explorer};
use pyo3::prelude::*;

/// What goes into the page: a dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ExploreArgs {
    /// What is known of the samples, as text by name.
    labels: Vec<(String, Vec<String>)>,
    /// What the samples are called.
    names: Option<Vec<String>>,
    /// Width and height of the images that samples are.
    image_size: Option<(usize, usize)>,
    max_samples: Option<usize>,
    include_features: Option<bool>,
    seed: u64,
}

/// The page as HTML.
#[pyfunction]
pub fn explore<'py>(
    py: Python<'py>,
    model: &Model,
    data: Option<DataArgs<'py>>,
    args: ExploreArgs,
) -> PyResult<String> {
    let page = match data {
        None => args.page(model, None),
        Some(data) => data.take()?.run(py, None, |data| {
            let steps = model.stored().preprocessing.without_fill();
            let prepared = steps.apply(data, &Options::default())?;
            match args.page(model, Some(prepared.data())) {
                Err(Error::Samples(error)) => Err(error),
                page => Ok(page),
            }
        })?,
    };
    Ok(page.map_err(in_words)?.to_html())
}

impl ExploreArgs {
    fn page(&self, model: &Model, data: Option<AnyDataset>) -> Result<Explorer, Error> {
        let request = image_request(model, self.image_size)?.with_seed(self.seed);
        let origin = &model.stored().origin;
        let options = ExplorerOptions {
            max_samples: self.max_samples,
            include_features: self.include_features,
            provenance: vec![(
                "Page".into(),
                vec![("made by".into(), format!("eigenlens {}", env!("CARGO_PKG_VERSION")))],
            )],
            options: origin.options.clone(),
            ..ExplorerOptions::default()
        };
        let Some(data) = data else { return explorer(&request, &options) };
        let samples = self.samples(data).map_err(Error::Samples)?;
        let samples = samples.with_fill(model.stored().preprocessing.fill.as_deref());
        explorer(&request.with_samples(samples), &options)
    }

    fn samples<'d>(&self, data: AnyDataset<'d>) -> eigenlens::Result<Samples<'d, '_>> {
        let n = data.n_samples().unwrap_or(0);
        let labels = self.labels.iter().map(|(name, values)| column("`labels`", name, values, n));
        let labels = labels.collect::<eigenlens::Result<Vec<LabelColumn>>>()?;
        let names = self.names.as_ref().map(|values| column("`names`", "name", values, n));
        Ok(Samples::new(data).with_labels(&labels, None).with_names(names.transpose()?))
    }
}
