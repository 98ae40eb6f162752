//! The eigenlens program.

mod arguments;
mod commands;
mod describe;
mod failure;
mod images;
mod input;
mod interrupt;
mod methods;
mod output;
mod pictures;
mod progress;
mod talk;
mod terms;
mod wishes;

use arguments::Cli;
use clap::Parser;
use std::process::ExitCode;
use talk::Talk;

fn main() -> ExitCode {
    interrupt::leave_nothing_behind();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => return failure::usage(&message),
    };
    let talk = Talk::new(&cli.common);
    match failure::contained(|| commands::run(&cli, &talk)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            talk.fail(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
