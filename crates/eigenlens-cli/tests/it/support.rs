//! A directory of its own for each test, and the program run in it.

use eigenlens::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory of its own, emptied when it is made.
pub struct Sandbox {
    pub folder: PathBuf,
}

/// What a run gave.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Sandbox {
    pub fn new(name: &str) -> Sandbox {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Sandbox { folder }
    }

    /// With bundled tables in it.
    pub fn with(name: &str, examples: &[&str]) -> Sandbox {
        let sandbox = Sandbox::new(name);
        for example in examples {
            sandbox.ok(&["example", example]);
        }
        sandbox
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eigenlens"));
        command.args(arguments).current_dir(&self.folder);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// Runs what must work, and gives its stdout.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}\n{}", ran.err);
        ran.out
    }

    /// Runs what must work with `--json`, and gives its result.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let out = self.ok(&[arguments, &["--json"]].concat());
        eigenlens_io::json::from_json(&out).unwrap_or_else(|e| panic!("{e}: {out}"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// The names of all files, hidden ones too.
    pub fn files(&self) -> Vec<String> {
        let names = fs::read_dir(&self.folder).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The entry at a path of a result.
pub fn entry<'a>(value: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(value, |value, name| match value {
        Value::Map(map) => map.get(*name).unwrap_or_else(|| panic!("no `{name}` in {map:?}")),
        other => panic!("`{name}` of {other:?}"),
    })
}

pub fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        Value::Integer(number) => *number as f64,
        other => panic!("{other:?} is no number"),
    }
}

pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::List(list) => list.iter().map(number).collect(),
        other => panic!("{other:?} is no list"),
    }
}

/// A table of text: names, and rows of fields. Plain fields only.
pub fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut rows = text.lines().map(|line| line.split(',').map(str::to_string).collect::<Vec<_>>());
    (rows.next().unwrap(), rows.collect())
}

/// The numbers of some columns of a table.
pub fn columns(text: &str, wanted: &[&str]) -> Vec<Vec<f64>> {
    let (names, rows) = table(text);
    let at: Vec<usize> = wanted
        .iter()
        .map(|name| names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no {name}")))
        .collect();
    rows.iter().map(|row| at.iter().map(|&i| row[i].parse().unwrap()).collect()).collect()
}

pub fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected} ± {tolerance}");
}
