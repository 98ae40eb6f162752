//! What can be done with every method, and how each surface says it. The pages' tables are written from here, and the
//! tests of the surfaces run every row of it on the same data and compare numbers.

use super::estimator::Method;

/// Something that can be done with the methods that have it.
#[derive(Debug)]
pub struct Operation {
    /// Its name.
    pub name: &'static str,
    /// What it gives.
    pub about: &'static str,
    /// In Rust.
    pub rust: Offer,
    /// On the command line.
    pub command: Offer,
    /// In Python: of the method's class.
    pub python: Offer,
    /// Why a method has none.
    missing: fn(&str) -> Option<&'static str>,
}

/// How a surface says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Like this.
    As(&'static str),
    /// Not at all, and why.
    Not(&'static str),
}

impl Operation {
    /// The operation of this name.
    pub fn named(name: &str) -> Option<&'static Operation> {
        OPERATIONS.iter().find(|operation| operation.name == name)
    }

    /// Why a method has no such operation; `None` where it has.
    pub fn reason_against(&self, method: &Method) -> Option<&'static str> {
        (self.missing)(method.name)
    }
}

/// Every operation.
pub static OPERATIONS: &[Operation] = &[
    Operation {
        name: "plan",
        about: "Route, passes and memory, before a row is read",
        rust: Offer::As("Estimator::plan"),
        command: Offer::As("fit … --plan"),
        python: Offer::As(".plan(X)"),
        missing: everywhere,
    },
    Operation {
        name: "training_scores",
        about: "A fit, and the scores of its samples",
        rust: Offer::As("fit_transform"),
        command: Offer::As("fit … --scores FILE"),
        python: Offer::As(".fit_transform(X)"),
        missing: everywhere,
    },
    Operation {
        name: "transform",
        about: "Scores of new samples",
        rust: Offer::As("Model::transform_f64"),
        command: Offer::As("transform MODEL DATA"),
        python: Offer::As(".transform(X)"),
        missing: everywhere,
    },
    Operation {
        name: "inverse_transform",
        about: "Samples from scores",
        rust: Offer::As("Model::inverse_transform_f64"),
        command: Offer::As("reconstruct MODEL SCORES --from-scores"),
        python: Offer::As(".inverse_transform(Z)"),
        missing: without_way_back,
    },
    Operation {
        name: "reconstruct",
        about: "What the components keep of samples",
        rust: Offer::As("Model::reconstruct_f64"),
        command: Offer::As("reconstruct MODEL DATA"),
        python: Offer::As(".inverse_transform(.transform(X))"),
        missing: without_way_back,
    },
    Operation {
        name: "pre_image",
        about: "Approximate samples from what the components keep in feature space",
        rust: Offer::As("Model::pre_images_f64"),
        command: Offer::As("reconstruct MODEL DATA --pre-image WAY"),
        python: Offer::As(".pre_image(X)"),
        missing: |method| match method {
            "kernel-pca" => None,
            _ => Some("its scores are not made in a kernel's feature space, or know no way back"),
        },
    },
    Operation {
        name: "components",
        about: "Directions among the features",
        rust: Offer::As("Linear::components"),
        command: Offer::As("fit … --components-file FILE"),
        python: Offer::As(".components_"),
        missing: not_linear,
    },
    Operation {
        name: "loadings",
        about: "Components times the standard deviations along them",
        rust: Offer::As("Linear::loadings"),
        command: Offer::As("fit … --loadings-file FILE"),
        python: Offer::As(".loadings_"),
        missing: not_linear,
    },
    Operation {
        name: "shares",
        about: "The share of a total that each component carries",
        rust: Offer::As("Model::component_shares"),
        command: Offer::As("inspect MODEL"),
        python: Offer::As(".explained_variance_ratio_, .hsic_ratio_"),
        missing: |method| match method {
            "laplacian" | "lle" => Some("small eigenvalues are no shares of anything"),
            "ppca-mixture" => Some("its scores are probabilities"),
            _ => None,
        },
    },
    Operation {
        name: "certificate",
        about: "How far eigenpairs can be trusted",
        rust: Offer::As("Model::certificate"),
        command: Offer::As("inspect MODEL"),
        python: Offer::As(".certificate_"),
        missing: |method| match method {
            "sparse-pca" | "ppca-mixture" => Some("it is not made of eigenpairs"),
            _ => None,
        },
    },
    Operation {
        name: "verify",
        about: "Every claim of the model made once more from the data",
        rust: Offer::As("verify_model"),
        command: Offer::As("verify MODEL DATA"),
        python: Offer::As("verify(model, X)"),
        missing: everywhere,
    },
    Operation {
        name: "save",
        about: "A model file that the other surfaces read",
        rust: Offer::As("StoredModel of eigenlens-io"),
        command: Offer::As("fit … -o FILE"),
        python: Offer::As(".save(path), load(path)"),
        missing: everywhere,
    },
    Operation {
        name: "log_likelihood",
        about: "How likely samples are",
        rust: Offer::As("Density::score_samples"),
        command: Offer::As("score MODEL DATA"),
        python: Offer::As(".score_samples(X)"),
        missing: no_density,
    },
    Operation {
        name: "sample",
        about: "New samples from the density",
        rust: Offer::As("Density::sample"),
        command: Offer::As("sample MODEL"),
        python: Offer::As(".sample(n)"),
        missing: no_density,
    },
    Operation {
        name: "impute",
        about: "Missing entries filled, with standard errors",
        rust: Offer::As("Density::impute"),
        command: Offer::As("impute MODEL DATA"),
        python: Offer::As(".impute(X)"),
        missing: no_density,
    },
    Operation {
        name: "predict",
        about: "The probability of each class",
        rust: Offer::As("Classifier::predict_proba"),
        command: Offer::As("predict MODEL DATA"),
        python: Offer::As(".predict_proba(X)"),
        missing: |method| match method {
            "lda" | "ppca-mixture" => None,
            _ => Some("it knows no classes"),
        },
    },
    Operation {
        name: "standard_errors",
        about: "The standard error of every score, which missing entries raise",
        rust: Offer::As("UncertainScores::scores_with_errors"),
        command: Offer::As("transform MODEL DATA --standard-errors"),
        python: Offer::As(".transform_with_errors(X)"),
        missing: |method| match method {
            "pca" | "lsa" | "ppca" | "bayesian-pca" => None,
            _ => Some("no model of the noise says how certain a score is"),
        },
    },
    Operation {
        name: "posterior_covariance",
        about: "The covariance of the hidden variables given a sample without missing entries",
        rust: Offer::As("PpcaModel::posterior_covariance"),
        command: Offer::As("inspect MODEL --json"),
        python: Offer::As(".posterior(X)"),
        missing: |method| match method {
            "ppca" | "bayesian-pca" => None,
            _ => Some("it has no hidden variables with one Gaussian prior"),
        },
    },
    Operation {
        name: "sampling_errors",
        about: "The standard error of each variance",
        rust: Offer::As("PcaModel::sampling_errors"),
        command: Offer::As("inspect MODEL"),
        python: Offer::As(".sampling_errors_"),
        missing: |method| match method {
            "pca" | "ppca" | "bayesian-pca" => None,
            "lsa" => Some("variances about 0 have none"),
            _ => Some("its values are no variances of principal components"),
        },
    },
    Operation {
        name: "varimax",
        about: "Loadings rotated to few large entries each",
        rust: Offer::As("PcaModel::varimax"),
        command: Offer::As("rotate MODEL"),
        python: Offer::As(".varimax()"),
        missing: |method| match method {
            "pca" | "lsa" | "ppca" | "bayesian-pca" => None,
            "sparse-pca" => Some("its loadings have few large entries as they are"),
            _ => Some("only loadings of principal components are rotated"),
        },
    },
    Operation {
        name: "fit_covariance",
        about: "A fit from a covariance or correlation matrix",
        rust: Offer::As("fit_covariance"),
        command: Offer::As("fit … --input covariance"),
        python: Offer::As(".fit_covariance(C)"),
        missing: |method| match method {
            "pca" | "ppca" | "sparse-pca" => None,
            "mds" | "isomap" | "laplacian" | "lle" => {
                Some("it embeds samples: what replaces them is a matrix of distances or affinities")
            }
            "kernel-pca" | "kernel-supervised-pca" => {
                Some("what replaces samples is their kernel or Gram matrix: `precomputed`")
            }
            _ => Some("a covariance does not hold what it needs of the samples"),
        },
    },
    Operation {
        name: "fit_moments",
        about: "A fit from count, mean and scatter, gathered in parts",
        rust: Offer::As("Estimator::fit_moments"),
        command: Offer::Not("files in parts are given together, and read in one pass"),
        python: Offer::As(".fit(Moments(X))"),
        missing: |method| match method {
            "pca" | "ppca" | "sparse-pca" => None,
            _ => Some("moments do not hold what it needs of the samples"),
        },
    },
    Operation {
        name: "path",
        about: "Variance explained against non-zeros, from sparse to full",
        rust: Offer::As("Model::path"),
        command: Offer::As("fit … --path N"),
        python: Offer::As(".path_"),
        missing: |method| match method {
            "sparse-pca" => None,
            _ => Some("nothing is penalised"),
        },
    },
    Operation {
        name: "implied_kernel",
        about: "The kernel that the embedding is the kernel PCA of, and what it is made of",
        rust: Offer::As("Estimator::implied_kernel"),
        command: Offer::As("fit … --kernel-file FILE"),
        python: Offer::As(".implied_kernel(X)"),
        missing: |method| match method {
            "mds" | "isomap" | "laplacian" | "lle" => None,
            _ => Some("no kernel is learned from the samples"),
        },
    },
    Operation {
        name: "picture",
        about: "Pictures, and a report of them",
        rust: Offer::As("eigenlens-views"),
        command: Offer::As("plot MODEL, report MODEL"),
        python: Offer::As("plots.plot(model)"),
        missing: everywhere,
    },
];

fn everywhere(_: &str) -> Option<&'static str> {
    None
}

fn not_linear(method: &str) -> Option<&'static str> {
    let method = Method::named(method)?;
    (!method.linear).then_some("scores are not linear in the features")
}

fn without_way_back(method: &str) -> Option<&'static str> {
    match method {
        "pca" | "lsa" | "ppca" | "bayesian-pca" | "sparse-pca" | "supervised-pca" => None,
        "lda" => Some("discriminants keep what tells classes apart, and not the samples"),
        "ppca-mixture" => Some("its scores are probabilities"),
        "kernel-pca" => Some("not every point of the feature space is a sample: see pre-images"),
        _ => Some("coordinates do not lead back to samples"),
    }
}

fn no_density(method: &str) -> Option<&'static str> {
    match method {
        "ppca" | "bayesian-pca" | "ppca-mixture" => None,
        "pca" => Some("its Gaussian is that of `ppca`; Rust and Python evaluate it of a PCA too"),
        _ => Some("it is no density of samples"),
    }
}
