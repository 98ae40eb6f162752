//! Pictures and pages: made, complete, the same every time, and without anything foreign in them.

use crate::support::{Sandbox, columns, entry};

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
fn the_explorer_is_the_same_page_every_time_and_knows_no_place() {
    let sandbox = Sandbox::with("explorer", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "3"]);
    let explore = ["explore", "iris.model.safetensors", "iris.csv"];
    sandbox.ok(&explore);
    let page = sandbox.text("iris.explorer.html");
    let table = sandbox.path("iris.csv");
    sandbox.ok(&["explore", "iris.model.safetensors", &table.to_string_lossy(), "-o", "b.html"]);
    assert_eq!(page, sandbox.text("b.html"));
    let folder = table.parent().unwrap().to_string_lossy().into_owned();
    assert!(page.contains("iris.csv") && !page.contains(&folder));
    assert!(page.contains("SHA-256 ") && page.contains("pca of 150 samples"));
    let few = [&explore[..], &["--max-samples", "50", "--include", "no-features", "-o", "c.html"]];
    let said = sandbox.run(&few.concat());
    assert!(said.err.contains("note: 50 of 150 samples are in this page"), "{}", said.err);
    // Without data: what the model itself can tell.
    sandbox.ok(&["explore", "iris.model.safetensors", "-o", "short.html"]);
    assert!(sandbox.text("short.html").contains("\"samples\":null"));
    let refused = sandbox.run(&["explore", "iris.model.safetensors", "--max-samples", "5"]);
    assert_eq!(refused.code, 64, "{}", refused.err);
}

#[test]
fn the_terminal_shows_small_plots() {
    let sandbox = Sandbox::with("terminal", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2"]);
    let text = sandbox.ok(&["inspect", "iris.model.safetensors", "iris.csv"]);
    assert!(text.contains('█') && text.contains("residual") && text.contains("made by"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours without a terminal");
}

const IRIS: [&str; 4] = ["sepal_length", "sepal_width", "petal_length", "petal_width"];

/// Variances of columns, divisor n − 1.
fn variances(rows: &[Vec<f64>]) -> Vec<f64> {
    let n = rows.len() as f64;
    let variance = |j: usize| {
        let mean = rows.iter().map(|row| row[j]).sum::<f64>() / n;
        rows.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>() / (n - 1.0)
    };
    (0..rows[0].len()).map(variance).collect()
}

/// Where features are as they are and the kernel is linear, the share of a component is the variance
/// of its scores over that of all features, whatever the method optimised.
#[test]
fn axes_have_the_share_of_the_variance_and_say_so() {
    let sandbox = Sandbox::with("axis_shares", &["iris"]);
    let total: f64 = variances(&columns(&sandbox.text("iris.csv"), &IRIS)).iter().sum();
    for (method, more, axis) in [
        ("pca", &[][..], "PC"),
        ("supervised-pca", &["--target", "species"], "SPC"),
        ("supervised-pca", &["--target", "species", "--supervision", "0.5"], "SPC"),
        ("kernel-supervised-pca", &["--target", "species", "--kernel", "linear"], "KSPC"),
        ("kernel-pca", &["--kernel", "linear"], "KPC"),
    ] {
        let fit =
            ["fit", method, "iris.csv", "-k", "2", "-o", "m.safetensors", "--scores", "s.csv"];
        sandbox.ok(&[&fit[..], more].concat());
        let names = [format!("{axis}1"), format!("{axis}2")];
        let scores = columns(&sandbox.text("s.csv"), &[&names[0], &names[1]]);
        let labels = variances(&scores).into_iter().zip(&names).map(|(variance, name)| {
            format!("{name} ({:.1} % of the variance)", 100.0 * variance / total)
        });
        let labels: Vec<String> = labels.collect();
        sandbox.ok(&["plot", "m.safetensors", "iris.csv", "--kind", "scores", "-o", "p.svg"]);
        sandbox.ok(&["report", "m.safetensors", "iris.csv", "-o", "r.html"]);
        let told = sandbox.ok(&["inspect", "m.safetensors", "iris.csv"]);
        for page in [&sandbox.text("p.svg"), &sandbox.text("r.html"), &told] {
            for label in &labels {
                assert!(page.contains(label.as_str()), "{method} {more:?}: no `{label}`");
            }
        }
    }
}

#[test]
fn scree_plots_say_what_they_show() {
    let sandbox = Sandbox::with("scree_labels", &["iris"]);
    for (method, more, bars, total) in [
        ("pca", &[][..], "Explained variance", "the variance"),
        ("supervised-pca", &["--target", "species"], "Share of HSIC", "HSIC with the target"),
        (
            "supervised-pca",
            &["--target", "species", "--supervision", "0.5"],
            "Share of the blended operator",
            "the trace of the blended operator",
        ),
        (
            "kernel-supervised-pca",
            &["--target", "species"],
            "Share of HSIC",
            "HSIC with the target",
        ),
        ("sparse-pca", &[], "Adjusted variance", "the variance"),
        ("mds", &[], "Eigenvalue", "the positive eigenvalues"),
    ] {
        let fit = ["fit", method, "iris.csv", "-k", "2", "-o", "m.safetensors"];
        sandbox.ok(&[&fit[..], more].concat());
        sandbox.ok(&["plot", "m.safetensors", "--kind", "scree", "-o", "p.svg"]);
        let svg = sandbox.text("p.svg");
        assert!(svg.contains(&format!("{bars} per component")), "{method}");
        assert!(svg.contains(&format!("Cumulative share of {total}")), "{method}");
        let told = sandbox.ok(&["inspect", "m.safetensors"]);
        let heading = bars.to_lowercase().replace("explained ", "");
        assert!(told.contains(&format!("  {heading}")), "{method}: {told}");
    }
}

/// Squares of data beyond 1e154 overflow; components, shares and scores do not.
#[test]
fn data_whose_variances_overflow_have_pictures_and_a_report() {
    let sandbox = Sandbox::with("overflow", &["iris"]);
    let scaled = |line: &str| {
        let (numbers, species) = line.rsplit_once(',').unwrap();
        format!("{},{species}\n", numbers.replace(',', "e160,") + "e160")
    };
    let text = sandbox.text("iris.csv");
    let header = text.lines().next().unwrap();
    let rows: String = text.lines().skip(1).map(scaled).collect();
    sandbox.write("large.csv", &format!("{header}\n{rows}"));
    sandbox.ok(&["fit", "pca", "large.csv", "-k", "2", "-o", "m.safetensors"]);
    for kind in ["scree", "scores", "biplot", "loadings"] {
        sandbox.ok(&["plot", "m.safetensors", "large.csv", "--kind", kind, "-o", "p.svg"]);
    }
    sandbox.ok(&["report", "m.safetensors", "large.csv", "-o", "r.html"]);
    let page = sandbox.text("r.html");
    assert!(page.contains("Share of the total") && page.contains("97.8 % of the variance"));
    assert!(page.contains("There is no picture `monitoring`: `q` entry 0 is inf"));
}

#[test]
fn a_mixture_shows_probabilities_without_shares_or_ellipses() {
    let sandbox = Sandbox::with("mixture_picture", &["iris"]);
    let fit = ["fit", "ppca-mixture", "iris.csv", "--parts", "2", "-k", "1", "-o", "m.safetensors"];
    sandbox.ok(&fit);
    sandbox.ok(&["plot", "m.safetensors", "iris.csv", "--kind", "scores", "-o", "p.svg"]);
    let svg = sandbox.text("p.svg");
    assert!(svg.contains("Probability of part1"), "{svg}");
    assert!(!svg.contains("of the variance") && !svg.contains("llipse"), "{svg}");
}

/// The loadings `U √Λ` of the table that `fit` writes are what pictures of loadings show: the largest
/// of the first component of iris is 0.857 · √4.2282 = 1.76.
#[test]
fn pictures_of_loadings_show_loadings() {
    let sandbox = Sandbox::with("loadings_picture", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2", "-o", "m.safetensors"]);
    for kind in ["loadings", "heat-map"] {
        sandbox.ok(&["plot", "m.safetensors", "--kind", kind, "-o", "p.svg"]);
        let svg = sandbox.text("p.svg");
        assert!(svg.contains("1.76") && !svg.contains("0.857"), "{kind}");
        assert!(svg.contains("times the standard deviations"), "{kind}");
    }
}

/// Wine, standardised: the share of a component is the variance of its scores over the 13 features, and
/// in feature space of a Gaussian kernel over the mean of `1 − k(x, y)` with the divisor n − 1.
#[test]
fn shares_of_standardised_wine_are_shares_of_the_variance() {
    let sandbox = Sandbox::with("wine_shares", &["wine"]);
    let fit = ["fit", "supervised-pca", "wine.csv", "--target", "cultivar", "--scale", "-k", "2"];
    sandbox.ok(&[&fit[..], &["-o", "s.safetensors", "--scores", "s.csv"]].concat());
    let linear = variances(&columns(&sandbox.text("s.csv"), &["SPC1", "SPC2"]));
    let linear: Vec<f64> = linear.iter().map(|v| v / 13.0).collect();
    let fit = ["fit", "kernel-supervised-pca", "wine.csv", "--target", "cultivar", "-k", "2"];
    let gamma = ["--gamma", "1e-5", "-o", "k.safetensors", "--scores", "k.csv"];
    sandbox.ok(&[&fit[..], &gamma].concat());
    let text = sandbox.text("wine.csv");
    let names: Vec<&str> =
        text.lines().next().unwrap().split(',').filter(|n| *n != "cultivar").collect();
    let x = columns(&text, &names);
    let n = x.len() as f64;
    let distance =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let kernel: f64 = x
        .iter()
        .flat_map(|a| x.iter().map(move |b| (a, b)))
        .map(|(a, b)| (-1e-5 * distance(a, b)).exp())
        .sum();
    let total = (n - kernel / n) / (n - 1.0);
    let curved = variances(&columns(&sandbox.text("k.csv"), &["KSPC1", "KSPC2"]));
    let curved: Vec<f64> = curved.iter().map(|v| v / total).collect();
    for (model, axis, shares) in
        [("s.safetensors", "SPC", linear), ("k.safetensors", "KSPC", curved)]
    {
        sandbox.ok(&["plot", model, "wine.csv", "--kind", "scores", "-o", "p.svg"]);
        sandbox.ok(&["report", model, "wine.csv", "-o", "r.html"]);
        let told = sandbox.ok(&["inspect", model, "wine.csv"]);
        for (j, share) in shares.iter().enumerate() {
            let label = format!("{axis}{} ({:.1} % of the variance)", j + 1, 100.0 * share);
            for page in [&sandbox.text("p.svg"), &sandbox.text("r.html"), &told] {
                assert!(page.contains(&label), "no `{label}`");
            }
        }
    }
}

#[test]
fn a_report_says_what_was_done_to_the_features() {
    let sandbox = Sandbox::with("prepared", &["iris"]);
    for (method, words) in [
        ("pca", "Features were centred."),
        ("ppca", "Features were centred."),
        ("bayesian-pca", "Features were centred."),
        ("lsa", "Features were used as they are."),
    ] {
        sandbox.ok(&["fit", method, "iris.csv", "-k", "2", "-o", "m.safetensors"]);
        sandbox.ok(&["report", "m.safetensors", "-o", "r.html"]);
        assert!(sandbox.text("r.html").contains(words), "{method}");
    }
}

#[test]
fn a_picture_of_posteriors_says_whose_they_are() {
    let sandbox = Sandbox::with("posteriors", &["iris"]);
    let whose = |rows: usize, holed: usize| {
        let text = sandbox.text("iris.csv");
        let mut lines: Vec<String> = text.lines().take(rows + 1).map(String::from).collect();
        for line in lines.iter_mut().skip(1).take(holed) {
            let (_, rest) = line.split_once(',').unwrap();
            *line = format!("NA,{rest}");
        }
        sandbox.write("some.csv", &(lines.join("\n") + "\n"));
        let fit = ["fit", "ppca", "some.csv", "-k", "2", "--missing", "em", "-o", "m.safetensors"];
        sandbox.ok(&fit);
        let ran = sandbox.run(&[
            "plot",
            "m.safetensors",
            "some.csv",
            "--kind",
            "posterior",
            "-o",
            "p.svg",
        ]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let svg = sandbox.text("p.svg").replace("</text>", " ");
        (svg, ran.err)
    };
    for (rows, holed, words) in [
        (40, 3, "all 40 samples"),
        (150, 0, "60 of the 150 samples"),
        (150, 20, "20 of the 150 samples, those with missing entries"),
        (150, 70, "60 of the 150 samples"),
    ] {
        let (svg, told) = whose(rows, holed);
        assert!(told.contains(words), "{told}");
        // A caption may be broken into lines anywhere.
        let first = words.split(" samples").next().unwrap();
        assert!(svg.contains(first), "{rows} rows, {holed} with missing entries");
    }
}

#[test]
fn axes_belong_to_pictures_of_a_plane() {
    let sandbox = Sandbox::with("axes", &["iris"]);
    sandbox.ok(&["fit", "pca", "iris.csv", "-k", "3", "-o", "m.safetensors"]);
    for (kind, takes) in [
        ("scores", true),
        ("biplot", true),
        ("circle", true),
        ("scree", false),
        ("loadings", false),
        ("heat-map", false),
        ("monitoring", false),
    ] {
        let plot = ["plot", "m.safetensors", "iris.csv", "--kind", kind, "-o", "p.svg"];
        let ran = sandbox.run(&[&plot[..], &["--axes", "3,1"]].concat());
        if takes {
            assert_eq!(ran.code, 0, "{}", ran.err);
            assert!(sandbox.text("p.svg").contains("PC3"), "{kind}");
        } else {
            assert_eq!(ran.code, 64, "{kind}: {}", ran.err);
            assert!(ran.err.contains("`scores`, `biplot`, `circle`, `posterior`"), "{}", ran.err);
        }
    }
}

/// A fact stands in a summary once.
#[test]
fn what_sparsity_gives_up_is_said_once() {
    let sandbox = Sandbox::with("given_up", &["iris"]);
    let fit =
        ["fit", "sparse-pca", "iris.csv", "-k", "2", "--cardinality", "2", "-o", "m.safetensors"];
    sandbox.ok(&fit);
    assert_eq!(sandbox.ok(&["inspect", "m.safetensors"]).matches("given up").count(), 1);
}

/// Values of data that are not centred have no sampling error of the kind that variances have.
#[test]
fn uncentred_data_have_no_standard_errors() {
    let sandbox = Sandbox::with("uncentred", &["iris"]);
    let centred = sandbox.ok(&["fit", "pca", "iris.csv", "-k", "2", "-o", "m.safetensors"]);
    assert!(centred.contains("± error"), "{centred}");
    for method in [&["lsa"][..], &["pca", "--no-center"]] {
        let told = sandbox
            .ok(&[&["fit"], method, &["iris.csv", "-k", "2", "-o", "m.safetensors"]].concat());
        assert!(!told.contains("error"), "{told}");
        let model = sandbox.json(&["inspect", "m.safetensors"]);
        assert_eq!(entry(&model, &["standard_errors"]), &eigenlens::Value::Null);
        sandbox.ok(&["report", "m.safetensors", "-o", "r.html"]);
        assert!(!sandbox.text("r.html").contains("standard error"), "{method:?}");
    }
}
