//! Makes the benchmark's data and runs eigenlens on them; `peers.py` compares it with others.

mod cases;
mod generate;
mod npy;

use cases::{CASES, Case};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: eigenlens-bench COMMAND [--quick]

commands:
  cases               the cases, one line of JSON each
  generate CASE DIR   write the data of a case into DIR, unless they are there
";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = arguments.len();
    arguments.retain(|argument| argument != "--quick");
    let quick = arguments.len() < given;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["cases"] => {
            CASES.iter().for_each(|case| println!("{}", case.json(quick)));
            Ok(())
        }
        ["generate", case, directory] => {
            find(case).and_then(|case| Ok(generate::generate(case, quick, Path::new(directory))?))
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(64);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn find(name: &str) -> Result<&'static Case, Box<dyn Error>> {
    Case::find(name).ok_or_else(|| format!("`{name}` is not a case").into())
}
