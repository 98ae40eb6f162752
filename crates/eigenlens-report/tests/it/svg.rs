//! What every SVG is: well formed, self-contained, with all of its text inside the canvas.

use std::sync::Arc;

use eigenlens_report::Picture;
use resvg::usvg::{Group, Node, Options, Tree, fontdb};
use roxmltree::Document;

use crate::samples::{self, ORDINARY, Size};

/// Parses the picture by the renderer's own rules, with the bundled fonts.
pub fn tree(picture: &Picture) -> Tree {
    let mut fonts = fontdb::Database::new();
    for file in ["Inter-Regular", "Inter-SemiBold", "DejaVuSans-Subset"] {
        let path = format!("{}/fonts/{file}.ttf", env!("CARGO_MANIFEST_DIR"));
        fonts.load_font_data(std::fs::read(path).expect("a bundled font"));
    }
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    Tree::from_str(picture.svg(), &options).expect("the renderer understands the SVG")
}

/// The boxes of all text of a picture, left, top, right, bottom.
pub fn text_boxes(picture: &Picture) -> Vec<[f32; 4]> {
    fn collect(group: &Group, boxes: &mut Vec<[f32; 4]>) {
        for node in group.children() {
            match node {
                Node::Group(group) => collect(group, boxes),
                Node::Text(text) => {
                    let rect = text.abs_bounding_box();
                    boxes.push([rect.left(), rect.top(), rect.right(), rect.bottom()]);
                }
                _ => {}
            }
        }
    }
    let mut boxes = Vec::new();
    collect(tree(picture).root(), &mut boxes);
    boxes
}

/// Fails where text leaves the canvas. The boxes are those of the renderer, with room for ascenders
/// and descenders that letters hardly use; that room may touch the rim.
pub fn check_text_inside(name: &str, picture: &Picture) {
    let boxes = text_boxes(picture);
    assert!(!boxes.is_empty(), "{name} has no text");
    for [left, top, right, bottom] in boxes {
        let inside = left >= 0.0
            && top >= 0.0
            && f64::from(right) <= picture.width()
            && f64::from(bottom) <= picture.height();
        assert!(inside, "{name}: text at {left} {top} {right} {bottom}");
    }
}

#[test]
fn all_text_is_inside_the_canvas() {
    let long = "A name that goes on and on ".repeat(40);
    let unbroken = "W".repeat(3000);
    for name in ["name", "", &long, &unbroken] {
        for (samples, features, components) in [(60, 7, 5), (1, 1, 1), (2500, 300, 120)] {
            let size = Size { samples, features, components, name, scale: 1.0 };
            for (kind, picture) in samples::all(&size).expect("drawn") {
                check_text_inside(&format!("{kind} with {samples} samples, {name:.10}"), &picture);
            }
        }
    }
}

#[test]
fn svg_is_well_formed_and_loads_nothing() {
    for (kind, picture) in samples::all(&ORDINARY).expect("drawn") {
        let document = Document::parse(picture.svg()).expect(kind);
        let root = document.root_element();
        assert_eq!(root.tag_name().name(), "svg");
        assert_eq!(root.attribute("role"), Some("img"));
        assert!(root.attribute("aria-label").is_some_and(|label| label.len() > 10), "{kind}");
        for node in document.descendants() {
            assert_eq!(node.attribute("id"), None, "{kind}: identifiers clash in a page");
            if let Some(target) = node.attribute("href") {
                assert!(target.starts_with("data:image/png;base64,"), "{kind}: {target:.40}");
            }
            let name = node.tag_name().name();
            assert!(!["script", "style", "foreignObject", "a", "use"].contains(&name), "{kind}");
        }
    }
}

/// Labels of points are placed where nothing is: their boxes do not meet.
#[test]
fn point_labels_do_not_overlap() {
    let size = Size { samples: 300, ..ORDINARY };
    let picture = samples::scores(&size).draw().expect("drawn");
    let document = Document::parse(picture.svg()).expect("well formed");
    let sizes: Vec<bool> = document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .map(|node| node.attribute("font-size") == Some("11") && node.attribute("stroke").is_some())
        .collect();
    let boxes = text_boxes(&picture);
    assert_eq!(boxes.len(), sizes.len());
    let labels: Vec<[f32; 4]> =
        boxes.into_iter().zip(sizes).filter_map(|(area, label)| label.then_some(area)).collect();
    assert!(labels.len() > 30, "only {} labels", labels.len());
    for (index, a) in labels.iter().enumerate() {
        for b in &labels[..index] {
            // The renderer's boxes are a fifth taller than the letters.
            let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] - 2.5 <= b[1] || b[3] - 2.5 <= a[1];
            assert!(apart, "{a:?} over {b:?}");
        }
    }
}

#[test]
fn many_points_stay_a_small_file() {
    let size = Size { samples: 100_000, name: "", ..ORDINARY };
    for picture in [samples::scores(&size).draw(), samples::monitoring(&size).draw()] {
        let bytes = picture.expect("drawn").svg().len();
        assert!(bytes < 3_000_000, "{bytes} bytes");
    }
}

/// Every group is told apart by shape as well as by colour.
#[test]
fn groups_differ_without_colour() {
    let picture = samples::scores(&ORDINARY).draw().expect("drawn");
    let document = Document::parse(picture.svg()).expect("well formed");
    let mut shapes: Vec<(String, usize)> = document
        .descendants()
        .filter(|node| node.has_tag_name("path") && node.attribute("opacity") == Some("0.85"))
        .map(|node| {
            let data = node.attribute("d").unwrap_or("");
            let corners = data.matches(['L', 'a']).count();
            (node.attribute("fill").unwrap_or("").to_owned(), corners)
        })
        .collect();
    shapes.sort();
    shapes.dedup();
    let mut corners: Vec<usize> = shapes.iter().map(|(_, corners)| *corners).collect();
    corners.dedup();
    assert_eq!(shapes.len(), 3, "{shapes:?}");
    // A circle of two arcs, a triangle and a square: two sides drawn, or three.
    corners.sort_unstable();
    assert_eq!(corners, [2, 2, 3]);
}
