//! All loadings as colours.

use super::linear;
use super::loadings::caption;
use crate::axes::components;
use crate::error::Result;
use crate::plot::{Capability, DataUse, InReport, Plot, Section};
use eigenlens::Model;
use eigenlens_report::LoadingsHeatMap;

pub(crate) static PLOT: Plot = Plot {
    name: "heat-map",
    about: "All loadings as colours",
    data: DataUse::None,
    needs: Capability::Linear,
    options: &[],
    report: InReport::when(Section::Features, |request| {
        request.model().n_components() > 1 && request.model().n_features() <= 500
    }),
    draw: |request| Ok(view(request.model())?.draw()?.into()),
};

fn view(model: &dyn Model) -> Result<LoadingsHeatMap> {
    let linear = linear(model, &PLOT)?;
    Ok(LoadingsHeatMap {
        features: model.feature_labels(),
        components: components(model),
        values: linear.loadings.rows().into_iter().map(|row| row.to_vec()).collect(),
        caption: caption(&linear),
        ..LoadingsHeatMap::default()
    })
}
