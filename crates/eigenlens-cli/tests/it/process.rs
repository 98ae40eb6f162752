//! Interrupted and killed runs leave the old file or the new one, never a mix.

use crate::support::Sandbox;
use std::io::Write;
use std::process::{Child, Command, Stdio};

/// Waits, without sleeping, until the program has made its first temporary file.
fn until_started(sandbox: &Sandbox, child: &mut Child) -> bool {
    loop {
        if sandbox.files().iter().any(|name| name.starts_with(".eigenlens-")) {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::yield_now();
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_and_is_130() {
    let sandbox = Sandbox::new("interrupt");
    for signal in ["-INT", "-TERM"].repeat(8) {
        let mut child = sandbox
            .command(&["fit", "pca", "-", "--scores", "scores.csv"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Standard input stays open: the program waits for more rows.
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"a,b\n1,2\n3,4\n").unwrap();
        assert!(until_started(&sandbox, &mut child));
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(sandbox.files(), Vec::<String>::new(), "{signal}");
    }
}

#[cfg(unix)]
#[test]
fn a_killed_run_leaves_the_old_file_or_the_new_one() {
    let sandbox = Sandbox::with("killed", &["digits"]);
    let fit = [
        "fit",
        "pca",
        "digits.csv",
        "-k",
        "5",
        "-o",
        "m.safetensors",
        "--scores",
        "scores.csv",
        "-q",
    ];
    sandbox.ok(&fit);
    let new = (sandbox.bytes("m.safetensors"), sandbox.bytes("scores.csv"));
    let mut survived = 0;
    for moment in 0..24 {
        sandbox.write("m.safetensors", "old model");
        sandbox.write("scores.csv", "old scores");
        let mut child = sandbox.command(&fit).stdout(Stdio::null()).spawn().unwrap();
        if until_started(&sandbox, &mut child) {
            // A later moment each time, measured in looks at the folder.
            for _ in 0..moment * moment * 2 {
                sandbox.files();
            }
            child.kill().unwrap();
        }
        survived += usize::from(child.wait().unwrap().success());
        let (model, scores) = (sandbox.bytes("m.safetensors"), sandbox.bytes("scores.csv"));
        assert!(model == b"old model" || model == new.0, "moment {moment}");
        assert!(scores == b"old scores" || scores == new.1, "moment {moment}");
        // What a killed run could not remove is hidden, and never under a final name.
        for name in sandbox.files().iter().filter(|name| name.starts_with(".eigenlens-")) {
            std::fs::remove_file(sandbox.path(name)).unwrap();
        }
        assert_eq!(sandbox.files(), ["digits.csv", "m.safetensors", "scores.csv"]);
    }
    assert!(survived < 24, "no run was killed in time");
}

#[cfg(unix)]
#[test]
fn a_reader_that_wants_no_more_is_no_error() {
    let sandbox = Sandbox::with("pipe", &["digits"]);
    sandbox.ok(&["fit", "pca", "digits.csv", "-k", "60", "-o", "m.safetensors", "-q"]);
    let mut child = sandbox
        .command(&["transform", "m.safetensors", "digits.csv", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
