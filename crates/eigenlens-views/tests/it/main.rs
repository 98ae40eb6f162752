//! The table of plots, and what pictures say.

mod captions;
mod explorer;
mod large;
mod layers;
mod table;

use eigenlens::{AnyDataset, Dataset, Model};
use eigenlens_views::{LabelColumn, Plot, Request, Result, Samples};
use ndarray::Array2;

/// n × 4 with distinct variances, correlated features and a mean that is not 0.
fn numbers(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, 4), |(i, f)| {
        let (x, y) = ((i as f64 * 0.7).sin() * 5.0, (i as f64 * 1.3).cos() * 2.0);
        let noise = ((i * 31 + f * 17) % 13) as f64 / 13.0;
        [x + 7.0, x + y - 2.0, y + 1.0, 0.5 * x - y + 3.0][f] + noise
    })
}

/// The picture of a model and samples in two groups.
fn svg(kind: &str, model: &dyn Model, x: &Array2<f64>) -> Result<String> {
    let groups: Vec<&str> = (0..x.nrows()).map(|i| ["left", "right"][i % 2]).collect();
    let samples = Samples::new(AnyDataset::from(Dataset::from(x)))
        .with_labels(&[LabelColumn { name: "group".into(), values: groups }], None);
    let request = Request::new(model).with_samples(samples);
    Plot::named(kind).unwrap().draw(&request).map(|drawing| drawing.picture.svg().to_owned())
}
