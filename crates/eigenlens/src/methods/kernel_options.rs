//! The options of a kernel between samples, and of a kernel between targets.

use super::option_spec::{OptionSpec, OptionValues, Range, misfit};
use crate::dependence::LabelKernel;
use crate::error::{Error, Result};
use crate::kernel::{
    Bandwidth, KERNELS, Kernel, KernelSpec, ParameterKind, ParameterSpec, ParameterValue,
};
use std::collections::BTreeMap;

/// The kernel and its parameters. A new kernel of [`KERNELS`] brings its word and its place in `needs`; only a
/// parameter that no other kernel has is one more option here.
pub(super) const KERNEL: &[OptionSpec] = &[
    OptionSpec::choice("kernel", WORDS, "The kernel"),
    OptionSpec::number_or(
        "gamma",
        Range::Any,
        &["median", "scale", "1/d"],
        "Width of a kernel of distances [default: median], γ of the others [default: 1, sigmoid: 1/d]",
    )
    .needs(&[("kernel", WITH_GAMMA)]),
    OptionSpec::number(
        "sigma",
        Range::Any,
        "Width of a kernel of distances as a distance, in place of γ",
    )
    .needs(&[("kernel", WITH_SIGMA)])
    .excludes(&["gamma"]),
    OptionSpec::count("degree", 0, "Degree of the polynomial kernel")
        .or("2")
        .needs(&[("kernel", WITH_DEGREE)]),
    OptionSpec::number(
        "coef0",
        Range::Any,
        "Constant of the polynomial [default: 1] or sigmoid [default: 0] kernel",
    )
    .needs(&[("kernel", WITH_COEF0)]),
];

const WORDS: &[(&str, &str)] = &words::<{ KERNELS.len() }>();
const WITH_GAMMA: &[&str] = &taking::<{ count("gamma") }>("gamma");
const WITH_SIGMA: &[&str] = &taking::<{ count("sigma") }>("sigma");
const WITH_DEGREE: &[&str] = &taking::<{ count("degree") }>("degree");
const WITH_COEF0: &[&str] = &taking::<{ count("coef0") }>("coef0");

/// Names and formulas.
const fn words<const N: usize>() -> [(&'static str, &'static str); N] {
    let mut words = [("", ""); N];
    let mut at = 0;
    while at < N {
        words[at] = (KERNELS[at].name, KERNELS[at].formula);
        at += 1;
    }
    words
}

/// Whether an option is for a kernel: σ goes with every width.
const fn goes_with(kernel: &KernelSpec, option: &str) -> bool {
    kernel.takes(option) || (matches!(option.as_bytes(), b"sigma") && kernel.has_width())
}

/// How many kernels an option is for.
const fn count(option: &str) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < KERNELS.len() {
        count += goes_with(&KERNELS[at], option) as usize;
        at += 1;
    }
    count
}

/// The names of the kernels that an option is for.
const fn taking<const N: usize>(option: &str) -> [&'static str; N] {
    let mut names = [""; N];
    let (mut at, mut found) = (0, 0);
    while at < KERNELS.len() {
        if goes_with(&KERNELS[at], option) {
            names[found] = KERNELS[at].name;
            found += 1;
        }
        at += 1;
    }
    names
}

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
        let word = self.word("kernel");
        let spec = KERNELS.iter().find(|spec| Some(spec.name) == word.as_deref());
        let spec = spec.unwrap_or(&KERNELS[0]);
        let one = |p: &ParameterSpec| Ok((p.name, self.parameter(p)?));
        let given = spec.parameters.iter().map(one).collect::<Result<BTreeMap<_, _>>>()?;
        let kernel = Kernel::named(spec.name, |name| given[name]);
        kernel.ok_or_else(|| Error::Internal(format!("the kernel `{}`", spec.name)))
    }

    /// What a parameter is asked to be, or what is usual.
    fn parameter(&self, parameter: &ParameterSpec) -> Result<ParameterValue> {
        let name = parameter.name;
        let number = |usual: f64| match self.word(name) {
            // A width of distances is no number here.
            Some(_) => Err(misfit(name, "must be a number for this kernel")),
            None => Ok(ParameterValue::Number(self.number(name).unwrap_or(usual))),
        };
        match parameter.kind {
            ParameterKind::Width => Ok(ParameterValue::Width(self.bandwidth())),
            ParameterKind::PerFeature if self.word(name).as_deref() == Some("1/d") => {
                Ok(ParameterValue::PerFeature)
            }
            ParameterKind::PerFeature if self.get(name).is_none() => Ok(ParameterValue::PerFeature),
            ParameterKind::PerFeature => number(1.0),
            ParameterKind::Positive(usual) | ParameterKind::Number(usual) => number(usual),
            ParameterKind::Degree(usual) => {
                Ok(ParameterValue::Number(self.count(name).map_or(f64::from(usual), |p| p as f64)))
            }
        }
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
