//! One engine for the whole PCA family: every answer certified, in bounded memory.
//!
//! ```
//! use eigenlens::{NComponents, Pca, ndarray};
//! let x = ndarray::array![[2.5, 2.4, 1.2], [0.5, 0.7, 0.3], [2.2, 2.9, 1.1], [1.9, 2.2, 0.8], [3.1, 3.0, 1.6]];
//! let (model, scores) = Pca::new(NComponents::VarianceShare(0.95)).fit_transform(&x)?;
//! println!("{} components, {}", model.n_components(), model.plan());
//! println!("{}", model.certificate());
//! assert_eq!(scores.nrows(), 5);
//! # Ok::<(), eigenlens::Error>(())
//! ```
//!
//! Every method is the same sentence: *take data, build one symmetric operator, ask for its extreme
//! eigenpairs, dress them as a model.*
//!
//! | method | operator | end | model |
//! | --- | --- | --- | --- |
//! | [`Pca`] | the standardised data, or their Gram matrix on the short side | largest | [`PcaModel`] |
//! | [`Lsa`] | the same, not centred | largest | [`PcaModel`] |
//! | [`Ppca`] | the same, with σ² from the trace; expectation maximisation for data with missing entries | largest | [`PpcaModel`] |
//! | [`BayesianPca`] | the same with a prior that switches directions off | largest | [`PpcaModel`] |
//! | [`PpcaMixture`] | several of them, by expectation maximisation | largest | [`PpcaMixtureModel`] |
//! | [`SparsePca`] | the covariance, with a search of its own | largest | [`SparsePcaModel`] |
//! | [`SupervisedPca`] | `Xᵀ H K_y H X`, through the thin product `Xᵀ H Δ` | largest | [`SupervisedPcaModel`] |
//! | [`KernelSupervisedPca`] | `Δᵀ H K_x H Δ` | largest | [`KernelSupervisedPcaModel`] |
//! | [`Lda`] | the class means, in a basis that whitens the covariance within classes | largest | [`LdaModel`] |
//! | [`KernelPca`] | the centred kernel matrix, stored, in blocks, by landmarks or random features | largest | [`KernelPcaModel`] |
//! | [`Mds`] | `−½ H D∘D H` of distances | largest | [`EmbeddingModel`] |
//! | [`Isomap`] | the same of distances along the data | largest | [`EmbeddingModel`] |
//! | [`LaplacianEigenmaps`] | the graph Laplacian of neighbours | smallest | [`EmbeddingModel`] |
//! | [`Lle`] | `(I − W)ᵀ(I − W)` of reconstruction weights | smallest | [`EmbeddingModel`] |
//!
//! Data are whatever converts into a [`Dataset`]: dense ([`ndarray`], which is re-exported, so that there is
//! one version of it), sparse ([`Csr`]) or streamed ([`Rows`]). Code for any method takes a [`Fit`] and gets a
//! [`Transformer`], or holds a `Box<dyn` [`Estimator`]`>`. The library opens no files, prints nothing and
//! draws no unseeded random numbers.

#[macro_use]
mod data;
pub mod dependence;
mod em;
mod error;
pub mod graph;
mod kernel;
mod linalg;
pub mod memory;
mod methods;
pub mod model;
pub mod n_components;
mod operator;
mod options;
mod passes;
mod plan;
mod scalar;
pub mod solver;
mod sparse_search;

// Data come in and scores go out as its arrays: whoever uses this one has the same version.
#[doc(no_inline)]
pub use ndarray;

pub use data::{
    AnyArray, AnyDataset, Csr, DataShape, Dataset, Missing, MissingCounts, MissingReport,
    RowReader, Rows, SampleWeights, Target, TargetKind, TermWeighting, TermWeights,
};
pub use dependence::{Hsic, LabelKernel};
pub use em::Progress;
pub use error::{Error, ErrorKind, Hint, Result, Warning};
pub use graph::{Metric, Neighborhood, Quality};
pub use kernel::{
    Bandwidth, CustomKernel, KERNELS, Kernel, KernelSpec, ParameterKind, ParameterSpec,
    ResolvedKernel, center_kernel, center_new_kernel,
};
pub use linalg::cancel::Cancel;
pub use methods::{
    Algorithm, Approximation, Axis, AxisShare, BayesianPca, Estimator, Fit, FitContext, Fitted,
    ImpliedKernel, Isomap, KernelPca, KernelStorage, KernelSupervisedPca, Landmarks,
    LaplacianEigenmaps, Lda, LdaModel, Lle, Lsa, METHODS, Mds, Method, OPERATIONS, Offer,
    Operation, OptionKind, OptionSpec, OptionValue, OptionValues, PartsCompared, Pca, PenaltyScale,
    PerComponent, Pooling, Ppca, PpcaMixture, Range, Shrinkage, SingularWithin, SparsePca,
    SupervisedPca, Transformer, WithTarget, from_parts, verify_model,
};
pub use model::parts::{Parts, Value};
pub use model::{
    Affinity, Check, Claim, Divisor, EmbeddingModel, GramPca, KernelAccuracy, KernelClaim,
    KernelPcaModel, KernelSupervisedPcaModel, LleVariant, Model, NegativePart, Normalization,
    NotChecked, Optimality, PathPoint, PcaModel, PpcaMixtureModel, PpcaModel, PreImage, PreImages,
    Projection, Scaling, SparsePath, SparsePcaModel, Summary, SupervisedPcaModel, Verification,
    VerifyOptions,
};
pub use n_components::{NComponents, Rule};
pub use operator::{Deflated, Operator, SparseSymmetric, SymmetricMatrix};
pub use options::{Options, Solver};
pub use passes::{ColumnStatistics, Moments, Prepared, Preprocessing, Resolved};
pub use plan::{Plan, Route};
pub use scalar::Scalar;
pub use solver::Certificate;
pub use sparse_search::{Deflation, ProofLimits, Ridge, StoppedBy};

/// The commands and examples of the written pages, run as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/methods/pca.md")]
    struct PcaPage;
    #[doc = include_str!("../../../docs/methods/lsa.md")]
    struct LsaPage;
    #[doc = include_str!("../../../docs/methods/ppca.md")]
    struct PpcaPage;
    #[doc = include_str!("../../../docs/methods/bayesian-pca.md")]
    struct BayesianPcaPage;
    #[doc = include_str!("../../../docs/methods/ppca-mixture.md")]
    struct PpcaMixturePage;
    #[doc = include_str!("../../../docs/methods/sparse-pca.md")]
    struct SparsePcaPage;
    #[doc = include_str!("../../../docs/methods/kernel-pca.md")]
    struct KernelPcaPage;
    #[doc = include_str!("../../../docs/methods/supervised-pca.md")]
    struct SupervisedPcaPage;
    #[doc = include_str!("../../../docs/methods/kernel-supervised-pca.md")]
    struct KernelSupervisedPcaPage;
    #[doc = include_str!("../../../docs/methods/lda.md")]
    struct LdaPage;
    #[doc = include_str!("../../../docs/methods/mds.md")]
    struct MdsPage;
    #[doc = include_str!("../../../docs/methods/isomap.md")]
    struct IsomapPage;
    #[doc = include_str!("../../../docs/methods/laplacian.md")]
    struct LaplacianPage;
    #[doc = include_str!("../../../docs/methods/lle.md")]
    struct LlePage;
}
