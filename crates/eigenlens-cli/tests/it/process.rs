//! Interrupted and killed runs leave the old file or the new one, never a mix.

use crate::support::Sandbox;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits, without sleeping, until the program has made its first output, which may have no name.
fn until_started(sandbox: &Sandbox, child: &mut Child) -> bool {
    let folder = sandbox.folder.canonicalize().unwrap();
    let is_output = |path: &Path| path.starts_with(&folder) && path != folder;
    loop {
        let open = std::fs::read_dir(format!("/proc/{}/fd", child.id()));
        let open = open.into_iter().flatten().flatten();
        if open.filter_map(|entry| entry.path().read_link().ok()).any(|path| is_output(&path))
            || names_are_given(sandbox)
        {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::yield_now();
    }
}

/// Whether the program is giving its outputs their names just now.
fn names_are_given(sandbox: &Sandbox) -> bool {
    sandbox.files().iter().any(|name| name.starts_with(".eigenlens-"))
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

/// `KILLS=200` for a longer test.
#[cfg(unix)]
#[test]
fn a_killed_run_leaves_all_of_the_old_or_all_of_the_new() {
    let sandbox = Sandbox::with("killed", &["digits"]);
    let fit = |k: &'static str| {
        let outputs = ["-o", "m.safetensors", "--scores", "scores.csv", "-q"];
        [&["fit", "pca", "digits.csv", "-k", k][..], &outputs].concat()
    };
    let pair = || (sandbox.bytes("m.safetensors"), sandbox.bytes("scores.csv"));
    let versions = ["3", "5"].map(|k| {
        sandbox.ok(&fit(k));
        pair()
    });
    let kills = std::env::var("KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(24);
    let mut killed = 0;
    for moment in 0..kills {
        let k = ["3", "5"][moment % 2];
        let mut child = sandbox.command(&fit(k)).stdout(Stdio::null()).spawn().unwrap();
        if until_started(&sandbox, &mut child) {
            // Half of them while names are given, the others at any time, measured in looks at the folder.
            let looks = if moment % 4 < 2 { usize::MAX } else { moment * moment % 400 };
            (0..looks)
                .take_while(|_| child.try_wait().unwrap().is_none())
                .find(|i| names_are_given(&sandbox) && *i >= moment % 7);
            let _ = child.kill();
        }
        killed += usize::from(!child.wait().unwrap().success());
        // The next run puts things right, whatever it is.
        sandbox.ok(&["transform", "m.safetensors", "digits.csv", "-o", "again.csv", "-q"]);
        assert!(versions.contains(&pair()), "moment {moment}: a mixture");
        assert_eq!(sandbox.files(), ["again.csv", "digits.csv", "m.safetensors", "scores.csv"]);
    }
    assert!(killed > 0, "no run was killed in time");
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
