//! One file per command.

mod choose;
mod demo;
pub mod example;
mod fit;
mod inspect;
mod plot;
mod reconstruct;
mod report;
mod transform;
mod verify;

use crate::arguments::{Cli, Command, Completions};
use crate::failure::Failure;
use crate::methods::METHODS;
use crate::output::print;
use crate::talk::Talk;
use clap::CommandFactory;
use eigenlens::Value;
use eigenlens_io::json;
use eigenlens_report::{Column, Table};

/// Does what was asked.
pub fn run(cli: &Cli, talk: &Talk) -> Result<(), Failure> {
    let common = &cli.common;
    match &cli.command {
        Command::Fit(asked) => fit::run(asked, common, talk),
        Command::Transform(asked) => transform::run(asked, common, talk),
        Command::Reconstruct(asked) => reconstruct::run(asked, common, talk),
        Command::Inspect(asked) => inspect::run(asked, common, talk),
        Command::Choose(asked) => choose::run(asked, common, talk),
        Command::Plot(asked) => plot::run(asked, common, talk),
        Command::Report(asked) => report::run(asked, common, talk),
        Command::Verify(asked) => verify::run(asked, common, talk),
        Command::Methods => methods(common.json),
        Command::Example(asked) => example::run(asked, talk),
        Command::Demo => demo::run(common, talk),
        Command::Completions(asked) => completions(asked),
    }
}

fn methods(as_json: bool) -> Result<(), Failure> {
    if as_json {
        let row = |m: &crate::methods::Method| {
            Value::map([
                ("name", Value::from(m.name)),
                ("summary", Value::from(m.summary)),
                ("page", Value::from(m.page)),
                ("options", Value::list(m.options.iter().copied())),
            ])
        };
        let rows = Value::List(METHODS.iter().map(row).collect());
        return print(&format!("{}\n", json::to_json_lines(&rows)));
    }
    let row = |m: &crate::methods::Method| {
        let options: Vec<String> = m.options.iter().map(|o| format!("--{o}")).collect();
        vec![m.name.into(), m.summary.into(), options.join(" ")]
    };
    let table = Table {
        columns: ["method", "what it is", "its own options"].map(Column::text).into(),
        rows: METHODS.iter().map(row).collect(),
        ..Table::default()
    };
    print(&table.to_text(120))
}

fn completions(asked: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(asked.shell, &mut Cli::command(), "eigenlens", &mut script);
    print(&String::from_utf8_lossy(&script))
}
