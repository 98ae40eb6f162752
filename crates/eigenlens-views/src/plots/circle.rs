//! Correlations of features with two components.

use super::pca;
use crate::axes::{arrows, plane};
use crate::error::Result;
use crate::plot::{Capability, DataUse, InReport, Plot, PlotOption, Section};
use crate::request::Request;
use eigenlens_report::CorrelationCircle;

pub(crate) static PLOT: Plot = Plot {
    name: "circle",
    about: "Correlations of features with two components",
    data: DataUse::None,
    needs: Capability::Pca,
    options: &[PlotOption::Axes],
    report: InReport::when(Section::Features, |request| {
        request.model().n_components() > 1 && request.model().n_features() <= 60
    }),
    draw: |request| Ok(view(request)?.draw()?.into()),
};

fn view(request: &Request) -> Result<CorrelationCircle> {
    let model = request.model();
    let found = pca(model, &PLOT)?.feature_diagnostics()?.correlations;
    let correlation = |f: usize, axis: usize| found.get([f, axis]).copied().unwrap_or(0.0);
    let [x, y] = plane(model, request.axes());
    Ok(CorrelationCircle {
        x,
        y,
        arrows: arrows(model, |f| request.axes().map(|axis| correlation(f, axis))),
        ..CorrelationCircle::default()
    })
}
