//! Standard input, standard output, pipes, and an interrupted process: in processes of their own.

use crate::common::{Scratch, options, read_files};
use eigenlens_io::csv::CsvOptions;
use eigenlens_io::write::{Output, cleanup_temporaries};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Says what the process shall do that runs one test of this program.
const ROLE: &str = "EIGENLENS_TEST_ROLE";

/// Runs this program again, as one of the roles below.
fn run(role: &str, directory: &Path, input: &[u8]) -> String {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program)
        .args(["--exact", "pipes::role", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    child.stdin.take().expect("its input").write_all(input).expect("a reader");
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn role() {
    match std::env::var(ROLE).as_deref() {
        Ok("reader") => {
            let read = read_files(&[PathBuf::from("-")], &options(CsvOptions::default()));
            println!("values: {:?}", read.expect("a table").values());
        }
        Ok("writer") => {
            let mut output = Output::create(Path::new("-"), &[]).expect("standard output");
            output.put(b"\nwritten,whole\n").expect("bytes");
            output.commit().expect("an end");
        }
        Ok("interrupted") => {
            let mut output = Output::create(Path::new("t.csv"), &[]).expect("an output");
            output.put(b"half").expect("bytes");
            cleanup_temporaries();
            // As an interrupt would: nothing is dropped.
            std::mem::forget(output);
        }
        _ => {}
    }
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let scratch = Scratch::new();
    let plain = b"a;b\n1,5;2\n3;4\n".to_vec();
    let packed = zstd::encode_all(&plain[..], 3).expect("memory");
    for input in [plain, packed] {
        let said = run("reader", scratch.dir(), &input);
        assert!(said.contains("values: [[1.5, 2.0], [3.0, 4.0]]"), "{said}");
    }
}

#[test]
fn standard_output_gets_the_bytes() {
    let said = run("writer", Scratch::new().dir(), b"");
    assert!(said.contains("\nwritten,whole\n"), "{said}");
}

#[test]
fn an_interrupted_process_can_remove_its_temporary_files() {
    let scratch = Scratch::new();
    run("interrupted", scratch.dir(), b"");
    assert_eq!(std::fs::read_dir(scratch.dir()).expect("a directory").count(), 0);
}

#[cfg(unix)]
#[test]
fn a_named_pipe_can_be_read_and_read_again() {
    let scratch = Scratch::new();
    let pipe = scratch.path("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    std::thread::scope(|threads| {
        threads.spawn(|| std::fs::write(&pipe, "a,b\n1,2\n3,4\n").expect("a reader"));
        let read = read_files(std::slice::from_ref(&pipe), &options(CsvOptions::default()));
        assert_eq!(read.expect("a table").values(), [[1.0, 2.0], [3.0, 4.0]]);
    });
}
