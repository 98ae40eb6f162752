//! Data that cannot be drawn are named, not drawn.

use eigenlens_report::{
    Coloring, Error, ImageGrid, Line, Loadings, LoadingsHeatMap, Monitoring, Scores, Scree, Series,
};

use crate::samples::{self, ORDINARY};

#[test]
fn nothing_to_draw() {
    assert_eq!(Scree::default().draw().err(), Some(Error::Empty { what: "heights" }));
    assert_eq!(Scores::default().draw().err(), Some(Error::Empty { what: "points" }));
    assert_eq!(Loadings::default().draw().err(), Some(Error::Empty { what: "features" }));
    assert_eq!(LoadingsHeatMap::default().draw().err(), Some(Error::Empty { what: "features" }));
    assert_eq!(Monitoring::default().draw().err(), Some(Error::Empty { what: "t_squared" }));
    assert_eq!(ImageGrid::default().draw().err(), Some(Error::Empty { what: "rows" }));
    assert_eq!(Line::default().draw().err(), Some(Error::Empty { what: "series" }));
}

#[test]
fn numbers_that_are_not() {
    let mut scree = samples::scree(&ORDINARY);
    scree.heights[2] = f64::INFINITY;
    let error = scree.draw().expect_err("an error");
    assert_eq!(error, Error::NotFinite { what: "heights", index: 2, value: f64::INFINITY });
    assert_eq!(error.to_string(), "`heights` entry 2 is inf; only finite numbers can be drawn");
    let mut images = samples::images(&ORDINARY);
    images.rows[0].images[0].pixels[5] = f64::NAN;
    assert!(matches!(images.draw(), Err(Error::NotFinite { what: "pixels", index: 5, .. })));
}

#[test]
fn lengths_that_differ() {
    let mut scores = samples::scores(&ORDINARY);
    scores.names.pop();
    let error = Error::Length { what: "names", found: 59, expected: 60 };
    assert_eq!(scores.draw().err(), Some(error));
    let mut scores = samples::scores(&ORDINARY);
    if let Coloring::Groups { of, .. } = &mut scores.coloring {
        of[7] = 3;
    }
    let error = Error::OutOfRange { what: "coloring", index: 7, found: 3, bound: 3 };
    assert_eq!(scores.draw().err(), Some(error));
    let mut images = samples::images(&ORDINARY);
    images.rows[0].images[1].width = usize::MAX;
    assert!(matches!(images.draw(), Err(Error::Length { what: "pixels", .. })));
}

#[test]
fn logarithms_of_nothing() {
    let line = Line {
        log_y: true,
        series: vec![Series { points: vec![[1.0, 2.0], [2.0, 0.0]], ..Series::default() }],
        ..Line::default()
    };
    assert_eq!(line.draw().err(), Some(Error::NotPositive { what: "y", index: 1, value: 0.0 }));
}
