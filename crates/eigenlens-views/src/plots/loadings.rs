//! Bars of the largest loadings of the first components.

use super::linear;
use crate::axes::components;
use crate::error::Result;
use crate::plot::{Capability, DataUse, InReport, Plot, Section};
use eigenlens::Model;
use eigenlens::model::Linear;
use eigenlens_report::{LoadingBars, Loadings};

pub(crate) static PLOT: Plot = Plot {
    name: "loadings",
    about: "The largest loadings of each component",
    data: DataUse::None,
    needs: Capability::Linear,
    options: &[],
    report: InReport::always(Section::Features),
    draw: |request| Ok(view(request.model())?.draw()?.into()),
};

/// Components beyond these have a heat map.
const SHOWN: usize = 4;

fn view(model: &dyn Model) -> Result<Loadings> {
    let linear = linear(model, &PLOT)?;
    let shown = components(model).into_iter().take(SHOWN).enumerate();
    let bars = shown.map(|(j, component)| LoadingBars {
        component,
        values: linear.loadings.column(j).to_vec(),
    });
    Ok(Loadings {
        features: model.feature_labels(),
        components: bars.collect(),
        caption: caption(&linear),
        ..Loadings::default()
    })
}

/// What loadings are, as the model says.
pub(crate) fn caption(linear: &Linear) -> String {
    format!("Loadings: components times {}.", linear.scaled_by)
}
