//! `fit kernel-pca`.

use super::{About, AnyData, Fitted, Method, Wishes, each, fitted};
use clap::{Args, ValueEnum};
use eigenlens::{
    Approximation, Bandwidth, Error, Hint, Kernel, KernelPca, KernelStorage, Landmarks, NComponents,
    Plan,
};

pub const ABOUT: About = About {
    name: "kernel-pca",
    summary: "kernel PCA: PCA in the feature space of a kernel, for curved structure",
    page: "docs/methods/kernel-pca.md",
    axis: "KPC",
    linear: false,
};

/// The options of kernel PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Own {
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
    /// How to deal with the n × n kernel matrix.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    approximation: Way,
    /// Landmarks of the Nyström approximation.
    #[arg(long, value_name = "M")]
    landmarks: Option<usize>,
    /// How landmarks are chosen.
    #[arg(long, value_name = "HOW", default_value = "cholesky")]
    selection: Selection,
    /// Random Fourier features.
    #[arg(long, value_name = "M")]
    random_features: Option<usize>,
    /// Orthogonal random features.
    #[arg(long)]
    orthogonal: bool,
    /// Fit on this many samples, drawn at random.
    #[arg(long, value_name = "M")]
    subset: Option<usize>,
    /// Whether the exact kernel matrix is kept.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    storage: Storage,
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

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// Exact within memory and patience, otherwise Nyström.
    Auto,
    /// Every kernel value counts.
    Exact,
    /// Landmarks.
    Nystrom,
    /// Random Fourier features.
    RandomFeatures,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Selection {
    /// Randomly pivoted Cholesky.
    Cholesky,
    /// Uniformly at random.
    Uniform,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Storage {
    /// Where memory allows.
    Auto,
    /// Keep it.
    Matrix,
    /// Recompute it in blocks.
    Blocks,
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

fn misfit(option: &str, why: &'static str, instead: Option<Hint>) -> Error {
    Error::Unsupported { what: format!("`--{option}`"), why, instead }
}

impl Own {
    fn kernel(&self) -> eigenlens::Result<Kernel> {
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

    /// A number of landmarks, features or samples says how by itself.
    fn approximation(&self) -> eigenlens::Result<Approximation> {
        let said = [
            (Way::Nystrom, self.landmarks.is_some(), "landmarks"),
            (Way::RandomFeatures, self.random_features.is_some(), "random-features"),
        ];
        let mut way = self.approximation;
        for (meant, said, option) in said {
            if said && way == Way::Auto {
                way = meant;
            } else if said && way != meant {
                let why = "does not go with this approximation";
                return Err(misfit(option, why, None));
            }
        }
        if self.orthogonal && way != Way::RandomFeatures {
            return Err(misfit("orthogonal", "is for random features", None));
        }
        if self.selection != Selection::Cholesky && way != Way::Nystrom {
            return Err(misfit("selection", "is for the nystrom approximation", None));
        }
        if let Some(samples) = self.subset {
            if way != Way::Auto {
                return Err(misfit("subset", "does not go with another approximation", None));
            }
            return Ok(Approximation::Subset { samples });
        }
        let selection = match self.selection {
            Selection::Cholesky => Landmarks::PivotedCholesky,
            Selection::Uniform => Landmarks::Uniform,
        };
        Ok(match way {
            Way::Auto => Approximation::Auto,
            Way::Exact => Approximation::Exact,
            Way::Nystrom => Approximation::Nystrom { landmarks: self.landmarks, selection },
            Way::RandomFeatures => Approximation::RandomFeatures {
                features: self.random_features,
                orthogonal: self.orthogonal,
            },
        })
    }

    fn configured(&self, wishes: &Wishes) -> eigenlens::Result<KernelPca> {
        let storage = match self.storage {
            Storage::Auto => KernelStorage::Auto,
            Storage::Matrix => KernelStorage::Matrix,
            Storage::Blocks => KernelStorage::Blocks,
        };
        Ok(KernelPca::new(wishes.components.clone())
            .kernel(self.kernel()?)
            .approximation(self.approximation()?)
            .storage(storage)
            .options(wishes.options.clone()))
    }
}

impl Method for Own {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn default_components(&self, n: Option<usize>, _: usize) -> NComponents {
        NComponents::Fixed(10.min(n.unwrap_or(10)).max(1))
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        let name = self.kernel.to_possible_value();
        let way = self.approximation.to_possible_value();
        let words = |value: Option<clap::builder::PossibleValue>| {
            value.map_or_else(String::new, |v| v.get_name().to_string())
        };
        let mut said = vec![("kernel", words(name)), ("approximation", words(way))];
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
        said.extend(self.landmarks.map(|m| ("landmarks", m.to_string())));
        said.extend(self.random_features.map(|m| ("random-features", m.to_string())));
        said.extend(self.subset.map(|m| ("subset", m.to_string())));
        if self.orthogonal {
            said.push(("orthogonal", "true".into()));
        }
        said
    }

    fn plan(&self, wishes: &Wishes, data: &AnyData) -> eigenlens::Result<Plan> {
        let estimator = self.configured(wishes)?;
        each!(data, d => estimator.plan(d))
    }

    fn fit(&self, wishes: &Wishes, data: &AnyData, want_scores: bool) -> eigenlens::Result<Fitted> {
        let estimator = self.configured(wishes)?;
        fitted!(data, want_scores, estimator)
    }
}
