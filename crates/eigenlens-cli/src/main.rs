//! The eigenlens program.

mod allocator;
mod arguments;
mod commands;
mod describe;
mod failure;
mod input;
mod interrupt;
mod methods;
mod missing;
mod options;
mod output;
mod pictures;
mod progress;
mod reporter;
mod target;

use arguments::Cli;
use clap::Parser;
use reporter::Reporter;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

fn main() -> ExitCode {
    interrupt::leave_nothing_behind();
    interrupt::report_large_files();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => match methods::misfit(&message, std::env::args()) {
            None => return failure::usage(&message),
            Some(failure) => {
                Reporter::new(true).fail(&failure);
                return ExitCode::from(failure.exit_code());
            }
        },
    };
    let reporter = Reporter::new(cli.common.quiet);
    let run = || {
        cli.common.memory.map_or(Ok(()), allocator::keep_within)?;
        commands::run(&cli, &reporter)
    };
    match failure::contained(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            reporter.fail(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
