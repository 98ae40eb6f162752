//! The program, as the command that comes with the package.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::Write;

/// Runs the program in this process, which then has its signal handlers and its budget, and returns the exit
/// code.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = eigenlens_cli::run(arguments);
        // A program of Rust's own does this as it ends; nobody is left to be told of an error.
        let _ = std::io::stdout().flush();
        code
    })
}
