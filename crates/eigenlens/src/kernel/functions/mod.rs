//! The kernels: a file each, and a row in the table below.

mod chi2;
mod cosine;
mod delta;
mod laplacian;
mod linear;
mod polynomial;
mod precomputed;
mod rbf;
mod sigmoid;

use super::bandwidth::{Bandwidth, WidthRule};
use super::custom::{self, CustomKernel};
use super::parameters::{ParameterSpec, ParameterValue, Parameters};
use super::points::PanelRef;
use super::sparse_points::SparsePair;
use std::fmt;

pub(super) use rbf::WIDTH as SQUARED_DISTANCES;

/// Of every row `file: Variant { parameters }` the variant of [`Kernel`], the description of [`KERNELS`], and the
/// way from one to the other.
macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        $file:ident: $variant:ident $({ $($(#[$about:meta])* $name:ident: $kind:ty),* $(,)? })?
    ),* $(,)?) => {
        /// Every kernel that has a name; the first is the usual one.
        pub const KERNELS: &[KernelSpec] = &[$($file::KERNEL),*];

        /// A function of two samples that is an inner product in some feature space (or, like the sigmoid,
        /// nearly one).
        ///
        /// ```
        /// use eigenlens::{Bandwidth, Kernel, ndarray};
        /// let x = ndarray::array![[0.0, 0.0], [3.0, 4.0]];
        /// let kernel = Kernel::Rbf { gamma: Bandwidth::Sigma(5.0) }.resolve(&x, 0)?;
        /// let values = kernel.matrix(&x, &x)?;
        /// assert_eq!(values[[0, 0]], 1.0);
        /// assert!((values[[0, 1]] - (-0.5f64).exp()).abs() < 1e-15);
        /// # Ok::<(), eigenlens::Error>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        pub enum Kernel {
            $($(#[$doc])* $variant $({ $($(#[$about])* $name: $kind),* })?,)*
            /// A function of one's own; see [`Kernel::custom`].
            Custom(CustomKernel),
        }

        impl Kernel {
            /// What the kernel is, and what its parameters are to be.
            pub(super) fn row(&self) -> (&'static KernelSpec, Vec<(&'static str, ParameterValue)>) {
                match self {
                    $(Kernel::$variant $({ $($name),* })? => {
                        (&$file::KERNEL, vec![$($((stringify!($name), ParameterValue::from(*$name))),*)?])
                    })*
                    Kernel::Custom(_) => (&custom::KERNEL, Vec::new()),
                }
            }

            /// The kernel of the table with this name; `given` says what its parameters are to be.
            pub(crate) fn named(name: &str, given: impl Fn(&'static str) -> ParameterValue) -> Option<Kernel> {
                $(if name == $file::KERNEL.name {
                    return Some(Kernel::$variant $({ $($name: given(stringify!($name)).into()),* })?);
                })*
                None
            }
        }
    };
}

kernels! {
    /// `exp(−γ ‖x−y‖²)`, the Gaussian kernel.
    rbf: Rbf {
        /// γ, or the rule that finds it.
        gamma: Bandwidth,
    },
    /// `x·y`.
    linear: Linear,
    /// `exp(−γ ‖x−y‖₁)`.
    laplacian: Laplacian {
        /// γ, or the rule that finds it.
        gamma: Bandwidth,
    },
    /// `exp(−γ Σ (x−y)²/(x+y))`, for entries of at least 0: histograms, counts.
    chi2: Chi2 {
        /// γ, or the rule that finds it.
        gamma: Bandwidth,
    },
    /// `(γ x·y + c)^p`.
    polynomial: Polynomial {
        /// p, from 1 to 100.
        degree: u32,
        /// γ.
        gamma: f64,
        /// c.
        coef0: f64,
    },
    /// `tanh(γ x·y + c)`. Not positive semi-definite.
    sigmoid: Sigmoid {
        /// γ; `None`: one over the number of features.
        gamma: Option<f64>,
        /// c.
        coef0: f64,
    },
    /// `x·y / (‖x‖ ‖y‖)`; 0 where a row is zero.
    cosine: Cosine,
    /// 1 where two rows are equal, else 0: for labels.
    delta: Delta,
    /// The data are the kernel matrix: n × n in training, m × n for new samples.
    precomputed: Precomputed,
}

/// What a kernel is: names, options, help, values, tiles and its form in model files come from here.
pub struct KernelSpec {
    /// Its name, the same on every surface and in model files.
    pub name: &'static str,
    /// Its formula, for readers.
    pub formula: &'static str,
    /// Its parameters.
    pub parameters: &'static [ParameterSpec],
    /// How γ is found from distances, where one of the parameters is a width.
    pub(super) width: Option<WidthRule>,
    /// A number that readers know better than the parameters, with its name.
    pub(super) derived: Option<Derived>,
    /// The kernel of two rows, by its formula.
    pub(super) value: fn(&Parameters, &[f64], &[f64]) -> f64,
    /// What its tiles start from.
    pub(super) start: Start,
    /// Turns a tile of what it starts from into kernel values.
    pub(super) finish: fn(&Parameters, &PanelRef, &PanelRef, &mut [f64]),
    /// The same, rounded to f32, where that can be done faster.
    pub(super) finish_f32: Option<FinishF32>,
    /// `k(x, x)` from `x·x`, or from the sum of moduli.
    pub(super) diagonal: fn(&Parameters, f64) -> f64,
    /// Whether f32 products do for f32 data whose mean of `x·x` about their mean is this.
    pub(super) single_precision: fn(&Parameters, f64) -> bool,
    /// What its values are off by per relative error of the sums they are made from, where `x·x` is so large.
    pub(super) sensitivity: fn(&Parameters, &Norms) -> f64,
    /// Whether every matrix of the kernel is positive semi-definite.
    pub(super) positive: fn(&Parameters) -> bool,
    /// Whether `k(x, x)` is 1 for every x.
    pub(super) unit_diagonal: bool,
    /// Whether moving all points alike leaves the kernel as it is.
    pub(super) translation_invariant: bool,
    /// Whether rows are brought to unit length.
    pub(super) unit_rows: bool,
    /// Whether sums of moduli are wanted of sparse rows in place of sums of squares.
    pub(super) moduli: bool,
    /// Whether entries below 0 have no kernel.
    pub(super) non_negative: bool,
    /// Whether the kernel is the same for data of any size, be it beyond squares that are numbers.
    pub(super) any_size: bool,
}

/// How large `x·x` is.
pub(crate) struct Norms {
    pub mean: f64,
    pub largest: f64,
}

/// What a tile of kernel values is made from.
#[derive(Clone, Copy)]
pub(super) enum Start {
    /// Inner products, by the micro-kernel.
    Products,
    /// Sums over the features of a function of two entries, of dense and of sparse rows.
    Sums(DenseSums, SparseSums),
    /// Two whole rows.
    Rows,
    /// Nothing: the data are the kernel's values.
    Given,
}

/// Sums for the rows of two dense panels, into a tile.
pub(super) type DenseSums = fn(&PanelRef, &[f64], &[f64], &mut [f64]);

/// Sums for the rows of two sparse panels, into a tile; the vector is scratch.
pub(super) type SparseSums = fn(&SparsePair, &mut Vec<f64>, &mut [f64]);

/// A name, and the number from the parameters.
pub(super) type Derived = (&'static str, fn(&Parameters) -> f64);

/// From a tile of products to a tile of values.
pub(super) type FinishF32 = fn(&Parameters, &PanelRef, &PanelRef, &[f64], &mut [f32]);

impl KernelSpec {
    /// A kernel of whole rows, without parameters: what every kernel is where it says nothing else.
    pub(super) const fn of_rows(
        name: &'static str,
        formula: &'static str,
        value: fn(&Parameters, &[f64], &[f64]) -> f64,
    ) -> KernelSpec {
        KernelSpec {
            name,
            formula,
            parameters: &[],
            width: None,
            derived: None,
            value,
            start: Start::Rows,
            finish: |_, _, _, _| {},
            finish_f32: None,
            diagonal: |_, _| f64::NAN,
            single_precision: |_, _| false,
            sensitivity: |_, _| 0.0,
            positive: |_| true,
            unit_diagonal: false,
            translation_invariant: false,
            unit_rows: false,
            moduli: false,
            non_negative: false,
            any_size: false,
        }
    }

    /// A kernel of inner products.
    pub(super) const fn of_products(
        name: &'static str,
        formula: &'static str,
        value: fn(&Parameters, &[f64], &[f64]) -> f64,
    ) -> KernelSpec {
        KernelSpec {
            start: Start::Products,
            diagonal: |_, product| product,
            single_precision: |_, _| true,
            sensitivity: |_, norms| norms.largest,
            ..KernelSpec::of_rows(name, formula, value)
        }
    }

    /// Whether it takes a parameter of this name.
    pub const fn takes(&self, name: &str) -> bool {
        let mut at = 0;
        while at < self.parameters.len() {
            if same(self.parameters[at].name, name) {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Whether one of its parameters is a width of distances.
    pub const fn has_width(&self) -> bool {
        self.width.is_some()
    }
}

/// Whether two texts are equal, for constants.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    a.len() == b.len() && at == a.len()
}

impl PartialEq for KernelSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for KernelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// `x·y`, by the formula.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rows_and_descriptions_have_the_same_parameters() {
        for spec in KERNELS {
            let kernel = Kernel::named(spec.name, |_| ParameterValue::Number(1.0)).unwrap();
            assert_eq!(kernel.name(), spec.name);
            let of_row: Vec<&str> = kernel.row().1.iter().map(|(name, _)| *name).collect();
            let described: Vec<&str> = spec.parameters.iter().map(|p| p.name).collect();
            assert_eq!(of_row, described, "{}", spec.name);
            assert!(kernel.check().is_ok(), "{}", spec.name);
        }
        let names: BTreeSet<&str> = KERNELS.iter().map(|spec| spec.name).collect();
        assert_eq!(names.len(), KERNELS.len());
    }
}
