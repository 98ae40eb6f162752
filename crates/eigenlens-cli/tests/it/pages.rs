//! The commands of the written pages, run as they stand there.

use crate::support::{Ran, Sandbox};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The `sh` blocks of a page, without the commands that build.
fn commands(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut commands = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.trim() {
            "```sh" => inside = true,
            "```" => inside = false,
            command
                if inside && command.contains("eigenlens ") && !command.starts_with("cargo") =>
            {
                commands.push(command.to_string());
            }
            _ => {}
        }
    }
    commands
}

fn run_all(page: &str) {
    let sandbox = Sandbox::new(&format!("page-{}", page.replace('/', "-")));
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_eigenlens"));
    let folders = [binary.parent().unwrap().to_path_buf()];
    let old = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&old))).unwrap();
    let commands = commands(page);
    assert!(commands.len() >= 5, "{page} shows {} commands", commands.len());
    for command in commands {
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).env("PATH", &path).current_dir(&sandbox.folder);
        let ran = Ran::of(shell.output().unwrap());
        assert_eq!(ran.code, 0, "{page}: {command}\n{}", ran.err);
    }
}

#[test]
fn the_readme_works() {
    run_all("README.md");
}

#[test]
fn the_page_of_sparse_pca_works() {
    run_all("docs/methods/sparse-pca.md");
}

#[test]
fn the_page_of_kernel_pca_works() {
    run_all("docs/methods/kernel-pca.md");
}

#[test]
fn the_page_of_the_command_line_works() {
    run_all("docs/cli.md");
}

#[test]
fn the_page_about_verifying_works() {
    run_all("docs/verify.md");
}

#[test]
fn the_pages_of_the_embeddings_work() {
    for method in ["mds", "isomap", "laplacian", "lle"] {
        run_all(&format!("docs/methods/{method}.md"));
    }
}

#[test]
fn the_page_of_probabilistic_pca_works() {
    run_all("docs/methods/ppca.md");
}

#[test]
fn the_pages_of_the_supervised_methods_work() {
    run_all("docs/methods/supervised-pca.md");
    run_all("docs/methods/kernel-supervised-pca.md");
}

#[test]
fn the_page_of_equations_works() {
    run_all("docs/equations.md");
    run_all("docs/when-kernel-pca-fails.md");
}
