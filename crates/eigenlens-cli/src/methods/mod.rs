//! The methods: one file and one row each.
//!
//! A method's file holds its own options, as the parser takes them, and implements [`Method`].

use crate::arguments::FitArguments;
use crate::failure::Failure;
use crate::progress::Steps;
use crate::target::TargetOptions;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Command, Subcommand};
use eigenlens::{
    Dataset, Missing, Model, NComponents, Options, Plan, Scalar, Target, TermWeighting,
};
use eigenlens_io::Numbers;
use std::collections::BTreeMap;

/// Every method of `fit`: a new one is its file and a row here.
macro_rules! methods {
    ($($variant:ident in $module:ident),+ $(,)?) => {
        $(mod $module;)+

        /// The method, with its own options and those of every fit.
        #[derive(Subcommand)]
        pub enum FitMethod {
            $(
                #[command(name = $module::ABOUT.name, about = $module::ABOUT.summary)]
                $variant(Box<FitArguments<$module::Own>>),
            )+
        }

        impl FitMethod {
            /// What is to be fitted, and what was said about everything else.
            pub fn asked(&self) -> (&dyn Method, &crate::arguments::Fit) {
                match self {
                    $(FitMethod::$variant(asked) => (&asked.own, &asked.fit),)+
                }
            }
        }

        /// What is told of every method.
        pub const METHODS: &[&About] = &[$(&$module::ABOUT),+];

        /// The names of the options that a method has of its own.
        pub fn own_options(name: &str) -> Vec<String> {
            let command = Command::new("own");
            let command = match name {
                $(n if n == $module::ABOUT.name => $module::Own::augment_args(command),)+
                _ => command,
            };
            command.get_arguments().filter_map(|a| a.get_long()).map(|l| format!("--{l}")).collect()
        }
    };
}

mod neighborhood;

methods! {
    Pca in pca,
    Lsa in lsa,
    Ppca in ppca,
    BayesianPca in bayesian_pca,
    PpcaMixture in ppca_mixture,
    SparsePca in sparse_pca,
    KernelPca in kernel_pca,
    SupervisedPca in supervised_pca,
    KernelSupervisedPca in kernel_supervised_pca,
    Mds in mds,
    Isomap in isomap,
    Laplacian in laplacian,
    Lle in lle,
}

/// Runs the same expression for either element type: `each!(data, d => pca.fit(d))`.
macro_rules! each {
    ($data:expr, $d:ident => $work:expr) => {
        match $data {
            $crate::methods::AnyData::F32($d) => $work,
            $crate::methods::AnyData::F64($d) => $work,
        }
    };
}
pub(crate) use each;

/// What is told of a method.
pub struct About {
    /// The word after `fit`.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub summary: &'static str,
    /// The page that describes it.
    pub page: &'static str,
    /// What its components are called in tables and pictures, before their number.
    pub axis: &'static str,
    /// Whether its scores are linear in the features: only then are there components to write.
    pub linear: bool,
}

/// A method with the options that were given to it.
pub trait Method {
    /// What is told of it.
    fn about(&self) -> &'static About;

    /// How many components where nothing is said, for n (if known) × d data.
    fn default_components(&self, n: Option<usize>, d: usize) -> NComponents;

    /// Its own options in the words of the command line, for the model file.
    fn in_words(&self) -> Vec<(&'static str, String)>;

    /// What would be done.
    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan>;

    /// Fits, with the scores of the samples if they are wanted and cheap to give.
    fn fit(&self, wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted>;

    /// Whether it carries out the policy for missing values by itself; for other methods the holes
    /// are gone before they see the data.
    fn takes_holes(&self) -> bool {
        false
    }

    /// The target whose directions are looked for, where the method has one.
    fn target(&self) -> Option<&TargetOptions> {
        None
    }

    /// How counts of terms are weighted before the method sees them.
    fn weighting(&self) -> Option<TermWeighting> {
        None
    }
}

/// A data set of either element type.
pub enum AnyData<'a> {
    F32(Dataset<'a, f32>),
    F64(Dataset<'a, f64>),
}

impl<'a> AnyData<'a> {
    /// The policy for missing values.
    pub fn missing(&self) -> Missing {
        each!(self, d => d.missing())
    }

    /// The same data with a policy for missing values.
    pub fn with_policy(self, missing: Missing, most: Option<f64>) -> AnyData<'a> {
        fn set<'d, T: Scalar>(
            data: Dataset<'d, T>,
            missing: Missing,
            most: Option<f64>,
        ) -> Dataset<'d, T> {
            let most = most.unwrap_or(data.most_missing());
            data.with_missing(missing).with_most_missing(most)
        }
        match self {
            AnyData::F32(d) => AnyData::F32(set(d, missing, most)),
            AnyData::F64(d) => AnyData::F64(set(d, missing, most)),
        }
    }
}

/// A model, and the scores if they were wanted.
pub struct Fitted {
    pub model: Box<dyn Model>,
    pub scores: Option<Numbers>,
}

/// What is asked of every method, complete.
#[derive(Clone)]
pub struct Wishes {
    pub components: NComponents,
    pub options: Options,
    /// The target, for methods that have one.
    pub target: Option<Target>,
    /// Where an iteration tells its steps.
    pub steps: Steps,
}

impl dyn Method + '_ {
    /// Everything asked for in the words of the command line.
    pub fn wishes_in_words(&self, wishes: &Wishes) -> BTreeMap<String, String> {
        let shared = [
            ("components", crate::wishes::components_text(&wishes.components)),
            ("seed", wishes.options.seed.to_string()),
        ];
        let all = self.in_words().into_iter().chain(shared);
        all.map(|(name, value)| (name.to_string(), value)).collect()
    }
}

/// What components of a model are called, before their number.
pub fn axis(method: &str) -> &'static str {
    METHODS.iter().find(|about| about.name == method).map_or("PC", |about| about.axis)
}

/// An error of the parser that is about methods, in words that know them: a method that does not
/// exist, or an option of another one.
pub fn misfit(error: &clap::Error, said: impl Iterator<Item = String>) -> Option<Failure> {
    let context = |kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        _ => None,
    };
    let method = said.skip_while(|word| word != "fit").nth(1)?;
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = context(ContextKind::InvalidSubcommand)?;
            let names: Vec<&str> = METHODS.iter().map(|about| about.name).collect();
            let names = names.join(", ");
            Some(Failure::usage(format!("`{word}` is no method"), format!("there are {names}")))
        }
        ErrorKind::UnknownArgument => {
            let option = context(ContextKind::InvalidArg)?;
            let others = METHODS.iter().filter(|about| own_options(about.name).contains(&option));
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
pub fn transform(model: &dyn Model, data: &AnyData) -> eigenlens::Result<Numbers> {
    match data {
        AnyData::F32(data) => model.transform_f32(data).map(Numbers::F32),
        AnyData::F64(data) => model.transform_f64(data).map(Numbers::F64),
    }
}

/// Fits with or without scores: `fitted!(data, want_scores, pca)`.
macro_rules! fitted {
    ($data:expr, $want_scores:expr, $estimator:expr) => {{
        use $crate::methods::{AnyData, Fitted};
        match ($data, $want_scores) {
            (data, false) => {
                let model = $crate::methods::each!(data, d => $estimator.fit(d))?;
                Ok(Fitted { model: Box::new(model), scores: None })
            }
            (AnyData::F32(d), true) => {
                let (model, scores) = $estimator.fit_transform(d)?;
                let scores = Some(eigenlens_io::Numbers::F32(scores));
                Ok(Fitted { model: Box::new(model), scores })
            }
            (AnyData::F64(d), true) => {
                let (model, scores) = $estimator.fit_transform(d)?;
                let scores = Some(eigenlens_io::Numbers::F64(scores));
                Ok(Fitted { model: Box::new(model), scores })
            }
        }
    }};
}
pub(crate) use fitted;

/// The same for data whose holes are integrated out, with every step told.
macro_rules! watched {
    ($data:expr, $want_scores:expr, $wishes:expr, $estimator:expr) => {{
        use $crate::methods::{AnyData, Fitted};
        let (want_scores, mut tell) = ($want_scores, $wishes.steps.observer());
        match $data {
            AnyData::F32(d) => {
                let model = $estimator.fit_observed(d, &mut tell)?;
                let scores = want_scores.then(|| model.transform(d)).transpose()?;
                let scores = scores.map(eigenlens_io::Numbers::F32);
                Ok(Fitted { model: Box::new(model), scores })
            }
            AnyData::F64(d) => {
                let model = $estimator.fit_observed(d, &mut tell)?;
                let scores = want_scores.then(|| model.transform(d)).transpose()?;
                let scores = scores.map(eigenlens_io::Numbers::F64);
                Ok(Fitted { model: Box::new(model), scores })
            }
        }
    }};
}
pub(crate) use watched;
