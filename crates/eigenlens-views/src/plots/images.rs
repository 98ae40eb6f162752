//! Mean and components of images, and the first samples rebuilt from more and more components.

use super::linear;
use crate::error::{Error, Result};
use crate::plot::{Capability, DataUse, InReport, Plot, PlotOption, Section};
use crate::request::{ImageShape, Request};
use eigenlens::PcaModel;
use eigenlens::model::percent;
use eigenlens_report::{Image, ImageGrid, ImageRow, Tone};
use ndarray::{Array2, ArrayView1, Axis, s};

pub(crate) static PLOT: Plot = Plot {
    name: "images",
    about: "Mean and components as images, and reconstructions",
    data: DataUse::Optional,
    needs: Capability::Linear,
    options: &[PlotOption::ImageSize],
    report: InReport::when(Section::Images, |request| request.image_shape().is_some()),
    draw: |request| Ok(view(request)?.draw()?.into()),
};

/// Components and samples beyond these have no room.
const COMPONENTS: usize = 11;
const SAMPLES: usize = 6;

fn view(request: &Request) -> Result<ImageGrid> {
    let shape = request.image_shape().ok_or(Error::NoImageShape)?;
    let linear = linear(request.model(), &PLOT)?;
    let axes = request.model().axes();
    let mean = image(shape, linear.mean.to_vec(), "mean".into(), Tone::default());
    let components = axes.iter().take(COMPONENTS).zip(linear.components.rows()).enumerate();
    let components = components.map(|(j, (axis, weights))| {
        let share =
            axis.share.map_or(String::new(), |share| format!(" · {}", percent(share.value)));
        image(shape, weights.to_vec(), format!("{}{share}", j + 1), Tone::Diverging)
    });
    let mut rows = vec![ImageRow {
        title: "Mean and components".into(),
        images: std::iter::once(mean).chain(components).collect(),
    }];
    let first = request.samples().and_then(|samples| samples.first_rows(SAMPLES));
    let first = first.filter(|first| first.nrows() > 0);
    // Only principal components lead back to the samples.
    if let (Some(first), Some(model)) = (first, request.model().pca()) {
        rows.extend(rebuilt(model, shape, &first)?);
    }
    Ok(ImageGrid { rows, ..ImageGrid::default() })
}

/// Each sample beside what more and more components keep of it.
fn rebuilt(model: &PcaModel, shape: ImageShape, first: &Array2<f64>) -> Result<Vec<ImageRow>> {
    let scores = model.transform(first)?;
    let mut rows = Vec::new();
    for (i, sample) in first.rows().into_iter().enumerate() {
        let same = tone(sample);
        let mut images = vec![image(shape, sample.to_vec(), "original".into(), same)];
        for k in steps(model.n_components()) {
            let mut kept = scores.row(i).to_owned().insert_axis(Axis(0));
            kept.slice_mut(s![.., k..]).fill(0.0);
            let back = model.inverse_transform(kept.view())?;
            images.push(image(shape, back.row(0).to_vec(), format!("k = {k}"), same));
        }
        rows.push(ImageRow { title: format!("Sample {}", i + 1), images });
    }
    Ok(rows)
}

fn image(shape: ImageShape, pixels: Vec<f64>, caption: String, tone: Tone) -> Image {
    Image { caption, width: shape.width, height: shape.height, pixels, tone }
}

/// One scale of brightness for a sample and its reconstructions.
fn tone(sample: ArrayView1<f64>) -> Tone {
    let black = sample.iter().copied().fold(f64::INFINITY, f64::min);
    let white = sample.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if white > black { Tone::Grey { black, white } } else { Tone::default() }
}

/// Numbers of components to rebuild from: doubling, up to all.
fn steps(most: usize) -> Vec<usize> {
    let mut steps: Vec<usize> =
        std::iter::successors(Some(1), |k| Some(2 * k)).take_while(|k| *k < most).collect();
    steps.push(most);
    let skipped = steps.len().saturating_sub(6);
    steps.split_off(skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reconstructions_double_up_to_all() {
        assert_eq!(steps(1), [1]);
        assert_eq!(steps(5), [1, 2, 4, 5]);
        assert_eq!(steps(100), [4, 8, 16, 32, 64, 100]);
    }
}
