//! Eigenvectors of a centred kernel by any program, against the samples they are said to be of.

use super::columns;
use super::kernel::Gram;
use super::leading::orthogonality;
use super::symmetric::{Symmetric, all_rows};
use super::{Checks, Verification, VerifyOptions, dot, norm};
use crate::data::{AnyDataset, DataShape};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use ndarray::ArrayView2;

/// What any program says it found: kernel principal components to be checked against the samples.
///
/// ```
/// use eigenlens::{AnyDataset, Dataset, Kernel, KernelClaim, VerifyOptions, ndarray};
/// let x = ndarray::array![[-1.0], [0.0], [1.0]];
/// let data = AnyDataset::from(Dataset::from(&x));
/// let vectors = ndarray::array![[-1.0], [0.0], [1.0]] / 2f64.sqrt();
/// let claim =
///     KernelClaim { kernel: &Kernel::Linear, eigenvalues: &[2.0], eigenvectors: vectors.view() };
/// assert!(claim.verify(&data, &VerifyOptions::default())?.passed());
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct KernelClaim<'a> {
    /// The kernel, its parameters numbers.
    pub kernel: &'a Kernel,
    /// Eigenvalues of `H K H` (k), largest first.
    pub eigenvalues: &'a [f64],
    /// Unit eigenvectors (n × k).
    pub eigenvectors: ArrayView2<'a, f64>,
}

impl KernelClaim<'_> {
    /// Checks the claim against the samples it was made from, all numbers to within the tolerance.
    pub fn verify(&self, data: &AnyDataset, options: &VerifyOptions) -> Result<Verification> {
        let k = self.eigenvalues.len();
        let shape: DataShape = data.shape();
        options.check(super::kernel::memory(k, &shape))?;
        let mut checks = Checks::default();
        let reader = columns::missing(&mut checks, None, data, shape.n_features)?;
        let Some(reader) = reader else { return Ok(checks.finish(0, options)) };
        let kernel = dispatch!(data, d => self.kernel.resolve(d, 0))?;
        let gram = Gram { kernel: &kernel, rows: all_rows(&reader)? };
        let n = gram.n();
        if self.eigenvectors.dim() != (n, k) {
            return Err(Error::Shape {
                what: "the list of eigenvectors",
                found: format!("{:?} entries", self.eigenvectors.dim()),
                expected: format!("{n} × {k}"),
            });
        }
        self.check(&mut checks, &gram, options);
        Ok(checks.finish(n, options))
    }

    fn check(&self, checks: &mut Checks, gram: &Gram, options: &VerifyOptions) {
        let entry = |i: usize, j: usize| gram.entry(i, j);
        let operator = Symmetric { n: gram.n(), entry: &entry, centered: true };
        let vectors: Vec<Vec<f64>> =
            self.eigenvectors.columns().into_iter().map(|v| v.to_vec()).collect();
        let products = operator.apply(&vectors);
        let top = self.eigenvalues.iter().fold(0.0f64, |m, v| m.max(*v));
        let allowed = options.tolerance;
        for (j, v) in vectors.iter().enumerate() {
            let value = self.eigenvalues[j];
            let claim = format!("eigenvalue of component {}", j + 1);
            checks.number(claim, value, dot(v, &products[j]), allowed * top);
            let rest = products[j].iter().zip(v).map(|(p, v)| p - value * v);
            let residual = norm(&rest.collect::<Vec<f64>>()) / top.max(f64::MIN_POSITIVE);
            let words = format!("a relative residual of at most {allowed:e}");
            let claim = format!("component {} is an eigenvector", j + 1);
            checks.other(claim, words, residual, residual <= allowed);
        }
        let found = orthogonality(&vectors);
        let words = format!("at most {allowed:e} off those of unit vectors at right angles");
        checks.other("products of different components", words, found, found <= allowed);
        let left = operator.left(&vectors, options.seed);
        let last = self.eigenvalues.iter().copied().fold(f64::INFINITY, f64::min);
        let claim = "largest eigenvalue beside the components";
        let holds = left.at_least <= last + allowed * top;
        checks.other(claim, format!("at most {last:e}"), left.at_least, holds);
    }
}
