//! Samples in the plane of two components.

use crate::axes::plane;
use crate::error::Result;
use crate::plot::{Capability, DataUse, InReport, Plot, PlotOption, Section};
use crate::request::Request;
use crate::samples::{ellipse_caption, ellipses};
use eigenlens_report::Scores;

pub(crate) static PLOT: Plot = Plot {
    name: "scores",
    about: "Samples in the plane of two components",
    data: DataUse::Required,
    needs: Capability::Scores,
    options: &[PlotOption::Axes, PlotOption::Color, PlotOption::Names],
    report: InReport::always(Section::Samples),
    draw: |request| Ok(view(request)?.draw()?.into()),
};

/// The samples, with an ellipse around each group where scores are coordinates.
pub fn view(request: &Request) -> Result<Scores> {
    let (model, samples) = (request.model(), request.need_samples(PLOT.name)?);
    let points = request.points(PLOT.name)?;
    let coloring = samples.coloring();
    let probabilities = model.scores_are_probabilities();
    let ellipses = if probabilities { Vec::new() } else { ellipses(&points, &coloring)? };
    let title = if probabilities { "Probabilities of the parts" } else { "" };
    let [x, y] = plane(model, request.axes());
    Ok(Scores {
        title: title.into(),
        x,
        y,
        names: samples.names(),
        caption: ellipse_caption(&ellipses),
        ellipses,
        coloring,
        points,
        ..Scores::default()
    })
}
