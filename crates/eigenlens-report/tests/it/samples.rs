//! One ordinary picture of each kind, with names of the test's choice.

use eigenlens_report::{
    Arrow, Biplot, ChoiceOfK, Chosen, Coloring, Component, CorrelationCircle, Ellipse, Error,
    Image, ImageGrid, ImageRow, Limit, Line, LoadingBars, Loadings, LoadingsHeatMap, Mark,
    Monitoring, Picture, Reference, Rule, Scores, Scree, Series, Share, Tone,
};

/// Numbers that look random and are the same everywhere.
pub fn wave(index: usize) -> f64 {
    let mut z = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// How large the pictures' data are, and what everything is called.
pub struct Size<'a> {
    pub samples: usize,
    pub features: usize,
    pub components: usize,
    /// Every name, title and caption begins with this.
    pub name: &'a str,
    /// Everything is multiplied by this.
    pub scale: f64,
}

pub const ORDINARY: Size<'static> =
    Size { samples: 60, features: 7, components: 5, name: "name", scale: 1.0 };

pub fn all(size: &Size<'_>) -> Result<Vec<(&'static str, Picture)>, Error> {
    Ok(vec![
        ("scree", scree(size).draw()?),
        ("scores", scores(size).draw()?),
        ("values", values(size).draw()?),
        ("biplot", biplot(size).draw()?),
        ("loadings", loadings(size).draw()?),
        ("heat map", heat_map(size).draw()?),
        ("circle", circle(size).draw()?),
        ("monitoring", monitoring(size).draw()?),
        ("choice", choice(size).draw()?),
        ("images", images(size).draw()?),
        ("line", line(size).draw()?),
    ])
}

pub fn scree(size: &Size<'_>) -> Scree {
    let k = size.components;
    let heights: Vec<f64> = (0..k).map(|i| size.scale * 4.0 / (i + 1) as f64).collect();
    Scree {
        title: size.name.to_owned(),
        standard_errors: heights.iter().map(|height| height * 0.1).collect(),
        cumulative: (0..k).map(|i| (i + 1) as f64 / k as f64).collect(),
        cumulative_of: size.name.to_owned(),
        chosen: Some(Chosen { n_components: k / 2, rule: size.name.to_owned() }),
        references: vec![Reference {
            name: size.name.to_owned(),
            heights: heights.iter().map(|height| height * 0.5).collect(),
        }],
        height_label: size.name.to_owned(),
        heights,
        caption: size.name.to_owned(),
    }
}

pub fn scores(size: &Size<'_>) -> Scores {
    Scores {
        title: size.name.to_owned(),
        x: component(size, 0),
        y: component(size, 1),
        points: points(size),
        names: names(size, size.samples),
        coloring: Coloring::Groups {
            names: names(size, 3),
            of: (0..size.samples).map(|index| index % 3).collect(),
        },
        ellipses: vec![Ellipse {
            group: Some(1),
            center: [0.0, 0.0],
            axes: [[0.5 * size.scale, 0.0], [0.0, 0.3 * size.scale]],
        }],
        equal_units: false,
        points_are: String::new(),
        diagonal: false,
        caption: size.name.to_owned(),
    }
}

pub fn values(size: &Size<'_>) -> Scores {
    let values = (0..size.samples).map(|i| if i == 3 { f64::NAN } else { wave(i) * size.scale });
    Scores {
        coloring: Coloring::Values { name: size.name.to_owned(), values: values.collect() },
        equal_units: true,
        points_are: size.name.to_owned(),
        diagonal: true,
        ..scores(size)
    }
}

pub fn biplot(size: &Size<'_>) -> Biplot {
    let Scores { x, y, points, names, coloring, ellipses, .. } = scores(size);
    Biplot {
        title: size.name.to_owned(),
        x,
        y,
        points,
        names,
        coloring,
        ellipses,
        arrows: arrows(size),
        scaling: size.name.to_owned(),
        caption: size.name.to_owned(),
    }
}

pub fn loadings(size: &Size<'_>) -> Loadings {
    let components = (0..size.components).map(|index| LoadingBars {
        component: component(size, index),
        values: (0..size.features).map(|i| wave(i * 31 + index) * size.scale).collect(),
    });
    Loadings {
        title: size.name.to_owned(),
        features: names(size, size.features),
        components: components.collect(),
        top: 0,
        caption: size.name.to_owned(),
    }
}

pub fn heat_map(size: &Size<'_>) -> LoadingsHeatMap {
    let value = |i: usize, j: usize| {
        if (i + j).is_multiple_of(4) { 0.0 } else { wave(i * 7 + j) * size.scale }
    };
    LoadingsHeatMap {
        title: size.name.to_owned(),
        features: names(size, size.features),
        components: (0..size.components).map(|index| component(size, index)).collect(),
        values: (0..size.features)
            .map(|i| (0..size.components).map(|j| value(i, j)).collect())
            .collect(),
        value_label: size.name.to_owned(),
        caption: size.name.to_owned(),
    }
}

pub fn circle(size: &Size<'_>) -> CorrelationCircle {
    CorrelationCircle {
        title: size.name.to_owned(),
        x: component(size, 0),
        y: component(size, 1),
        arrows: arrows(&Size { scale: 0.9, ..*size }),
        supplementary: vec![Arrow { name: size.name.to_owned(), tip: [0.2, -0.4] }],
        caption: size.name.to_owned(),
    }
}

pub fn monitoring(size: &Size<'_>) -> Monitoring {
    let limit = |value: f64| Some(Limit { value: value * size.scale, label: size.name.to_owned() });
    Monitoring {
        title: size.name.to_owned(),
        t_squared: (0..size.samples).map(|i| wave(i).abs() * size.scale).collect(),
        q: (0..size.samples).map(|i| wave(i + 9000).abs() * size.scale).collect(),
        t_squared_limit: limit(0.8),
        q_limit: limit(0.7),
        names: names(size, size.samples),
        caption: size.name.to_owned(),
    }
}

pub fn choice(size: &Size<'_>) -> ChoiceOfK {
    let rule = |n_components: Option<usize>| Rule {
        name: size.name.to_owned(),
        n_components,
        note: size.name.to_owned(),
    };
    ChoiceOfK {
        title: size.name.to_owned(),
        heights: scree(size).heights,
        height_label: size.name.to_owned(),
        rules: vec![rule(Some(0)), rule(Some(size.components)), rule(None), rule(Some(1))],
        chosen: Some(1),
        caption: size.name.to_owned(),
    }
}

pub fn images(size: &Size<'_>) -> ImageGrid {
    let image = |tone: Tone, width: usize, height: usize| Image {
        caption: size.name.to_owned(),
        width,
        height,
        pixels: (0..width * height).map(|i| wave(i) * size.scale).collect(),
        tone,
    };
    let grey = Tone::Grey { black: -size.scale, white: size.scale };
    ImageGrid {
        title: size.name.to_owned(),
        rows: vec![
            ImageRow {
                title: size.name.to_owned(),
                images: vec![
                    image(Tone::Stretch, 8, 8),
                    image(Tone::Diverging, 5, 9),
                    image(grey, 700, 3),
                ],
            },
            ImageRow { title: String::new(), images: vec![image(Tone::Diverging, 1, 1); 12] },
        ],
        caption: size.name.to_owned(),
    }
}

pub fn line(size: &Size<'_>) -> Line {
    let series = (0..size.features).map(|index| {
        let points: Vec<[f64; 2]> = (0..size.components)
            .map(|i| [(i + 1) as f64 * size.scale, (wave(i + index * 100) + 1.5) * size.scale])
            .collect();
        Series {
            name: size.name.to_owned(),
            band: points.iter().map(|point| [point[1] * 0.9, point[1] * 1.1]).collect(),
            points,
        }
    });
    Line {
        title: size.name.to_owned(),
        subtitle: size.name.to_owned(),
        x_label: size.name.to_owned(),
        y_label: size.name.to_owned(),
        log_x: true,
        log_y: false,
        series: series.collect(),
        marks: vec![Mark { x: 2.0 * size.scale, label: size.name.to_owned() }],
        caption: size.name.to_owned(),
    }
}

fn component(size: &Size<'_>, index: usize) -> Component {
    Component {
        name: format!("{}{}", size.name, index + 1),
        share: Some(Share { value: 0.5, of: "the variance".into() }),
    }
}

fn names(size: &Size<'_>, count: usize) -> Vec<String> {
    (0..count).map(|index| format!("{}{index}", size.name)).collect()
}

fn points(size: &Size<'_>) -> Vec<[f64; 2]> {
    (0..size.samples).map(|i| [wave(i) * size.scale, wave(i + 500) * size.scale]).collect()
}

fn arrows(size: &Size<'_>) -> Vec<Arrow> {
    let names = names(size, size.features).into_iter().enumerate();
    let tip = |i: usize| [wave(i + 70) * 0.7 * size.scale, wave(i + 170) * 0.7 * size.scale];
    names.map(|(index, name)| Arrow { name, tip: tip(index) }).collect()
}
