//! Samples and features together: distances between samples are true (Gabriel 1971).

use super::linear;
use crate::axes::{arrows, plane};
use crate::error::Result;
use crate::plot::{Capability, DataUse, InReport, Plot, PlotOption, Section};
use crate::request::Request;
use crate::samples::{ellipse_caption, ellipses};
use eigenlens_report::Biplot;

pub(crate) static PLOT: Plot = Plot {
    name: "biplot",
    about: "Samples and features together",
    data: DataUse::Required,
    needs: Capability::Linear,
    options: &[PlotOption::Axes, PlotOption::Color, PlotOption::Names],
    // Arrows of thousands of features hide the points.
    report: InReport::when(Section::Samples, |request| {
        request.model().n_features() <= 60 && request.model().n_components() > 1
    }),
    draw: |request| Ok(view(request)?.draw()?.into()),
};

fn view(request: &Request) -> Result<Biplot> {
    let (model, samples) = (request.model(), request.need_samples(PLOT.name)?);
    let linear = linear(model, &PLOT)?;
    let components = linear.components;
    let points = request.points(PLOT.name)?;
    let coloring = samples.coloring();
    let ellipses = ellipses(&points, &coloring)?;
    let weight = |axis: usize, f: usize| components.get([axis, f]).copied().unwrap_or(0.0);
    let [x, y] = plane(model, request.axes());
    Ok(Biplot {
        x,
        y,
        names: samples.names(),
        arrows: arrows(model, |f| request.axes().map(|axis| weight(axis, f))),
        scaling: format!(
            "Points are scores, arrows are unit components: distances between points approximate {}.",
            linear.distances
        ),
        caption: ellipse_caption(&ellipses),
        ellipses,
        coloring,
        points,
        ..Biplot::default()
    })
}
