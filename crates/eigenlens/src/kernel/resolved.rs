//! Kernels whose parameters are numbers.

use super::functions::{KERNELS, KernelSpec, Start};
use super::parameters::{ParameterKind, ParameterValue, Parameters};
use super::points::{Gathering, PanelRef, Points, TILE};
use super::{CustomKernel, Kernel};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use ndarray::Array2;
use std::fmt;

/// A kernel with every parameter a number; made by [`Kernel::resolve`].
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedKernel {
    spec: &'static KernelSpec,
    parameters: Parameters,
    /// The function, where it is one's own.
    custom: Option<CustomKernel>,
}

impl ResolvedKernel {
    pub(super) fn new(
        spec: &'static KernelSpec,
        parameters: Parameters,
        custom: Option<CustomKernel>,
    ) -> ResolvedKernel {
        ResolvedKernel { spec, parameters, custom }
    }

    /// The Gaussian kernel with this γ.
    pub(crate) fn rbf(gamma: f64) -> ResolvedKernel {
        let (spec, _) = Kernel::rbf().row();
        ResolvedKernel::new(spec, Parameters(vec![("gamma", gamma)]), None)
    }

    /// The kernel of [`KERNELS`] with this name, `number` being asked for each of its parameters; `None` where
    /// there is no such kernel.
    pub(crate) fn named(
        name: &str,
        number: impl Fn(&'static str, ParameterKind) -> Result<f64>,
    ) -> Result<Option<ResolvedKernel>> {
        let Some(spec) = KERNELS.iter().find(|spec| spec.name == name) else { return Ok(None) };
        let one = |p: &super::ParameterSpec| Ok((p.name, number(p.name, p.kind)?));
        let numbers = spec.parameters.iter().map(one).collect::<Result<_>>()?;
        let kernel = ResolvedKernel::new(spec, Parameters(numbers), None);
        kernel.to_kernel().check()?;
        Ok(Some(kernel))
    }

    /// The kernel's name, as [`Kernel::name`] gives it.
    pub fn name(&self) -> &str {
        self.custom.as_ref().map_or(self.spec.name, CustomKernel::name)
    }

    /// Its parameters in the order of its row, with what they are.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, ParameterKind, f64)> + '_ {
        let kinds = self.spec.parameters.iter().map(|p| p.kind);
        self.parameters.0.iter().zip(kinds).map(|((name, number), kind)| (*name, kind, *number))
    }

    /// γ, where the kernel has one.
    pub fn gamma(&self) -> Option<f64> {
        self.parameters.get("gamma")
    }

    /// γ, where it is a width of distances.
    pub(crate) fn width(&self) -> Option<f64> {
        self.gamma().filter(|_| self.spec.has_width())
    }

    /// γ of the Gaussian kernel.
    pub(crate) fn gaussian_gamma(&self) -> Option<f64> {
        self.gamma().filter(|_| self.is("rbf"))
    }

    /// Whether it is the one of [`KERNELS`] with this name.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.custom.is_none() && self.spec.name == name
    }

    /// Whether the rows of data are rows of the kernel matrix.
    pub(crate) fn is_precomputed(&self) -> bool {
        matches!(self.spec.start, Start::Given)
    }

    /// The function, where it is one's own.
    pub(crate) fn custom(&self) -> Option<&CustomKernel> {
        self.custom.as_ref()
    }

    /// The kernel as asked for that resolves to this one.
    pub fn to_kernel(&self) -> Kernel {
        let given = |name| ParameterValue::Number(self.parameters.number(name));
        match &self.custom {
            Some(custom) => Kernel::Custom(custom.clone()),
            None => Kernel::named(self.spec.name, given).unwrap_or_default(),
        }
    }

    /// Whether every matrix of the kernel is positive semi-definite.
    pub fn is_positive(&self) -> bool {
        (self.spec.positive)(&self.parameters)
    }

    /// What a value of the kernel is off by where it is computed from these points in f64 and is of this size.
    pub(crate) fn value_rounding(&self, points: &Points, size: f64) -> f64 {
        let terms = 4.0 + (points.n_features() as f64).sqrt();
        let sums = terms * (self.spec().sensitivity)(&self.parameters, &points.norms());
        0.5 * f64::EPSILON * (sums + 4.0 * size)
    }

    /// Whether `k(x, x)` is 1 for every x.
    pub(crate) fn has_unit_diagonal(&self) -> bool {
        self.spec.unit_diagonal
    }

    /// What it is.
    pub(super) fn spec(&self) -> &'static KernelSpec {
        self.spec
    }

    /// Whether f32 products do for f32 data whose mean of `x·x` about their mean is `norm`.
    pub(super) fn does_in_single_precision(&self, norm: f64) -> bool {
        (self.spec.single_precision)(&self.parameters, norm)
    }

    /// The kernel of two rows, by its formula.
    pub fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        match &self.custom {
            Some(custom) => custom.value(x, y),
            None => (self.spec.value)(&self.parameters, x, y),
        }
    }

    /// `k(x, x)` from `x·x`, or from the sum of moduli.
    pub(super) fn diagonal(&self, product: f64) -> f64 {
        (self.spec.diagonal)(&self.parameters, product)
    }

    /// Turns a tile of what the kernel starts from into its values.
    pub(super) fn finish(&self, a: &PanelRef, b: &PanelRef, tile: &mut [f64]) {
        (self.spec.finish)(&self.parameters, a, b, tile);
    }

    /// The same, rounded to f32.
    pub(super) fn finish_f32(
        &self,
        a: &PanelRef,
        b: &PanelRef,
        products: &mut [f64],
        out: &mut [f32],
    ) {
        if let Some(finish) = self.spec.finish_f32 {
            return finish(&self.parameters, a, b, products, out);
        }
        self.finish(a, b, products);
        let used = a.rows * TILE;
        out[..used].iter_mut().zip(&products[..used]).for_each(|(to, from)| *to = *from as f32);
    }

    /// The kernel's values between the rows of two data sets (m × n), for data that fit into memory
    /// with them.
    pub fn matrix<'a, 'b, T: Scalar>(
        &self,
        a: impl Into<Dataset<'a, T>>,
        b: impl Into<Dataset<'b, T>>,
    ) -> Result<Array2<f64>> {
        let a = &a.into();
        let b = &b.into();
        let right = Gathering::new(self, b)?.exact().gather()?;
        if !self.is_precomputed() && a.n_features() != b.n_features() {
            return Err(Error::Shape {
                what: "the first data set",
                found: format!("{} features", a.n_features()),
                expected: format!("{}, as in the second,", b.n_features()),
            });
        }
        let left = right.like_rows_of(a)?;
        Ok(super::landmarks::between(self, &left, &right))
    }
}

/// The name, and in brackets the parameters.
impl fmt::Display for ResolvedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is found from data has more digits than are of use.
        let one = |(name, kind, number): (&str, ParameterKind, f64)| match kind {
            ParameterKind::Width | ParameterKind::PerFeature => format!("{name} {number:.4e}"),
            _ => format!("{name} {number}"),
        };
        let mut numbers: Vec<String> = self.parameters().map(one).collect();
        if let Some((name, of)) = self.spec.derived {
            numbers.push(format!("{name} {:.4e}", of(&self.parameters)));
        }
        match numbers.is_empty() {
            true => f.write_str(self.name()),
            false => write!(f, "{} ({})", self.name(), numbers.join(", ")),
        }
    }
}
