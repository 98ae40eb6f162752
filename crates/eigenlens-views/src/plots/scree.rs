//! Variances or eigenvalues in order.

use super::does_not_fit;
use crate::error::Result;
use crate::plot::{Capability, DataUse, InReport, Plot, Section};
use eigenlens::Model;
use eigenlens_report::{Chosen, Scree};

pub(crate) static PLOT: Plot = Plot {
    name: "scree",
    about: "Variances with the cumulative share",
    data: DataUse::None,
    needs: Capability::Scree,
    options: &[],
    report: InReport::always(Section::Components),
    draw: |request| Ok(view(request.model())?.draw()?.into()),
};

/// The heights that the model knows, those it keeps marked.
pub fn view(model: &dyn Model) -> Result<Scree> {
    let found = model.summary().scree.ok_or_else(|| does_not_fit(model, &PLOT))?;
    Ok(Scree {
        height_label: found.what.into(),
        cumulative: found.cumulative,
        cumulative_of: found.of.into(),
        standard_errors: found.standard_errors,
        heights: found.heights,
        chosen: Some(Chosen { n_components: model.n_components(), rule: String::new() }),
        ..Scree::default()
    })
}
