//! Several files that get their names together.
//!
//! One name is given in one step; of several a killed process could leave some new and some old. So what is to
//! be renamed is first written down, in every directory that is concerned. Whoever finds such a journal whose
//! process is gone does the rest.

use super::litter::is_ours;
use super::temporaries;
use super::temporary::{PREFIX, SUFFIX, Temporary, directory_of, sync_directory};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What the names of journals end with.
pub(super) const JOURNAL: &str = ".journal";

const FIRST_LINE: &str = "eigenlens journal 1";
const LAST_LINE: &str = "complete";

/// The longest journal that is read; a line has two paths.
const MOST_BYTES: u64 = 1 << 20;

/// Gives complete files their names, all of them or none. An error comes with the index of its file.
pub(super) fn commit(mut files: Vec<Temporary>) -> Result<(), (usize, io::Error)> {
    let _naming = temporaries::naming();
    let journals = match files.len() {
        0 | 1 => Vec::new(),
        _ => begin(&mut files)?,
    };
    for (index, file) in files.iter_mut().enumerate() {
        file.rename().map_err(|error| (index, error))?;
    }
    for directory in directories(&files) {
        sync_directory(&directory).map_err(|error| (0, error))?;
    }
    // Each journal goes with its last holder.
    drop(journals);
    Ok(())
}

/// Writes down what is to be renamed, beside every file.
fn begin(files: &mut [Temporary]) -> Result<Vec<NamedTempFile<File>>, (usize, io::Error)> {
    let mut lines = vec![FIRST_LINE.to_string()];
    for (index, file) in files.iter_mut().enumerate() {
        let line = Line::of(file).map_err(|error| (index, error))?;
        lines.push(line.to_text());
    }
    lines.push(LAST_LINE.into());
    let text = lines.join("\n") + "\n";
    let mut journals = Vec::new();
    for directory in directories(files) {
        journals.push(write(&directory, &text).map_err(|error| (0, error))?);
        sync_directory(&directory).map_err(|error| (0, error))?;
    }
    Ok(journals)
}

fn write(directory: &Path, text: &str) -> io::Result<NamedTempFile<File>> {
    let mut journal = Temporary::create(directory.join(PREFIX))?;
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let n = journal.write(rest)?;
        rest = rest.get(n..).unwrap_or_default();
    }
    journal.complete()?;
    journal.publish(JOURNAL)
}

fn directories(files: &[Temporary]) -> BTreeSet<PathBuf> {
    files.iter().map(|file| directory_of(file.target()).to_owned()).collect()
}

/// Does what a journal says is still to be done, if its process is gone.
pub(super) fn roll_forward(path: &Path) -> io::Result<()> {
    if !is_ours(path) {
        return Ok(());
    }
    let file = File::open(path)?;
    if file.try_lock().is_err() {
        return Ok(());
    }
    let mut text = String::new();
    // What cannot be read was written by nobody who had begun to rename.
    let read = (&file).take(MOST_BYTES).read_to_string(&mut text);
    if let (Ok(_), Some(lines)) = (read, parse(&text)) {
        finish(&lines)?;
    }
    fs::remove_file(path)
}

/// All files under their names, or none of them.
fn finish(lines: &[Line]) -> io::Result<()> {
    let has_begun = lines.iter().any(|line| identity(&line.target) == Some(line.identity));
    let is_whole = lines.iter().all(Line::is_there);
    for line in lines.iter().filter(|line| identity(&line.name) == Some(line.identity)) {
        if has_begun || is_whole {
            fs::rename(&line.name, &line.target)?;
            sync_directory(directory_of(&line.target))?;
        } else {
            fs::remove_file(&line.name)?;
        }
    }
    Ok(())
}

/// A file that is to be renamed.
struct Line {
    identity: u64,
    name: PathBuf,
    target: PathBuf,
}

impl Line {
    fn of(file: &mut Temporary) -> io::Result<Line> {
        let target = std::path::absolute(file.target())?;
        let name = std::path::absolute(file.name()?)?;
        Ok(Line { identity: file.identity()?, name, target })
    }

    fn to_text(&self) -> String {
        format!("{} {} {}", self.identity, encode(&self.name), encode(&self.target))
    }

    /// Only what this program itself can have written: a temporary file beside its target.
    fn parse(text: &str) -> Option<Line> {
        let mut words = text.split(' ');
        let identity = words.next()?.parse().ok()?;
        let (name, target) = (decode(words.next()?)?, decode(words.next()?)?);
        let file_name = name.file_name()?.to_str()?;
        let is_right = file_name.starts_with(PREFIX)
            && file_name.ends_with(SUFFIX)
            && name.parent() == target.parent()
            && words.next().is_none();
        is_right.then_some(Line { identity, name, target })
    }

    /// Whether the file is under one of its names.
    fn is_there(&self) -> bool {
        [&self.name, &self.target].iter().any(|path| identity(path) == Some(self.identity))
    }
}

fn parse(text: &str) -> Option<Vec<Line>> {
    let lines = text.strip_prefix(FIRST_LINE)?.strip_prefix('\n')?;
    let lines = lines.strip_suffix('\n')?.strip_suffix(LAST_LINE)?;
    lines.lines().map(Line::parse).collect()
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path).ok().map(|found| found.ino())
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|_| 0)
}

/// A path as one word of plain letters.
fn encode(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn decode(word: &str) -> Option<PathBuf> {
    let byte = |i: usize| u8::from_str_radix(word.get(2 * i..2 * i + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..word.len().div_ceil(2)).map(byte).collect::<Option<_>>()?;
    #[cfg(unix)]
    let path = {
        use std::os::unix::ffi::OsStringExt;
        Some(std::ffi::OsString::from_vec(bytes))
    };
    #[cfg(not(unix))]
    let path = String::from_utf8(bytes).ok();
    path.map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let line = |name: &str, target: &str| Line {
            identity: 7,
            name: PathBuf::from(name),
            target: PathBuf::from(target),
        };
        let read =
            |line: Line| Line::parse(&line.to_text()).map(|l| (l.identity, l.name, l.target));
        let (name, target) = ("/a b/.eigenlens-x.tmp", "/a b/\u{e9}\n.csv");
        assert_eq!(read(line(name, target)), Some((7, name.into(), target.into())));
        // Nobody is led elsewhere.
        assert_eq!(read(line("/a/.eigenlens-x.tmp", "/etc/passwd")), None);
        assert_eq!(read(line("/a/mine.tmp", "/a/b.csv")), None);
    }

    #[test]
    fn a_journal_without_its_end_says_nothing() {
        assert!(parse("eigenlens journal 1\ncomplete\n").is_some());
        assert!(parse("eigenlens journal 1\n").is_none());
        assert!(parse("eigenlens journal 1\n7 2f").is_none());
    }

    /// Two files with temporary names and a journal, as a process leaves them that is killed when it has given
    /// the names of those that `renamed` says, and those of `lost` are gone.
    #[cfg(unix)]
    fn killed(directory: &Path, renamed: &[usize], lost: &[usize]) {
        let mut lines = vec![FIRST_LINE.to_string()];
        for (index, file) in ["a.csv", "b.csv"].into_iter().enumerate() {
            let (name, target) =
                (directory.join(format!("{PREFIX}{index}{SUFFIX}")), directory.join(file));
            fs::write(&target, "old").unwrap();
            fs::write(&name, "new").unwrap();
            let line = Line { identity: identity(&name).unwrap(), name, target };
            lines.push(line.to_text());
            if renamed.contains(&index) {
                fs::rename(&line.name, &line.target).unwrap();
            }
            if lost.contains(&index) {
                fs::remove_file(&line.name).unwrap();
            }
        }
        lines.push(format!("{LAST_LINE}\n"));
        fs::write(directory.join(format!("{PREFIX}x{JOURNAL}")), lines.join("\n")).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_killed_process_leaves_all_or_nothing() {
        for (renamed, lost, expected) in [
            (&[][..], &[][..], "new"),
            (&[0], &[], "new"),
            (&[1], &[], "new"),
            (&[0, 1], &[], "new"),
            // Somebody removed a file before any had its name.
            (&[], &[1], "old"),
        ] {
            let directory = tempfile::tempdir().unwrap();
            killed(directory.path(), renamed, lost);
            super::super::recover(&directory.path().join("a.csv"));
            let mut names: Vec<_> = (fs::read_dir(directory.path()).unwrap())
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            assert_eq!(names, ["a.csv", "b.csv"], "{renamed:?} {lost:?}");
            for name in names {
                let found = fs::read_to_string(directory.path().join(name)).unwrap();
                assert_eq!(found, expected, "{renamed:?} {lost:?}");
            }
        }
    }
}
