//! Data with little in them, or with numbers at the ends of their range.

use eigenlens_report::{Chosen, Component, LoadingBars, Loadings, Scores, Scree};

use crate::samples::{self, Size};
use crate::svg::check_text_inside;

#[test]
fn all_zeros() {
    let size = Size { samples: 20, features: 6, components: 4, name: "zero", scale: 0.0 };
    for (kind, picture) in [
        ("scree", samples::scree(&size).draw()),
        ("scores", samples::scores(&size).draw()),
        ("values", samples::values(&size).draw()),
        ("biplot", samples::biplot(&size).draw()),
        ("loadings", samples::loadings(&size).draw()),
        ("heat map", samples::heat_map(&size).draw()),
        ("monitoring", samples::monitoring(&size).draw()),
        ("choice", samples::choice(&size).draw()),
        ("images", samples::images(&size).draw()),
    ] {
        let picture = picture.expect(kind);
        assert!(!picture.svg().contains("NaN") && !picture.svg().contains("inf"), "{kind}");
        check_text_inside(kind, &picture);
    }
}

#[test]
fn numbers_of_any_size() {
    for scale in [1e-320, 1e-300, 1e-9, 1e9, 1e300, f64::MAX / 5.0] {
        let size = Size { samples: 30, features: 6, components: 4, name: "n", scale };
        for (kind, picture) in samples::all(&size).expect("drawn") {
            let svg = picture.svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{kind} at {scale}");
            check_text_inside(&format!("{kind} at {scale}"), &picture);
        }
    }
}

#[test]
fn one_of_everything() {
    let size = Size { samples: 1, features: 1, components: 1, name: "only", scale: 1.0 };
    let values = Size { samples: 4, ..size };
    for (kind, picture) in samples::all(&size).expect("drawn") {
        check_text_inside(kind, &picture);
    }
    check_text_inside("values", &samples::values(&values).draw().expect("drawn"));
}

#[test]
fn a_thousand_features_and_hundreds_of_components() {
    let size = Size { samples: 50, features: 1000, components: 300, name: "feature", scale: 1.0 };
    for (kind, picture) in samples::all(&size).expect("drawn") {
        assert!(picture.svg().len() < 5_000_000, "{kind}: {} bytes", picture.svg().len());
        assert!(picture.width() <= 800.0, "{kind}");
    }
}

/// The largest feature comes first, and its bar points to the side of its sign.
#[test]
fn loadings_are_sorted_by_size() {
    let loadings = Loadings {
        features: ["small", "large", "middle"].map(str::to_owned).to_vec(),
        components: vec![LoadingBars {
            component: Component { name: "PC1".to_owned(), share: None },
            values: vec![0.1, -0.9, 0.5],
        }],
        ..Loadings::default()
    };
    let picture = loadings.draw().expect("drawn");
    let place = |name: &str| picture.svg().find(&format!(">{name}<")).expect("the name is there");
    assert!(place("large") < place("middle") && place("middle") < place("small"));
    assert!(picture.description().contains("PC1: large (−0.900)"), "{}", picture.description());
}

/// More kept than there are bars, and none kept, are both possible.
#[test]
fn the_mark_of_k_stays_in_the_picture() {
    for n_components in [0, 3, 3000] {
        let scree = Scree {
            heights: vec![3.0, 2.0, 1.0],
            chosen: Some(Chosen { n_components, rule: String::new() }),
            ..Scree::default()
        };
        let picture = scree.draw().expect("drawn");
        assert!(picture.svg().contains(&format!("k = {n_components}<")));
        check_text_inside("scree", &picture);
    }
}

/// A rule may say anything.
#[test]
fn absurd_numbers_of_components_are_drawn_at_the_end() {
    for n_components in [usize::MAX, 1 << 40, 10_000] {
        let mut choice = samples::choice(&samples::ORDINARY);
        choice.rules[0].n_components = Some(n_components);
        choice.chosen = Some(n_components);
        check_text_inside("choice", &choice.draw().expect("drawn"));
    }
}

/// An empty default, but for one point, is enough for a picture.
#[test]
fn names_of_components_may_be_missing() {
    let scores = Scores { points: vec![[0.0, 0.0], [1.0, 1.0]], ..Scores::default() };
    assert!(scores.draw().is_ok());
}
