//! Makes the benchmark's data and runs eigenlens on them; `peers.py` compares it with others.

mod cases;
mod embed;
mod generate;
mod kernel;
mod labels;
mod memory;
mod missing;
mod npy;
mod ours;
mod sparse;

use cases::{CASES, Case};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: eigenlens-bench COMMAND [--quick]

commands:
  cases               the cases, one line of JSON each
  generate CASE DIR   write the data of a case into DIR, unless they are there
  run CASE DIR        fit and score the data in DIR, print one line of JSON
  missing DIR [PEER]  probabilistic PCA and missing values: tables of times
  sparse-pca FORMULATION DATA ROWS COLUMNS COUNTS OUTPUT
                      sparse PCA of DATA (.npy), print one line of JSON
  labels CASE DIR     supervised PCA of the data in DIR (made if need be) beside PCA, as a table
  embed METHOD COLUMNS NEIGHBORS K DIR
                      embed DIR/data.npy, print one line of JSON
  kernel DIR f32|f64 ROWS NEW COLUMNS K GAMMA [MEMORY [LANDMARKS]]
                      kernel PCA of the rows in DIR, print one line of JSON
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
        ["run", case, directory] => {
            find(case).and_then(|case| run(case, quick, Path::new(directory)))
        }
        ["missing", directory] => missing::run(None, quick, Path::new(directory)),
        ["missing", directory, peer] => missing::run(Some(peer), quick, Path::new(directory)),
        ["sparse-pca", formulation, data, rows, columns, counts, output] => {
            sparse_pca(formulation, data, [rows, columns], counts, output)
        }
        ["labels", case, directory] => find(case).and_then(|case| {
            generate::generate(case, quick, Path::new(directory))?;
            labels::run(case, case.size(quick), Path::new(directory))
        }),
        ["embed", method, columns, neighbors, k, directory] => {
            embed(method, [columns, neighbors, k], Path::new(directory))
        }
        ["kernel", directory, scalar, numbers @ ..] => {
            kernel_task(numbers).and_then(|task| match *scalar {
                "f32" => kernel::run::<f32>(&task, Path::new(directory)),
                _ => kernel::run::<f64>(&task, Path::new(directory)),
            })
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

fn kernel_task(numbers: &[&str]) -> Result<kernel::Task, Box<dyn Error>> {
    let [rows, new, columns, k, gamma, rest @ ..] = numbers else {
        return Err("ROWS NEW COLUMNS K GAMMA are needed".into());
    };
    Ok(kernel::Task {
        rows: rows.parse()?,
        new: new.parse()?,
        columns: columns.parse()?,
        k: k.parse()?,
        gamma: gamma.parse()?,
        memory: rest.first().map(|bytes| bytes.parse()).transpose()?,
        landmarks: rest.get(1).map(|m| m.parse()).transpose()?,
    })
}

fn find(name: &str) -> Result<&'static Case, Box<dyn Error>> {
    Case::find(name).ok_or_else(|| format!("`{name}` is not a case").into())
}

fn embed(method: &str, numbers: [&str; 3], directory: &Path) -> Result<(), Box<dyn Error>> {
    let [columns, neighbors, k] = numbers.map(str::parse::<usize>);
    embed::run(method, columns?, neighbors?, k?, directory)
}

fn sparse_pca(
    formulation: &str,
    data: &str,
    shape: [&str; 2],
    counts: &str,
    output: &str,
) -> Result<(), Box<dyn Error>> {
    let shape = (shape[0].parse()?, shape[1].parse()?);
    let counts = counts.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
    sparse::run(formulation, Path::new(data), shape, &counts, Path::new(output))
}

/// One measured run; the components go to `DIR/components-eigenlens.npy`.
fn run(case: &Case, quick: bool, directory: &Path) -> Result<(), Box<dyn Error>> {
    let outcome = ours::run(case, case.size(quick), directory)?;
    let components = outcome.components.as_standard_layout();
    let path = directory.join("components-eigenlens.npy");
    let mut file = npy::Writer::<f64>::create(&path, components.shape())?;
    file.write(components.as_slice().unwrap_or_default())?;
    file.finish()?;

    let variances: Vec<String> =
        outcome.explained_variance.iter().map(|variance| format!("{variance:e}")).collect();
    println!(
        r#"{{"seconds": {}, "peak_bytes": {}, "explained_variance": [{}], "relative_residual": {:e}, "plan": "{}"}}"#,
        outcome.seconds,
        outcome.peak_bytes,
        variances.join(", "),
        outcome.relative_residual,
        escaped(&outcome.plan),
    );
    Ok(())
}

/// The inside of a JSON string.
fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c {
            '"' | '\\' => vec!['\\', c],
            '\n' => vec!['\\', 'n'],
            c if c.is_control() => vec![' '],
            c => vec![c],
        })
        .collect()
}
