//! Models checked against data from scratch: every number a model claims is made once more by plain loops that
//! share nothing with the solvers or their kernels, and compared.
//!
//! A bound is a claim too: it must cover what is measured here. What data cannot show is listed, never passed over.

mod arithmetic;
mod claim;
mod columns;
mod covariance;
mod dense;
mod embedding;
mod gaussian;
mod kernel;
mod kernel_claim;
mod labels;
mod leading;
mod missed;
mod pairs;
mod pca;
mod ppca;
mod rows;
mod sparse;
mod supervised;
mod symmetric;
mod warnings;

pub use claim::Claim;
pub use kernel_claim::KernelClaim;

pub(super) use embedding::{memory as embedding_memory, verify as embedding};
pub(super) use kernel::{verify as kernel_pca, verify_supervised as kernel_supervised};
pub(super) use pca::{memory as pca_memory, verify as pca};
pub(super) use ppca::{memory as ppca_memory, verify as ppca};
pub(super) use ppca::{mixture_memory, verify_mixture as mixture};
pub(super) use sparse::{memory as sparse_pca_memory, verify as sparse_pca};
pub(super) use supervised::{memory as supervised_memory, verify as supervised};

pub(crate) use arithmetic::{Sum, Sums, dot, norm};
pub(crate) use columns::{MissingSums, open, rounding};
pub(crate) use dense::{SMALL, Tridiagonal};
pub(crate) use rows::{Batch, Reader};

use super::ModelCore;
use super::parts::Value;
use crate::data::DataShape;
use crate::error::{Error, Result};
use crate::plan::Route;
use std::fmt;

/// What a check may be told.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyOptions {
    /// Seed of the random probes that look for what a fit missed. A number that nobody could foresee when the model
    /// was made: surfaces draw it afresh.
    pub seed: u64,
    /// What residuals may be, relative to the largest eigenvalue; never what the model says of itself.
    pub tolerance: f64,
    /// Bytes the check may allocate beyond the data; `None`: no limit.
    pub memory: Option<u64>,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions { seed: 0, tolerance: 1e-6, memory: None }
    }
}

impl VerifyOptions {
    /// Refuses what cannot be meant, and a check that needs more than its budget, before a row is read.
    pub(crate) fn check(&self, needed: u64) -> Result<()> {
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(Error::Parameter {
                name: "tolerance",
                value: self.tolerance.to_string(),
                expected: "between 0 and 1",
            });
        }
        match self.memory {
            Some(budget) if needed > budget => {
                Err(Error::Memory { route: "the check of this model".into(), needed, budget })
            }
            _ => Ok(()),
        }
    }
}

/// What an independent check of a model found.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// Rows read.
    pub rows: usize,
    /// Seed of the random probes.
    pub seed: u64,
    /// What residuals may be, relative to the largest eigenvalue.
    pub tolerance: f64,
    /// Every claim that was checked.
    pub checks: Vec<Check>,
    /// What was not checked, and why.
    pub not_checked: Vec<NotChecked>,
}

/// Refuses a model that was made without samples: it knows nothing of their means.
fn need_samples(core: &ModelCore) -> Result<()> {
    match core.plan.route {
        Route::GivenCovariance => Err(Error::NotDefined {
            what: "a check against samples",
            why: "the model was made from a covariance matrix, which does not tell their means"
                .into(),
        }),
        _ => Ok(()),
    }
}

impl Verification {
    /// Whether every claim that was checked holds.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.holds)
    }

    /// The claims that do not hold.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.holds)
    }

    /// The same as named values, for programs.
    pub fn to_value(&self) -> Value {
        let check = |check: &Check| {
            Value::map([
                ("claim", Value::from(&check.claim)),
                ("claimed", check.claimed.clone()),
                ("found", check.found.clone()),
                ("allowed", check.allowed.into()),
                ("holds", check.holds.into()),
            ])
        };
        let skipped = |of: &NotChecked| {
            Value::map([("claim", Value::from(&of.claim)), ("reason", Value::from(&of.reason))])
        };
        Value::map([
            ("passed", Value::from(self.passed())),
            ("rows", self.rows.into()),
            ("seed", Value::from(self.seed.to_string())),
            ("tolerance", self.tolerance.into()),
            ("checks", Value::List(self.checks.iter().map(check).collect())),
            ("not_checked", Value::List(self.not_checked.iter().map(skipped).collect())),
        ])
    }
}

/// One claim of a model, and what the data say.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The claim in words, such as `explained variance of component 3`.
    pub claim: String,
    /// What the model says.
    pub claimed: Value,
    /// What was found.
    pub found: Value,
    /// By how much they may differ; of a bound, by how much the measurement itself may be off. `None`: not at all.
    pub allowed: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Check { claim, claimed, found, allowed, holds } = self;
        let (claimed, found) = (in_words(claimed), in_words(found));
        if *holds {
            return write!(f, "{claim}: {claimed}, found {found}");
        }
        write!(f, "{claim}: the model says {claimed}, the data say {found}")?;
        match allowed {
            Some(allowed) if *allowed > 0.0 => {
                write!(f, " (a difference of {allowed:.1e} is allowed)")
            }
            _ => Ok(()),
        }
    }
}

fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.into(),
        Value::Integer(value) => value.to_string(),
        Value::Number(value) if *value == 0.0 || (1e-3..1e6).contains(&value.abs()) => {
            // As many digits as tell numbers apart that differ by what is allowed.
            format!("{value:.10}").trim_end_matches('0').trim_end_matches('.').into()
        }
        Value::Number(value) => format!("{value:e}"),
        Value::Text(text) => text.clone(),
        Value::List(list) => list.iter().map(in_words).collect::<Vec<_>>().join(", "),
        Value::Map(map) => {
            let entry = |(name, value): (&String, &Value)| format!("{name} {}", in_words(value));
            map.iter().map(entry).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A claim that was not checked.
#[derive(Clone, Debug, PartialEq)]
pub struct NotChecked {
    /// The claim in words.
    pub claim: String,
    /// Why not.
    pub reason: String,
}

/// Checks as they are made.
#[derive(Default)]
pub(crate) struct Checks {
    list: Vec<Check>,
    not_checked: Vec<NotChecked>,
}

impl Checks {
    /// Two numbers that must not differ by more than `allowed`.
    pub fn number(&mut self, claim: impl Into<String>, claimed: f64, found: f64, allowed: f64) {
        let holds = (claimed - found).abs() <= allowed || claimed == found;
        self.push(claim.into(), claimed.into(), found.into(), Some(allowed), holds);
    }

    /// A bound that must cover what was found, which is known to within `slack`.
    pub fn bound(&mut self, claim: impl Into<String>, claimed: f64, found: f64, slack: f64) {
        let holds = found <= claimed + slack;
        self.push(claim.into(), claimed.into(), found.into(), Some(slack), holds);
    }

    /// Anything else.
    pub fn other(
        &mut self,
        claim: impl Into<String>,
        claimed: impl Into<Value>,
        found: impl Into<Value>,
        holds: bool,
    ) {
        self.push(claim.into(), claimed.into(), found.into(), None, holds);
    }

    fn push(
        &mut self,
        claim: String,
        claimed: Value,
        found: Value,
        allowed: Option<f64>,
        holds: bool,
    ) {
        self.list.push(Check { claim, claimed, found, allowed, holds });
    }

    /// The one of many numbers that is farthest off in units of what is allowed: `(claimed, found, allowed)` each.
    pub fn worst(
        &mut self,
        claim: impl Fn(usize) -> String,
        numbers: impl Iterator<Item = (f64, f64, f64)>,
    ) {
        let mut worst: Option<(f64, usize, (f64, f64, f64))> = None;
        for (at, (claimed, found, allowed)) in numbers.enumerate() {
            let off = (claimed - found).abs();
            let share = if claimed == found { 0.0 } else { off / allowed };
            let share = if share.is_nan() { f64::INFINITY } else { share };
            if worst.as_ref().is_none_or(|(most, ..)| share > *most) {
                worst = Some((share, at, (claimed, found, allowed)));
            }
        }
        if let Some((_, at, (claimed, found, allowed))) = worst {
            self.number(claim(at), claimed, found, allowed);
        }
    }

    pub fn skip(&mut self, claim: impl Into<String>, reason: impl Into<String>) {
        self.not_checked.push(NotChecked { claim: claim.into(), reason: reason.into() });
    }

    /// These, then those of a check that is done.
    pub fn before(self, mut later: Verification) -> Verification {
        later.checks.splice(0..0, self.list);
        later.not_checked.splice(0..0, self.not_checked);
        later
    }

    pub fn finish(self, rows: usize, options: &VerifyOptions) -> Verification {
        Verification {
            rows,
            seed: options.seed,
            tolerance: options.tolerance,
            checks: self.list,
            not_checked: self.not_checked,
        }
    }
}

pub(super) fn kernel_pca_memory(model: &super::KernelPcaModel, shape: &DataShape) -> u64 {
    kernel::memory(model.n_components(), shape)
}

pub(super) fn kernel_supervised_memory(
    model: &super::KernelSupervisedPcaModel,
    shape: &DataShape,
) -> u64 {
    kernel::memory(model.n_components(), shape)
}

/// What no data can show of any model.
pub(crate) fn skip_the_run(checks: &mut Checks) {
    checks.skip(
        "how the model was computed (route, passes, iterations, memory)",
        "data do not show which way was taken",
    );
}
