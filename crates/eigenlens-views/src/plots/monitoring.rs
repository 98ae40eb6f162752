//! Hotelling's T² against Q, with their limits.

use super::pca;
use crate::error::{Error, Result};
use crate::plot::{Capability, DataUse, Drawing, InReport, Plot, PlotOption, Section};
use crate::request::Request;
use crate::samples::CONFIDENCE;
use eigenlens::{AnyDataset, Dataset, Missing, Options, PcaModel, Scalar, dispatch};
use eigenlens_report::{Limit, Monitoring};
use ndarray::Array2;

pub(crate) static PLOT: Plot = Plot {
    name: "monitoring",
    about: "T² against Q with their limits",
    data: DataUse::Required,
    needs: Capability::Pca,
    options: &[PlotOption::Names],
    report: InReport::always(Section::Samples),
    draw,
};

fn draw(request: &Request) -> Result<Drawing> {
    let (pca, samples) = (pca(request.model(), &PLOT)?, request.need_samples(PLOT.name)?);
    let found = Monitored::of(pca, samples.data()).map_err(|error| match error {
        eigenlens::Error::NothingLeft { left, .. } => {
            Error::TooFewComplete { complete: left, n_samples: samples.len() }
        }
        error => Error::NotDefined(error),
    })?;
    let mut caption = String::from(CAPTION);
    let (mut names, mut note) = (samples.names(), None);
    if let Some(rows) = &found.rows {
        let (shown, of) = (rows.len(), samples.len());
        caption.push_str(&format!(
            " Shown are {shown} of the {of} samples: those without missing entries."
        ));
        note = Some(format!("shown: {shown} of {of} samples, those without missing entries"));
        names = rows.iter().filter_map(|&row| names.get(row).cloned()).collect();
    }
    let limit = |value: Option<f64>| value.map(|value| Limit { value, label: limit_label() });
    let view = Monitoring {
        t_squared: found.t_squared,
        q: found.q,
        t_squared_limit: limit(found.t_squared_limit),
        q_limit: limit(found.q_limit),
        names,
        caption,
        ..Monitoring::default()
    };
    Ok(Drawing { picture: view.draw()?, note })
}

/// What T² and Q are.
pub(crate) const CAPTION: &str = "T² is the distance within the components, Q the squared distance from them; limits \
                                  assume normal training samples.";

/// What limits are called.
pub(crate) fn limit_label() -> String {
    format!("{:.0} % limit", 100.0 * CONFIDENCE)
}

/// T² and Q of samples.
pub(crate) struct Monitored {
    pub t_squared: Vec<f64>,
    pub q: Vec<f64>,
    pub t_squared_limit: Option<f64>,
    pub q_limit: Option<f64>,
    /// The share of each sample's squared distance from the mean that each component carries (n × k).
    pub squared_cosines: Array2<f64>,
    /// The samples they are of, where not of all: those without missing entries.
    pub rows: Option<Vec<usize>>,
}

impl Monitored {
    pub(crate) fn of(pca: &PcaModel, data: &AnyDataset) -> eigenlens::Result<Monitored> {
        dispatch!(data, d => Monitored::of_complete_rows(pca, d))
    }

    fn of_complete_rows<T: Scalar>(
        pca: &PcaModel,
        data: &Dataset<T>,
    ) -> eigenlens::Result<Monitored> {
        let complete = data.clone().with_missing(Missing::DropRows).with_most_missing(1.0);
        let complete = complete.resolve_missing(&Options::default())?;
        let data = complete.dataset();
        let diagnostics = pca.sample_diagnostics(&data)?;
        Ok(Monitored {
            t_squared: diagnostics.t_squared.to_vec(),
            q: diagnostics.q.to_vec(),
            t_squared_limit: pca.t_squared_limit_training(CONFIDENCE).ok(),
            q_limit: pca
                .q_limit(&data, CONFIDENCE)
                .ok()
                .map(|limit| limit.q())
                .filter(|limit| *limit > 0.0),
            squared_cosines: diagnostics.squared_cosines,
            rows: complete.kept_rows().map(<[usize]>::to_vec),
        })
    }
}
