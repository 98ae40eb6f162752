//! Why nothing came of it: words and exit codes.

use crate::options::{Bytes, flag};
use eigenlens::{ErrorKind, Hint};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;

/// Everything that can end a command early.
#[derive(Debug)]
pub enum Failure {
    /// A computation that could not be done on these data.
    Library {
        /// The error.
        error: eigenlens::Error,
        /// The data, in words.
        data: Option<String>,
    },
    /// A file that cannot be read or written.
    File(eigenlens_io::Error),
    /// A picture that cannot be drawn.
    Picture(eigenlens_report::Error),
    /// A value that cannot be right, with its place.
    Data {
        /// Which, where and why.
        what: String,
        /// What would help.
        hint: Option<String>,
    },
    /// A request that cannot be meant.
    Usage {
        /// What does not fit.
        what: String,
        /// What would.
        hint: Option<String>,
    },
    /// A check that failed, or a warning that was to be an error.
    Check(String),
    /// A defect of this program.
    Internal(String),
}

/// What is said of a failure.
pub struct Words {
    pub error: String,
    pub data: Option<String>,
    pub hint: Option<String>,
}

impl From<eigenlens_io::Error> for Failure {
    fn from(error: eigenlens_io::Error) -> Failure {
        Failure::File(error)
    }
}

impl From<eigenlens_report::Error> for Failure {
    fn from(error: eigenlens_report::Error) -> Failure {
        Failure::Picture(error)
    }
}

impl From<eigenlens::Error> for Failure {
    /// A reader's error comes back through the library: it is the file's again.
    fn from(error: eigenlens::Error) -> Failure {
        match error {
            eigenlens::Error::Read(source) => match source.downcast::<eigenlens_io::Error>() {
                Ok(error) => Failure::File(*error),
                Err(source) => {
                    Failure::Library { error: eigenlens::Error::Read(source), data: None }
                }
            },
            error => Failure::Library { error, data: None },
        }
    }
}

impl Failure {
    /// A usage error with a hint.
    pub fn usage(what: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::Usage { what: what.into(), hint: Some(hint.into()) }
    }

    /// The exit code, after sysexits.h.
    pub fn exit_code(&self) -> u8 {
        use eigenlens_io::Error;
        match self {
            Failure::Library { error: eigenlens::Error::Internal(_), .. } => 70,
            Failure::Library { error, .. } => match error.kind() {
                ErrorKind::Usage => 64,
                ErrorKind::Data => 65,
                ErrorKind::Memory => 71,
                ErrorKind::Computation => 1,
            },
            Failure::File(error) => match error {
                Error::Open { .. } => 66,
                Error::Content { .. } | Error::BadCell { .. } => 65,
                Error::Usage { .. } | Error::Option { .. } => 64,
                Error::Write { created: false, .. } => 73,
                Error::Memory { .. } | Error::OutOfMemory { .. } => 71,
                // A reader that wants no more, as `head` does: what a shell would report.
                Error::Write { source, .. } if is_broken_pipe(source) => 141,
                Error::Read { .. } | Error::Write { .. } => 74,
                _ => 70,
            },
            Failure::Usage { .. } => 64,
            Failure::Data { .. } => 65,
            Failure::Picture(_) | Failure::Check(_) => 1,
            Failure::Internal(_) => 70,
        }
    }

    /// What to say; nothing where nobody listens any more.
    pub fn words(&self) -> Option<Words> {
        let mut words = Words { error: String::new(), data: None, hint: None };
        match self {
            Failure::Library { error, data } => {
                words.error = library_words(error);
                words.data = data.clone();
                words.hint = error.hint().map(|hint| hint_words(&hint));
            }
            Failure::File(eigenlens_io::Error::Write { source, .. }) if is_broken_pipe(source) => {
                return None;
            }
            Failure::File(error) => {
                words.error = match error {
                    eigenlens_io::Error::Memory { what, needed, budget } => format!(
                        "{what} needs {} of memory, but the budget is {}",
                        Bytes(*needed),
                        Bytes(*budget)
                    ),
                    eigenlens_io::Error::OutOfMemory { what, needed } => format!(
                        "{what} needs {} of memory, which the system does not give",
                        Bytes(*needed)
                    ),
                    eigenlens_io::Error::Option { option, format } => {
                        format!("`--{}` does not fit {format}", flag(option))
                    }
                    _ => error.to_string(),
                };
                words.hint = match error {
                    eigenlens_io::Error::Option { option, .. } => {
                        Some(format!("leave out `--{}`", flag(option)))
                    }
                    eigenlens_io::Error::Usage { hint, .. } => hint.clone(),
                    eigenlens_io::Error::BadCell { cell, place, .. } => {
                        Some(bad_cell_hint(cell, place.column.as_deref()))
                    }
                    eigenlens_io::Error::Memory { needed, .. } => {
                        Some(format!("use `--memory {}`", Bytes(*needed)))
                    }
                    _ => None,
                };
            }
            Failure::Picture(error) => words.error = error.to_string(),
            Failure::Usage { what, hint } | Failure::Data { what, hint } => {
                words.error = what.clone();
                words.hint = hint.clone();
            }
            Failure::Check(what) => words.error = what.clone(),
            Failure::Internal(what) => {
                words.error = format!("internal: {what}");
                words.hint = Some("this is a defect of eigenlens; please report it".into());
            }
        }
        Some(words)
    }
}

fn is_broken_pipe(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::BrokenPipe
}

/// What to do about a cell that is not a number.
fn bad_cell_hint(cell: &str, column: Option<&str>) -> String {
    // What a shell would read in another way, or was shortened, makes no hint.
    let is_plain = |text: &str| !text.contains(['\'', ',', '…', '\\']) && !text.starts_with('!');
    let mut ways = vec!["mend the cell".to_string()];
    if is_plain(cell) {
        ways.push(format!("`--missing-mark '{cell}'` where it stands for a missing value"));
    }
    ways.push("`--missing mean` to take all such cells for missing".into());
    ways.push("`--skip-bad-rows` to leave out their rows".into());
    if let Some(name) = column.map(|name| name.trim_matches('`')).filter(|name| is_plain(name)) {
        ways.push(format!("fit with `--labels '{name}'` where the column is text"));
    }
    ways.join("; ")
}

fn library_words(error: &eigenlens::Error) -> String {
    match error {
        // The shape is in the line about the data.
        eigenlens::Error::TooManyComponents { requested, limit, .. } => {
            format!("`n_components` is {requested}, but these data allow at most {limit}")
        }
        eigenlens::Error::Memory { route, needed, budget } => format!(
            "{route} needs {} of memory, but the budget leaves {}",
            Bytes(*needed),
            Bytes(*budget)
        ),
        eigenlens::Error::OptionNeeds { option, other, values } if values[..] == ["true"] => {
            format!("`--{}` needs `--{}`", flag(option), flag(other))
        }
        eigenlens::Error::OptionNeeds { option, other, values } => {
            let values = values.join("` or `");
            format!("`--{}` needs `--{} {values}`", flag(option), flag(other))
        }
        eigenlens::Error::OptionMisfit { option, why } => format!("`--{}` {why}", flag(option)),
        eigenlens::Error::OptionExcludes { option, other } => {
            format!("`--{}` does not go with `--{}`", flag(option), flag(other))
        }
        _ => error.to_string(),
    }
}

/// A hint in the words of the command line: what is in backticks works when pasted.
fn hint_words(hint: &Hint) -> String {
    match hint {
        Hint::Set { option: "memory", value } => {
            let bytes = value.parse().unwrap_or(u64::MAX);
            format!("use `--memory {}`", Bytes(bytes))
        }
        Hint::Set { option, value } if value == "true" => format!("use `--{}`", flag(option)),
        Hint::Set { option: "weights", value } => format!("use `--weight-kind {value}`"),
        Hint::Set { option, value } => format!("use `--{} {value}`", flag(option)),
        Hint::DropRow(_) => "mend the value, or leave the row or the column out".into(),
        Hint::DropColumn(_) => "leave the column out with `--columns`".into(),
        Hint::Rescale => "multiply the data by a power of ten".into(),
    }
}

/// A usage message of the parser, on the stream and with the exit code that fit.
pub fn usage(message: &clap::Error) -> u8 {
    // Where the stream is closed there is nobody to tell.
    let _ = message.print();
    if message.use_stderr() { 64 } else { 0 }
}

/// Runs something and turns a panic into a failure.
pub fn contained(work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    static WHERE: Mutex<Option<String>> = Mutex::new(None);
    panic::set_hook(Box::new(|info| {
        if let Ok(mut place) = WHERE.lock() {
            *place = Some(info.to_string());
        }
    }));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let place = WHERE.lock().ok().and_then(|mut place| place.take());
        let what = place.unwrap_or_else(|| "a panic".into());
        Err(Failure::Internal(what.replace('\n', " ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_internal_failure() {
        let failure = contained(|| panic!("out of cheese")).unwrap_err();
        assert_eq!(failure.exit_code(), 70);
        let words = failure.words().unwrap();
        assert!(words.error.contains("out of cheese") && words.error.contains("failure.rs"));
    }

    #[test]
    fn errors_of_readers_are_errors_of_files() {
        let inner = eigenlens_io::Error::Usage { what: "x".into(), hint: None };
        let failure = Failure::from(eigenlens::Error::Read(Box::new(inner)));
        assert!(matches!(failure, Failure::File(_)));
    }
}
