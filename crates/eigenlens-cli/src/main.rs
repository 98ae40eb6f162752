//! The eigenlens program.

mod arguments;
mod commands;
mod describe;
mod failure;
mod holes;
mod images;
mod input;
mod interrupt;
mod kernels;
mod methods;
mod output;
mod pictures;
mod progress;
mod talk;
mod target;
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
        Err(message) => match methods::misfit(&message, std::env::args()) {
            None => return failure::usage(&message),
            Some(failure) => {
                Talk::new(true).fail(&failure);
                return ExitCode::from(failure.exit_code());
            }
        },
    };
    let talk = Talk::new(cli.common.quiet);
    match failure::contained(|| commands::run(&cli, &talk)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            talk.fail(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
