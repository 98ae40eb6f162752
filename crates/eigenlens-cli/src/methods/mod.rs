//! The methods: one file and one row each.

mod lsa;
mod pca;

use crate::arguments;
use crate::failure::Failure;
use crate::wishes::{components_text, solver_text};
use clap::builder::PossibleValuesParser;
use eigenlens::{Dataset, NComponents, Options, PcaModel, Plan, Solver, TermWeighting};
use eigenlens_io::Numbers;
use std::collections::BTreeMap;

/// Every method of `fit`: a new one is its file and a row here.
pub const METHODS: &[Method] = &[pca::METHOD, lsa::METHOD];

/// A method as the command line sees it.
pub struct Method {
    /// The word after `fit`.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub summary: &'static str,
    /// The page that describes it.
    pub page: &'static str,
    /// What its components are called in tables and pictures, before their number.
    pub axis: &'static str,
    /// The options it takes beside those of every method.
    pub options: &'static [&'static str],
    /// How many components where nothing is said, for n (if known) × d data.
    pub default_components: fn(Option<usize>, usize) -> NComponents,
    /// What would be done.
    pub plan: fn(&Wishes, &AnyData) -> eigenlens::Result<Plan>,
    /// Fits, with the scores of the samples if they are wanted.
    pub fit: fn(&Wishes, &AnyData, bool) -> eigenlens::Result<Fitted>,
}

/// A data set of either element type.
pub enum AnyData<'a> {
    F32(Dataset<'a, f32>),
    F64(Dataset<'a, f64>),
}

/// A model, and the scores if they were wanted.
pub struct Fitted {
    pub model: PcaModel,
    pub scores: Option<Numbers>,
}

/// What is asked of a method, complete.
pub struct Wishes {
    pub components: NComponents,
    pub solver: Solver,
    pub scale: bool,
    pub center: bool,
    pub whiten: bool,
    pub weighting: Option<TermWeighting>,
    pub options: Options,
}

/// The method of that name; the parser lets no other through.
pub fn find(name: &str) -> Result<&'static Method, Failure> {
    METHODS
        .iter()
        .find(|method| method.name == name)
        .ok_or_else(|| Failure::Internal(format!("the method `{name}` has no row")))
}

/// The methods' names, for the parser.
pub fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(METHODS.iter().map(|method| method.name))
}

impl Method {
    /// Refuses options that the method would ignore.
    pub fn check(&self, wishes: &arguments::Wishes) -> Result<(), Failure> {
        let given = [
            ("scale", wishes.scale),
            ("no-center", wishes.no_center),
            ("whiten", wishes.whiten),
            ("weighting", wishes.weighting.is_some()),
        ];
        match given.iter().find(|(name, given)| *given && !self.options.contains(name)) {
            Some((name, _)) => Err(Failure::usage(
                format!("`--{name}` does not fit the method `{}`", self.name),
                format!("leave out `--{name}`; `eigenlens methods` lists what fits"),
            )),
            None => Ok(()),
        }
    }

    /// The wishes, with what was not said filled in.
    pub fn wishes(
        &self,
        said: &arguments::Wishes,
        n: Option<usize>,
        d: usize,
        options: Options,
    ) -> Wishes {
        Wishes {
            components: said.components.clone().unwrap_or_else(|| (self.default_components)(n, d)),
            solver: said.solver.unwrap_or_default(),
            scale: said.scale,
            center: !said.no_center,
            whiten: said.whiten,
            weighting: weighting(said),
            options: Options {
                tolerance: said.tolerance,
                max_iterations: said.max_iterations.unwrap_or(options.max_iterations),
                ..options
            },
        }
    }
}

/// The weighting asked for.
pub fn weighting(said: &arguments::Wishes) -> Option<TermWeighting> {
    match said.weighting? {
        arguments::Weighting::TfIdf => Some(TermWeighting::TfIdf),
        arguments::Weighting::LogEntropy => Some(TermWeighting::LogEntropy),
        arguments::Weighting::None => None,
    }
}

impl Wishes {
    /// The wishes in the words of the command line, for the model file.
    pub fn in_words(&self) -> BTreeMap<String, String> {
        let weighting = self.weighting.map_or("none", |w| w.name());
        [
            ("components", components_text(&self.components)),
            ("solver", solver_text(self.solver).into()),
            ("scale", self.scale.to_string()),
            ("center", self.center.to_string()),
            ("whiten", self.whiten.to_string()),
            ("weighting", weighting.into()),
            ("seed", self.options.seed.to_string()),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .into()
    }
}

/// Runs the same expression for either element type: `each!(data, d => model.transform(d))`.
macro_rules! each {
    ($data:expr, $d:ident => $work:expr) => {
        match $data {
            $crate::methods::AnyData::F32($d) => $work,
            $crate::methods::AnyData::F64($d) => $work,
        }
    };
}
pub(crate) use each;

/// The same for an expression that gives a matrix of the data's type, which becomes [`Numbers`].
macro_rules! each_matrix {
    ($data:expr, $d:ident => $work:expr) => {
        match $data {
            $crate::methods::AnyData::F32($d) => $work.map(eigenlens_io::Numbers::F32),
            $crate::methods::AnyData::F64($d) => $work.map(eigenlens_io::Numbers::F64),
        }
    };
}
pub(crate) use each_matrix;
