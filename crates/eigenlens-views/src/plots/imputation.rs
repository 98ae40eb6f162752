//! Entries that were hidden from the model against what it puts in their place, in standard deviations of their
//! feature.

use super::latent;
use crate::error::{Error, Result};
use crate::plot::{Capability, DataUse, Plot};
use crate::request::Request;
use eigenlens_report::{Component, Scores};

pub(crate) static PLOT: Plot = Plot {
    name: "imputation",
    about: "Held-out entries against what the model puts in their place",
    data: DataUse::Required,
    needs: Capability::Latent,
    options: &[],
    report: None,
    draw: |request| Ok(view(request)?.draw()?.into()),
};

/// The share of observed entries that is hidden.
const HIDDEN: f64 = 0.1;

fn view(request: &Request) -> Result<Scores> {
    let (latent, samples) = (latent(request.model(), &PLOT)?, request.need_samples(PLOT.name)?);
    let hidden = latent.held_out(samples.data(), HIDDEN, request.seed());
    let hidden = hidden.map_err(Error::Samples)?;
    if hidden.entries.is_empty() {
        return Err(Error::TooFewObserved);
    }
    let axis = |what: &str| Component {
        name: format!("{what} value, in standard deviations of its feature"),
        share: None,
    };
    Ok(Scores {
        title: "Imputed values against hidden ones".into(),
        x: axis("hidden"),
        y: axis("imputed"),
        points: hidden.entries.iter().map(|e| [e.actual, e.imputed]).collect(),
        points_are: "observed entries, hidden and imputed".into(),
        equal_units: true,
        diagonal: true,
        caption: format!(
            "{:.0} % of the observed entries were hidden at random and imputed from the rest of their \
             samples. On the line an entry is imputed without error. The root mean square error is \
             {:.3} standard deviations, where the feature's mean would have 1; {:.1} % of the entries \
             lie within 1.96 standard errors, where 95 % should.",
            100.0 * HIDDEN,
            hidden.root_mean_square(),
            100.0 * hidden.coverage(1.96)
        ),
        ..Scores::default()
    })
}
