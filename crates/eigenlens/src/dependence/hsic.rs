//! The Hilbert–Schmidt independence criterion of two sets of columns.

use super::side::Side;
use super::sums::Sums;
use super::{gamma, permutation};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg::pool;
use crate::options::Options;
use crate::scalar::Scalar;

/// How much two sets of columns depend on each other: `HSIC = tr(K_x H K_y H) / (n − 1)²` (Gretton,
/// Bousquet, Smola & Schölkopf 2005). With characteristic kernels, such as the Gaussian, what it
/// estimates is 0 exactly where both are independent.
///
/// ```
/// use eigenlens::{Hsic, Kernel, ndarray};
/// // The sign of x says nothing about y, its size says everything: no correlation, much dependence.
/// let x = ndarray::Array2::from_shape_fn((60, 1), |(i, _)| (i as f64 - 29.5) / 10.0);
/// let y = x.mapv(|v| v * v);
/// let gaussian = Hsic::new(Kernel::rbf(), Kernel::rbf());
/// assert!(gaussian.permutation_test(&x, &y, 200)?.p_value < 0.01);
/// let linear = Hsic::new(Kernel::Linear, Kernel::Linear);
/// assert!(linear.estimate(&x, &y)?.biased < 1e-12);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hsic {
    kernel_x: Kernel,
    kernel_y: Kernel,
    options: Options,
}

/// Estimates of HSIC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HsicEstimate {
    /// Samples.
    pub n_samples: usize,
    /// `tr(K_x H K_y H) / (n − 1)²`: at least 0, and above it even under independence.
    pub biased: f64,
    /// The unbiased estimate (Song, Smola, Gretton, Bedo & Borgwardt 2012): may be below 0. `None`
    /// for fewer than four samples.
    pub unbiased: Option<f64>,
    /// `tr(K̃_x K̃_y) / √(tr K̃_x² tr K̃_y²)`, between 0 and 1 (centred kernel alignment; Cortes, Mohri &
    /// Rostamizadeh 2012). 0 where a side does not vary.
    pub alignment: f64,
}

/// A test of independence by permuted samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PermutationTest {
    /// The estimates.
    pub estimate: HsicEstimate,
    /// The share of permutations whose HSIC is at least the one found, the one found among them:
    /// `(1 + #) / (1 + permutations)`.
    pub p_value: f64,
    /// Permutations drawn.
    pub permutations: usize,
    /// Mean of the biased HSIC over all permutations, exactly.
    pub null_mean: f64,
}

/// A test of independence by a gamma distribution with the moments of the permuted HSIC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaTest {
    /// The estimates.
    pub estimate: HsicEstimate,
    /// Probability of so large a value under independence, approximately.
    pub p_value: f64,
    /// Mean of the biased HSIC over all permutations, exactly.
    pub null_mean: f64,
    /// Its variance over all permutations, exactly.
    pub null_variance: f64,
}

impl Hsic {
    /// With a kernel for each set of columns. Linear and delta kernels never make an n × n matrix.
    pub fn new(kernel_x: Kernel, kernel_y: Kernel) -> Hsic {
        Hsic { kernel_x, kernel_y, options: Options::default() }
    }

    /// Threads, memory and seed.
    pub fn options(mut self, options: Options) -> Hsic {
        self.options = options;
        self
    }

    /// Both estimates.
    pub fn estimate<'a, 'b, T: Scalar, U: Scalar>(
        &self,
        x: impl Into<Dataset<'a, T>>,
        y: impl Into<Dataset<'b, U>>,
    ) -> Result<HsicEstimate> {
        let x = &x.into();
        let y = &y.into();
        self.with_sides(x, y, |x, y| Ok(Sums::of(x, y)?.estimate()))
    }

    /// Both estimates, and a test with this many permutations of the samples of `y`. Each draws from
    /// a stream of its own: the seed alone decides, not the threads.
    pub fn permutation_test<'a, 'b, T: Scalar, U: Scalar>(
        &self,
        x: impl Into<Dataset<'a, T>>,
        y: impl Into<Dataset<'b, U>>,
        permutations: usize,
    ) -> Result<PermutationTest> {
        let x = &x.into();
        let y = &y.into();
        if permutations == 0 {
            return Err(Error::Parameter {
                name: "permutations",
                value: "0".into(),
                expected: "at least 1",
            });
        }
        self.with_sides(x, y, |x, y| permutation::test(x, y, permutations, &self.options))
    }

    /// Both estimates, and a test by the gamma approximation (Gretton et al. 2008), with the exact
    /// mean and variance over all permutations (Kazi-Aoual, Hitier, Sabatier & Lebreton 1995). Not
    /// defined for fewer than six samples.
    pub fn gamma_test<'a, 'b, T: Scalar, U: Scalar>(
        &self,
        x: impl Into<Dataset<'a, T>>,
        y: impl Into<Dataset<'b, U>>,
    ) -> Result<GammaTest> {
        let x = &x.into();
        let y = &y.into();
        self.with_sides(x, y, gamma::test)
    }

    fn with_sides<T: Scalar, U: Scalar, R: Send>(
        &self,
        x: &Dataset<T>,
        y: &Dataset<U>,
        work: impl FnOnce(&Side, &Side) -> Result<R> + Send,
    ) -> Result<R> {
        self.options.check()?;
        self.kernel_x.check()?;
        self.kernel_y.check()?;
        if let (Some(n), Some(m)) = (x.n_samples(), y.n_samples()) {
            check_lengths(n, m)?;
        }
        pool::run(self.options.threads, || {
            let x = Side::new(&self.kernel_x, x, &self.options)?;
            let y = Side::new(&self.kernel_y, y, &self.options)?;
            check_lengths(x.len(), y.len())?;
            if x.len() < 2 {
                return Err(Error::TooFewRows { found: x.len(), needed: 2 });
            }
            work(&x, &y)
        })?
    }
}

fn check_lengths(n: usize, m: usize) -> Result<()> {
    if n == m {
        return Ok(());
    }
    Err(Error::Shape {
        what: "the second set of columns",
        found: format!("{m} samples"),
        expected: format!("{n}, as in the first,"),
    })
}
