//! What is asked for, in Python's words.

use crate::errors;
use eigenlens::{
    Method, NComponents, OptionKind, OptionSpec, OptionValue, OptionValues, Options, Rule,
};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The options of every method: a dictionary with all of these keys.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Shared {
    threads: Option<usize>,
    pub memory: Option<u64>,
    seed: u64,
    tolerance: Option<f64>,
    max_iterations: Option<usize>,
}

impl Shared {
    pub fn options(&self) -> Options {
        let usual = Options::default();
        Options {
            threads: self.threads,
            memory: self.memory,
            seed: self.seed,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations.unwrap_or(usual.max_iterations),
        }
    }
}

/// How many components: a whole number, a share, or the name of a rule.
#[derive(FromPyObject)]
enum ComponentsArg {
    Fixed(usize),
    Share(f64),
    Rule(String),
}

/// The options of a method from a dictionary, by the names and kinds of its table. `None` is what is
/// usual; for the number of components, all.
pub fn values(method: &str, given: &Bound<PyAny>) -> PyResult<OptionValues> {
    let known = || PyValueError::new_err(format!("the method `{method}` is not known"));
    let method = Method::named(method).ok_or_else(known)?;
    let mut values = method.values();
    for (name, given) in given.cast::<PyDict>()? {
        let name: String = name.extract()?;
        if name == "n_components" {
            values.set_n_components(n_components(given.extract()?)?);
        } else if !given.is_none() {
            let spec = method.options().find(|spec| spec.name == name);
            let value = spec.map_or(Ok(OptionValue::Flag(true)), |spec| value(spec, &given))?;
            values.set(&name, value).map_err(errors::library)?;
        }
    }
    Ok(values)
}

fn n_components(given: Option<ComponentsArg>) -> PyResult<NComponents> {
    Ok(match given {
        Some(ComponentsArg::Fixed(k)) => NComponents::Fixed(k),
        Some(ComponentsArg::Share(share)) => NComponents::VarianceShare(share),
        Some(ComponentsArg::Rule(name)) => NComponents::Rule(rule(&name)?),
        None => NComponents::All,
    })
}

/// A value of the kind that the option has.
fn value(spec: &OptionSpec, given: &Bound<PyAny>) -> PyResult<OptionValue> {
    Ok(match spec.kind {
        OptionKind::Flag => OptionValue::Flag(given.extract()?),
        OptionKind::Count(_) => OptionValue::Count(given.extract()?),
        OptionKind::Number(..) => match given.extract() {
            Ok(number) => OptionValue::Number(number),
            Err(_) => OptionValue::Word(given.extract()?),
        },
        OptionKind::Counts => OptionValue::Counts(given.extract()?),
        OptionKind::Numbers => OptionValue::Numbers(given.extract()?),
        OptionKind::Choice(_) => OptionValue::Word(given.extract()?),
        OptionKind::Matrix => {
            let x: PyReadonlyArray2<f64> = given.extract()?;
            OptionValue::Matrix(x.as_array().as_standard_layout().into_owned())
        }
    })
}

/// A rule by its name.
pub fn rule(name: &str) -> PyResult<Rule> {
    let found = Rule::all().into_iter().find(|rule| rule.name() == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = Rule::all().iter().map(Rule::name).collect();
        PyValueError::new_err(format!(
            "the rule `{name}` is not known, but there are {}",
            names.join(", ")
        ))
    })
}
