//! Pictures of models whose samples are images.

use crate::failure::Failure;
use eigenlens::model::percent;
use eigenlens::{Dataset, PcaModel};
use eigenlens_io::{ImageShape, StoredModel};
use eigenlens_report::{Image, ImageGrid, ImageRow, Tone};
use ndarray::{Array2, ArrayView1};

/// `8x8` and the like.
pub fn parse_shape(text: &str) -> Result<ImageShape, String> {
    let sides = text.split_once(['x', '×']).and_then(|(width, height)| {
        Some((width.trim().parse::<usize>().ok()?, height.trim().parse::<usize>().ok()?))
    });
    match sides {
        Some((width, height)) if width > 0 && height > 0 => Ok(ImageShape { width, height }),
        _ => Err("expected width and height, such as 8x8".into()),
    }
}

/// The size of a model's images: as said, else as it was read.
pub fn shape(
    stored: &StoredModel,
    said: Option<ImageShape>,
) -> Result<Option<ImageShape>, Failure> {
    let d = stored.model.n_features();
    match said {
        Some(shape) if shape.width.checked_mul(shape.height) != Some(d) => Err(Failure::usage(
            format!("{} × {} pixels are not the {d} features", shape.width, shape.height),
            "use `--image-size WIDTHxHEIGHT`, whose product is the number of features",
        )),
        Some(shape) => Ok(Some(shape)),
        None => Ok(stored.origin.image),
    }
}

/// Mean, components, and the first samples rebuilt from more and more components.
pub fn grid(
    model: &PcaModel,
    shape: ImageShape,
    first: Option<&Array2<f64>>,
) -> Result<ImageGrid, Failure> {
    let image = |pixels: Vec<f64>, caption: String, tone: Tone| Image {
        caption,
        width: shape.width,
        height: shape.height,
        pixels,
        tone,
    };
    let shares = model.explained_variance_ratio();
    let mean = image(model.mean().to_vec(), "mean".into(), Tone::default());
    let components = (0..model.n_components().min(11)).map(|j| {
        let caption = format!("{} · {}", j + 1, percent(shares[j]));
        image(model.components().row(j).to_vec(), caption, Tone::Diverging)
    });
    let mut rows = vec![ImageRow {
        title: "Mean and components".into(),
        images: std::iter::once(mean).chain(components).collect(),
    }];
    if let Some(first) = first.filter(|first| first.nrows() > 0) {
        let scores = model.transform(&Dataset::from(first))?;
        for (i, sample) in first.rows().into_iter().enumerate() {
            let same = tone(sample);
            let mut images = vec![image(sample.to_vec(), "original".into(), same)];
            for k in steps(model.n_components()) {
                let mut kept = scores.row(i).to_owned().insert_axis(ndarray::Axis(0));
                kept.slice_mut(ndarray::s![.., k..]).fill(0.0);
                let back = model.inverse_transform(kept.view())?;
                images.push(image(back.row(0).to_vec(), format!("k = {k}"), same));
            }
            rows.push(ImageRow { title: format!("Sample {}", i + 1), images });
        }
    }
    Ok(ImageGrid { rows, ..ImageGrid::default() })
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

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_shape("8x6"), Ok(ImageShape { width: 8, height: 6 }));
        assert!(parse_shape("8").is_err() && parse_shape("0x3").is_err());
    }
}
