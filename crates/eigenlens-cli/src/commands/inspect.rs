//! `eigenlens inspect`.

use crate::arguments::{Common, Inspect};
use crate::describe::{model_value, read_model, scree, summary};
use crate::failure::Failure;
use crate::output::print;
use crate::pictures::Samples;
use crate::reporter::{Reporter, wants_color};
use eigenlens_io::{StoredModel, json};
use eigenlens_report::text;
use std::io::IsTerminal;

pub fn run(args: &Inspect, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let stored = read_model(&args.model, common.threads)?;
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
    if let Some(scree) = scree(&*stored.model, &stored.model.summary(), "") {
        page.push('\n');
        page.push_str(&text::scree(&scree, &options));
    }
    if !args.data.is_empty() {
        let samples =
            Samples::read(&args.data, &stored, &args.reading, [None; 2], common, reporter)?;
        page.push('\n');
        page.push_str(&text::scores(&samples.scores_picture(&stored, [0, 1])?, &options));
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
