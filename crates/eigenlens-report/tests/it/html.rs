//! The report: self-contained, escaped, readable without style.

use eigenlens_report::html::{Block, Report, Section};
use eigenlens_report::{Column, Table};

use crate::samples::{self, Size};

const HOSTILE: &str = "<script>alert('x')</script> & \"quoted\" \u{1b}[2J";

fn report(name: &str) -> Report {
    let text = || name.to_owned();
    let size = Size { samples: 20, features: 5, components: 3, name, scale: 1.0 };
    let figures = samples::all(&size).expect("drawn");
    Report {
        title: text(),
        subtitle: text(),
        summary: vec![(text(), text())],
        warnings: vec![text()],
        sections: vec![
            Section {
                title: text(),
                blocks: vec![
                    Block::Text(text()),
                    Block::Table(Box::new(Table {
                        caption: text(),
                        columns: vec![Column::text(name), Column::number(name, name)],
                        rows: vec![vec![text(), text()], vec![text()]],
                    })),
                ],
            },
            Section {
                title: text(),
                blocks: figures
                    .into_iter()
                    .map(|(_, picture)| Block::Figure(Box::new(picture), text()))
                    .collect(),
            },
        ],
        methods: vec![text()],
        footer: text(),
    }
}

#[test]
fn nothing_is_loaded_or_run() {
    let page = report("name").to_html();
    // The one address is the name of the SVG language.
    let addresses = page.matches("http").count();
    let own =
        page.matches("http://www.w3.org/2000/svg").count() + page.matches("http-equiv").count();
    assert_eq!(addresses, own);
    for source in page.split(" src=\"").skip(1).chain(page.split("url(").skip(1)) {
        assert!(source.starts_with("data:"), "{source:.40}");
    }
    for target in page.split("href=\"").skip(1) {
        assert!(target.starts_with('#') || target.starts_with("data:image/png"), "{target:.40}");
    }
    assert!(!page.contains("<script") && !page.contains("<link") && !page.contains("@import"));
    assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'"));
    assert!(!page.contains("script-src"));
}

#[test]
fn hostile_text_is_inert() {
    let page = report(HOSTILE).to_html();
    assert!(!page.contains("<script") && !page.contains('\u{1b}'));
    assert!(
        page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;quoted&quot;")
    );
}

/// The page after its head is well formed as XML too, so every element is closed where it should.
#[test]
fn elements_are_nested() {
    for name in ["name", HOSTILE] {
        let page = report(name).to_html();
        let body = page.split_once("<body>").expect("a body").1;
        let body = body.split_once("</body>").expect("its end").0;
        let document = format!("<body>{body}</body>");
        let document = roxmltree::Document::parse(&document).expect("well formed");
        let count = |tag: &str| document.descendants().filter(|n| n.has_tag_name(tag)).count();
        assert_eq!((count("h1"), count("h2"), count("table"), count("figure")), (1, 4, 1, 11));
        assert_eq!(count("figcaption"), 11);
        for link in document.descendants().filter(|node| node.has_tag_name("a")) {
            let target = link.attribute("href").unwrap_or("").trim_start_matches('#');
            let found = document.descendants().any(|node| node.attribute("id") == Some(target));
            assert!(found, "#{target} is nowhere");
        }
        let svg = "http://www.w3.org/2000/svg";
        let figures = document.descendants().filter(|n| n.has_tag_name((svg, "svg")));
        let named = figures.filter(|node| node.attribute("aria-label").is_some()).count();
        assert_eq!(named, 11);
    }
}

/// A rule for the pictures that also met what is inside them would change them.
#[test]
fn style_reaches_only_whole_pictures() {
    let page = report("name").to_html();
    assert!(page.contains("figure > svg {") && !page.contains("figure svg"));
}

#[test]
fn an_empty_report_is_a_page() {
    let page = Report::default().to_html();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("<nav") && !page.contains("Warnings"));
    assert_eq!(page, Report::default().to_html());
}
