//! The kernel of a method, in the words of the command line.

use clap::{Args, ValueEnum};
use eigenlens::{Bandwidth, Error, Hint, Kernel};

/// The kernel and its parameters.
#[derive(Args, Clone)]
pub struct KernelOptions {
    /// The kernel.
    #[arg(long, value_name = "KERNEL", default_value = "rbf")]
    kernel: KernelName,
    /// Width of the rbf or laplacian kernel (`median`, `scale`, `1/d` or a number), γ of the others.
    #[arg(long, value_name = "GAMMA", value_parser = parse_gamma, allow_hyphen_values = true)]
    gamma: Option<Bandwidth>,
    /// Width of the rbf or laplacian kernel as a distance, in place of `--gamma`.
    #[arg(long, value_name = "SIGMA", conflicts_with = "gamma", allow_hyphen_values = true)]
    sigma: Option<f64>,
    /// Degree of the polynomial kernel [default: 2].
    #[arg(long, value_name = "P")]
    degree: Option<u32>,
    /// Constant of the polynomial [default: 1] or sigmoid [default: 0] kernel.
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    coef0: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KernelName {
    /// exp(−γ ‖x−y‖²).
    Rbf,
    /// x·y: plain PCA.
    Linear,
    /// exp(−γ ‖x−y‖₁).
    Laplacian,
    /// (γ x·y + c)^p.
    Polynomial,
    /// tanh(γ x·y + c).
    Sigmoid,
    /// x·y / (‖x‖ ‖y‖).
    Cosine,
    /// 1 for equal rows, else 0.
    Delta,
    /// The table is the kernel matrix.
    Precomputed,
}

impl KernelOptions {
    /// The kernel; options that it does not have are refused.
    pub fn kernel(&self) -> eigenlens::Result<Kernel> {
        let wide = matches!(self.kernel, KernelName::Rbf | KernelName::Laplacian);
        let products = matches!(self.kernel, KernelName::Polynomial | KernelName::Sigmoid);
        let width = match (self.gamma, self.sigma) {
            (_, Some(sigma)) if wide => Bandwidth::Sigma(sigma),
            (_, Some(_)) => {
                return Err(misfit("sigma", "is for the rbf and laplacian kernels", None));
            }
            (Some(gamma), _) => gamma,
            (None, None) => Bandwidth::Median,
        };
        if self.gamma.is_some() && !wide && !products {
            return Err(misfit("gamma", "does not go with this kernel: it has none", None));
        }
        if self.degree.is_some() && self.kernel != KernelName::Polynomial {
            return Err(misfit("degree", "is for the polynomial kernel", None));
        }
        if self.coef0.is_some() && !products {
            return Err(misfit("coef0", "is for the polynomial and sigmoid kernels", None));
        }
        let number = |default: Option<f64>| match self.gamma {
            None => Ok(default),
            Some(Bandwidth::Gamma(gamma)) => Ok(Some(gamma)),
            Some(Bandwidth::PerFeature) if self.kernel == KernelName::Sigmoid => Ok(None),
            Some(_) => Err(misfit("gamma", "must be a number for this kernel", None)),
        };
        Ok(match self.kernel {
            KernelName::Rbf => Kernel::Rbf { gamma: width },
            KernelName::Linear => Kernel::Linear,
            KernelName::Laplacian => Kernel::Laplacian { gamma: width },
            KernelName::Polynomial => Kernel::Polynomial {
                degree: self.degree.unwrap_or(2),
                gamma: number(Some(1.0))?.unwrap_or(1.0),
                coef0: self.coef0.unwrap_or(1.0),
            },
            KernelName::Sigmoid => {
                Kernel::Sigmoid { gamma: number(None)?, coef0: self.coef0.unwrap_or(0.0) }
            }
            KernelName::Cosine => Kernel::Cosine,
            KernelName::Delta => Kernel::Delta,
            KernelName::Precomputed => Kernel::Precomputed,
        })
    }

    /// In the words of the command line, for the model file.
    pub fn in_words(&self) -> Vec<(&'static str, String)> {
        let name = self.kernel.to_possible_value();
        let mut said = vec![("kernel", name.map_or_else(String::new, |v| v.get_name().into()))];
        let gamma = self.gamma.map(|gamma| match gamma {
            Bandwidth::Median => "median".into(),
            Bandwidth::Scale => "scale".into(),
            Bandwidth::PerFeature => "1/d".into(),
            Bandwidth::Gamma(v) | Bandwidth::Sigma(v) => v.to_string(),
        });
        said.extend(gamma.map(|gamma| ("gamma", gamma)));
        said.extend(self.sigma.map(|sigma| ("sigma", sigma.to_string())));
        said.extend(self.degree.map(|degree| ("degree", degree.to_string())));
        said.extend(self.coef0.map(|coef0| ("coef0", coef0.to_string())));
        said
    }
}

fn parse_gamma(text: &str) -> Result<Bandwidth, String> {
    Ok(match text {
        "median" => Bandwidth::Median,
        "scale" => Bandwidth::Scale,
        "1/d" => Bandwidth::PerFeature,
        number => Bandwidth::Gamma(
            number.parse().map_err(|_| "expected `median`, `scale`, `1/d` or a number")?,
        ),
    })
}

/// An option that does not fit the others.
pub fn misfit(option: &str, why: &'static str, instead: Option<Hint>) -> Error {
    Error::Unsupported { what: format!("`--{option}`"), why, instead }
}
