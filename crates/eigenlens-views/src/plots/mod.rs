//! Every plot there is, one file each. Command line, report, Python package and tests read this table.

mod biplot;
mod circle;
mod heat_map;
pub(crate) mod images;
mod imputation;
pub(crate) mod loadings;
pub(crate) mod monitoring;
mod path;
mod posterior;
pub mod scores;
pub mod scree;

use crate::error::{Error, Result};
use crate::plot::Plot;
use eigenlens::model::{LatentGaussian, Linear};
use eigenlens::{Model, PcaModel};

/// Every plot: a new one is its file and a row here.
pub static PLOTS: &[&Plot] = &[
    &scree::PLOT,
    &scores::PLOT,
    &biplot::PLOT,
    &loadings::PLOT,
    &heat_map::PLOT,
    &circle::PLOT,
    &monitoring::PLOT,
    &posterior::PLOT,
    &imputation::PLOT,
    &images::PLOT,
    &path::PLOT,
];

/// The model as a PCA.
fn pca<'m>(model: &'m dyn Model, plot: &Plot) -> Result<&'m PcaModel> {
    model.pca().ok_or_else(|| does_not_fit(model, plot))
}

/// The hidden variables behind the samples.
fn latent<'m>(model: &'m dyn Model, plot: &Plot) -> Result<&'m dyn LatentGaussian> {
    model.latent().ok_or_else(|| does_not_fit(model, plot))
}

/// The weights of the features.
fn linear<'m>(model: &'m dyn Model, plot: &Plot) -> Result<Linear<'m>> {
    model.linear().ok_or_else(|| does_not_fit(model, plot))
}

fn does_not_fit(model: &dyn Model, plot: &Plot) -> Error {
    Error::DoesNotFit { plot: plot.name, method: model.method(), needs: plot.needs }
}
