//! What a supervised method is fitted to.

use crate::failure::Failure;
use crate::input::{Opened, ReadColumns, listed};
use crate::reporter::Reporter;
use clap::{Args, ValueEnum};
use eigenlens::model::number;
use eigenlens::{LabelKernel, Target, TargetKind};
use eigenlens_io::csv::MISSING_MARKS;
use eigenlens_io::{Error, Labels};

/// The target and its kernel.
#[derive(Args, Clone)]
pub struct TargetOptions {
    /// Columns whose directions are looked for: a class, or one or several numbers.
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        required = true,
        help_heading = "Target"
    )]
    pub target: Vec<String>,
    /// What the target is taken for.
    #[arg(long, value_name = "KIND", default_value = "auto", help_heading = "Target")]
    pub target_kind: KindWord,
    /// Kernel between targets: delta for classes, linear or gaussian for numbers.
    #[arg(long, value_name = "KERNEL", default_value = "auto", help_heading = "Target")]
    pub label_kernel: KernelWord,
    /// γ of a gaussian label kernel [default: by the median distance].
    #[arg(long, value_name = "NUMBER", help_heading = "Target")]
    pub label_gamma: Option<f64>,
    /// What to do with rows whose target is missing.
    #[arg(long, value_name = "POLICY", default_value = "error", help_heading = "Target")]
    pub unlabelled: Unlabelled,
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

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KernelWord {
    /// Delta for classes, gaussian for numbers.
    Auto,
    /// 1 for the same class, else 0.
    Delta,
    /// The inner product.
    Linear,
    /// exp(−γ‖y − y′‖²).
    Gaussian,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Unlabelled {
    /// Refuse, naming the rows.
    Error,
    /// Let them count in means and variances only.
    Keep,
}

impl TargetOptions {
    /// The kernel between targets.
    pub fn kernel(&self) -> eigenlens::Result<LabelKernel> {
        match (self.label_kernel, self.label_gamma) {
            (KernelWord::Gaussian, gamma) => Ok(LabelKernel::Gaussian { gamma }),
            (_, Some(_)) => Err(eigenlens::Error::Unsupported {
                what: "`--label-gamma`".into(),
                why: "is an option of the gaussian label kernel",
                instead: Some(eigenlens::Hint::Set {
                    option: "label_kernel",
                    value: "gaussian".into(),
                }),
            }),
            (KernelWord::Auto, None) => Ok(LabelKernel::Auto),
            (KernelWord::Delta, None) => Ok(LabelKernel::Delta),
            (KernelWord::Linear, None) => Ok(LabelKernel::Linear),
        }
    }

    /// Whether rows without a target take part.
    pub fn keeps_unlabelled(&self) -> bool {
        self.unlabelled == Unlabelled::Keep
    }

    /// In the words of the command line, for the model file.
    pub fn in_words(&self) -> Vec<(&'static str, String)> {
        let word = |word: Option<clap::builder::PossibleValue>| {
            word.map_or_else(String::new, |word| word.get_name().into())
        };
        let gamma = self.label_gamma.map(|gamma| ("label-gamma", gamma.to_string()));
        let shared = [
            ("target", self.target.join(",")),
            ("target-kind", word(self.target_kind.to_possible_value())),
            ("label-kernel", word(self.label_kernel.to_possible_value())),
            ("unlabelled", word(self.unlabelled.to_possible_value())),
        ];
        shared.into_iter().chain(gamma).collect()
    }
}

/// The columns of the target; none for methods without one.
pub fn names(target: Option<&TargetOptions>) -> &[String] {
    target.map_or(&[], |target| &target.target)
}

/// Reads the target and tells what it is taken for.
pub fn read(
    args: Option<&TargetOptions>,
    opened: &Opened,
    reporter: &Reporter,
) -> Result<Option<Target>, Failure> {
    let Some(args) = args else { return Ok(None) };
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

/// The columns of the target: text where classes are asked for and are not all numbers.
fn columns(args: &TargetOptions, opened: &Opened) -> Result<ReadColumns, Failure> {
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
            let values = target.columns();
            let known = values.iter().filter(|v| !v.is_nan());
            let (low, high) =
                known.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
            format!("numbers from {} to {}{missing}", number(low), number(high))
        }
    }
}
