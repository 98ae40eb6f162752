//! What is asked for, in Python's words.

use eigenlens::{NComponents, Options, Rule, Solver};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

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
pub enum ComponentsArg {
    Fixed(usize),
    Share(f64),
    Rule(String),
}

/// The number of components asked for; where nothing was, all.
pub fn n_components(given: Option<ComponentsArg>) -> PyResult<NComponents> {
    Ok(match given {
        Some(ComponentsArg::Fixed(k)) => NComponents::Fixed(k),
        Some(ComponentsArg::Share(share)) => NComponents::VarianceShare(share),
        Some(ComponentsArg::Rule(name)) => NComponents::Rule(rule(&name)?),
        None => NComponents::All,
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

/// A route by its name; a randomised one with its two numbers.
#[derive(FromPyObject)]
pub enum SolverArg {
    Randomized(usize, usize),
    #[pyo3(transparent)]
    Named(String),
}

impl SolverArg {
    pub fn solver(self) -> PyResult<Solver> {
        let name = match self {
            SolverArg::Randomized(oversampling, power_iterations) => {
                return Ok(Solver::Randomized { oversampling, power_iterations });
            }
            SolverArg::Named(name) => name,
        };
        match name.as_str() {
            "auto" => Ok(Solver::Auto),
            "covariance" => Ok(Solver::Covariance),
            "dual" => Ok(Solver::Dual),
            "svd" => Ok(Solver::Svd),
            "iterative" => Ok(Solver::Iterative),
            _ => Err(PyValueError::new_err(format!("the solver `{name}` is not known"))),
        }
    }
}
