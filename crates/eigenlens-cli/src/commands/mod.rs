//! One file per command.

mod choose;
mod demo;
pub mod example;
mod fit;
pub mod hsic;
mod impute;
mod inspect;
mod plot;
mod reconstruct;
mod report;
mod sample;
mod score;
mod transform;
mod verify;

use crate::arguments::{Cli, Command, Completions};
use crate::failure::Failure;
use crate::methods::own_flags;
use crate::output::print;
use crate::talk::Talk;
use clap::CommandFactory;
use eigenlens::Value;
use eigenlens::{METHODS, Method};
use eigenlens_io::json;
use eigenlens_report::{Column, Table};

/// Does what was asked.
pub fn run(cli: &Cli, talk: &Talk) -> Result<(), Failure> {
    let common = &cli.common;
    match &cli.command {
        Command::Fit(method) => fit::run(method, common, talk),
        Command::Transform(asked) => transform::run(asked, common, talk),
        Command::Reconstruct(asked) => reconstruct::run(asked, common, talk),
        Command::Impute(asked) => impute::run(asked, common, talk),
        Command::Score(asked) => score::run(asked, common, talk),
        Command::Sample(asked) => sample::run(asked, common, talk),
        Command::Inspect(asked) => inspect::run(asked, common, talk),
        Command::Choose(asked) => choose::run(asked, common, talk),
        Command::Plot(asked) => plot::run(asked, common, talk),
        Command::Report(asked) => report::run(asked, common, talk),
        Command::Verify(asked) => verify::run(asked, common, talk),
        Command::Hsic(asked) => hsic::run(asked, common, talk),
        Command::Methods => methods(common.json),
        Command::Example(asked) => example::run(asked, talk),
        Command::Demo => demo::run(common, talk),
        Command::Completions(asked) => completions(asked),
    }
}

fn methods(as_json: bool) -> Result<(), Failure> {
    if as_json {
        let row = |m: &&Method| {
            Value::map([
                ("name", Value::from(m.name)),
                ("summary", Value::from(m.about)),
                ("page", Value::from(page(m))),
                ("options", Value::list(own_flags(m.name))),
            ])
        };
        let rows = Value::List(METHODS.iter().map(row).collect());
        return print(&format!("{}\n", json::to_json_lines(&rows)));
    }
    let row = |m: &&Method| vec![m.name.into(), m.about.into(), page(m)];
    let table = Table {
        columns: ["method", "what it is", "page"].map(Column::text).into(),
        rows: METHODS.iter().map(row).collect(),
        ..Table::default()
    };
    let text = table.to_text(140);
    print(&format!("{text}\n`eigenlens fit METHOD --help` lists the options of a method.\n"))
}

/// The page that describes a method.
fn page(method: &Method) -> String {
    format!("docs/methods/{}.md", method.name)
}

fn completions(asked: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(asked.shell, &mut Cli::command(), "eigenlens", &mut script);
    print(&String::from_utf8_lossy(&script))
}
