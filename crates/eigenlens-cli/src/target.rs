//! What a supervised method is fitted to.

use crate::arguments::{Common, Reading};
use crate::failure::Failure;
use crate::input::{Opened, ReadColumns, listed};
use crate::reporter::Reporter;
use clap::{Args, ValueEnum};
use eigenlens::model::number;
use eigenlens::{Target, TargetKind};
use eigenlens_io::csv::MISSING_MARKS;
use eigenlens_io::{Error, Labels};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The target.
#[derive(Args, Clone)]
pub struct TargetArgs {
    /// Columns whose directions are looked for: a class, or one or several numbers.
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        required_unless_present = "target_kernel",
        help_heading = "Target"
    )]
    pub target: Vec<String>,
    /// A table with a kernel between the targets of the samples in place of columns: a row and a column for each.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["target", "target_kind"],
        help_heading = "Target"
    )]
    pub target_kernel: Option<PathBuf>,
    /// What the target is taken for.
    #[arg(long, value_name = "KIND", default_value = "auto", help_heading = "Target")]
    pub target_kind: KindWord,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindWord {
    /// Text and few whole numbers are classes, other numbers are numbers.
    Auto,
    /// Each value is a class.
    Class,
    /// Numbers.
    Number,
}

impl TargetArgs {
    /// What the model file says of it.
    pub fn record(&self) -> Vec<(String, String)> {
        if let Some(path) = &self.target_kernel {
            return vec![("target_kernel".into(), path.display().to_string())];
        }
        let kind = self.target_kind.to_possible_value();
        let kind = kind.map_or_else(String::new, |kind| kind.get_name().into());
        vec![("target".into(), self.target.join(",")), ("target_kind".into(), kind)]
    }
}

impl TargetArgs {
    /// The target that a model file tells of.
    pub fn recorded(options: &BTreeMap<String, String>) -> Option<TargetArgs> {
        if let Some(path) = options.get("target_kernel") {
            let target_kernel = Some(PathBuf::from(path));
            let target_kind = KindWord::Auto;
            return Some(TargetArgs { target: Vec::new(), target_kernel, target_kind });
        }
        let target = options.get("target")?.split(',').map(String::from).collect();
        let kind = options.get("target_kind").map_or("auto", String::as_str);
        let target_kind = KindWord::from_str(kind, false).ok()?;
        Some(TargetArgs { target, target_kernel: None, target_kind })
    }
}

/// The columns of the target; none for methods without one.
pub fn names(target: Option<&TargetArgs>) -> &[String] {
    target.map_or(&[], |target| &target.target)
}

/// Reads the target and tells what it is taken for.
pub fn read(
    args: Option<&TargetArgs>,
    opened: &Opened,
    common: &Common,
    reporter: &Reporter,
) -> Result<Option<Target>, Failure> {
    let Some(args) = args else { return Ok(None) };
    if let Some(path) = &args.target_kernel {
        return read_kernel(path, common, reporter).map(Some);
    }
    let target = match columns(args, opened)? {
        ReadColumns::Text(_) if args.target_kind == KindWord::Number => {
            let name = listed(&args.target);
            return Err(Failure::Data {
                what: format!("the target `{name}` is text, but numbers were asked for"),
                hint: Some("leave out `--target-kind number`".into()),
            });
        }
        ReadColumns::Text(labels) => classes(&labels),
        ReadColumns::Numbers(values) => Target::guess(
            values,
            match args.target_kind {
                KindWord::Auto => TargetKind::Auto,
                KindWord::Class => TargetKind::Class,
                KindWord::Number => TargetKind::Number,
            },
        ),
    };
    reporter.info(format!("target: {} ({})", listed(&args.target), in_words(&target)));
    Ok(Some(target))
}

/// A kernel between targets.
fn read_kernel(path: &Path, common: &Common, reporter: &Reporter) -> Result<Target, Failure> {
    let paths = [path.to_path_buf()];
    let opened = Opened::for_fit(&paths, &Reading::default(), &[], common, reporter)?;
    match opened.columns_by_name(opened.feature_names())? {
        ReadColumns::Numbers(kernel) => {
            reporter.info(format!("target: a kernel between {} samples", kernel.nrows()));
            Target::kernel(kernel.view()).map_err(|e| opened.explain(e, 0))
        }
        ReadColumns::Text(_) => Err(Failure::Data {
            what: format!("{}: a kernel between targets must hold numbers", path.display()),
            hint: None,
        }),
    }
}

/// The columns of the target: text where classes are asked for and are not all numbers.
fn columns(args: &TargetArgs, opened: &Opened) -> Result<ReadColumns, Failure> {
    match (opened.columns_by_name(&args.target), args.target_kind, &args.target[..]) {
        (Err(Failure::File(Error::BadCell { .. })), KindWord::Class, [name]) => {
            opened.text_column(name)
        }
        (Err(Failure::File(error @ Error::BadCell { .. })), KindWord::Auto, [_]) => {
            Err(Failure::Data {
                what: error.to_string(),
                hint: Some("mend the cell, or use `--target-kind class`".into()),
            })
        }
        (read, ..) => read,
    }
}

/// A class for each text, none for an empty one or a mark of a missing value.
pub fn classes(labels: &Labels) -> Target {
    let known = |label: &str| !label.trim().is_empty() && !MISSING_MARKS.contains(&label.trim());
    Target::classes_or_missing(labels.iter().map(|label| known(label).then_some(label)))
}

fn in_words(target: &Target) -> String {
    let missing = match target.missing_rows().len() {
        0 => String::new(),
        rows => format!("; {rows} missing"),
    };
    match (target.class_names(), target.class_sizes()) {
        (Some(names), Some(sizes)) => {
            let dispatch: Vec<String> =
                names.iter().zip(&sizes).map(|(name, size)| format!("{name} {size}")).collect();
            format!("{} classes: {}{missing}", names.len(), listed(&dispatch))
        }
        _ => {
            let (low, high) = target.number_range().unwrap_or((f64::NAN, f64::NAN));
            format!("numbers from {} to {}{missing}", number(low), number(high))
        }
    }
}
