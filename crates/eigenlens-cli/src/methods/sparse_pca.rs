//! `fit sparse-pca`.

use super::{FitOptions, MethodFlags};
use clap::{Args, ValueEnum};
use eigenlens::{Deflation, Error, Estimator, Hint, NComponents, PenaltyScale, Projection, ProofLimits, Ridge, SparsePca};
use std::time::Duration;

/// The options of sparse PCA.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct Flags {
    /// At most so many non-zeros: one number, or one for each component [default: √features].
    #[arg(long, value_name = "C,…", value_delimiter = ',', group = "formulation")]
    cardinality: Vec<usize>,
    /// Penalised regression with this λ₁: one number, or one for each component.
    #[arg(long, value_name = "L,…", value_delimiter = ',', group = "formulation")]
    penalty: Vec<f64>,
    /// Penalised regression with so many non-zeros: one number, or one for each component.
    #[arg(long, value_name = "C,…", value_delimiter = ',', group = "formulation")]
    non_zeros: Vec<usize>,
    /// A factorisation of the data with this λ, as in scikit-learn's SparsePCA.
    #[arg(long, value_name = "L", group = "formulation")]
    dictionary: Option<f64>,
    /// Prove the optimum by branch and bound, or how far from it the best found can be.
    #[arg(long, conflicts_with_all = ["penalty", "non_zeros", "dictionary"])]
    exact: bool,
    /// Seconds for the proof of each component.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, requires = "exact")]
    time_limit: f64,
    /// Parts of the search tree for the proof of each component.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "exact")]
    node_limit: usize,
    /// A proven gap that is good enough, such as 0.01.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, requires = "exact")]
    gap: f64,
    /// Only components without negative entries.
    #[arg(long, conflicts_with_all = ["penalty", "non_zeros", "dictionary"])]
    non_negative: bool,
    /// What is taken out of the covariance after each component [default: projection].
    #[arg(long, value_name = "WAY", conflicts_with_all = ["penalty", "non_zeros", "dictionary"])]
    deflation: Option<Way>,
    /// λ₂ of the regression, or `infinite` for many more features than samples [default: 1e-6].
    #[arg(long, value_name = "L|infinite", value_parser = parse_ridge, conflicts_with_all = ["cardinality", "dictionary"])]
    ridge: Option<Ridge>,
    /// What penalties are relative to [default: covariance].
    #[arg(long, value_name = "UNIT", conflicts_with_all = ["cardinality", "dictionary"])]
    penalty_scale: Option<Scale>,
    /// How samples are projected onto components that are not orthogonal.
    #[arg(long, value_name = "HOW", default_value = "least-squares")]
    projection: How,
    /// Random starts of the search, beside those the data suggest.
    #[arg(long, value_name = "N", default_value_t = 4)]
    starts: usize,
    /// Follow the path from sparse to full in so many points, for `plot --kind path`.
    #[arg(long, value_name = "POINTS", conflicts_with = "dictionary")]
    path: Option<usize>,
    /// Divide every feature by its standard deviation.
    #[arg(long)]
    scale: bool,
    /// Do not subtract the mean.
    #[arg(long)]
    no_center: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// (I − ββᵀ) S (I − ββᵀ).
    Projection,
    /// S − (βᵀSβ) ββᵀ.
    Hotelling,
    /// S − Sββᵀ S / βᵀSβ.
    Schur,
    /// Projection with what is orthogonal to the components before.
    OrthogonalizedProjection,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scale {
    /// The covariance: the same for any number of samples.
    Covariance,
    /// Sums over the samples.
    Sum,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    /// The coefficients with which the components come closest to a sample.
    LeastSquares,
    /// Products with the components.
    Product,
}

fn parse_ridge(text: &str) -> Result<Ridge, String> {
    match text {
        "infinite" => Ok(Ridge::Infinite),
        number => match number.parse::<f64>() {
            Ok(ridge) if ridge >= 0.0 && ridge.is_finite() => Ok(Ridge::Finite(ridge)),
            _ => Err("expected a number, at least 0, or `infinite`".into()),
        },
    }
}

impl Flags {
    fn configured(&self, options: &FitOptions, d: usize) -> eigenlens::Result<SparsePca> {
        let k = match options.n_components {
            NComponents::Fixed(k) => k,
            NComponents::All => d,
            _ => {
                return Err(Error::Unsupported {
                    what: "a share or a rule for the number of components".into(),
                    why: "does not fit sparse components, which share variance: give a number",
                    instead: Some(Hint::Set { option: "n_components", value: "3".into() }),
                });
            }
        };
        let mut pca = if !self.penalty.is_empty() {
            SparsePca::penalty(k, self.penalty.clone())
        } else if !self.non_zeros.is_empty() {
            SparsePca::non_zeros(k, self.non_zeros.clone())
        } else if let Some(penalty) = self.dictionary {
            SparsePca::dictionary(k, penalty)
        } else if !self.cardinality.is_empty() {
            SparsePca::cardinality(k, self.cardinality.clone())
        } else {
            SparsePca::cardinality(k, default_cardinality(d))
        };
        if self.exact {
            let time = Duration::try_from_secs_f64(self.time_limit).map_err(|_| {
                Error::Parameter {
                    name: "time_limit",
                    value: self.time_limit.to_string(),
                    expected: "a number of seconds",
                }
            })?;
            let (nodes, gap) = (self.node_limit, self.gap);
            pca = pca.exact(ProofLimits { time: Some(time), nodes, gap });
        }
        if let Some(way) = self.deflation {
            pca = pca.deflation(match way {
                Way::Projection => Deflation::Projection,
                Way::Hotelling => Deflation::Hotelling,
                Way::Schur => Deflation::Schur,
                Way::OrthogonalizedProjection => Deflation::OrthogonalizedProjection,
            });
        }
        if let Some(ridge) = self.ridge {
            pca = pca.ridge(ridge);
        }
        if let Some(scale) = self.penalty_scale {
            pca = pca.penalty_scale(match scale {
                Scale::Covariance => PenaltyScale::Covariance,
                Scale::Sum => PenaltyScale::Sum,
            });
        }
        if let Some(points) = self.path {
            pca = pca.with_path(points);
        }
        Ok(pca
            .non_negative(self.non_negative)
            .projection(match self.projection {
                How::LeastSquares => Projection::LeastSquares,
                How::Product => Projection::Product,
            })
            .random_starts(self.starts)
            .center(!self.no_center)
            .standardize(self.scale)
            .options(options.shared.clone()))
    }
}

/// Few enough to read, enough to mean something.
fn default_cardinality(d: usize) -> usize {
    ((d as f64).sqrt().round() as usize).clamp(1, d.max(1))
}

impl MethodFlags for Flags {
    fn estimator(
        &self,
        options: &FitOptions,
        n_features: usize,
    ) -> eigenlens::Result<Box<dyn Estimator>> {
        Ok(Box::new(self.configured(options, n_features)?))
    }

    fn in_words(&self) -> Vec<(&'static str, String)> {
        fn list<V: ToString>(values: &[V]) -> String {
            values.iter().map(V::to_string).collect::<Vec<_>>().join(",")
        }
        let mut words = vec![
            ("exact", self.exact.to_string()),
            ("non_negative", self.non_negative.to_string()),
            ("scale", self.scale.to_string()),
            ("center", (!self.no_center).to_string()),
        ];
        let lists = [
            ("cardinality", list(&self.cardinality)),
            ("penalty", list(&self.penalty)),
            ("non_zeros", list(&self.non_zeros)),
            ("dictionary", list(self.dictionary.as_slice())),
        ];
        words.extend(lists.into_iter().filter(|(_, list)| !list.is_empty()));
        words
    }
}
