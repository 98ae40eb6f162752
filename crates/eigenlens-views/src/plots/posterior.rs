//! Posterior means in the plane of two components, with ellipses that hold 95 % of the posterior of their
//! samples: of all, or of some, as the caption says.

use super::{latent, scores};
use crate::error::{Error, Result};
use crate::plot::{Capability, DataUse, Drawing, Plot, PlotOption};
use crate::request::Request;
use crate::samples::CONFIDENCE;
use eigenlens::model::covariance_ellipse;
use eigenlens_report::{Coloring, Ellipse};

pub(crate) static PLOT: Plot = Plot {
    name: "posterior",
    about: "Posterior means of samples with an ellipse of their uncertainty",
    data: DataUse::Required,
    needs: Capability::Latent,
    options: &[PlotOption::Axes, PlotOption::Color, PlotOption::Names],
    report: None,
    draw,
};

fn draw(request: &Request) -> Result<Drawing> {
    let (model, samples) = (request.model(), request.need_samples(PLOT.name)?);
    let latent = latent(model, &PLOT)?;
    let posterior = latent.posterior(samples.data()).map_err(Error::Samples)?;
    let mut view = scores::view(request)?;
    let groups: Vec<usize> = match &view.coloring {
        Coloring::Groups { of, .. } => of.clone(),
        _ => Vec::new(),
    };
    let (n, d) = (samples.len(), model.n_features());
    let with_missing_values = (0..n).filter(|&i| posterior.observed[i] < d).collect();
    let shown = Shown::of(n, with_missing_values);
    let [x, y] = request.axes();
    view.title = "Posterior means".into();
    view.ellipses = Vec::new();
    for &i in &shown.rows {
        let Some(spread) = posterior.covariance(i) else { continue };
        let entry = |a: usize, b: usize| spread.get([a, b]).copied().unwrap_or(0.0);
        let covariance = [[entry(x, x), entry(x, y)], [entry(y, x), entry(y, y)]];
        let e = covariance_ellipse(view.points[i], covariance, CONFIDENCE)?;
        let group = groups.get(i).copied();
        view.ellipses.push(Ellipse { group, center: e.center, axes: e.axes });
    }
    view.caption = format!("Ellipses hold 95 % of the posterior of {}.", shown.whose);
    Ok(Drawing { picture: view.draw()?, note: Some(view.caption) })
}

/// The samples whose posterior is drawn.
struct Shown {
    rows: Vec<usize>,
    /// Which they are and how many of how many, in words.
    whose: String,
}

impl Shown {
    /// Of all n samples, or where these are too many of those with missing entries, whose ellipses
    /// differ; of samples without any all ellipses are alike, and some show what they are.
    fn of(n: usize, with_missing_values: Vec<usize>) -> Shown {
        /// More ellipses than these hide each other.
        const MOST: usize = 60;
        let evenly = |all: usize| (0..MOST).map(move |j| j * all / MOST);
        let missing = with_missing_values.len();
        let (rows, whose) = if n <= MOST {
            ((0..n).collect(), format!("all {n} samples"))
        } else if missing == 0 {
            let whose = format!("{MOST} of the {n} samples, spread evenly through the table");
            (evenly(n).collect(), whose)
        } else if missing <= MOST {
            let whose = format!("{missing} of the {n} samples, those with missing entries");
            (with_missing_values, whose)
        } else {
            let whose = format!(
                "{MOST} of the {n} samples, spread evenly among the {missing} with missing entries"
            );
            (evenly(missing).map(|j| with_missing_values[j]).collect(), whose)
        };
        Shown { rows, whose }
    }
}
