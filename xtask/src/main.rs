//! The project's own commands, in plain Rust: nothing to install first. Run as `cargo xtask …`.

mod bits;
mod explorer;
mod python;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask COMMAND

commands:
  test           every test, built as users get it; those of the Python package need python3 and its
                 packages' index, those of the explorer node, its registry and a Chromium; they are left
                 out (which is said) where these are not there
  pages          writes the tables of options and operations on the pages of the methods anew
  bits OLD NEW   fits the same tables by two eigenlens programs and compares models and scores bit by
                 bit; options: --case SUBSTRING, --threads-new N; `bits --list` lists the cases
  campaign       thousands of fits whose certificates are compared with the truth in double-double
                 arithmetic, by family: false bounds, and how wide the true ones are; options:
                 --fits N (5000), --family NAME [--case INDEX], --seed S, --json FILE, --list
  bench peers    eigenlens beside its peers: time, memory, accuracy (needs Python and its packages'
                 index); options: --case NAME, --only PROGRAM, --runs N, --slow SECONDS, --quick
  bench everyday everyday calls of every class beside scikit-learn's, in one process: time, memory,
                 accuracy; options: --case SUBSTRING, --runs N, --threads N, --quick, --large, and
                 --page PAGE, which puts the table onto the page
  bench files    whole jobs on files, from table to scores, beside polars, pandas and scikit-learn;
                 options: --runs N, --quick
  bench overhead what a call from Python costs beside the fit, and whether arrays are copied;
                 options: --runs N
  bench missing  probabilistic PCA and missing values beside the `ppca` crate (needs the registry of
                 crates); option: --quick
  bench sparse   sparse PCA beside scikit-learn's: time, memory, adjusted variance;
                 options: --case NAME, --runs N, --quick
  bench labels   supervised PCA of 1,000,000 × 100 with ten classes beside PCA; option: --quick
  bench embeddings   MDS, Isomap, Laplacian eigenmaps and LLE beside scikit-learn's: time, memory,
                 accuracy; options: --case NAME, --runs N, --quick
  bench explorer the explorer of 1,000,000 points beside a Plotly page of them, in Chromium (needs node and
                 its registry); options: POINTS [RUNS]
  bench kernels  kernel PCA beside scikit-learn; options: --runs N, --quick, and --large for exact
                 kernel PCA of 50,000 rows in 2 GiB and Nyström of 1,000,000 streamed in 1 GiB
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["test"] => test(),
        ["pages"] => pages(),
        ["bits", options @ ..] => bits::run(options),
        ["campaign", options @ ..] => campaign(options),
        ["bench", "peers", options @ ..] => bench("eigenlens-bench", "peers.py", options),
        ["bench", "everyday", options @ ..] => bench("eigenlens", "everyday.py", options),
        ["bench", "files", options @ ..] => bench("eigenlens", "files.py", options),
        ["bench", "overhead", options @ ..] => bench("eigenlens-bench", "overhead.py", options),
        ["bench", "missing", options @ ..] => bench_missing(options),
        ["bench", "sparse", options @ ..] => bench("eigenlens-bench", "sparse.py", options),
        ["bench", "labels", options @ ..] => labels(options),
        ["bench", "embeddings", options @ ..] => bench("eigenlens-bench", "embeddings.py", options),
        ["bench", "explorer", options @ ..] => explorer::bench(options),
        ["bench", "kernels", options @ ..] => bench("eigenlens-bench", "kernels.py", options),
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

/// The test that compares the pages with the tables writes them where it is asked to.
fn pages() -> Result<(), String> {
    let mut command = cargo();
    command.args(["test", "--release", "--workspace", "--test", "it", "pages_show_the_"]);
    command.env("EIGENLENS_WRITE_PAGES", "1");
    step("the tables of options and operations", &mut command)
}

/// Runs every suite, also after one has failed, so that one run shows all there is to mend.
fn test() -> Result<(), String> {
    let mut failed = Vec::new();
    let rust = "Rust: unit, integration and documentation tests";
    let mut command = cargo();
    command.args(["test", "--release", "--workspace", "--no-fail-fast"]);
    let mut outcomes = vec![(rust, step(rust, &mut command))];
    let has_python = Command::new("python3").arg("--version").output().is_ok();
    if has_python {
        outcomes.push(("Python", python::test()));
    }
    let mut left_out = Vec::new();
    match explorer::test() {
        Ok(said) => left_out = said,
        Err(message) => outcomes.push(("the explorer", Err(message))),
    }
    if !has_python {
        left_out.push(
            "The tests of the Python package were left out: there is no `python3`.".to_string(),
        );
    }
    for (heading, outcome) in outcomes {
        if let Err(message) = outcome {
            eprintln!("{message}");
            failed.push(heading);
        }
    }
    for words in left_out {
        println!("\n{words}");
    }
    if failed.is_empty() {
        println!("\n== all tests passed ==");
        Ok(())
    } else {
        Err(format!("failed: {}", failed.join("; ")))
    }
}

/// Certificates beside the truth: needs no other program.
fn campaign(options: &[&str]) -> Result<(), String> {
    const PROGRAM: &str = "eigenlens-campaign";
    let release = release_directory()?;
    step(
        &format!("build {PROGRAM}"),
        cargo().args(["build", "--release", "--workspace", "--bin", PROGRAM]),
    )?;
    let program = release.join(format!("{PROGRAM}{}", env::consts::EXE_SUFFIX));
    step("certificates beside the truth", Command::new(program).args(options))
}

/// Builds our side, prepares a virtual environment for the others and hands over to the script,
/// which reads the options.
fn bench(program: &str, script: &str, options: &[&str]) -> Result<(), String> {
    let release = release_directory()?;
    let target = release.parent().unwrap_or(&release).to_path_buf();
    let scripts = root().join("bench");
    step(
        &format!("build {program}"),
        cargo().args(["build", "--release", "--workspace", "--bin", program]),
    )?;
    let python =
        python::environment(&target.join("bench-venv"), &scripts.join("requirements.txt"))?;
    if ["peers.py", "overhead.py", "everyday.py"].contains(&script) {
        python::install(&python, &python::wheel(&target)?)?;
    }
    step(
        "eigenlens and its peers",
        Command::new(python)
            .arg(scripts.join(script))
            .arg("--program")
            .arg(release.join(format!("{program}{}", env::consts::EXE_SUFFIX)))
            .arg("--output")
            .arg(target.join("bench"))
            .args(options),
    )
}

/// Builds our side and the peer, which is a package of its own, and runs them in turn.
fn bench_missing(options: &[&str]) -> Result<(), String> {
    let release = release_directory()?;
    let target = release.parent().unwrap_or(&release);
    let (ours, peer) = ("eigenlens-bench", "ppca-peer");
    step(&format!("build {ours}"), cargo().args(["build", "--release", "--bin", ours]))?;
    let beside = target.join("bench-peer");
    step(
        &format!("build {peer}"),
        cargo()
            .args(["build", "--release", "--manifest-path"])
            .arg(root().join("bench/ppca-peer/Cargo.toml"))
            .arg("--target-dir")
            .arg(&beside),
    )?;
    step(
        "eigenlens and its peer",
        Command::new(release.join(format!("{ours}{}", env::consts::EXE_SUFFIX)))
            .arg("missing")
            .arg(target.join("bench"))
            .arg(beside.join("release").join(format!("{peer}{}", env::consts::EXE_SUFFIX)))
            .args(options),
    )
}

/// Supervised PCA beside PCA: needs no other program.
fn labels(options: &[&str]) -> Result<(), String> {
    const PROGRAM: &str = "eigenlens-bench";
    let release = release_directory()?;
    let target = release.parent().unwrap_or(&release);
    step(
        &format!("build {PROGRAM}"),
        cargo().args(["build", "--release", "--workspace", "--bin", PROGRAM]),
    )?;
    step(
        "supervised PCA beside PCA",
        Command::new(release.join(format!("{PROGRAM}{}", env::consts::EXE_SUFFIX)))
            .args(["labels", "tall-f64"])
            .arg(target.join("bench").join("labels"))
            .args(options),
    )
}

/// Where cargo put this program, and puts the others it builds for release.
fn release_directory() -> Result<PathBuf, String> {
    let program =
        env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
    Ok(program.parent().unwrap_or(&program).to_path_buf())
}

/// Prints the heading, runs the command (in the workspace's root unless it says otherwise) and reports
/// how it ended.
fn step(heading: &str, command: &mut Command) -> Result<(), String> {
    println!("\n== {heading} ==");
    if command.get_current_dir().is_none() {
        command.current_dir(root());
    }
    let shown = format!("{command:?}").replace('"', "");
    let status = command.status().map_err(|error| format!("`{shown}` cannot be run: {error}"))?;
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
