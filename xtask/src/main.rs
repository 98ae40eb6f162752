//! The project's own commands, in plain Rust: nothing to install first. Run as `cargo xtask …`.

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask COMMAND

commands:
  test    every test of the workspace, built as users get it
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["test"] => test(),
        [] | ["help" | "-h" | "--help"] => {
            print!("{USAGE}");
            Ok(())
        }
        other => {
            eprint!("error: `{}` is not a command\n\n{USAGE}", other.join(" "));
            return ExitCode::from(64);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("\nerror: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs every suite, also after one has failed, so that one run shows all there is to mend.
fn test() -> Result<(), String> {
    let mut rust = cargo();
    rust.args(["test", "--release", "--workspace"]);
    let suites = [("Rust: unit, integration and documentation tests", rust)];

    let mut failed = Vec::new();
    for (heading, mut command) in suites {
        if let Err(message) = step(heading, &mut command) {
            eprintln!("{message}");
            failed.push(heading);
        }
    }
    if failed.is_empty() {
        println!("\n== all tests passed ==");
        Ok(())
    } else {
        Err(format!("failed: {}", failed.join("; ")))
    }
}

/// Prints the heading, runs the command in the workspace's root and reports how it ended.
fn step(heading: &str, command: &mut Command) -> Result<(), String> {
    println!("\n== {heading} ==");
    let shown = format!("{command:?}").replace('"', "");
    let status = command
        .current_dir(root())
        .status()
        .map_err(|error| format!("`{shown}` cannot be run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` ended with {status}")) }
}

/// The cargo that runs this program.
fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The workspace's root.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
