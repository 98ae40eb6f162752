//! Files appear whole or not at all.

use crate::common::Scratch;
use eigenlens_io::Error;
use eigenlens_io::write::{Header, Output, commit_together, table_writer};
use std::fs;
use std::path::Path;

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn nothing_changes_under_the_name_before_commit() {
    let scratch = Scratch::new();
    let path = scratch.file("t.csv", "old");
    let mut output = Output::create(&path, &[]).expect("an output");
    output.put(b"new").expect("bytes");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "old");
    assert!(
        names_in(scratch.dir())
            .iter()
            .all(|name| name == "t.csv" || name.starts_with(".eigenlens-"))
    );
    output.commit().expect("a file");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "new");
    assert_eq!(names_in(scratch.dir()), ["t.csv"]);
}

#[test]
fn a_dropped_output_leaves_nothing() {
    let scratch = Scratch::new();
    for name in ["t.csv", "t.csv.gz", "t.csv.zst"] {
        let output = Output::create(&scratch.path(name), &[]).expect("an output");
        let mut writer = table_writer(output).expect("a writer");
        let header = Header { numbers: vec![String::from("x")], ..Header::default() };
        writer.begin(&header).expect("a header");
        drop(writer);
    }
    assert_eq!(names_in(scratch.dir()), [""; 0]);
}

#[test]
fn files_that_belong_together_appear_together() {
    let scratch = Scratch::new();
    let (first, second) = (scratch.file("a.csv", "old"), scratch.path("b.csv"));
    let complete = |path: &Path, content: &[u8]| {
        let mut output = Output::create(path, &[]).expect("an output");
        output.put(content).expect("bytes");
        output.complete().expect("a file")
    };
    let files = vec![complete(&first, b"new"), complete(&second, b"newer")];
    assert_eq!(fs::read(&first).expect("the file"), b"old");
    assert!(!second.exists());
    commit_together(files).expect("names");
    assert_eq!(fs::read(&first).expect("the file"), b"new");
    assert_eq!(fs::read(&second).expect("the file"), b"newer");
    // Where one cannot get its name, no other does.
    let files = vec![complete(&first, b"newest"), complete(&scratch.path("sub"), b"x")];
    fs::create_dir(scratch.path("sub")).expect("a directory");
    fs::write(scratch.path("sub/c.csv"), "kept").expect("a file");
    let result = commit_together(files.into_iter().rev().collect());
    assert!(matches!(result, Err(Error::Write { created: true, .. })), "{result:?}");
    assert_eq!(fs::read(&first).expect("the file"), b"new");
    assert_eq!(names_in(scratch.dir()), ["a.csv", "b.csv", "sub"]);
}

/// What a killed process left is not locked any more; what is being written is.
#[test]
fn litter_is_removed_and_nothing_else() {
    let scratch = Scratch::new();
    let litter = scratch.file(".eigenlens-dead.tmp", "left");
    let own = scratch.file(".eigenlens-notes.txt", "mine");
    let held = scratch.file(".eigenlens-alive.tmp", "being written");
    let lock = fs::File::open(&held).expect("a file");
    lock.try_lock().expect("a lock");
    let output = Output::create(&scratch.path("t.csv"), &[]).expect("an output");
    assert!(!litter.exists() && own.exists() && held.exists());
    // Another writer leaves the first alone.
    let mut other = Output::create(&scratch.path("u.csv"), &[]).expect("an output");
    other.put(b"x").expect("bytes");
    other.commit().expect("a file");
    output.commit().expect("a file");
    assert!(scratch.path("t.csv").exists() && scratch.path("u.csv").exists());
}

#[test]
fn paths_that_cannot_be_written_fail_at_once() {
    let scratch = Scratch::new();
    for path in
        [scratch.path("no/such/t.csv"), scratch.dir().to_owned(), scratch.path(&"x".repeat(4096))]
    {
        let result = Output::create(&path, &[]);
        assert!(matches!(result, Err(Error::Write { created: false, .. })), "{}", path.display());
    }
}

#[test]
fn an_input_is_never_overwritten() {
    let scratch = Scratch::new();
    let input = scratch.file("in.csv", "a\n1\n");
    let mut others = vec![input.clone(), scratch.dir().join(".").join("in.csv")];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&input, scratch.path("soft.csv")).expect("a link");
        fs::hard_link(&input, scratch.path("hard.csv")).expect("a link");
        others.extend([scratch.path("soft.csv"), scratch.path("hard.csv")]);
    }
    for path in others {
        let result = Output::create(&path, std::slice::from_ref(&input));
        assert!(matches!(result, Err(Error::Usage { .. })), "{}", path.display());
    }
    assert!(Output::create(&scratch.path("out.csv"), &[input]).is_ok());
}

#[test]
fn of_two_writers_one_wins_whole() {
    let scratch = Scratch::new();
    let path = scratch.path("t.csv");
    std::thread::scope(|threads| {
        for letter in [b'a', b'b', b'c'] {
            let path = &path;
            threads.spawn(move || {
                for _ in 0..10 {
                    let mut output = Output::create(path, &[]).expect("an output");
                    output.put(&vec![letter; 100_000]).expect("bytes");
                    output.commit().expect("a file");
                    let content = fs::read(path).expect("the file");
                    assert_eq!(content.len(), 100_000);
                    assert!(content.iter().all(|byte| *byte == content[0]));
                }
            });
        }
    });
    assert_eq!(names_in(scratch.dir()), ["t.csv"]);
}

#[cfg(unix)]
#[test]
fn links_permissions_and_devices() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = Scratch::new();
    let target = scratch.file("target.csv", "old");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("permissions");
    symlink(&target, scratch.path("link.csv")).expect("a link");
    let mut output = Output::create(&scratch.path("link.csv"), &[]).expect("an output");
    output.put(b"new").expect("bytes");
    output.commit().expect("a file");
    assert_eq!(fs::read_to_string(&target).expect("the file"), "new");
    assert_eq!(fs::metadata(&target).expect("the file").permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(scratch.path("link.csv")).expect("the link").is_symlink());
    // A full disk is an error, at the latest when the file is completed.
    if Path::new("/dev/full").exists() {
        let mut output = Output::create(Path::new("/dev/full"), &[]).expect("a device");
        let result = output.put(&vec![b'x'; 1 << 20]).and_then(|()| output.commit());
        assert!(matches!(result, Err(Error::Write { created: true, .. })), "{result:?}");
    }
}

#[test]
fn unknown_extensions_are_refused() {
    let scratch = Scratch::new();
    let output = Output::create(&scratch.path("t.xlsx"), &[]).expect("an output");
    let result = table_writer(output).map(|_| ());
    assert!(matches!(result, Err(Error::Usage { .. })), "{result:?}");
    assert_eq!(names_in(scratch.dir()), [""; 0]);
}
