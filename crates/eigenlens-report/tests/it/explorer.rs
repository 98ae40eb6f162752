//! The interactive page: nothing gets in or out, and names of strangers are text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eigenlens_report::{
    Column, Component, Explorer, ExplorerColumn, ExplorerFeatures, ExplorerMonitoring,
    ExplorerSamples, ExplorerValues, Rule, Scree, Table,
};
use sha2::{Digest, Sha256};

const HOSTILE: &str =
    "</script><script>alert('x')</script><!--<img src=x onerror=alert(1)>&amp;\u{202e}\u{2028}\"";

/// A hostile name in every place where there is a name.
fn hostile() -> Explorer {
    let evil = || HOSTILE.to_string();
    let pair = || vec![(evil(), evil())];
    Explorer {
        title: evil(),
        subtitle: evil(),
        facts: pair(),
        warnings: vec![evil()],
        left_out: vec![evil()],
        components: vec![Component { name: evil(), share: None }; 2],
        component_table: Table {
            caption: evil(),
            columns: vec![Column::text(HOSTILE)],
            rows: vec![vec![evil()]],
        },
        scree: Some(Scree { height_label: evil(), heights: vec![1.0], ..Scree::default() }),
        rules: vec![Rule { name: evil(), n_components: Some(1), note: evil() }],
        samples: Some(ExplorerSamples {
            numbers: vec![1, 2],
            of: 2,
            names: vec![evil(), evil()],
            scores: vec![vec![0.5, 1.5], vec![2.5, f64::NAN]],
            monitoring: Some(ExplorerMonitoring {
                t_squared: vec![1.5, 2.0],
                q: vec![0.0, f64::INFINITY],
                limits: [Some(3.0), None],
                limit_label: evil(),
                caption: evil(),
            }),
            columns: vec![ExplorerColumn {
                name: evil(),
                values: ExplorerValues::Groups { names: vec![evil()], of: vec![0, 0] },
                association: vec![f64::NAN, 1.0],
            }],
            color: Some(0),
            ..ExplorerSamples::default()
        }),
        features: ExplorerFeatures {
            names: vec![evil()],
            caption: evil(),
            ..ExplorerFeatures::default()
        },
        trust: pair(),
        certificate: Some(Table::default()),
        provenance: vec![(evil(), pair())],
        methods: vec![evil()],
        ..Explorer::default()
    }
}

#[test]
fn hostile_names_end_no_element_and_begin_none() {
    let page = hostile().to_html();
    assert!(!page.contains("alert('x')</script>") && !page.contains("<img"));
    assert!(!page.contains('\u{202e}') && !page.contains('\u{2028}'));
    // The data, two arrays and a colour, the script, further arrays, names.
    let plain = Explorer { title: "a".into(), ..Explorer::default() }.to_html();
    let elements = |page: &str| page.matches("</script>").count();
    assert_eq!(elements(&plain), 2);
    assert_eq!(elements(&page), 2 + 3 + 2 + 1);
    assert!(!plain.contains("<!--") && !page.contains("<!--"));
}

#[test]
fn the_policy_lets_nothing_in_and_runs_this_script_alone() {
    let page = hostile().to_html();
    let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    for part in
        ["default-src 'none'", "connect-src 'none'", "base-uri 'none'", "form-action 'none'"]
    {
        assert!(policy.contains(part), "{part}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'));
    let hash =
        |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    let style = between(&page, "<style>", "</style>");
    assert!(policy.contains(&format!("style-src {};", hash(style))));
    let script = between(&page, "<script>", "</script>");
    assert!(policy.contains(&format!("script-src {};", hash(script))));
    // What a page of any data weighs.
    assert!(Explorer::default().to_html().len() < 500_000);
    for word in ["innerHTML", "eval(", "new Function", "http://", "https://", "fetch(", "XMLHttp"] {
        let known = script.replace("http://www.w3.org/2000/svg", "");
        assert!(!known.contains(word), "the script has `{word}`");
    }
}

#[test]
fn the_same_data_are_the_same_bytes() {
    assert_eq!(hostile().to_html(), hostile().to_html());
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let from = text.find(start).expect(start) + start.len();
    &text[from..from + text[from..].find(end).expect(end)]
}
