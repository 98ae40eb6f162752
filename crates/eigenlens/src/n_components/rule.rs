//! The rules: a file each, and a row in the table below.

use super::known::Known;
use super::{
    Found, Need, Reason, Sample, bic, broken_stick, cross_validation, cumulative_share, elbow,
    gavish_donoho, kaiser, minka, parallel, ratio, threshold,
};

/// Of every row `file: Variant` the variant of [`Rule`], the description of [`RULES`], and the way from one to the
/// other. A rule has one number at most: `(number: f64)` where it must have it, `{ number }` where it may.
macro_rules! rules {
    ($(
        $(#[$doc:meta])*
        $file:ident: $variant:ident
            $(($number:ident: $type:ty))? $({ $(#[$about:meta])* $maybe:ident })?
    ),* $(,)?) => {
        /// Every rule, in the order in which they are shown.
        pub const RULES: &[RuleSpec] = &[$($file::RULE),*];

        /// A rule that finds how many components to keep; the module computes them.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Rule {
            $($(#[$doc])* $variant $(($type))? $({ $(#[$about])* $maybe: Option<f64> })?,)*
        }

        impl Rule {
            /// What the rule is, and its number.
            pub(super) fn row(&self) -> (&'static RuleSpec, Option<f64>) {
                match *self {
                    $(Rule::$variant $(($number))? $({ $maybe })? => {
                        (&$file::RULE, None $(.or(Some($number)))? $(.or($maybe))?)
                    })*
                }
            }

            /// The rule of the table with this name and number; a number that it must have and has not is none.
            pub(super) fn named(name: &str, number: Option<f64>) -> Option<Rule> {
                $(if name == $file::RULE.name {
                    return Some(Rule::$variant
                        $((number.unwrap_or(<$type>::NAN)))? $({ $maybe: number })?);
                })*
                None
            }
        }
    };
}

rules! {
    /// Variances above this number.
    threshold: Threshold(above: f64),
    /// Components that each carry more than this share of the total variance.
    ratio: Ratio(above: f64),
    /// The fewest components that together reach this share of the total variance.
    cumulative_share: CumulativeShare(share: f64),
    /// The elbow of the scree plot by profile likelihood (Zhu & Ghodsi 2006).
    elbow: Elbow,
    /// Minka's Laplace approximation to the evidence of probabilistic PCA (Minka 2000).
    minka: Minka,
    /// The Bayesian information criterion on the likelihood of probabilistic PCA.
    bic: Bic,
    /// Components that beat the 95th percentile of data with independent columns (Horn 1965).
    parallel: ParallelAnalysis,
    /// The optimal hard threshold for singular values (Gavish & Donoho 2014); the noise's standard
    /// deviation, or `None` to estimate it from the median singular value.
    gavish_donoho: GavishDonoho {
        /// Standard deviation of the noise in one entry, when known.
        noise
    },
    /// Variances above those of a stick broken at random.
    broken_stick: BrokenStick,
    /// Variances above 1, for standardised data only.
    kaiser: Kaiser,
    /// Least error on held-out entries.
    cross_validation: CrossValidation,
}

/// What a rule is: its name, what it needs and how it chooses.
pub struct RuleSpec {
    /// Its name, the same on every surface and in model files.
    pub name: &'static str,
    /// Its number, where it has one.
    pub(super) parameter: Option<RuleParameter>,
    /// What it must be given to be sure of an answer, by its number.
    pub(super) need: fn(Option<f64>) -> Need,
    /// Whether it stops where it has seen enough; the others look at all variances.
    pub(super) stops_early: bool,
    /// Whether its reasoning rests on columns of mean 0.
    pub(super) assumes_centered: bool,
    /// Whether its reasoning rests on columns of variance 1.
    pub(super) assumes_standardized: bool,
    /// Finds the number of components.
    pub(super) choose: fn(&Question) -> Result<Found, Reason>,
}

/// The number of a rule.
pub(super) struct RuleParameter {
    pub name: &'static str,
    /// What it is where nothing is said; `None`: the rule does without.
    pub usual: Option<f64>,
    pub fits: fn(f64) -> bool,
    /// What fits, in words.
    pub expected: &'static str,
}

/// What a rule is asked.
pub(super) struct Question<'a, 's> {
    pub known: &'a Known,
    /// The rule's own number.
    pub number: Option<f64>,
    pub sample: Option<&'a Sample<'s>>,
    pub seed: u64,
}

impl RuleSpec {
    /// A rule on the leading variances, without a number, for data of any kind: what every rule is where it says
    /// nothing else.
    pub(super) const fn of_head(
        name: &'static str,
        choose: fn(&Question) -> Result<Found, Reason>,
    ) -> RuleSpec {
        RuleSpec {
            name,
            parameter: None,
            need: |_| Need::Head,
            stops_early: false,
            assumes_centered: false,
            assumes_standardized: false,
            choose,
        }
    }
}

impl RuleParameter {
    /// A share of the variance.
    pub const fn share(name: &'static str, usual: f64) -> RuleParameter {
        let fits = |share: f64| (0.0..=1.0).contains(&share);
        RuleParameter { name, usual: Some(usual), fits, expected: "between 0 and 1" }
    }
}

impl Question<'_, '_> {
    /// The number of a rule that must have one.
    pub fn number(&self) -> f64 {
        self.number.unwrap_or(f64::NAN)
    }
}

impl Rule {
    /// What the rule must be given to be sure of an answer. Some make do with less: see the module.
    pub fn need(&self) -> Need {
        let (spec, number) = self.row();
        (spec.need)(number)
    }

    /// The rule's name, the same on every surface.
    pub fn name(&self) -> &'static str {
        self.row().0.name
    }

    /// One of each: variances above 1, shares above 5 %, 95 % together, unknown noise.
    pub fn all() -> Vec<Rule> {
        let usual = |spec: &RuleSpec| spec.parameter.as_ref().and_then(|p| p.usual);
        RULES.iter().filter_map(|spec| Rule::named(spec.name, usual(spec))).collect()
    }

    /// Whether the rule stops where it has seen enough; the others look at all variances.
    pub(crate) fn stops_early(&self) -> bool {
        self.row().0.stops_early
    }

    pub(super) fn check_parameter(&self) -> Result<(), Reason> {
        let (RuleSpec { parameter: Some(parameter), .. }, Some(value)) = self.row() else {
            return Ok(());
        };
        if (parameter.fits)(value) {
            return Ok(());
        }
        Err(Reason::Parameter { name: parameter.name, value, expected: parameter.expected })
    }
}
