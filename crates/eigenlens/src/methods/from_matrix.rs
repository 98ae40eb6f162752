//! The same fits from a matrix in place of data: moments, covariance, Gram matrix.

use super::fit::{Fit, covariance, empty, max_rank, n_varying};
use super::option_spec::{OptionSpec, OptionValues, Range};
use super::spectral;
use crate::data::{DataShape, Dataset, Missing};
use crate::error::{Error, Result, Warning};
use crate::graph::Points;
use crate::linalg::dense::power_of_two;
use crate::linalg::{self, gemm, pool};
use crate::model::ModelCore;
use crate::model::{Divisor, GramPca, LinearMap, PcaModel, PcaParts};
use crate::n_components::{AllValues, NComponents, Spectrum};
use crate::options::Options;
use crate::passes::{Moments, Scaler};
use crate::plan::{self, Plan, Route};
use crate::scalar::Scalar;
use crate::solver::certificate::{self, Certificate, Evidence, Measured, NoneMissed, Rounding};
use crate::solver::{dense, finish};
use ndarray::{Array2, ArrayView2, Axis};

/// Fits from moments, without data to measure against.
pub(super) fn from_moments(fit: &Fit, moments: &Moments) -> Result<PcaModel> {
    let columns = moments.columns.clone().check_rows()?;
    let exponents =
        moments.exponents.iter().any(|&e| e != 0).then_some(moments.exponents.as_slice());
    let scaler = Scaler::new::<f64>(&columns, exponents, fit.center, fit.standardize);
    let matrix = covariance(moments.scatter.clone(), &columns, &scaler, fit.center);
    let limit = fit.limit(&columns, moments.n_features())?;
    let max_rank =
        max_rank(&columns, matrix.diag().as_slice().unwrap_or(&matrix.diag().to_vec()), fit.center);
    let plan = plan(Route::Given, moments.n_features(), 0, &fit.options)?;
    let model = from_matrix(fit, matrix, scaler, Some(columns.weight), limit, max_rank, plan)?;
    Ok(model.with_feature_names(moments.feature_names.clone()))
}

/// Fits from a covariance matrix.
pub(super) fn from_covariance(
    fit: &Fit,
    covariance: ArrayView2<f64>,
    n_samples: Option<f64>,
) -> Result<PcaModel> {
    let (matrix, scaler) = standardized(fit, covariance, n_samples)?;
    if fit.divisor == Divisor::Samples && n_samples.is_none() {
        return Err(Error::NotDefined {
            what: "the divisor n",
            why: "the number of samples behind the matrix is not known".into(),
        });
    }
    let d = matrix.nrows();
    fit.n_components.check_limit(d, n_samples.unwrap_or(f64::INFINITY) as usize, d)?;
    let plan = plan(Route::GivenCovariance, d, 0, &fit.options)?;
    from_matrix(fit, matrix, scaler, n_samples, d, d, plan)
}

/// What a table holds in place of samples.
pub(super) const INPUT: &[OptionSpec] = &[
    OptionSpec::choice(
        "input",
        &[
            ("samples", "A row for each sample"),
            ("covariance", "Their covariance or correlation matrix, a row for each feature"),
        ],
        "What the table holds",
    ),
    OptionSpec::number(
        "sample_count",
        Range::Positive,
        "The number of samples behind a covariance matrix [default: not known, so no standard errors]",
    )
    .needs(&[("input", &["covariance"])]),
];

/// A table that is a covariance matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GivenCovariance {
    pub n_samples: Option<f64>,
}

impl OptionValues {
    /// The covariance matrix that the table is, where it is one.
    pub(super) fn given_covariance(&self) -> Option<GivenCovariance> {
        let given = self.word("input").as_deref() == Some("covariance");
        given.then(|| GivenCovariance { n_samples: self.number("sample_count") })
    }

    /// Whether the rows of the table are samples, of which there are scores: not those of a covariance matrix.
    pub fn rows_are_samples(&self) -> bool {
        self.given_covariance().is_none()
    }
}

/// Fits from a table that is a covariance matrix; there are no samples to make scores of.
pub(super) fn from_table<T: Scalar>(
    fit: &Fit,
    data: &Dataset<T>,
    given: GivenCovariance,
    want_scores: bool,
) -> Result<(PcaModel, Array2<T>)> {
    if want_scores {
        return Err(no_scores());
    }
    let matrix = read_table(data, &fit.options)?;
    let model = from_covariance(fit, matrix.view(), given.n_samples)?;
    let model = model.with_feature_names(data.feature_names().map(<[String]>::to_vec));
    let scores = empty(&model);
    Ok((model, scores))
}

/// Why there are no training scores.
pub(super) fn no_scores() -> Error {
    let why = "a covariance matrix has no samples".into();
    Error::NotDefined { what: "a score", why }
}

/// The matrix (d × d) that a table holds. Its shape is looked at before it is copied.
pub(super) fn read_table<T: Scalar>(data: &Dataset<T>, options: &Options) -> Result<Array2<f64>> {
    let shape = spectral::counted(data)?;
    plan_table(&shape, options)?.reserved()?;
    let points = Points::read(data)?;
    Ok(points.view().mapv(|v| v * power_of_two(points.exponent())))
}

/// The plan of a table that is a covariance matrix.
pub(super) fn plan_table(shape: &DataShape, options: &Options) -> Result<Plan> {
    let d = shape.n_features;
    if let Some(n) = shape.n_samples.filter(|n| *n != d) {
        return Err(Error::Shape {
            what: "the covariance matrix",
            found: format!("{n} × {d} entries"),
            expected: "a square matrix".into(),
        });
    }
    if shape.missing != Missing::Error {
        return Err(Error::Unsupported {
            what: format!("the policy `{}` for missing values", shape.missing.name()),
            why: "is for samples, and a covariance matrix has none",
            instead: None,
        });
    }
    if shape.n_weights.is_some() {
        return Err(Error::Unsupported {
            what: "a weight for each sample".into(),
            why: "is for samples, and a covariance matrix has none",
            instead: None,
        });
    }
    plan(Route::GivenCovariance, d, 2, options)
}

/// Bytes of the batches in which a table that is a matrix is read.
pub(super) const BATCHES: u64 = 4 << 20;

/// The plan of a fit from a d × d matrix, of which there are so many copies beside it where it is a table.
fn plan(route: Route, d: usize, copies: u64, options: &Options) -> Result<Plan> {
    let reading = if copies > 0 { BATCHES } else { 0 };
    let needed = (8 + copies) * (8 * d * d) as u64 + reading;
    let reason = "a matrix in place of data".into();
    plan::only(route, reason, 0, needed, options.memory)
}

/// A covariance matrix, checked and standardised as asked for.
pub(super) fn standardized(
    fit: &Fit,
    covariance: ArrayView2<f64>,
    n_samples: Option<f64>,
) -> Result<(Array2<f64>, Scaler)> {
    check_symmetric("the covariance matrix", covariance)?;
    if let Some(n) = n_samples.filter(|n| !(*n > 1.0 && n.is_finite())) {
        return Err(Error::Parameter {
            name: "n_samples",
            value: n.to_string(),
            expected: "more than 1",
        });
    }
    let d = covariance.nrows();
    if let Some(f) = (0..d).find(|&f| covariance[[f, f]] < 0.0) {
        return Err(Error::NotPositive {
            what: "the covariance matrix",
            eigenvalue: covariance[[f, f]],
            largest: covariance.diag().iter().fold(0.0, |m: f64, v| m.max(*v)),
        });
    }
    let sd: Vec<f64> = covariance.diag().iter().map(|v| v.sqrt()).collect();
    let weight = |f: usize| match (fit.standardize, sd[f] > 0.0) {
        (false, _) => 1.0,
        (true, true) => 1.0 / sd[f],
        (true, false) => 0.0,
    };
    let scaler = Scaler {
        mean_hi: vec![0.0; d],
        mean_lo: vec![0.0; d],
        inv_scale: (0..d).map(weight).collect(),
        column_exponents: None,
        scale: fit
            .standardize
            .then(|| sd.iter().map(|s| if *s > 0.0 { *s } else { 1.0 }).collect()),
        exponent: 0,
        constant: (0..d).filter(|&f| sd[f] == 0.0).collect(),
    };
    let matrix = Array2::from_shape_fn((d, d), |(i, j)| {
        covariance[[i, j]] * scaler.inv_scale[i] * scaler.inv_scale[j]
    });
    Ok((matrix, scaler))
}

fn from_matrix(
    fit: &Fit,
    matrix: Array2<f64>,
    scaler: Scaler,
    n_samples: Option<f64>,
    limit: usize,
    max_rank: usize,
    plan: Plan,
) -> Result<PcaModel> {
    fit.options.check()?;
    fit.n_components.check()?;
    let d = matrix.nrows();
    let plan = plan.reserved()?;
    pool::run(fit.options.threads, || {
        // 1. All pairs: the smallest value is wanted too, for a negative one is no covariance's.
        let variances = matrix.diag().to_vec();
        let total: f64 = variances.iter().sum();
        let all = dense::full(matrix.view(), d)?;
        let spectrum = all.spectrum.unwrap_or_default();
        let top = spectrum.first().copied().unwrap_or(0.0).max(0.0);
        let rounding_floor = 8.0 * (d as f64).sqrt() * f64::EPSILON * top;
        check_spectrum(&spectrum)?;
        // 2. As many as are asked for.
        let mut warnings = Vec::new();
        let all_values = AllValues {
            spectrum: Spectrum {
                values: &spectrum,
                total_variance: total,
                n_samples: samples_for_rules(fit, n_samples)?,
                n_features: d,
                n_varying: n_varying(&variances),
                max_rank,
                centered: fit.center,
                standardized: fit.standardize,
            },
            rounding_floor,
            limit,
            no_rules: None,
        };
        let k = all_values.resolve(&fit.n_components, &mut warnings)?;
        let rank = spectrum.iter().take(k.min(max_rank)).filter(|v| **v > rounding_floor).count();
        if rank == 0 {
            warnings.push(Warning::NoVariance);
        } else if rank < k {
            warnings.push(Warning::NullComponents { rank, requested: k });
        }
        let mut values = spectrum[..k.min(d)].to_vec();
        values.iter_mut().skip(rank).for_each(|v| *v = 0.0);
        let tie = finish::f64_tie();
        let (_, mut components) = finish::largest_first(&spectrum, &all.ritz.vectors, k, tie);
        finish::complete(&mut components, rank, tie);
        // 3. The certificate, and the model.
        let (vectors, orthogonality) = (&all.ritz.vectors, orthogonality_of(&components));
        let found = Found { spectrum: &spectrum, vectors, values: &values, rank, rounding_floor };
        let certificate = found.certify(&matrix, orthogonality);
        Ok(PcaModel::new(PcaParts {
            core: ModelCore {
                method: fit.method,
                n_samples,
                feature_names: None,
                plan,
                warnings,
                missing: None,
            },
            map: LinearMap { scaler, components, rank, threads: fit.options.threads },
            next_value: spectrum.get(k).map(|v| if *v > rounding_floor { *v } else { 0.0 }),
            values,
            total,
            column_variances: variances,
            spectrum: Some(spectrum),
            center: fit.center,
            whiten: fit.whiten,
            divisor: fit.divisor,
            certificate,
            convergence: all.ritz.convergence,
            tolerance: fit.options.tolerance.unwrap_or(1e-9),
        }))
    })?
}

/// The number of samples, which rules cannot do without.
fn samples_for_rules(fit: &Fit, n_samples: Option<f64>) -> Result<f64> {
    match (&fit.n_components, n_samples) {
        (NComponents::Rule(_), None) => Err(Error::NotDefined {
            what: "the number of components",
            why: "the number of samples behind the matrix is not known".into(),
        }),
        (_, n) => Ok(n.unwrap_or(0.0)),
    }
}

fn orthogonality_of(components: &Array2<f64>) -> f64 {
    certificate::orthogonality(components.t().as_standard_layout().view())
}

/// The pairs that are kept, among all.
struct Found<'a> {
    spectrum: &'a [f64],
    /// Of all pairs (d × d).
    vectors: &'a Array2<f64>,
    /// Of those that are kept.
    values: &'a [f64],
    rank: usize,
    rounding_floor: f64,
}

impl Found<'_> {
    /// Measures the pairs, and the one after them, against the matrix (d × d).
    fn certify(&self, matrix: &Array2<f64>, orthogonality: f64) -> Certificate {
        let Found { spectrum, vectors, values, rank, rounding_floor } = *self;
        let k = values.len();
        let mut measured = values.to_vec();
        measured.extend(spectrum.get(k).map(|v| v.max(0.0)));
        let tie = finish::f64_tie();
        let wider = finish::largest_first(spectrum, vectors, measured.len(), tie).1;
        let wider = wider.t().as_standard_layout().into_owned();
        let product = gemm::product(matrix.view(), wider.view());
        let frobenius = spectrum.iter().map(|v| v * v).sum::<f64>().sqrt();
        let mut residuals = certificate::residuals(product.view(), wider.view(), &measured);
        residuals.iter_mut().skip(rank).take(k - rank).for_each(|r| *r = r.min(rounding_floor));
        certificate::certify(Measured {
            values: &measured,
            k,
            residuals: &residuals,
            along: &certificate::along(product.view(), wider.view(), &measured),
            rounding: Rounding::of_products(frobenius, matrix.nrows(), measured.len()),
            parts: None,
            orthogonality,
            rounding_floor,
            evidence: Evidence::Matrix,
            none_missed: NoneMissed::Complete,
            unseen: 0.0,
        })
    }
}

/// Refuses a matrix with a clearly negative eigenvalue: it is no covariance.
pub(super) fn check_positive(matrix: ArrayView2<f64>) -> Result<()> {
    let mut spectrum = linalg::dense::symmetric_eigenvalues(matrix)?;
    spectrum.reverse();
    check_spectrum(&spectrum)
}

fn check_spectrum(descending: &[f64]) -> Result<()> {
    let top = descending.first().copied().unwrap_or(0.0).max(0.0);
    let rounding_floor = 8.0 * (descending.len() as f64).sqrt() * f64::EPSILON * top;
    match descending.last() {
        Some(&least) if least < -1e3 * rounding_floor && least < -1e-10 * top => {
            Err(Error::NotPositive {
                what: "the covariance matrix",
                eigenvalue: least,
                largest: top,
            })
        }
        _ => Ok(()),
    }
}

/// Spectrum and training scores from a Gram matrix.
pub(super) fn from_gram(fit: &Fit, gram: ArrayView2<f64>) -> Result<GramPca> {
    fit.options.check()?;
    fit.n_components.check()?;
    check_symmetric("the Gram matrix", gram)?;
    let n = gram.nrows();
    if n < 2 {
        return Err(Error::TooFewRows { found: n, needed: 2 });
    }
    fit.n_components.check_limit(n, n, n)?;
    pool::run(fit.options.threads, || {
        let mut k = gram.as_standard_layout().into_owned();
        if fit.center {
            let means = k.mean_axis(Axis(0)).unwrap_or_default();
            let mean = means.mean().unwrap_or(0.0);
            for ((i, j), v) in k.indexed_iter_mut() {
                *v += (mean - means[i]) - means[j];
            }
        }
        GramPca::decompose(k, &fit.n_components, fit.whiten, fit.center)
    })?
}

fn check_symmetric(what: &'static str, a: ArrayView2<f64>) -> Result<()> {
    let (rows, columns) = a.dim();
    if rows == 0 {
        return Err(Error::NoRows);
    }
    if rows != columns {
        return Err(Error::Shape {
            what,
            found: format!("{rows} × {columns} entries"),
            expected: "a square matrix".into(),
        });
    }
    let size = a.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for i in 0..rows {
        for j in 0..=i {
            let (upper, lower) = (a[[j, i]], a[[i, j]]);
            if upper.is_nan() || lower.is_nan() {
                return Err(Error::MissingValue { row: i, column: j, name: None });
            }
            if upper.is_infinite() || lower.is_infinite() {
                return Err(Error::Infinite { row: i, column: j, name: None, value: lower });
            }
            if (upper - lower).abs() > 1e-8 * size {
                return Err(Error::NotSymmetric { what, row: j, column: i, upper, lower });
            }
        }
    }
    Ok(())
}
