//! Sparse components of a symmetric positive semi-definite matrix: the searches behind
//! [`SparsePca`](crate::SparsePca), one file per concern.
//!
//! They see the covariance as a [`Gram`]: a matrix in memory, or an operator on the data where
//! d × d would not fit.

mod adjusted;
mod bounds;
mod branch_and_bound;
mod deadline;
mod deflation;
mod dictionary;
mod elastic_net;
mod gram;
mod lars;
mod local_search;
mod node;
mod regression;
mod truncated_power;
mod vector;

pub use branch_and_bound::{ProofLimits, StoppedBy};
pub use deflation::Deflation;
pub use regression::Ridge;

pub(crate) use adjusted::{adjusted_variance, dual_frame};
pub(crate) use branch_and_bound::{Proof, prove};
pub(crate) use dictionary::{Learning, learn};
pub(crate) use elastic_net::MOST_ROWS;
pub(crate) use gram::Gram;
pub(crate) use regression::{Alternation, Shrinkage, regress};
pub(crate) use truncated_power::{SupportSearch, search};
pub(crate) use vector::SparseVector;
