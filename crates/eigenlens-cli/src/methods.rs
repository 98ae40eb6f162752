//! `fit METHOD`: the flags of every method, made from its table of options.

use crate::arguments::Fit;
use crate::failure::Failure;
use crate::options::flag;
use crate::target::TargetArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use eigenlens::{
    AnyDataset, METHODS, Method, Model, OptionKind, OptionSpec, OptionValue, OptionValues, Range,
};
use eigenlens_io::AnyArray;

/// A method with what was said of its options, of its target, and of everything else.
pub struct FitMethod {
    pub values: OptionValues,
    pub target: Option<TargetArgs>,
    pub fit: Fit,
}

impl Subcommand for FitMethod {
    fn augment_subcommands(command: Command) -> Command {
        METHODS.iter().fold(command, |command, method| command.subcommand(subcommand(method)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        Method::named(name).is_some()
    }
}

impl FromArgMatches for FitMethod {
    fn from_arg_matches(matches: &ArgMatches) -> Result<FitMethod, clap::Error> {
        let missing = || clap::Error::new(ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let method = Method::named(name).ok_or_else(missing)?;
        let fit = Fit::from_arg_matches(matches)?;
        let target =
            method.supervised.then(|| TargetArgs::from_arg_matches(matches)).transpose()?;
        let mut values = method.values();
        for spec in method.options().filter(|spec| can_be_said(spec)) {
            if matches.value_source(spec.name) != Some(ValueSource::CommandLine) {
                continue;
            }
            let value = match spec.kind {
                // The flag says the contrary of the default.
                OptionKind::Flag => Some(OptionValue::Flag(spec.default != Some("true"))),
                _ => matches.get_one::<OptionValue>(spec.name).cloned(),
            };
            if let Some(value) = value {
                let refused = |e: eigenlens::Error| clap::Error::raw(ErrorKind::InvalidValue, e);
                values.set(spec.name, value).map_err(refused)?;
            }
        }
        if let Some(n_components) = &fit.options.components {
            values.set_n_components(n_components.clone());
        }
        Ok(FitMethod { values, target, fit })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = FitMethod::from_arg_matches(matches)?;
        Ok(())
    }
}

fn subcommand(method: &'static Method) -> Command {
    let command = Fit::augment_args(Command::new(method.name));
    let command = match method.supervised {
        true => TargetArgs::augment_args(command),
        false => command,
    };
    // What the method is for, in place of what its arguments are.
    let command = command.about(method.about).long_about(None);
    command.next_help_heading("Method").args(method.options().filter(|s| can_be_said(s)).map(arg))
}

/// Whether there are words for an option.
fn can_be_said(spec: &OptionSpec) -> bool {
    !matches!(spec.kind, OptionKind::Matrix)
}

fn arg(spec: &'static OptionSpec) -> Arg {
    let arg = Arg::new(spec.name).long(flag_of(spec)).help(help(spec));
    let arg = match spec.alias {
        Some(alias) => arg.visible_alias(alias),
        None => arg,
    };
    if matches!(spec.kind, OptionKind::Flag) {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(value_name(spec));
    let arg = match spec.default {
        Some(default) => arg.default_value(default),
        None => arg,
    };
    match spec.kind {
        OptionKind::Choice(words) => {
            let word =
                |(word, help): &(&'static str, &'static str)| PossibleValue::new(*word).help(*help);
            let words = PossibleValuesParser::new(words.iter().map(word));
            arg.value_parser(words.map(OptionValue::Word))
        }
        _ => arg
            .value_parser(|text: &str| {
                spec.parse(text).map_err(|_| format!("expected {}", spec.expected()))
            })
            .allow_hyphen_values(matches!(spec.kind, OptionKind::Number(Range::Any, _))),
    }
}

/// `--no-…` where the default is yes.
fn flag_of(spec: &OptionSpec) -> String {
    match (&spec.kind, spec.default) {
        (OptionKind::Flag, Some("true")) => format!("no-{}", flag(spec.name)),
        _ => flag(spec.name),
    }
}

fn help(spec: &OptionSpec) -> String {
    match (&spec.kind, spec.default) {
        (OptionKind::Flag, Some("true")) => {
            let (first, rest) = spec.help.split_at(1);
            format!("Do not {}{rest}", first.to_lowercase())
        }
        _ => spec.help.into(),
    }
}

fn value_name(spec: &OptionSpec) -> String {
    match spec.kind {
        OptionKind::Count(_) => "N".into(),
        OptionKind::Counts => "N,…".into(),
        OptionKind::Numbers => "NUMBER,…".into(),
        OptionKind::Number(_, words) => [&["NUMBER"], words].concat().join("|"),
        _ => spec.name.rsplit('_').next().unwrap_or_default().to_uppercase(),
    }
}

/// The names of the flags that a method has of its own.
pub fn own_flags(method: &Method) -> Vec<String> {
    let long = method.options().filter(|spec| can_be_said(spec)).map(flag_of);
    let target = method.supervised.then(|| TargetArgs::augment_args(Command::new("target")));
    let target = target.iter().flat_map(Command::get_arguments).filter_map(Arg::get_long);
    target.map(String::from).chain(long).map(|long| format!("--{long}")).collect()
}

/// An error of the parser that is about methods, in words that know them: a method that does not
/// exist, or stands where a command should, or an option of another one.
pub fn misfit(error: &clap::Error, said: impl Iterator<Item = String>) -> Option<Failure> {
    let context = |kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        // The best suggestion is the last.
        ContextValue::Strings(words) => words.last().cloned(),
        _ => None,
    };
    let said: Vec<String> = said.skip(1).collect();
    let method = said.iter().skip_while(|word| *word != "fit").nth(1);
    match error.kind() {
        ErrorKind::InvalidSubcommand if method.is_none() => {
            let word = context(ContextKind::InvalidSubcommand)?;
            Method::named(&word)?;
            let quoted = |word: &String| match word.contains(char::is_whitespace) {
                true => format!("'{word}'"),
                false => word.clone(),
            };
            let said: Vec<String> = said.iter().map(quoted).collect();
            Some(Failure::usage(
                format!("`{word}` is a method, not a command"),
                format!("use `eigenlens fit {}`", said.join(" ")),
            ))
        }
        ErrorKind::InvalidSubcommand => {
            let word = context(ContextKind::InvalidSubcommand)?;
            let near = context(ContextKind::SuggestedSubcommand);
            let near = near.map_or(String::new(), |near| format!("`{near}` is near; "));
            let names: Vec<&str> = METHODS.iter().map(|about| about.name).collect();
            let hint = format!("{near}there are {}", names.join(", "));
            Some(Failure::usage(format!("`{word}` is no method"), hint))
        }
        ErrorKind::UnknownArgument => {
            let (method, option) = (method?, context(ContextKind::InvalidArg)?);
            let is_alias =
                |spec: &OptionSpec| spec.alias.map(|a| format!("--{a}")).as_ref() == Some(&option);
            let others = METHODS.iter().filter(|method| {
                own_flags(method).contains(&option) || method.options().any(is_alias)
            });
            let others: Vec<String> = others.map(|about| format!("`{}`", about.name)).collect();
            (!others.is_empty()).then(|| {
                Failure::usage(
                    format!("`{option}` does not fit the method `{method}`"),
                    format!("leave out `{option}`: it is an option of {}", others.join(", ")),
                )
            })
        }
        _ => None,
    }
}

/// Scores of rows under a model.
pub fn transform(model: &dyn Model, data: &AnyDataset) -> eigenlens::Result<AnyArray> {
    match data {
        AnyDataset::F32(data) => model.transform_f32(data).map(AnyArray::F32),
        AnyDataset::F64(data) => model.transform_f64(data).map(AnyArray::F64),
    }
}
