//! What a user asks for. The request is a type, the answer is a number.

use crate::error::{Error, Result};

/// How many components to keep.
#[derive(Clone, Debug, PartialEq)]
pub enum NComponents {
    /// Exactly this many.
    Fixed(usize),
    /// The fewest whose variances reach this share (0 to 1) of the total.
    VarianceShare(f64),
    /// As many as a rule finds.
    Rule(Rule),
    /// As many as the data allow: min(n, d).
    All,
}

impl From<usize> for NComponents {
    fn from(k: usize) -> Self {
        NComponents::Fixed(k)
    }
}

/// A rule that finds how many components to keep; [`n_components`](crate::n_components) computes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Variances above this number.
    Threshold(f64),
    /// Components that each carry more than this share of the total variance.
    Ratio(f64),
    /// The fewest components that together reach this share of the total variance.
    CumulativeShare(f64),
    /// The elbow of the scree plot by profile likelihood (Zhu & Ghodsi 2006).
    Elbow,
    /// Minka's Laplace approximation to the evidence of probabilistic PCA (Minka 2000).
    Minka,
    /// The Bayesian information criterion on the likelihood of probabilistic PCA.
    Bic,
    /// Components that beat the 95th percentile of data with independent columns (Horn 1965).
    ParallelAnalysis,
    /// The optimal hard threshold for singular values (Gavish & Donoho 2014); the noise's standard
    /// deviation, or `None` to estimate it from the median singular value.
    GavishDonoho {
        /// Standard deviation of the noise in one entry, when known.
        noise: Option<f64>,
    },
    /// Variances above those of a stick broken at random.
    BrokenStick,
    /// Variances above 1, for standardised data only.
    Kaiser,
    /// Least error on held-out entries.
    CrossValidation,
}

/// Which route to the components; [`Solver::Auto`] picks one and says why.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Solver {
    /// Chosen from shape, number of components, sparsity, element type and memory.
    #[default]
    Auto,
    /// Eigenvectors of the d × d covariance matrix.
    Covariance,
    /// Eigenvectors of the n × n Gram matrix.
    Dual,
    /// Singular vectors of the data through a QR factorisation: nothing is squared.
    Svd,
    /// Block Krylov iteration on the data: no d × d or n × n matrix.
    Iterative,
    /// Randomised range finder. Approximate by design: its certificate says how far off it is.
    Randomized {
        /// Extra directions beyond those asked for.
        oversampling: usize,
        /// Power iterations.
        power_iterations: usize,
    },
}

/// Options shared by every method.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Threads to use; `None`: one for each core. The answer does not depend on it.
    pub threads: Option<usize>,
    /// Bytes the computation may allocate beyond its input; `None`: no limit.
    pub memory: Option<u64>,
    /// Seed of every random number.
    pub seed: u64,
    /// Residual wanted, relative to the largest eigenvalue; `None`: 1e-9 for f64 data, 1e-6 for f32.
    pub tolerance: Option<f64>,
    /// The most operator applications an iterative solver makes.
    pub max_iterations: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { threads: None, memory: None, seed: 0, tolerance: None, max_iterations: 1000 }
    }
}

impl Options {
    /// Refuses what cannot be meant.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(tolerance) = self.tolerance.filter(|t| !(*t > 0.0 && *t < 1.0)) {
            return Err(Error::Parameter {
                name: "tolerance",
                value: tolerance.to_string(),
                expected: "between 0 and 1",
            });
        }
        if self.threads == Some(0) {
            return Err(Error::Parameter {
                name: "threads",
                value: "0".into(),
                expected: "at least 1",
            });
        }
        if self.max_iterations == 0 {
            return Err(Error::Parameter {
                name: "max_iterations",
                value: "0".into(),
                expected: "at least 1",
            });
        }
        Ok(())
    }
}
