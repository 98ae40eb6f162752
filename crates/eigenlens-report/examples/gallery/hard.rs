//! Pictures of data that are large, long-winded or degenerate.

use eigenlens_report::{
    Arrow, ChoiceOfK, Chosen, Coloring, Component, CorrelationCircle, Ellipse, Error, LoadingBars,
    Loadings, LoadingsHeatMap, Picture, Rule, Scores, Scree,
};

use crate::figures::variance;
use crate::numbers::Random;

pub fn all() -> Result<Vec<(String, Picture)>, Error> {
    let pictures = [
        ("hard_scree_300", many_components().draw()?),
        ("hard_scores_100k", many_points().draw()?),
        ("hard_scores_groups", many_groups().draw()?),
        ("hard_scores_names", hostile_names().draw()?),
        ("hard_loadings", many_features().draw()?),
        ("hard_heat_map_40", heat_map(40, 12).draw()?),
        ("hard_heat_map_1000", heat_map(1000, 30).draw()?),
        ("hard_circle", crowded_circle().draw()?),
        ("hard_choice", far_choice().draw()?),
        ("hard_zero_scree", zero_scree().draw()?),
        ("hard_one_point", one_point().draw()?),
    ];
    Ok(pictures.into_iter().map(|(name, picture)| (name.to_owned(), picture)).collect())
}

fn plane() -> [Component; 2] {
    [("PC1", 0.412), ("PC2", 0.187)]
        .map(|(name, share)| Component { name: name.to_owned(), share: Some(variance(share)) })
}

fn many_components() -> Scree {
    let heights: Vec<f64> = (0..300).map(|i| 1.3e7 / (1.0 + f64::from(i)).powf(1.3)).collect();
    let total: f64 = heights.iter().sum();
    let mut sum = 0.0;
    let cumulative = heights.iter().map(|height| {
        sum += height / total;
        sum
    });
    Scree {
        cumulative: cumulative.collect(),
        standard_errors: heights.iter().map(|height| height * 0.05).collect(),
        chosen: Some(Chosen { n_components: 38, rule: "90 % of the variance".to_owned() }),
        heights,
        ..Scree::default()
    }
}

fn many_points() -> Scores {
    let mut random = Random(3);
    let centers = [[0.0, 0.0], [4.0, 2.0], [-3.0, 3.5], [1.0, -4.0]];
    let n = 100_000;
    let of: Vec<usize> = (0..n).map(|index| index % 4).collect();
    let points = of
        .iter()
        .map(|group| [centers[*group][0] + random.normal(), centers[*group][1] + random.normal()])
        .collect();
    let ellipses = centers.iter().enumerate().map(|(group, center)| Ellipse {
        group: Some(group),
        center: *center,
        axes: [[2.45, 0.0], [0.0, 2.45]],
    });
    let [x, y] = plane();
    Scores {
        x,
        y,
        points,
        coloring: Coloring::Groups {
            names: ["north", "east", "south", "west"].map(str::to_owned).to_vec(),
            of,
        },
        ellipses: ellipses.collect(),
        equal_units: true,
        ..Scores::default()
    }
}

fn many_groups() -> Scores {
    let mut random = Random(5);
    let n = 600;
    let of: Vec<usize> = (0..n).map(|index| index % 30).collect();
    let points = of
        .iter()
        .map(|group| {
            let angle = *group as f64 * 0.7;
            [angle.cos() * 5.0 + random.normal(), angle.sin() * 5.0 + random.normal()]
        })
        .collect();
    let [x, y] = plane();
    let names = (0..30).map(|group| format!("population {group}")).collect();
    Scores { x, y, points, coloring: Coloring::Groups { names, of }, ..Scores::default() }
}

fn hostile_names() -> Scores {
    let mut random = Random(11);
    let names = [
        "<script>alert(1)</script>".to_owned(),
        "a & b \"quoted\"".to_owned(),
        "שלום עולם".to_owned(),
        "مرحبا بالعالم".to_owned(),
        "Ελληνικά".to_owned(),
        "Кириллица".to_owned(),
        "esc\u{1b}[31mred\u{202e}".to_owned(),
        "long ".repeat(2000),
        "naïve café".to_owned(),
        "𝛼 math".to_owned(),
    ];
    let points = names.iter().map(|_| [random.normal() * 1e-9, random.normal() * 3e8]).collect();
    Scores {
        title: "Names & <titles> that are ".to_owned() + &"very ".repeat(60) + "long",
        x: Component { name: "PC1 </text><script>".to_owned(), share: Some(variance(0.9999)) },
        y: Component { name: "PC2".to_owned(), share: Some(variance(0.000001)) },
        points,
        names: names.to_vec(),
        coloring: Coloring::Groups {
            names: vec!["<b>".to_owned(), "group ".repeat(500)],
            of: (0..names.len()).map(|index| index % 2).collect(),
        },
        caption: "Caption ".repeat(300),
        ..Scores::default()
    }
}

fn many_features() -> Loadings {
    let mut random = Random(13);
    let features: Vec<String> =
        (0..1000).map(|index| format!("ENSG{index:011}_expression_level")).collect();
    let components = (0..4).map(|index| LoadingBars {
        component: Component {
            name: format!("PC{}", index + 1),
            share: Some(variance(0.3 / (index + 1) as f64)),
        },
        values: features.iter().map(|_| random.normal() * 0.03).collect(),
    });
    Loadings { components: components.collect(), features, ..Loadings::default() }
}

fn heat_map(d: usize, k: usize) -> LoadingsHeatMap {
    let mut random = Random(17);
    LoadingsHeatMap {
        features: (0..d).map(|index| format!("feature_{index}")).collect(),
        components: (0..k)
            .map(|index| Component { name: format!("PC{}", index + 1), share: None })
            .collect(),
        values: (0..d)
            .map(|i| {
                (0..k)
                    .map(|j| {
                        let value = random.normal()
                            * (-(((i * k / d) as f64 - j as f64) / 3.0).powi(2)).exp();
                        if value.abs() < 0.05 { 0.0 } else { value * 0.3 }
                    })
                    .collect()
            })
            .collect(),
        ..LoadingsHeatMap::default()
    }
}

fn crowded_circle() -> CorrelationCircle {
    let mut random = Random(19);
    let [x, y] = plane();
    let arrows = (0..60).map(|index| {
        let (angle, length) = (random.uniform() * std::f64::consts::TAU, random.uniform().sqrt());
        Arrow {
            name: format!("variable {index}"),
            tip: [angle.cos() * length, angle.sin() * length],
        }
    });
    CorrelationCircle { x, y, arrows: arrows.collect(), ..CorrelationCircle::default() }
}

fn far_choice() -> ChoiceOfK {
    let rule = |name: &str, k: usize| Rule {
        name: name.to_owned(),
        n_components: Some(k),
        note: String::new(),
    };
    ChoiceOfK {
        heights: (0..500).map(|i| 9.0 / (1.0 + f64::from(i))).collect(),
        rules: vec![
            rule("Gavish–Donoho", 0),
            rule("parallel analysis", 12),
            rule("elbow", 3),
            rule("99 % of the variance", 320),
            rule(&"a rule with a very long name ".repeat(5), 40),
        ],
        chosen: Some(12),
        ..ChoiceOfK::default()
    }
}

fn zero_scree() -> Scree {
    Scree {
        heights: vec![0.0; 5],
        standard_errors: vec![0.0; 5],
        cumulative: vec![0.0; 5],
        chosen: Some(Chosen::default()),
        ..Scree::default()
    }
}

fn one_point() -> Scores {
    let [x, y] = plane();
    Scores {
        x,
        y,
        points: vec![[3.0, -2.0]],
        names: vec!["the only one".to_owned()],
        ..Scores::default()
    }
}
