//! `eigenlens inspect`.

use crate::arguments::{Common, Inspect, Metadata};
use crate::describe::{model_value, read_model, summary};
use crate::failure::Failure;
use crate::output::print;
use crate::pictures::Table;
use crate::reporter::{Reporter, wants_color};
use eigenlens_io::{StoredModel, json};
use eigenlens_report::text;
use eigenlens_views::{Request, scores, scree};
use std::io::IsTerminal;

pub fn run(args: &Inspect, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let stored = read_model(&args.model, common)?;
    if common.json {
        return print(&format!("{}\n", json::to_json_lines(&model_value(&stored))));
    }
    let options = text::Options {
        width: 100,
        unicode: true,
        color: std::io::stdout().is_terminal() && wants_color(),
    };
    let mut page = summary(&*stored.model, options.width);
    page.push_str(&origin(&stored));
    for warning in stored.model.warnings() {
        page.push_str(&format!("{:<15}{warning}\n", "warning"));
    }
    if let Ok(scree) = scree::view(&*stored.model) {
        page.push('\n');
        page.push_str(&text::scree(&scree, &options));
    }
    if !args.data.is_empty() {
        let table = Table {
            paths: &args.data,
            reading: &args.reading,
            metadata: &Metadata::default(),
            color: None,
            names: None,
        };
        let request = Request::new(&*stored.model);
        let view = table.with_samples(request, &stored, common, reporter, scores::view)?;
        page.push('\n');
        page.push_str(&text::scores(&view, &options));
    }
    print(&page)
}

/// Where the model came from, in lines like those of its certificate.
fn origin(stored: &StoredModel) -> String {
    let line = |name: &str, value: String| format!("{name:<15}{value}\n");
    let options: Vec<String> =
        stored.origin.options.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let mut text = String::new();
    text.push_str(&line("plan", stored.model.plan().to_string()));
    text.push_str(&line("made by", format!("{}: {}", stored.origin.program, options.join(", "))));
    text
}
