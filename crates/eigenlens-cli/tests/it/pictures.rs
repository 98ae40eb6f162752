//! Pictures and pages: made, complete, the same every time, and without anything foreign in them.

use crate::support::Sandbox;

#[test]
fn every_kind_of_picture_is_drawn() {
    let sandbox = Sandbox::with("pictures", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "3"]);
    let plot = |kind: &str, file: &str| {
        let plot = ["plot", "iris.model.safetensors", "iris.csv", "--kind", kind, "-o", file];
        sandbox.ok(&plot);
        sandbox.bytes(file)
    };
    for kind in ["scree", "scores", "biplot", "loadings", "heat-map", "circle", "monitoring"] {
        let svg = plot(kind, "a.svg");
        assert!(svg.starts_with(b"<svg") && svg.ends_with(b"</svg>\n") || svg.ends_with(b"</svg>"));
        assert_eq!(svg, plot(kind, "b.svg"), "{kind}");
        assert!(plot(kind, "a.png").starts_with(b"\x89PNG"), "{kind}");
    }
    let scores = String::from_utf8(plot("scores", "c.svg")).unwrap();
    assert!(scores.contains("virginica") && scores.contains("PC1"));
    sandbox.ok(&["plot", "iris.model.safetensors"]);
    sandbox.ok(&["plot", "iris.model.safetensors", "iris.csv"]);
    let files = sandbox.files();
    assert!(files.contains(&"iris.scree.svg".into()) && files.contains(&"iris.scores.svg".into()));
}

#[test]
fn images_are_drawn_as_images() {
    let sandbox = Sandbox::with("image_pictures", &["digits"]);
    sandbox.ok(&["fit", "pca", "digits.csv", "-k", "12"]);
    let plot = ["plot", "digits.model.safetensors", "digits.csv", "--image-size", "8x8"];
    sandbox.ok(&[&plot[..], &["-o", "d.svg"]].concat());
    assert!(sandbox.text("d.svg").contains("k = 12"));
}

#[test]
fn the_report_is_one_page_that_loads_nothing() {
    let sandbox = Sandbox::new("report");
    let mut table = String::from("<script>alert(1)</script>,b\u{1b}[2J,c,group\n");
    for i in 0..30 {
        table += &format!("{},{},{},g{}\n", i * i % 17, (i * 7) % 11, (i * 5) % 13, i % 3);
    }
    sandbox.write("odd.csv", &table);
    sandbox.ok(&["fit", "pca", "odd.csv", "-k", "2"]);
    sandbox.ok(&["report", "odd.model.safetensors", "odd.csv"]);
    let page = sandbox.text("odd.report.html");
    assert!(page.contains("Content-Security-Policy") && page.contains("Certificate"));
    for forbidden in ["<script", "src=\"http", "href=\"http", "\u{1b}"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("&lt;script&gt;") && page.matches("<svg").count() >= 5);
    // Without data: what the model itself can tell.
    sandbox.ok(&["report", "odd.model.safetensors", "-o", "short.html"]);
    assert!(sandbox.text("short.html").matches("<svg").count() >= 2);
}

#[test]
fn the_terminal_shows_small_plots() {
    let sandbox = Sandbox::with("terminal", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2"]);
    let text = sandbox.ok(&["inspect", "iris.model.safetensors", "iris.csv"]);
    assert!(text.contains('█') && text.contains("residual") && text.contains("made by"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours without a terminal");
}
