//! One file per command.

mod choose;
mod demo;
mod diagnose;
pub mod example;
mod explore;
mod fit;
pub mod hsic;
mod impute;
mod inspect;
mod plot;
mod predict;
mod reconstruct;
mod report;
mod rotate;
mod sample;
mod score;
mod transform;
mod verify;

use crate::arguments::{Cli, Command, Completions};
use crate::failure::Failure;
use crate::methods::own_flags;
use crate::output::print;
use crate::reporter::Reporter;
use clap::CommandFactory;
use eigenlens::Value;
use eigenlens::{METHODS, Method};
use eigenlens_io::json;
use eigenlens_report::{Column, Table};

/// Does what was asked.
pub fn run(cli: &Cli, reporter: &Reporter) -> Result<(), Failure> {
    let common = &cli.common;
    match &cli.command {
        Command::Fit(method) => fit::run(method, common, reporter),
        Command::Transform(args) => transform::run(args, common, reporter),
        Command::Reconstruct(args) => reconstruct::run(args, common, reporter),
        Command::Rotate(args) => rotate::run(args, common, reporter),
        Command::Impute(args) => impute::run(args, common, reporter),
        Command::Predict(args) => predict::run(args, common, reporter),
        Command::Score(args) => score::run(args, common, reporter),
        Command::Sample(args) => sample::run(args, common, reporter),
        Command::Diagnose(args) => diagnose::run(args, common, reporter),
        Command::Inspect(args) => inspect::run(args, common, reporter),
        Command::Choose(args) => choose::run(args, common, reporter),
        Command::Plot(args) => plot::run(args, common, reporter),
        Command::Explore(args) => explore::run(args, common, reporter),
        Command::Report(args) => report::run(args, common, reporter),
        Command::Verify(args) => verify::run(args, common, reporter),
        Command::Hsic(args) => hsic::run(args, common, reporter),
        Command::Methods => methods(common.json),
        Command::Example(args) => example::run(args, reporter),
        Command::Demo => demo::run(common, reporter),
        Command::Completions(args) => completions(args),
    }
}

fn methods(as_json: bool) -> Result<(), Failure> {
    if as_json {
        let row = |m: &&Method| {
            Value::map([
                ("name", Value::from(m.name)),
                ("summary", Value::from(m.about)),
                ("page", Value::from(page(m))),
                ("options", Value::list(own_flags(m))),
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

fn completions(args: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "eigenlens", &mut script);
    print(&String::from_utf8_lossy(&script))
}
