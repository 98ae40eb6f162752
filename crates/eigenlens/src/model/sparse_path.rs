//! A regularisation path: variance explained against non-zeros.

/// The whole path of one call to [`SparsePca::path`](crate::SparsePca::path).
#[derive(Clone, Debug, PartialEq)]
pub struct SparsePath {
    /// From the sparsest to the fullest.
    pub points: Vec<PathPoint>,
    /// The share of the total variance that as many plain components explain.
    pub plain_variance_ratio: f64,
}

/// One degree of sparsity.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPoint {
    /// λ₁ of each component (k), where they were regressed; otherwise empty.
    pub penalties: Vec<f64>,
    /// Non-zeros of each component (k).
    pub n_non_zeros: Vec<usize>,
    /// The share of the total variance that each component adds (k).
    pub adjusted_variance_ratio: Vec<f64>,
}

impl PathPoint {
    /// Non-zeros of all components together.
    pub fn total_non_zeros(&self) -> usize {
        self.n_non_zeros.iter().sum()
    }

    /// The share of the total variance that all components explain together.
    pub fn explained(&self) -> f64 {
        self.adjusted_variance_ratio.iter().sum()
    }
}
