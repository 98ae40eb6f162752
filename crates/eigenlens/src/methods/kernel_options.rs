//! The options of a kernel between samples, and of a kernel between targets.

use super::option_spec::{OptionSpec, OptionValues, Range, misfit};
use crate::dependence::LabelKernel;
use crate::error::Result;
use crate::kernel::{Bandwidth, Kernel};

/// The kernel and its parameters.
pub(super) const KERNEL: &[OptionSpec] = &[
    OptionSpec::choice(
        "kernel",
        &[
            ("rbf", "exp(−γ ‖x−y‖²)"),
            ("linear", "x·y: plain PCA"),
            ("laplacian", "exp(−γ ‖x−y‖₁)"),
            ("polynomial", "(γ x·y + c)^p"),
            ("sigmoid", "tanh(γ x·y + c)"),
            ("cosine", "x·y / (‖x‖ ‖y‖)"),
            ("delta", "1 for equal rows, else 0"),
            ("precomputed", "The data are the kernel matrix"),
        ],
        "The kernel",
    ),
    OptionSpec::number_or(
        "gamma",
        Range::Any,
        &["median", "scale", "1/d"],
        "Width of the rbf or laplacian kernel [default: median], γ of the others [default: 1, sigmoid: 1/d]",
    )
    .needs(&[("kernel", &["rbf", "laplacian", "polynomial", "sigmoid"])]),
    OptionSpec::number(
        "sigma",
        Range::Any,
        "Width of the rbf or laplacian kernel as a distance, in place of γ",
    )
    .needs(&[("kernel", &["rbf", "laplacian"])])
    .excludes(&["gamma"]),
    OptionSpec::count("degree", 0, "Degree of the polynomial kernel")
        .or("2")
        .needs(&[("kernel", &["polynomial"])]),
    OptionSpec::number(
        "coef0",
        Range::Any,
        "Constant of the polynomial [default: 1] or sigmoid [default: 0] kernel",
    )
    .needs(&[("kernel", &["polynomial", "sigmoid"])]),
];

/// The kernel between targets, and what becomes of samples without one.
pub(super) const LABELS: &[OptionSpec] = &[
    OptionSpec::choice(
        "label_kernel",
        &[
            ("auto", "Delta for classes, gaussian for numbers"),
            ("delta", "1 for the same class, else 0"),
            ("linear", "The inner product"),
            ("gaussian", "exp(−γ‖y − y′‖²)"),
        ],
        "Kernel between targets",
    ),
    OptionSpec::number(
        "label_gamma",
        Range::Any,
        "γ of a gaussian label kernel [default: by the median distance]",
    )
    .needs(&[("label_kernel", &["gaussian"])]),
    OptionSpec::choice(
        "unlabelled",
        &[
            ("error", "Refuse, naming the rows"),
            ("keep", "Let them count in means and variances only"),
        ],
        "What to do with rows whose target is missing",
    ),
];

impl OptionValues {
    /// The kernel between samples that the options describe.
    pub fn kernel(&self) -> Result<Kernel> {
        let coef0 = self.number("coef0");
        Ok(match self.word("kernel").as_deref() {
            Some("linear") => Kernel::Linear,
            Some("laplacian") => Kernel::Laplacian { gamma: self.bandwidth() },
            Some("polynomial") => Kernel::Polynomial {
                degree: self.count("degree").and_then(|p| p.try_into().ok()).unwrap_or(u32::MAX),
                gamma: self.gamma_of_products()?.unwrap_or(1.0),
                coef0: coef0.unwrap_or(1.0),
            },
            Some("sigmoid") => Kernel::Sigmoid {
                gamma: match self.word("gamma").as_deref() {
                    Some("1/d") => None,
                    _ => self.gamma_of_products()?,
                },
                coef0: coef0.unwrap_or(0.0),
            },
            Some("cosine") => Kernel::Cosine,
            Some("delta") => Kernel::Delta,
            Some("precomputed") => Kernel::Precomputed,
            _ => Kernel::Rbf { gamma: self.bandwidth() },
        })
    }

    fn bandwidth(&self) -> Bandwidth {
        match (self.number("sigma"), self.number("gamma"), self.word("gamma").as_deref()) {
            (Some(sigma), _, _) => Bandwidth::Sigma(sigma),
            (_, Some(gamma), _) => Bandwidth::Gamma(gamma),
            (.., Some("scale")) => Bandwidth::Scale,
            (.., Some("1/d")) => Bandwidth::PerFeature,
            _ => Bandwidth::Median,
        }
    }

    /// γ of a kernel of products, where it was given: a width of distances is none.
    fn gamma_of_products(&self) -> Result<Option<f64>> {
        match self.word("gamma") {
            Some(_) => Err(misfit("gamma", "must be a number for this kernel")),
            None => Ok(self.number("gamma")),
        }
    }

    /// The kernel between targets.
    pub(super) fn label_kernel(&self) -> LabelKernel {
        let gamma = self.number("label_gamma");
        self.choice(
            "label_kernel",
            &[
                ("auto", LabelKernel::Auto),
                ("delta", LabelKernel::Delta),
                ("linear", LabelKernel::Linear),
                ("gaussian", LabelKernel::Gaussian { gamma }),
            ],
        )
    }

    /// Whether samples without a target take part.
    pub(super) fn keeps_unlabelled(&self) -> bool {
        self.word("unlabelled").as_deref() == Some("keep")
    }
}
