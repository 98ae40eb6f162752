//! The routes to components, by what is computed.

use std::fmt;

/// A route to the components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Eigenvectors of the d × d covariance.
    Covariance,
    /// Eigenvectors of the n × n Gram matrix.
    Dual,
    /// Singular vectors through QR: nothing squared.
    Svd,
    /// Block Krylov iteration on the data.
    Iterative,
    /// Randomised range finder: approximate.
    Randomized,
    /// Eigenvectors of a matrix that was given: the scatter of moments.
    Given,
    /// Eigenvectors of a covariance matrix that was given, without means.
    GivenCovariance,
    /// Expectation maximisation, for data with missing entries.
    Em,
    /// Block Krylov iteration on the stored kernel matrix.
    KernelMatrix,
    /// Block Krylov iteration on the kernel, recomputed in blocks.
    KernelBlocks,
    /// Eigenvectors of the covariance of the Nyström factor of the kernel: approximate.
    Nystrom,
    /// Eigenvectors of the covariance of random Fourier features: approximate.
    RandomFeatures,
    /// Block Krylov iteration on the kernel matrix of some of the samples: approximate.
    Subset,
    /// Singular vectors of the thin product of data and labels.
    Labels,
    /// Eigenvectors at the small end of a sparse matrix, by shift and invert.
    ShiftInvert,
}

impl Route {
    /// Every route.
    pub(crate) const ALL: [Route; 15] = [
        Route::Covariance,
        Route::Dual,
        Route::Svd,
        Route::Iterative,
        Route::Randomized,
        Route::Given,
        Route::GivenCovariance,
        Route::Em,
        Route::KernelMatrix,
        Route::KernelBlocks,
        Route::Nystrom,
        Route::RandomFeatures,
        Route::Subset,
        Route::Labels,
        Route::ShiftInvert,
    ];

    /// The route as errors name it.
    pub(crate) fn in_words(self) -> String {
        match self {
            Route::Em => "expectation maximisation".into(),
            Route::Given | Route::GivenCovariance => format!("the {self}"),
            _ => format!("the {self} route"),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Route::Covariance => "covariance",
            Route::Dual => "dual",
            Route::Svd => "svd",
            Route::Iterative => "iterative",
            Route::Randomized => "randomized",
            Route::Given => "given matrix",
            Route::GivenCovariance => "given covariance",
            Route::Em => "em",
            Route::KernelMatrix => "kernel matrix",
            Route::KernelBlocks => "kernel blocks",
            Route::Nystrom => "nystrom",
            Route::RandomFeatures => "random features",
            Route::Subset => "subset",
            Route::Labels => "labels",
            Route::ShiftInvert => "shift-and-invert",
        })
    }
}
