//! Names are data: they never become markup, commands or endless lines.

use roxmltree::Document;

use crate::samples::{self, Size};
use crate::svg::check_text_inside;

const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</text></svg><script>",
    "a & b &lt; c ]]>",
    "esc\u{1b}[31m\u{7}\0\u{202e}\u{ffff}",
    "שלום עולם",
    "=cmd|' /C calc'!A0",
    "新しい名前\u{301}\u{301}",
];

fn sized(name: &str) -> Size<'_> {
    Size { samples: 20, features: 5, components: 3, name, scale: 1.0 }
}

#[test]
fn hostile_names_stay_text() {
    for name in HOSTILE {
        for (kind, picture) in samples::all(&sized(name)).expect("drawn") {
            let document = Document::parse(picture.svg())
                .unwrap_or_else(|error| panic!("{kind} with {name:?}: {error}"));
            let allowed = ["svg", "rect", "line", "circle", "path", "text", "title", "image"];
            for node in document.descendants().filter(|node| node.is_element()) {
                assert!(allowed.contains(&node.tag_name().name()), "{kind}: {:?}", node.tag_name());
                assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")));
            }
            let commands =
                |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
            assert!(!picture.svg().contains(commands), "{kind} with {name:?}");
            check_text_inside(kind, &picture);
        }
    }
}

/// A long name is cut in sight, and whole in the tooltip.
#[test]
fn long_names_are_shortened_with_a_tooltip() {
    let name = format!("begin-{}-end", "x".repeat(10_000));
    let picture = samples::heat_map(&sized(&name)).draw().expect("drawn");
    let document = Document::parse(picture.svg()).expect("well formed");
    let cut = document.descendants().filter(|node| node.has_tag_name("text")).filter(|node| {
        node.text().is_some_and(|text| text.contains("begin-") && text.contains('…'))
    });
    let mut found = 0;
    for node in cut {
        let title = node.children().find(|child| child.has_tag_name("title"));
        let visible = node.text().map_or(0, |text| text.chars().count());
        assert!(visible < 400, "{visible} characters in sight");
        if let Some(title) = title {
            assert!(title.text().is_some_and(|text| text.len() > 10_000));
            found += 1;
        }
    }
    assert!(found >= 5, "{found} names with a tooltip");
}
