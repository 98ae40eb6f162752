//! The eigenlens program as a binary.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: eigenlens_cli::Allocator = eigenlens_cli::Allocator;

fn main() -> ExitCode {
    ExitCode::from(eigenlens_cli::run(std::env::args_os().collect()))
}
