//! The eigenlens program, whoever starts it: the binary of this crate, or the command of the Python package.

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

pub use allocator::Allocator;

use arguments::Cli;
use clap::Parser;
use reporter::Reporter;
use std::ffi::OsString;

/// Runs the program and returns its exit code. The first argument is the name it goes by.
///
/// `--memory` is kept where [`Allocator`] is the process's global allocator.
pub fn run(arguments: Vec<OsString>) -> u8 {
    interrupt::leave_nothing_behind();
    interrupt::report_large_files();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(message) => match methods::misfit(&message, words(arguments)) {
            None => return failure::usage(&message),
            Some(failure) => {
                Reporter::new(true).fail(&failure);
                return failure.exit_code();
            }
        },
    };
    let reporter = Reporter::new(cli.common.quiet);
    let run = || {
        cli.common.memory.map_or(Ok(()), allocator::keep_within)?;
        commands::run(&cli, &reporter)
    };
    match failure::contained(run) {
        Ok(()) => 0,
        Err(failure) => {
            reporter.fail(&failure);
            failure.exit_code()
        }
    }
}

/// Arguments as text, to look for names of options in them.
fn words(arguments: Vec<OsString>) -> impl Iterator<Item = String> {
    arguments.into_iter().map(|one| one.to_string_lossy().into_owned())
}
