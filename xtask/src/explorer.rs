//! The explorer's script and style: whether they are what `web/` makes, and what the page does in a browser.

use super::{cargo, release_directory, root, step};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What was left out, in words; nothing where all was tested. `EIGENLENS_REQUIRE_BROWSER=1` makes leaving
/// out a failure.
pub fn test() -> Result<Vec<String>, String> {
    let mut left_out: Vec<String> = Vec::new();
    if let Err(why) = bundle() {
        match why {
            Missing::Node => {
                left_out.push("The explorer was not tested: there is no `node`.".into())
            }
            Missing::Failed(message) => return Err(message),
        }
    } else if let Some(chromium) = chromium() {
        browser(&chromium)?;
    } else {
        left_out.push(
            "The explorer was not tested in a browser: there is no Chromium (`apt-get install chromium`, \
             or its path in EIGENLENS_CHROMIUM)."
                .into(),
        );
    }
    let required = env::var_os("EIGENLENS_REQUIRE_BROWSER").is_some_and(|value| value == "1");
    match left_out.first() {
        Some(why) if required => Err(why.clone()),
        _ => Ok(left_out),
    }
}

enum Missing {
    Node,
    Failed(String),
}

/// Types are checked, and the bundle made anew is the one that is committed.
fn bundle() -> Result<(), Missing> {
    if Command::new("node").arg("--version").output().is_err() {
        return Err(Missing::Node);
    }
    let web = root().join("web");
    let run = |heading: &str, command: &mut Command| {
        step(heading, command.current_dir(&web)).map_err(Missing::Failed)
    };
    packages(&web).map_err(Missing::Failed)?;
    run("the explorer's types", Command::new("npm").args(["run", "--silent", "check"]))?;
    run("the explorer's bundle", Command::new("node").args(["build.mjs", "--check"]))
}

/// Gets the pinned packages of a folder, where they are not there.
fn packages(folder: &Path) -> Result<(), String> {
    if folder.join("node_modules/.package-lock.json").exists() {
        return Ok(());
    }
    step("packages for node", Command::new("npm").args(["ci", "--silent"]).current_dir(folder))
}

/// The explorer of many points beside a Plotly page of them.
pub fn bench(options: &[&str]) -> Result<(), String> {
    let release = release_directory()?;
    step(
        "build eigenlens",
        cargo().args(["build", "--release", "--workspace", "--bin", "eigenlens"]),
    )?;
    let folder = root().join("bench/explorer");
    packages(&root().join("web"))?;
    packages(&folder)?;
    let program = release.join(format!("eigenlens{}", env::consts::EXE_SUFFIX));
    step(
        "the explorer beside Plotly",
        Command::new("node")
            .arg("run.mjs")
            .args(options)
            .env("EIGENLENS_PROGRAM", program)
            .current_dir(folder),
    )
}

/// The tests that click, hover, draw around, search and export.
fn browser(chromium: &Path) -> Result<(), String> {
    let release = release_directory()?;
    let program = release.join(format!("eigenlens{}", env::consts::EXE_SUFFIX));
    step(
        "the explorer in a browser",
        Command::new("node")
            .args(["--test", "test/explorer.test.mjs"])
            .env("EIGENLENS_PROGRAM", program)
            .env("EIGENLENS_CHROMIUM", chromium)
            .current_dir(root().join("web")),
    )
}

fn chromium() -> Option<PathBuf> {
    let told = env::var_os("EIGENLENS_CHROMIUM").map(PathBuf::from);
    let usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    told.into_iter().chain(usual.map(PathBuf::from)).find(|path| path.exists())
}
