//! `cargo xtask bits`: whether two programs fit the same models, to the last bit.
//!
//! Both are given the same tables and the same command lines; the arrays of their model files and
//! every table of scores are compared byte by byte.

mod cases;
mod compare;
mod data;

use cases::Case;
use compare::{Arrays, Difference, RENAMED};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Runs the cases and says of each whether anything differs.
pub fn run(arguments: &[&str]) -> Result<(), String> {
    let asked = Asked::parse(arguments)?;
    let chosen = cases::all().into_iter().filter(|case| case.name().contains(asked.case));
    let chosen: Vec<Case> = chosen.collect();
    if chosen.is_empty() {
        return Err(format!("no case contains `{}`; `--list` lists them", asked.case));
    }
    let Some([old, new]) = asked.programs else {
        chosen.iter().for_each(|case| println!("{}", case.name()));
        return Ok(());
    };
    let folder = Folder::new()?;
    data::write(&folder.0)?;
    let old = Program::new("old", old, &folder.0, None)?;
    let new = Program::new("new", new, &folder.0, asked.threads_new)?;
    let mut differing = 0;
    for case in &chosen {
        let verdict = judge(case, &old, &new)?;
        println!("{:<8} {}", verdict.word(), case.name());
        verdict.lines().iter().for_each(|line| println!("         {line}"));
        differing += usize::from(!matches!(verdict, Verdict::Same));
    }
    match differing {
        0 => {
            println!("\n{} cases: every bit is the same", chosen.len());
            Ok(())
        }
        _ => Err(format!("{differing} of {} cases are not the same", chosen.len())),
    }
}

/// What was said on the command line.
struct Asked<'a> {
    /// None where the cases are only to be listed.
    programs: Option<[&'a str; 2]>,
    case: &'a str,
    threads_new: Option<&'a str>,
}

impl<'a> Asked<'a> {
    fn parse(arguments: &[&'a str]) -> Result<Asked<'a>, String> {
        let (mut programs, mut list) = (Vec::new(), false);
        let mut asked = Asked { programs: None, case: "", threads_new: None };
        let mut words = arguments.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().copied().ok_or(format!("`{word}` needs a value"));
            match word {
                "--list" => list = true,
                "--case" => asked.case = value()?,
                "--threads-new" => asked.threads_new = Some(value()?),
                option if option.starts_with('-') => {
                    return Err(format!("`{option}` is no option of `bits`"));
                }
                program => programs.push(program),
            }
        }
        asked.programs = match (programs.as_slice(), list) {
            ([], true) => None,
            (&[old, new], false) => Some([old, new]),
            _ => return Err("`bits` needs two programs, OLD and NEW, or `--list`".into()),
        };
        Ok(asked)
    }
}

/// A temporary folder, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let path = std::env::temp_dir().join(format!("eigenlens-bits-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|e| format!("`{}`: {e}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays behind is in the system's folder for such files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One of the two, and where it works.
struct Program<'a> {
    path: PathBuf,
    data: &'a Path,
    output: PathBuf,
    threads: Option<&'a str>,
}

/// What a program made of a case: arrays by name, or what it said when it failed.
type Made = Result<Arrays, String>;

impl<'a> Program<'a> {
    fn new(
        name: &str,
        path: &str,
        data: &'a Path,
        threads: Option<&'a str>,
    ) -> Result<Program<'a>, String> {
        let path = fs::canonicalize(path).map_err(|e| format!("`{path}`: {e}"))?;
        Ok(Program { path, data, output: data.join(name), threads })
    }

    /// Begins a command in the folder of the data.
    fn start(&self, words: &[String]) -> Result<Child, String> {
        let mut command = Command::new(&self.path);
        command.args(words).arg("--quiet").current_dir(self.data);
        command.args(self.threads.iter().flat_map(|n| ["--threads", n]));
        let piped = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        piped.spawn().map_err(|e| format!("`{}` cannot be run: {e}", self.path.display()))
    }

    fn file(&self, name: &str) -> String {
        self.output.join(name).display().to_string()
    }

    /// The command lines of a case, in order.
    fn commands(&self, case: &Case) -> Vec<Vec<String>> {
        let owned = |words: &[&str]| words.iter().map(|w| w.to_string()).collect::<Vec<_>>();
        let model = self.file(MODEL);
        let mut fit = owned(&case.words);
        fit.extend(["-o".into(), model.clone(), "--scores".into(), self.file("scores.npy")]);
        let mut all = vec![fit];
        for words in &case.then {
            let mut command = vec![words[0].to_string(), model.clone()];
            if words[0] != "sample" {
                command.push(case.data.into());
                command.extend(owned(case.reading()));
            }
            command.extend(owned(&words[1..]));
            command.extend(["-o".into(), self.file(&format!("{}.npy", words.join("")))]);
            all.push(command);
        }
        all
    }

    /// All arrays that the commands of a case left behind.
    fn arrays(&self) -> Made {
        let mut arrays = compare::model(Path::new(&self.file(MODEL)))?;
        let found = fs::read_dir(&self.output).map_err(|e| e.to_string())?;
        for path in found.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
            if path.extension().is_some_and(|ending| ending == "npy") {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                arrays.insert(name, compare::npy(&path)?);
            }
        }
        Ok(arrays)
    }
}

const MODEL: &str = "model.safetensors";

/// How a case ended.
enum Verdict {
    Same,
    Differs(Vec<Difference>),
    /// What each said, or that it worked.
    Fails([String; 2]),
}

impl Verdict {
    fn word(&self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::Differs(_) => "DIFFERS",
            Verdict::Fails(_) => "FAILS",
        }
    }

    fn lines(&self) -> Vec<String> {
        match self {
            Verdict::Same => Vec::new(),
            Verdict::Differs(all) => all.iter().map(ToString::to_string).collect(),
            Verdict::Fails([old, new]) => vec![format!("old: {old}"), format!("new: {new}")],
        }
    }
}

/// Both programs work side by side, command by command. One that fails in both is no case: it says
/// nothing about bits.
fn judge(case: &Case, old: &Program, new: &Program) -> Result<Verdict, String> {
    for program in [old, new] {
        let _ = fs::remove_dir_all(&program.output);
        fs::create_dir_all(&program.output)
            .map_err(|e| format!("`{}`: {e}", program.output.display()))?;
    }
    for (before, after) in old.commands(case).iter().zip(new.commands(case)) {
        let started = [old.start(before)?, new.start(&after)?];
        let [before, after] = started.map(ended);
        if before.is_err() || after.is_err() {
            let said = |outcome: Result<(), String>| outcome.err().unwrap_or("works".into());
            return Ok(Verdict::Fails([said(before), said(after)]));
        }
    }
    let found = compare::differences(&old.arrays()?, &new.arrays()?, RENAMED);
    Ok(if found.is_empty() { Verdict::Same } else { Verdict::Differs(found) })
}

/// Waits, and gives what was said where a command failed.
fn ended(child: Child) -> Result<(), String> {
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}", output.status, said.trim().replace('\n', " | ")))
}
