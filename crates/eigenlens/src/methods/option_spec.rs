//! The options of a method as data: flags, keywords, tables of the pages and records in model files all
//! come from these descriptions.

use super::estimator::{Estimator, Method};
use crate::data::DataShape;
use crate::error::{Error, Result};
use crate::n_components::NComponents;
use crate::options::{Options, Solver};
use ndarray::Array2;
use std::collections::BTreeMap;
use std::fmt;

/// One option of a method.
#[derive(Debug)]
pub struct OptionSpec {
    /// Its name, in snake case: a keyword in Python, with hyphens a flag on the command line.
    pub name: &'static str,
    /// A shorter name that the command line knows too.
    pub alias: Option<&'static str>,
    /// What it may be.
    pub kind: OptionKind,
    /// What it is where nothing is said, as text; none where that depends on the data or on other options.
    pub default: Option<&'static str>,
    /// What it does, as a sentence.
    pub help: &'static str,
    /// Options that it needs, with the values that they must have.
    pub needs: &'static [(&'static str, &'static [&'static str])],
    /// Options that it does not go with.
    pub excludes: &'static [&'static str],
}

/// What an option may be.
#[derive(Debug)]
pub enum OptionKind {
    /// Yes or no.
    Flag,
    /// A whole number, at least this.
    Count(usize),
    /// A number in a range, or one of these words.
    Number(Range, &'static [&'static str]),
    /// Whole numbers: one, or one for each component.
    Counts,
    /// Numbers: one, or one for each component.
    Numbers,
    /// One of these words, with what each means.
    Choice(&'static [(&'static str, &'static str)]),
    /// Numbers in rows and columns, for programs: there are no words for them.
    Matrix,
}

/// Where a number may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Any finite number.
    Any,
    /// More than 0.
    Positive,
    /// 0 or more.
    NotNegative,
    /// From 0 to 1.
    Share,
}

impl Range {
    fn contains(self, number: f64) -> bool {
        match self {
            Range::Any => number.is_finite(),
            Range::Positive => number > 0.0 && number.is_finite(),
            Range::NotNegative => number >= 0.0 && number.is_finite(),
            Range::Share => (0.0..=1.0).contains(&number),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Range::Any => "a finite number",
            Range::Positive => "more than 0",
            Range::NotNegative => "0 or more",
            Range::Share => "between 0 and 1",
        }
    }
}

impl OptionSpec {
    const fn new(name: &'static str, kind: OptionKind, help: &'static str) -> OptionSpec {
        OptionSpec { name, alias: None, kind, default: None, help, needs: &[], excludes: &[] }
    }

    /// Yes or no.
    pub(super) const fn flag(name: &'static str, default: bool, help: &'static str) -> OptionSpec {
        let default = Some(if default { "true" } else { "false" });
        OptionSpec { default, ..OptionSpec::new(name, OptionKind::Flag, help) }
    }

    /// A whole number.
    pub(super) const fn count(name: &'static str, least: usize, help: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Count(least), help)
    }

    /// A number.
    pub(super) const fn number(name: &'static str, range: Range, help: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Number(range, &[]), help)
    }

    /// A number or a word.
    pub(super) const fn number_or(
        name: &'static str,
        range: Range,
        words: &'static [&'static str],
        help: &'static str,
    ) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Number(range, words), help)
    }

    /// Whole numbers, one for each component.
    pub(super) const fn counts(name: &'static str, help: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Counts, help)
    }

    /// Numbers, one for each component.
    pub(super) const fn numbers(name: &'static str, help: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Numbers, help)
    }

    /// One of some words; the first is the default.
    pub(super) const fn choice(
        name: &'static str,
        words: &'static [(&'static str, &'static str)],
        help: &'static str,
    ) -> OptionSpec {
        let default = Some(words[0].0);
        OptionSpec { default, ..OptionSpec::new(name, OptionKind::Choice(words), help) }
    }

    /// Numbers in rows and columns.
    pub(super) const fn matrix(name: &'static str, help: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Matrix, help)
    }

    /// With what it is where nothing is said.
    pub(super) const fn or(self, default: &'static str) -> OptionSpec {
        OptionSpec { default: Some(default), ..self }
    }

    /// With a shorter name for the command line.
    pub(super) const fn alias(self, alias: &'static str) -> OptionSpec {
        OptionSpec { alias: Some(alias), ..self }
    }

    /// Only where other options have such values.
    pub(super) const fn needs(
        self,
        needs: &'static [(&'static str, &'static [&'static str])],
    ) -> OptionSpec {
        OptionSpec { needs, ..self }
    }

    /// Not together with these.
    pub(super) const fn excludes(self, excludes: &'static [&'static str]) -> OptionSpec {
        OptionSpec { excludes, ..self }
    }

    /// A value from text, as it is written on the command line and in model files.
    pub fn parse(&self, text: &str) -> Result<OptionValue> {
        let value = match self.kind {
            OptionKind::Flag => text.parse().ok().map(OptionValue::Flag),
            OptionKind::Count(_) => text.parse().ok().map(OptionValue::Count),
            OptionKind::Number(_, words) if words.contains(&text) => {
                Some(OptionValue::Word(text.into()))
            }
            OptionKind::Number(..) => text.parse().ok().map(OptionValue::Number),
            OptionKind::Counts => list(text).map(OptionValue::Counts),
            OptionKind::Numbers => list(text).map(OptionValue::Numbers),
            OptionKind::Choice(_) => Some(OptionValue::Word(text.into())),
            OptionKind::Matrix => None,
        };
        let value = value.ok_or_else(|| self.refused(text))?;
        self.check(&value)?;
        Ok(value)
    }

    /// What it may be, in words.
    pub fn expected(&self) -> String {
        match self.kind {
            OptionKind::Flag => "true or false".into(),
            OptionKind::Count(least) => format!("a whole number, at least {least}"),
            OptionKind::Number(range, &[]) => match range {
                Range::Any => "a number".into(),
                range => format!("a number {}", range.words()),
            },
            OptionKind::Number(range, words) => match range {
                Range::Any => format!("a number or {}", quoted(words)),
                range => format!("a number {} or {}", range.words(), quoted(words)),
            },
            OptionKind::Counts => "whole numbers: one, or one for each component".into(),
            OptionKind::Numbers => "numbers: one, or one for each component".into(),
            OptionKind::Choice(words) => {
                format!(
                    "one of {}",
                    quoted(&words.iter().map(|(word, _)| *word).collect::<Vec<_>>())
                )
            }
            OptionKind::Matrix => "a matrix of numbers".into(),
        }
    }

    /// Refuses a value of another kind or outside the range.
    fn check(&self, value: &OptionValue) -> Result<()> {
        let fits = match (&self.kind, value) {
            (OptionKind::Flag, OptionValue::Flag(_)) => true,
            (OptionKind::Count(least), OptionValue::Count(count)) => count >= least,
            (OptionKind::Number(range, _), OptionValue::Number(number)) => range.contains(*number),
            (OptionKind::Number(_, words), OptionValue::Word(word)) => {
                words.contains(&word.as_str())
            }
            (OptionKind::Counts, OptionValue::Counts(counts)) => !counts.is_empty(),
            (OptionKind::Numbers, OptionValue::Numbers(numbers)) => !numbers.is_empty(),
            (OptionKind::Choice(words), OptionValue::Word(word)) => {
                words.iter().any(|(known, _)| known == word)
            }
            (OptionKind::Matrix, OptionValue::Matrix(_)) => true,
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.refused(&value.to_string())) }
    }

    fn refused(&self, value: &str) -> Error {
        Error::OptionValue { option: self.name, value: value.into(), expected: self.expected() }
    }
}

fn list<V: std::str::FromStr>(text: &str) -> Option<Vec<V>> {
    text.split(',').map(|part| part.trim().parse().ok()).collect()
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// A value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Count(usize),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
    /// Whole numbers, one for each component.
    Counts(Vec<usize>),
    /// Numbers, one for each component.
    Numbers(Vec<f64>),
    /// Numbers in rows and columns.
    Matrix(Array2<f64>),
}

/// As [`OptionSpec::parse`] reads it; of a matrix the shape alone.
impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fn joined<V: ToString>(values: &[V]) -> String {
            values.iter().map(V::to_string).collect::<Vec<_>>().join(",")
        }
        match self {
            OptionValue::Flag(yes) => write!(f, "{yes}"),
            OptionValue::Count(count) => write!(f, "{count}"),
            OptionValue::Number(number) => write!(f, "{number}"),
            OptionValue::Word(word) => f.write_str(word),
            OptionValue::Counts(counts) => f.write_str(&joined(counts)),
            OptionValue::Numbers(numbers) => f.write_str(&joined(numbers)),
            OptionValue::Matrix(x) => write!(f, "{} × {}", x.nrows(), x.ncols()),
        }
    }
}

/// What was said about a method's options; what was not has its default.
///
/// ```
/// use eigenlens::{DataShape, Method, OptionValue};
/// let method = Method::named("kernel-pca").unwrap();
/// let mut values = method.values();
/// values.set("kernel", OptionValue::Word("polynomial".into()))?;
/// values.set("degree", OptionValue::Count(3))?;
/// assert!(method.build(&values, &DataShape::dense(100, 5)).is_ok());
/// // A degree is for the polynomial kernel alone.
/// values.set("kernel", OptionValue::Word("rbf".into()))?;
/// assert!(method.build(&values, &DataShape::dense(100, 5)).is_err());
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone)]
pub struct OptionValues {
    method: &'static Method,
    given: BTreeMap<&'static str, OptionValue>,
    n_components: Option<NComponents>,
    pub(super) options: Options,
}

impl Method {
    /// Every option of the method, in the order of its table.
    pub fn options(&self) -> impl Iterator<Item = &'static OptionSpec> + use<> {
        self.options.iter().copied().flatten()
    }

    /// Its options, about which nothing was said yet.
    pub fn values(&'static self) -> OptionValues {
        OptionValues {
            method: self,
            given: BTreeMap::new(),
            n_components: None,
            options: Options::default(),
        }
    }

    /// The method with these options, for data of this shape.
    pub fn build(&self, values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
        values.check()?;
        (self.build)(values, shape)
    }
}

impl OptionValues {
    /// The method whose options they are.
    pub fn method(&self) -> &'static Method {
        self.method
    }

    /// Sets an option.
    pub fn set(&mut self, name: &str, value: OptionValue) -> Result<()> {
        let spec = self.method.options().find(|spec| spec.name == name);
        let spec = spec.ok_or_else(|| Error::UnknownOption {
            option: name.into(),
            method: self.method.name,
            known: self.method.options().map(|spec| spec.name).collect(),
        })?;
        spec.check(&value)?;
        self.given.insert(spec.name, value);
        Ok(())
    }

    /// Asks for so many components.
    pub fn set_n_components(&mut self, n_components: impl Into<NComponents>) {
        self.n_components = Some(n_components.into());
    }

    /// Threads, memory, seed, tolerance.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The same with other threads, memory, seed, tolerance.
    pub fn with_options(&self, options: Options) -> OptionValues {
        OptionValues { options, ..self.clone() }
    }

    /// The same within a budget of memory.
    pub fn within(&self, memory: Option<u64>) -> OptionValues {
        self.with_options(Options { memory, ..self.options.clone() })
    }

    /// How many components: what was said, or what is usual for such data.
    pub fn n_components(&self, shape: &DataShape) -> NComponents {
        let default = || (self.method.default_n_components)(shape);
        self.n_components.clone().unwrap_or_else(default)
    }

    /// Whether a number of components was asked for.
    pub fn has_n_components(&self) -> bool {
        self.n_components.is_some()
    }

    /// Every option that has a value, given or by default, as text: the record of a model file.
    pub fn record(&self, shape: &DataShape) -> BTreeMap<String, String> {
        let text = |spec: &OptionSpec| match self.given.get(spec.name) {
            Some(value) => Some(value.to_string()),
            None => spec.default.map(String::from),
        };
        let own = self.method.options().filter(|spec| self.counts(spec));
        let own = own.filter_map(|spec| Some((spec.name.to_string(), text(spec)?)));
        let shared = [
            ("n_components".into(), self.n_components(shape).to_string()),
            ("seed".into(), self.options.seed.to_string()),
        ];
        own.chain(shared).collect()
    }

    /// Whether the options that it needs are there.
    fn counts(&self, spec: &OptionSpec) -> bool {
        spec.needs.iter().all(|(other, values)| values.contains(&self.text(other).as_str()))
    }

    /// Refuses options that do not go together.
    pub fn check(&self) -> Result<()> {
        for spec in self.method.options().filter(|spec| self.is_given(spec.name)) {
            let missing = |(other, values): &&(&'static str, &'static [&'static str])| {
                !values.contains(&self.text(other).as_str())
            };
            if let Some((other, values)) = spec.needs.iter().find(missing) {
                return Err(Error::OptionNeeds {
                    option: spec.name,
                    other,
                    values: values.to_vec(),
                });
            }
            let other = spec.excludes.iter().find(|other| self.says(other));
            if let Some(other) = other.filter(|_| self.says(spec.name)) {
                return Err(Error::OptionExcludes { option: spec.name, other });
            }
        }
        Ok(())
    }

    /// Whether something was said about an option that is not so anyway: a flag that is as it usually is says
    /// nothing.
    pub(super) fn says(&self, name: &str) -> bool {
        let usual = || {
            let spec = self.method.options().find(|spec| spec.name == name)?;
            spec.parse(spec.default?).ok()
        };
        match self.given.get(name) {
            Some(flag @ OptionValue::Flag(_)) => {
                *flag != usual().unwrap_or(OptionValue::Flag(false))
            }
            given => given.is_some(),
        }
    }

    /// Whether something was said about an option.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// The value, given or by default.
    pub(super) fn get(&self, name: &str) -> Option<OptionValue> {
        if let Some(value) = self.given.get(name) {
            return Some(value.clone());
        }
        let spec = self.method.options().find(|spec| spec.name == name)?;
        spec.parse(spec.default?).ok()
    }

    fn text(&self, name: &str) -> String {
        self.get(name).map_or_else(String::new, |value| value.to_string())
    }

    /// Whether a flag is set.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name) == Some(OptionValue::Flag(true))
    }

    /// A whole number, where there is one.
    pub(super) fn count(&self, name: &str) -> Option<usize> {
        match self.get(name)? {
            OptionValue::Count(count) => Some(count),
            _ => None,
        }
    }

    /// A number, where there is one and not a word.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            OptionValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// A word, where there is one.
    pub(super) fn word(&self, name: &str) -> Option<String> {
        match self.get(name)? {
            OptionValue::Word(word) => Some(word),
            _ => None,
        }
    }

    /// What the chosen word stands for; the first of the table where it is not in it.
    pub(super) fn choice<V: Copy>(&self, name: &str, table: &[(&str, V)]) -> V {
        let word = self.word(name).unwrap_or_default();
        table.iter().find(|(known, _)| *known == word).unwrap_or(&table[0]).1
    }

    /// Whole numbers, where they were given.
    pub(super) fn counts_of(&self, name: &str) -> Option<Vec<usize>> {
        match self.get(name)? {
            OptionValue::Counts(counts) => Some(counts),
            _ => None,
        }
    }

    /// Numbers, where they were given.
    pub(super) fn numbers_of(&self, name: &str) -> Option<Vec<f64>> {
        match self.get(name)? {
            OptionValue::Numbers(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// A matrix, where one was given.
    pub(super) fn matrix(&self, name: &str) -> Option<Array2<f64>> {
        match self.get(name)? {
            OptionValue::Matrix(x) => Some(x),
            _ => None,
        }
    }
}

/// An option that does not go with what else was said.
pub(super) fn misfit(option: &'static str, why: &'static str) -> Error {
    Error::OptionMisfit { option, why }
}

/// `center`.
pub(super) const CENTER: OptionSpec =
    OptionSpec::flag("center", true, "Subtract the mean of every feature");

/// `standardize`.
pub(super) const STANDARDIZE: OptionSpec =
    OptionSpec::flag("standardize", false, "Divide every feature by its standard deviation")
        .alias("scale");

/// The route to the components, for methods that have several.
pub(super) const SOLVER: &[OptionSpec] = &[
    OptionSpec::choice(
        "solver",
        &[
            ("auto", "By shape, sparsity, number of components and memory"),
            ("covariance", "Eigenvectors of the covariance matrix"),
            ("dual", "Eigenvectors of the n × n Gram matrix"),
            ("svd", "Singular vectors by a QR factorisation: nothing is squared"),
            ("iterative", "Block Krylov iteration on the data"),
            ("randomized", "Randomised range finder: approximate"),
        ],
        "The route to the components",
    ),
    OptionSpec::count("oversampling", 0, "Extra directions of the randomised range finder")
        .or("10")
        .needs(&[("solver", &["randomized"])]),
    OptionSpec::count("power_iterations", 0, "Power iterations of the randomised range finder")
        .or("4")
        .needs(&[("solver", &["randomized"])]),
];

impl OptionValues {
    /// The route that was asked for.
    pub(super) fn solver(&self) -> Solver {
        let randomized = Solver::Randomized {
            oversampling: self.count("oversampling").unwrap_or(10),
            power_iterations: self.count("power_iterations").unwrap_or(4),
        };
        self.choice(
            "solver",
            &[
                ("auto", Solver::Auto),
                ("covariance", Solver::Covariance),
                ("dual", Solver::Dual),
                ("svd", Solver::Svd),
                ("iterative", Solver::Iterative),
                ("randomized", randomized),
            ],
        )
    }
}

/// Which samples are neighbours, for methods on a graph.
pub(super) const GRAPH: &[OptionSpec] = &[
    OptionSpec::count(
        "n_neighbors",
        1,
        "Join every sample to this many nearest ones [default: 10, or all of fewer]",
    )
    .excludes(&["radius"]),
    OptionSpec::number(
        "radius",
        Range::Positive,
        "Join every sample to those at most this far away",
    ),
    OptionSpec::flag(
        "bridges",
        false,
        "Join the parts of a disconnected graph by the shortest edges",
    ),
];

/// Configures any method on a graph.
macro_rules! on_graph {
    ($values:expr, $estimator:expr) => {{
        let mut estimator = $estimator.bridges($values.flag("bridges"));
        if let Some(k) = $values.count("n_neighbors") {
            estimator = estimator.neighbors(k);
        }
        if let Some(radius) = $values.number("radius") {
            estimator = estimator.radius(radius);
        }
        estimator
    }};
}
pub(super) use on_graph;
