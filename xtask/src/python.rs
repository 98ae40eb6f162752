//! The Python package: its wheel, its virtual environments, its tests.

use super::{release_directory, root, step};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is tested in which environment: everything, with all packages and with none but NumPy, and what depends on
/// scikit-learn's inside with every version that is promised to work.
const RUNS: &[(&str, &str, &[&str])] = &[
    ("full", "Python: with scikit-learn and all it can work with", EVERYTHING),
    ("full", "Python: scikit-learn's own tests, of our classes", &["drop_in/run.py"]),
    ("bare", "Python: with NumPy alone", EVERYTHING),
    ("sklearn-1.6.1", "Python: with scikit-learn 1.6", CONVENTIONS),
    ("sklearn-1.7.2", "Python: with scikit-learn 1.7", CONVENTIONS),
    ("sklearn-1.8.0", "Python: with scikit-learn 1.8", CONVENTIONS),
];

// From the package's folder the tests are found; the wheel is what they import.
const EVERYTHING: &[&str] =
    &["-m", "pytest", "--doctest-modules", "--pyargs", "eigenlens", "tests"];
const CONVENTIONS: &[&str] = &[
    "-m",
    "pytest",
    "tests/test_drop_in.py",
    "tests/test_pipelines.py",
    "tests/test_signatures.py",
];

/// Builds the wheel and runs the package's tests.
pub fn test() -> Result<(), String> {
    let release = release_directory()?;
    let target = release.parent().unwrap_or(&release);
    let wheel = wheel(target)?;
    let package = root().join("python");
    let program = release.join(format!("eigenlens{}", std::env::consts::EXE_SUFFIX));
    let mut failed = Vec::new();
    for (name, heading, tests) in RUNS {
        let requirements = package.join(format!("requirements-{name}.txt"));
        let python = environment(&target.join(format!("python-{name}")), &requirements)?;
        install(&python, &wheel)?;
        let mut command = Command::new(python);
        command.args(*tests).env("EIGENLENS_PROGRAM", &program).current_dir(&package);
        failed.extend(step(heading, &mut command).err());
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// The interpreter of a virtual environment with exactly these packages, made when there is none.
pub fn environment(environment: &Path, requirements: &Path) -> Result<PathBuf, String> {
    let bin = if cfg!(windows) { "Scripts" } else { "bin" };
    let python = environment.join(bin).join("python");
    // A copy of the list, written last: what is installed is what it says.
    let installed = environment.join("requirements.txt");
    let wanted = fs::read_to_string(requirements)
        .map_err(|error| format!("`{}` cannot be read: {error}", requirements.display()))?;
    if fs::read_to_string(&installed).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    step(
        "virtual environment",
        Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment),
    )?;
    step("its packages", pip(&python).arg("-r").arg(requirements))?;
    fs::write(&installed, wanted)
        .map_err(|error| format!("`{}` cannot be written: {error}", installed.display()))?;
    Ok(python)
}

/// Builds the wheel of the package, as it stands.
pub fn wheel(target: &Path) -> Result<PathBuf, String> {
    let package = root().join("python");
    let folder = target.join("wheels");
    let builder =
        environment(&target.join("python-build"), &package.join("requirements-build.txt"))?;
    // Wheels of earlier versions would be found in place of this one.
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("`{}` cannot be emptied: {error}", folder.display()))?;
    }
    step(
        "the wheel of the Python package",
        Command::new(builder)
            .args(["-m", "maturin", "build", "--release", "--auditwheel", "skip", "--quiet"])
            .arg("--target-dir")
            .arg(target)
            .arg("--out")
            .arg(&folder)
            .current_dir(package),
    )?;
    let made = fs::read_dir(&folder).ok().and_then(|mut all| all.find_map(Result::ok));
    made.map(|one| one.path()).ok_or_else(|| "maturin made no wheel".into())
}

/// Installs a wheel in place of whatever version is there.
pub fn install(python: &Path, wheel: &Path) -> Result<(), String> {
    step(
        "the package into its environment",
        pip(python).args(["--no-deps", "--force-reinstall"]).arg(wheel),
    )
}

fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}
