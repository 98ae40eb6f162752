//! Variance explained against non-zeros, along a regularisation path.

use super::does_not_fit;
use crate::error::Result;
use crate::plot::{Capability, DataUse, Plot};
use eigenlens::model::Cells;
use eigenlens::{Model, PathPoint};
use eigenlens_report::{Line, Mark, Series};

pub(crate) static PLOT: Plot = Plot {
    name: "path",
    about: "Variance explained against non-zeros, of a model fitted with `--path`",
    data: DataUse::None,
    needs: Capability::Path,
    options: &[],
    report: None,
    draw: |request| Ok(view(request.model())?.draw()?.into()),
};

fn view(model: &dyn Model) -> Result<Line> {
    let path = model.path().ok_or_else(|| does_not_fit(model, &PLOT))?;
    let names = model.component_names();
    let curve = |name: String, share: &dyn Fn(&PathPoint) -> f64| Series {
        name,
        points: path
            .points
            .iter()
            .map(|point| [point.total_non_zeros() as f64, 100.0 * share(point)])
            .collect(),
        ..Series::default()
    };
    let mut series = vec![curve("all components".into(), &PathPoint::explained)];
    if names.len() > 1 {
        let one = |(j, name): (usize, &String)| {
            curve(name.clone(), &move |point: &PathPoint| point.adjusted_variance_ratio[j])
        };
        series.extend(names.iter().enumerate().map(one));
    }
    let plain = 100.0 * path.plain_variance_ratio;
    let components = if names.len() == 1 { "component" } else { "components" };
    let mark = |x: usize| Mark { x: x as f64, label: "this model".into() };
    Ok(Line {
        title: "Variance explained against non-zeros".into(),
        subtitle: format!("{} plain {components} explain {plain:.1} %", names.len()),
        x_label: "Non-zeros of all components".into(),
        y_label: "Adjusted variance, % of the total".into(),
        series,
        marks: non_zeros(model).map(mark).into_iter().collect(),
        caption: "Each component adds what the ones before it do not explain.".into(),
        ..Line::default()
    })
}

/// The non-zeros of all components, as the summary counts them.
fn non_zeros(model: &dyn Model) -> Option<usize> {
    model.summary().columns.iter().find_map(|column| match (&column.cells, column.name) {
        (Cells::Words(words), "non-zeros") => {
            Some(words.iter().filter_map(|word| word.parse::<usize>().ok()).sum())
        }
        _ => None,
    })
}
