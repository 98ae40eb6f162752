//! The pictures as users will see them.

use eigenlens_report::{
    Arrow, Biplot, ChoiceOfK, Chosen, Coloring, Component, CorrelationCircle, Ellipse, Error,
    Image, ImageGrid, ImageRow, Limit, Line, LoadingBars, Loadings, LoadingsHeatMap, Mark,
    Monitoring, Picture, Reference, Rule, Scores, Scree, Series, Share, Tone,
};

use crate::numbers::{Data, Pca, Random, pca, read};

pub fn all() -> Result<Vec<(String, Picture)>, Error> {
    let pictures = [
        ("scree", arrests_scree().draw()?),
        ("scores", iris_scores().draw()?),
        ("scores_values", iris_values().draw()?),
        ("scores_names", arrests_scores().draw()?),
        ("biplot", arrests_biplot().draw()?),
        ("biplot_groups", iris_biplot().draw()?),
        ("loadings", iris_loadings().draw()?),
        ("heat_map", iris_heat_map().draw()?),
        ("correlation_circle", arrests_circle().draw()?),
        ("monitoring", monitoring().draw()?),
        ("choice_of_k", choice().draw()?),
        ("image_grid", images().draw()?),
        ("line", path().draw()?),
        ("line_band", validation().draw()?),
    ];
    Ok(pictures.into_iter().map(|(name, picture)| (name.to_owned(), picture)).collect())
}

fn iris() -> (Data, Pca) {
    let data = read("iris/data.csv", false);
    let pca = pca(&data.rows, false);
    (data, pca)
}

fn arrests() -> (Data, Pca) {
    let data = read("usarrests/data.csv", true);
    let pca = pca(&data.rows, true);
    (data, pca)
}

/// A share of the variance.
pub fn variance(value: f64) -> Share {
    Share { value, of: "the variance".to_owned() }
}

fn component(pca: &Pca, index: usize) -> Component {
    Component { name: format!("PC{}", index + 1), share: Some(variance(pca.shares()[index])) }
}

fn species() -> Coloring {
    Coloring::Groups {
        names: ["setosa", "versicolor", "virginica"].map(str::to_owned).to_vec(),
        of: (0..150).map(|index| index / 50).collect(),
    }
}

/// The 95 % ellipse of points: the covariance's eigenvectors times the root of the quantile 5.99.
fn ellipse(group: usize, points: &[[f64; 2]]) -> Ellipse {
    let rows: Vec<Vec<f64>> = points.iter().map(|point| point.to_vec()).collect();
    let fit = pca(&rows, false);
    let n = points.len() as f64;
    let center = [0, 1].map(|axis| points.iter().map(|point| point[axis]).sum::<f64>() / n);
    let axes = [0, 1].map(|axis| {
        let length = (5.991 * fit.variances[axis]).sqrt();
        [0, 1].map(|entry| fit.components[axis][entry] * length)
    });
    Ellipse { group: Some(group), center, axes }
}

pub fn arrests_scree() -> Scree {
    let (_, pca) = arrests();
    let error = |variance: &f64| variance * (2.0_f64 / 49.0).sqrt();
    Scree {
        standard_errors: pca.variances.iter().map(error).collect(),
        cumulative: pca.cumulative(),
        chosen: Some(Chosen { n_components: 2, rule: "parallel analysis".to_owned() }),
        references: vec![Reference {
            name: "parallel analysis, 95 % of random data".to_owned(),
            heights: vec![1.46, 1.17, 0.99, 0.81],
        }],
        heights: pca.variances,
        caption: "Four features of 50 states, scaled to unit variance.".to_owned(),
        ..Scree::default()
    }
}

pub fn iris_scores() -> Scores {
    let (_, pca) = iris();
    let points = pca.plane();
    Scores {
        x: component(&pca, 0),
        y: component(&pca, 1),
        coloring: species(),
        ellipses: (0..3).map(|group| ellipse(group, &points[group * 50..][..50])).collect(),
        points,
        caption:
            "Ellipses hold 95 % of a normal distribution with each group's mean and covariance."
                .to_owned(),
        ..Scores::default()
    }
}

fn iris_values() -> Scores {
    let (data, pca) = iris();
    let mut values: Vec<f64> = data.rows.iter().map(|row| row[2]).collect();
    values[7] = f64::NAN;
    Scores {
        x: component(&pca, 0),
        y: component(&pca, 1),
        points: pca.plane(),
        coloring: Coloring::Values { name: "petal_length (cm)".to_owned(), values },
        equal_units: true,
        ..Scores::default()
    }
}

fn arrests_scores() -> Scores {
    let (data, pca) = arrests();
    Scores {
        x: component(&pca, 0),
        y: component(&pca, 1),
        points: pca.plane(),
        names: data.names,
        ..Scores::default()
    }
}

fn arrests_biplot() -> Biplot {
    let (data, pca) = arrests();
    let arrows = data.features.iter().enumerate().map(|(feature, name)| Arrow {
        name: name.clone(),
        tip: [pca.components[0][feature], pca.components[1][feature]],
    });
    Biplot {
        x: component(&pca, 0),
        y: component(&pca, 1),
        points: pca.plane(),
        names: data.names.clone(),
        arrows: arrows.collect(),
        scaling: "Points are scores, arrows are unit components (scaling 0): distances between \
                  points approximate distances between samples."
            .to_owned(),
        ..Biplot::default()
    }
}

fn iris_biplot() -> Biplot {
    let (data, pca) = iris();
    let arrows = data.features.iter().enumerate().map(|(feature, name)| Arrow {
        name: name.clone(),
        tip: [pca.components[0][feature], pca.components[1][feature]],
    });
    Biplot {
        x: component(&pca, 0),
        y: component(&pca, 1),
        points: pca.plane(),
        coloring: species(),
        arrows: arrows.collect(),
        scaling: "Points are scores, arrows are unit components (scaling 0).".to_owned(),
        ..Biplot::default()
    }
}

fn iris_loadings() -> Loadings {
    let (data, pca) = iris();
    let components = (0..3).map(|index| LoadingBars {
        component: component(&pca, index),
        values: (0..4).map(|feature| pca.loading(index, feature)).collect(),
    });
    Loadings {
        components: components.collect(),
        features: data.features,
        caption: "Loadings are components times the standard deviation of their scores.".to_owned(),
        ..Loadings::default()
    }
}

fn iris_heat_map() -> LoadingsHeatMap {
    let (data, pca) = iris();
    let mut values: Vec<Vec<f64>> =
        (0..4).map(|f| (0..4).map(|c| pca.components[c][f]).collect()).collect();
    values[1][0] = 0.0;
    values[3][2] = 0.0;
    LoadingsHeatMap {
        features: data.features,
        components: (0..4).map(|index| component(&pca, index)).collect(),
        values,
        value_label: "Component entry".to_owned(),
        caption: "Two entries set to zero, as sparse PCA does.".to_owned(),
        ..LoadingsHeatMap::default()
    }
}

fn arrests_circle() -> CorrelationCircle {
    let (data, pca) = arrests();
    let arrows = data.features.iter().enumerate().map(|(feature, name)| Arrow {
        name: name.clone(),
        tip: [pca.loading(0, feature), pca.loading(1, feature)],
    });
    CorrelationCircle {
        x: component(&pca, 0),
        y: component(&pca, 1),
        arrows: arrows.collect(),
        supplementary: vec![Arrow { name: "income".to_owned(), tip: [0.35, -0.45] }],
        ..CorrelationCircle::default()
    }
}

fn monitoring() -> Monitoring {
    let mut random = Random(7);
    let chi = |random: &mut Random, k: usize| (0..k).map(|_| random.normal().powi(2)).sum::<f64>();
    let n = 180;
    let t_squared: Vec<f64> =
        (0..n).map(|i| chi(&mut random, 3) * if i % 45 == 7 { 4.0 } else { 1.0 }).collect();
    let q: Vec<f64> =
        (0..n).map(|i| 0.1 * chi(&mut random, 5) * if i % 40 == 11 { 3.5 } else { 1.0 }).collect();
    Monitoring {
        t_squared,
        q,
        t_squared_limit: Some(Limit { value: 11.6, label: "99 % limit".to_owned() }),
        q_limit: Some(Limit { value: 1.51, label: "99 % limit".to_owned() }),
        names: (0..n).map(|index| format!("batch {index}")).collect(),
        caption: "Limits: F distribution for T², Jackson and Mudholkar for Q.".to_owned(),
        ..Monitoring::default()
    }
}

fn choice() -> ChoiceOfK {
    let rule = |name: &str, n_components: Option<usize>, note: &str| Rule {
        name: name.to_owned(),
        n_components,
        note: note.to_owned(),
    };
    ChoiceOfK {
        heights: (0..30).map(|i| 6.0 * (-0.45 * f64::from(i)).exp() + 0.25).collect(),
        rules: vec![
            rule("parallel analysis", Some(4), ""),
            rule("elbow", Some(3), ""),
            rule("Kaiser (above average)", Some(5), ""),
            rule("broken stick", Some(4), ""),
            rule("Gavish–Donoho", Some(4), "noise level estimated"),
            rule("cross-validation", Some(6), "4 to 7 within one standard error"),
            rule("90 % of the variance", Some(11), ""),
            rule("minimum description length", None, "needs more samples than features"),
        ],
        chosen: Some(4),
        ..ChoiceOfK::default()
    }
}

/// A face-like pattern: an oval, two eyes, a mouth.
fn face(size: usize, smile: f64, width: f64) -> Vec<f64> {
    let blob = |x: f64, y: f64, cx: f64, cy: f64, sx: f64, sy: f64| {
        (-((x - cx) / sx).powi(2) - ((y - cy) / sy).powi(2)).exp()
    };
    (0..size * size)
        .map(|index| {
            let x = (index % size) as f64 / size as f64 * 2.0 - 1.0;
            let y = (index / size) as f64 / size as f64 * 2.0 - 1.0;
            let oval = blob(x, y, 0.0, 0.0, width, 0.9);
            let eyes = blob(x, y, -0.3, -0.25, 0.12, 0.08) + blob(x, y, 0.3, -0.25, 0.12, 0.08);
            let mouth = blob(x, y - smile * x * x, 0.0, 0.45, 0.3, 0.06);
            oval - 0.7 * eyes - 0.5 * mouth
        })
        .collect()
}

fn images() -> ImageGrid {
    let size = 40;
    let image = |caption: &str, pixels: Vec<f64>, tone: Tone| Image {
        caption: caption.to_owned(),
        width: size,
        height: size,
        pixels,
        tone,
    };
    let mean = face(size, 0.0, 0.7);
    let minus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x - y).collect::<Vec<f64>>();
    let smile = minus(&face(size, -0.6, 0.7), &mean);
    let width = minus(&face(size, 0.0, 0.8), &mean);
    let both = minus(&smile, &width);
    let mix = |a: f64, b: f64| -> Vec<f64> {
        (0..size * size).map(|i| mean[i] + a * smile[i] + b * width[i]).collect()
    };
    let grey = Tone::Grey { black: -0.3, white: 1.0 };
    ImageGrid {
        title: "Eigenfaces".to_owned(),
        rows: vec![
            ImageRow {
                title: "Mean and components".to_owned(),
                images: vec![
                    image("mean", mean.clone(), Tone::Stretch),
                    image("PC1 · 41.2 %", smile.clone(), Tone::Diverging),
                    image("PC2 · 22.9 %", width.clone(), Tone::Diverging),
                    image("PC3 · 8.3 %", both, Tone::Diverging),
                ],
            },
            ImageRow {
                title: "Reconstructions of image_017.png".to_owned(),
                images: vec![
                    image("original", mix(0.9, 0.8), grey),
                    image("k = 0", mix(0.0, 0.0), grey),
                    image("k = 1", mix(0.9, 0.0), grey),
                    image("k = 2", mix(0.9, 0.6), grey),
                    image("k = 3", mix(0.9, 0.8), grey),
                ],
            },
        ],
        caption: "Components: blue adds light, orange takes it away, white leaves it.".to_owned(),
    }
}

fn path() -> Line {
    let names = ["sepal_length", "sepal_width", "petal_length", "petal_width"];
    let strength = [0.36, -0.25, 0.86, 0.36];
    let series = names.iter().zip(strength).map(|(name, full)| Series {
        name: (*name).to_owned(),
        points: (0..60)
            .map(|step| {
                let penalty = 10f64.powf(-3.0 + f64::from(step) / 20.0);
                let shrunk: f64 = (f64::abs(full) - 0.5 * penalty).max(0.0);
                [penalty, shrunk.copysign(full)]
            })
            .collect(),
        ..Series::default()
    });
    Line {
        title: "Regularisation path of PC1".to_owned(),
        x_label: "Penalty".to_owned(),
        y_label: "Component entry".to_owned(),
        log_x: true,
        series: series.collect(),
        ..Line::default()
    }
}

fn validation() -> Line {
    let error = |k: f64| 0.3 + 0.7 * (-0.8 * k).exp() + 0.004 * k * k;
    let points: Vec<[f64; 2]> = (0..12).map(|k| [f64::from(k), error(f64::from(k))]).collect();
    Line {
        title: "Cross-validation".to_owned(),
        subtitle: "Error of predicting left-out entries, ten folds".to_owned(),
        x_label: "Number of components".to_owned(),
        y_label: "Mean squared error".to_owned(),
        series: vec![Series {
            name: "error ± one standard error".to_owned(),
            band: points.iter().map(|point| [point[1] - 0.03, point[1] + 0.03]).collect(),
            points,
        }],
        marks: vec![
            Mark { x: 3.0, label: "one-standard-error rule".to_owned() },
            Mark { x: 5.0, label: "minimum".to_owned() },
        ],
        ..Line::default()
    }
}
