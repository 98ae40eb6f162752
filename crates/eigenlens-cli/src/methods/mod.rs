//! The methods of the library with their flags: one file each.

use crate::arguments::FitArguments;
use crate::failure::Failure;
use crate::target::TargetOptions;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Command, Subcommand};
use eigenlens::{
    AnyDataset, Estimator, METHODS, Method, Model, NComponents, Options, TermWeighting,
};
use eigenlens_io::AnyArray;
use std::collections::BTreeMap;

/// The flags of every method of `fit`, under its name in [`METHODS`].
macro_rules! methods {
    ($($variant:ident in $module:ident is $name:literal),+ $(,)?) => {
        $(mod $module;)+

        /// The method, with its own flags and those of every fit.
        #[derive(Subcommand)]
        pub enum FitMethod {
            $(
                #[command(name = $name, about = method($name).about)]
                $variant(Box<FitArguments<$module::Flags>>),
            )+
        }

        impl FitMethod {
            /// The method, its flags, and what was said about everything else.
            pub fn parsed(&self) -> (&'static Method, &dyn MethodFlags, &crate::arguments::Fit) {
                match self {
                    $(FitMethod::$variant(given) => (method($name), &given.own, &given.fit),)+
                }
            }
        }

        /// The names of the flags that a method has of its own.
        pub fn own_flags(name: &str) -> Vec<String> {
            let command = Command::new("own");
            let command = match name {
                $($name => $module::Flags::augment_args(command),)+
                _ => command,
            };
            command.get_arguments().filter_map(|a| a.get_long()).map(|l| format!("--{l}")).collect()
        }
    };
}

mod neighborhood;

methods! {
    Pca in pca is "pca",
    Lsa in lsa is "lsa",
    Ppca in ppca is "ppca",
    BayesianPca in bayesian_pca is "bayesian-pca",
    PpcaMixture in ppca_mixture is "ppca-mixture",
    SparsePca in sparse_pca is "sparse-pca",
    KernelPca in kernel_pca is "kernel-pca",
    SupervisedPca in supervised_pca is "supervised-pca",
    KernelSupervisedPca in kernel_supervised_pca is "kernel-supervised-pca",
    Mds in mds is "mds",
    Isomap in isomap is "isomap",
    Laplacian in laplacian is "laplacian",
    Lle in lle is "lle",
}

/// The flags that were given to a method.
pub trait MethodFlags {
    /// The method with these flags, for data with so many features.
    fn estimator(
        &self,
        options: &FitOptions,
        n_features: usize,
    ) -> eigenlens::Result<Box<dyn Estimator>>;

    /// Its own options in the words of the command line, for the model file.
    fn in_words(&self) -> Vec<(&'static str, String)>;

    /// The target whose directions are looked for, where the method has one.
    fn target(&self) -> Option<&TargetOptions> {
        None
    }

    /// How counts of terms are weighted before the method sees them.
    fn weighting(&self) -> Option<TermWeighting> {
        None
    }
}

/// What every method is asked for, complete.
#[derive(Clone)]
pub struct FitOptions {
    pub n_components: NComponents,
    pub shared: Options,
}

impl dyn MethodFlags + '_ {
    /// Everything asked for in the words of the command line.
    pub fn all_in_words(&self, options: &FitOptions) -> BTreeMap<String, String> {
        let shared = [
            ("components", crate::options::components_text(&options.n_components)),
            ("seed", options.shared.seed.to_string()),
        ];
        let all = self.in_words().into_iter().chain(shared);
        all.map(|(name, value)| (name.to_string(), value)).collect()
    }
}

/// A method of the library by a name that it has.
fn method(name: &str) -> &'static Method {
    Method::named(name).unwrap_or(METHODS[0])
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
            let others = METHODS.iter().filter(|method| own_flags(method.name).contains(&option));
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
