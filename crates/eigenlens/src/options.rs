//! What every method can be asked for: solver, threads, memory, seed, tolerance.

use crate::error::{Error, Result};

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
