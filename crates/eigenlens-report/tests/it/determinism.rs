//! The same data give the same bytes, whatever was drawn before.

use eigenlens_report::Picture;

use crate::samples::{self, ORDINARY};

#[test]
fn the_same_bytes_twice_and_in_any_order() {
    let first = samples::all(&ORDINARY).expect("drawn");
    let other = samples::line(&ORDINARY).draw().expect("drawn");
    let scores = samples::scores(&ORDINARY).draw().expect("drawn");
    let again = samples::all(&ORDINARY).expect("drawn");
    assert_eq!(first, again);
    assert_eq!(first[10].1, other);
    assert_eq!(first[1].1, scores);
}

#[test]
fn png_bytes_are_the_same_from_two_threads() {
    let draw = || -> Vec<u8> {
        let picture = samples::biplot(&ORDINARY).draw().expect("drawn");
        picture.png(Picture::SCALE).expect("a PNG")
    };
    let (one, two) = std::thread::scope(|scope| {
        let (one, two) = (scope.spawn(draw), scope.spawn(draw));
        (one.join().expect("drawn"), two.join().expect("drawn"))
    });
    assert_eq!(one, two);
}

/// Coordinates have at most two decimals: no noise of the last bits gets into the file.
#[test]
fn coordinates_are_rounded() {
    for (kind, picture) in samples::all(&ORDINARY).expect("drawn") {
        let document = roxmltree::Document::parse(picture.svg()).expect("well formed");
        for node in document.descendants() {
            for name in ["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "d"]
            {
                let value = node.attribute(name).unwrap_or("");
                let long = value
                    .split(|c: char| !c.is_ascii_digit() && c != '.')
                    .any(|number| number.split_once('.').is_some_and(|(_, rest)| rest.len() > 2));
                assert!(!long, "{kind}: {name}={value:.60}");
            }
        }
    }
}
