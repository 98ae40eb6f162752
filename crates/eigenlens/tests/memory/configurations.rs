//! What methods may be asked for, from their tables of options: every word, every flag the other way, and numbers
//! that change what is allocated.

use crate::estimators;
use eigenlens::{
    DataShape, Estimator, Method, NComponents, OptionKind, OptionSpec, OptionValue, Options, Result,
};

/// Options with values; what is not said has its default.
pub type Configuration = Vec<(&'static str, OptionValue)>;

/// Values of options that are numbers; the others do not change what is allocated.
const NUMBERS: &[(&str, &[&str])] = &[
    ("supervision", &["0", "0.5"]),
    ("oversampling", &["40"]),
    ("landmarks", &["60", "300"]),
    ("random_features", &["200"]),
    ("subset", &["150"]),
    ("n_neighbors", &["25"]),
    ("n_parts", &["3"]),
    ("cardinality", &["20"]),
    ("penalty", &["0.1"]),
    ("non_zeros", &["20"]),
    ("dictionary", &["0.5"]),
    ("ridge", &["infinite"]),
    ("path", &["4"]),
    // A proof that is given up soon.
    ("node_limit", &["20"]),
];

/// Data of another kind, or a search without an end.
const LEFT_OUT: &[(&str, &str)] = &[
    ("kernel", "precomputed"),
    ("affinity", "precomputed"),
    ("distances", "true"),
    ("metric", "precomputed"),
    ("exact", "true"),
];

/// An option, perhaps one value of it, and what it has a meaning with, where the method has that.
const WITH: &[(&str, Option<&str>, (&str, &str))] = &[
    ("input", Some("covariance"), ("sample_count", "400")),
    ("ridge", None, ("penalty", "0.1")),
    ("penalty_scale", None, ("penalty", "0.1")),
    ("learn", None, ("dictionary", "0.5")),
    ("selection", None, ("landmarks", "60")),
    ("orthogonal", None, ("random_features", "200")),
    ("solver", Some("covariance"), ("supervision", "0.5")),
    ("solver", Some("iterative"), ("supervision", "0.5")),
    // Routes of PCA alone.
    ("solver", Some("dual"), ("supervision", "0")),
    ("solver", Some("svd"), ("supervision", "0")),
    ("solver", Some("randomized"), ("supervision", "0")),
    ("oversampling", None, ("supervision", "0")),
    ("affinity", Some("rbf"), ("bridges", "false")),
    ("variant", Some("hessian"), ("n_neighbors", "30")),
];

/// Every option of a method, one at a time, with those that it needs.
pub fn configurations(method: &Method) -> Vec<Configuration> {
    let mut all = Vec::new();
    for option in method.options() {
        for text in texts(option) {
            if LEFT_OUT.contains(&(option.name, text.as_str())) {
                continue;
            }
            let needed = option.needs.iter().map(|(other, values)| (*other, values[0]));
            let with = WITH.iter().filter(|(name, of, (other, _))| {
                *name == option.name
                    && of.is_none_or(|of| of == text)
                    && method.options().any(|option| option.name == *other)
            });
            let others = needed.chain(with.map(|(.., other)| *other));
            let own = (option.name, text.as_str());
            all.push(others.chain([own]).map(|(name, text)| value(method, name, text)).collect());
        }
    }
    all
}

fn texts(option: &OptionSpec) -> Vec<String> {
    let numbers = NUMBERS.iter().find(|(name, _)| *name == option.name);
    match (&option.kind, numbers) {
        (OptionKind::Flag, _) => vec![(option.default != Some("true")).to_string()],
        // The first word is the default.
        (OptionKind::Choice(words), _) => words[1..].iter().map(|(w, _)| w.to_string()).collect(),
        (_, Some((_, texts))) => texts.iter().map(|text| text.to_string()).collect(),
        _ => Vec::new(),
    }
}

fn value(method: &Method, name: &str, text: &str) -> (&'static str, OptionValue) {
    let option = method.options().find(|option| option.name == name).unwrap();
    (option.name, option.parse(text).unwrap())
}

/// The method as configured; a usage error where its parts do not go together.
pub fn build(
    method: &'static Method,
    configuration: &Configuration,
    n_components: &NComponents,
    options: &Options,
    shape: &DataShape,
) -> Result<Box<dyn Estimator>> {
    let mut values = estimators::values(method, n_components, options)?;
    for (name, value) in configuration {
        values.set(name, value.clone())?;
    }
    method.build(&values, shape)
}
