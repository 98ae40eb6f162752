//! Kernels between targets, as thin factors.

use crate::data::{Dataset, Factor, Target, TargetBody, UNLABELLED};
use crate::error::{Error, Result, Warning};
use crate::kernel::Bandwidth;
use crate::linalg::dense::symmetric_eigenvalues;
use crate::linalg::gemm;
use crate::linalg::pivoted_cholesky::{PivotedCholesky, pivoted_cholesky};
use ndarray::Array2;

/// The kernel between the targets of two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LabelKernel {
    /// Delta for classes, Gaussian for numbers.
    #[default]
    Auto,
    /// 1 for the same class, else 0.
    Delta,
    /// The inner product: of numbers, or of classes as columns of 0 and 1 (which is delta).
    Linear,
    /// `exp(−γ ‖y − y′‖²)` of numbers.
    Gaussian {
        /// γ; `None`: `1/(2σ²)` with σ the median distance between targets.
        gamma: Option<f64>,
    },
}

/// The share of a Gaussian label kernel's trace that may be left out.
const TRACE: f64 = 1e-10;

/// Columns of a Gaussian kernel's factor: past this the rest of the trace is left out, and said.
const WIDEST: usize = 256;

/// A label kernel ready for use.
pub(crate) struct Labels {
    pub factor: Factor,
    /// Which kernel it is, in a word.
    pub kernel: &'static str,
    pub gamma: Option<f64>,
    /// The rank of the centred kernel: how many directions the labels can tell apart.
    pub rank: usize,
    /// Share of the trace that the factor leaves out.
    pub left: f64,
    /// Samples with a label.
    pub labelled: usize,
    /// Their weight, Σw.
    pub weight: f64,
    /// Σ w ‖δ‖².
    pub squares: f64,
    pub warnings: Vec<Warning>,
}

impl Labels {
    /// The factor of a target's kernel; `counts` weigh the samples. A factor that becomes too wide for so much
    /// memory is refused.
    pub fn new(
        target: &Target,
        kernel: LabelKernel,
        keep_unlabelled: bool,
        counts: Option<&[f64]>,
        memory: Option<u64>,
    ) -> Result<Labels> {
        target.check()?;
        let missing = target.missing_rows();
        if !missing.is_empty() && !keep_unlabelled {
            return Err(Error::MissingLabels { rows: missing });
        }
        let n = target.n_samples();
        if counts.is_some_and(|c| c.len() != n) {
            return Err(Error::Shape {
                what: "the target",
                found: format!("{n} values"),
                expected: format!("one for each of {} samples", counts.map_or(0, <[f64]>::len)),
            });
        }
        let (factor, kernel, gamma, left) = factor(target, kernel, counts, memory)?;
        let labelled = n - missing.len();
        let mut warnings = Vec::new();
        if let Some(classes) = target.class_names().map(<[String]>::len)
            && labelled >= 10
            && 2 * classes > labelled
        {
            warnings.push(Warning::IdentifierTarget { classes, samples: labelled });
        }
        if !missing.is_empty() {
            warnings.push(Warning::Unlabelled { samples: missing.len() });
        }
        if left > 1e-6 {
            warnings.push(Warning::LabelKernelCut { width: factor.width(), share: left });
        }
        let weight: f64 = match counts {
            None => labelled as f64,
            Some(counts) => {
                let unlabelled: f64 = missing.iter().map(|&i| counts[i]).sum();
                counts.iter().sum::<f64>() - unlabelled
            }
        };
        if weight <= 1.0 {
            return Err(Error::TooFewRows { found: labelled, needed: 2 });
        }
        let (rank, squares) = rank(&factor, counts)?;
        if rank == 0 {
            return Err(Error::NotDefined {
                what: "a direction that depends on the target",
                why: "the label kernel is 0 once it is centred".into(),
            });
        }
        Ok(Labels { factor, kernel, gamma, rank, left, labelled, weight, squares, warnings })
    }

    /// Bytes allocated for the factor and while it was made, beyond the target.
    pub fn held_memory(&self) -> u64 {
        let (n, width) = (self.factor.len() as u64, self.factor.width() as u64);
        match self.factor.codes() {
            Some(_) => 4 * n + 8 * width,
            None => dense_memory(n, width),
        }
    }
}

/// Bytes of a factor (n × ℓ) and while it was made.
fn dense_memory(n: u64, width: u64) -> u64 {
    // Columns first, then rows, then the rows times their weights.
    (3 * 8 * n).saturating_mul(width)
}

/// Refuses a factor that has not ended within the columns that there is memory for.
fn refuse_wide(n: usize, memory: Option<u64>) -> Error {
    let (route, budget) = ("the label kernel".into(), memory.unwrap_or(u64::MAX));
    Error::Memory { route, needed: dense_memory(n as u64, WIDEST.min(n) as u64), budget }
}

/// The most columns of a factor that there is memory for.
fn most_columns(n: usize, memory: Option<u64>) -> usize {
    let room = memory.map_or(u64::MAX, |memory| memory / dense_memory(n as u64, 1).max(1));
    usize::try_from(room).unwrap_or(usize::MAX)
}

type Named = (Factor, &'static str, Option<f64>, f64);

fn factor(
    target: &Target,
    kernel: LabelKernel,
    counts: Option<&[f64]>,
    memory: Option<u64>,
) -> Result<Named> {
    let unsupported =
        |what: &str, why| Err(Error::Unsupported { what: what.into(), why, instead: None });
    match (&target.body, kernel) {
        (
            TargetBody::Classes { codes, names },
            LabelKernel::Auto | LabelKernel::Delta | LabelKernel::Linear,
        ) => Ok((Factor::one_hot(codes.clone(), names.len(), counts), "delta", None, 0.0)),
        (TargetBody::Classes { .. }, LabelKernel::Gaussian { .. }) => {
            unsupported("a Gaussian label kernel", "needs numbers, but the target is a class")
        }
        (TargetBody::Numbers(values), LabelKernel::Linear) => {
            Ok((Factor::dense(values.clone(), counts), "linear", None, 0.0))
        }
        (TargetBody::Numbers(_), LabelKernel::Delta) => {
            unsupported("the delta kernel", "needs classes, but the target is a number")
        }
        (TargetBody::Numbers(values), LabelKernel::Auto) => gaussian(values, None, counts, memory),
        (TargetBody::Numbers(values), LabelKernel::Gaussian { gamma }) => {
            gaussian(values, gamma, counts, memory)
        }
        (TargetBody::Kernel(kernel), LabelKernel::Auto) => {
            let thin = of_matrix(kernel)?;
            let left = share(&thin);
            Ok((Factor::dense(thin.factor, counts), "given", None, left))
        }
        (TargetBody::Factor(factor), LabelKernel::Auto) => {
            Ok((Factor::dense(factor.clone(), counts), "given", None, 0.0))
        }
        (TargetBody::Kernel(_) | TargetBody::Factor(_), _) => {
            unsupported("another label kernel", "does not fit a target that is a kernel already")
        }
    }
}

/// The thin factor of `exp(−γ ‖y − y′‖²)`, by pivoted Cholesky.
fn gaussian(
    values: &Array2<f64>,
    gamma: Option<f64>,
    counts: Option<&[f64]>,
    memory: Option<u64>,
) -> Result<Named> {
    if let Some(gamma) = gamma.filter(|g| !(*g > 0.0 && g.is_finite())) {
        return Err(Error::Parameter {
            name: "label_gamma",
            value: gamma.to_string(),
            expected: "above 0",
        });
    }
    let room = most_columns(values.nrows(), memory);
    if room == 0 {
        return Err(refuse_wide(values.nrows(), memory));
    }
    let labelled: Vec<usize> =
        (0..values.nrows()).filter(|&i| values.row(i).iter().all(|v| !v.is_nan())).collect();
    let known = values.select(ndarray::Axis(0), &labelled);
    let gamma = match gamma {
        Some(gamma) => gamma,
        // The samples of the median are drawn with a seed of their own: the label kernel is the same
        // whatever the fit's.
        None => Bandwidth::Median.of_squared_distances(&Dataset::from(&known), 0)?,
    };
    let column = |pivot: usize, out: &mut [f64]| {
        let center = known.row(pivot);
        for (o, y) in out.iter_mut().zip(known.rows()) {
            let square: f64 = y.iter().zip(&center).map(|(a, b)| (a - b) * (a - b)).sum();
            *o = (-gamma * square).exp();
        }
    };
    let thin = pivoted_cholesky(vec![1.0; known.nrows()], column, TRACE, WIDEST.min(room));
    let left = share(&thin);
    if left > TRACE && thin.factor.ncols() == room && room < WIDEST {
        return Err(refuse_wide(values.nrows(), memory));
    }
    let mut rows = thin.factor;
    if labelled.len() < values.nrows() {
        let mut all = Array2::from_elem((values.nrows(), rows.ncols()), f64::NAN);
        for (&i, row) in labelled.iter().zip(rows.rows()) {
            all.row_mut(i).assign(&row);
        }
        rows = all;
    }
    Ok((Factor::dense(rows, counts), "gaussian", Some(gamma), left))
}

/// A factor of a given kernel, exact but for rounding.
fn of_matrix(kernel: &Array2<f64>) -> Result<PivotedCholesky> {
    let column = |pivot: usize, out: &mut [f64]| {
        out.iter_mut().zip(kernel.row(pivot)).for_each(|(o, k)| *o = *k);
    };
    let thin = pivoted_cholesky(kernel.diag().to_vec(), column, 1e-14, usize::MAX);
    let largest = kernel.diag().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    // A diagonal of zeros leaves no pivot: whatever lies beside it is not of a sum of squares.
    let beside = kernel.iter().fold(0.0f64, |m, v| m.max(v.abs())) > largest * (1.0 + 1e-10);
    if thin.negative < -1e-8 * largest || beside {
        let values = symmetric_eigenvalues(kernel.view())?;
        return Err(Error::NotPositive {
            what: "the label kernel",
            eigenvalue: values.first().copied().unwrap_or(0.0),
            largest: values.last().copied().unwrap_or(0.0),
        });
    }
    Ok(thin)
}

fn share(thin: &PivotedCholesky) -> f64 {
    if thin.trace > 0.0 { thin.left / thin.trace } else { 0.0 }
}

/// The rank of Δ and the sum of its squares, weighted.
fn rank(factor: &Factor, counts: Option<&[f64]>) -> Result<(usize, f64)> {
    let count = |i: usize| counts.map_or(1.0, |c| c[i]);
    match (factor.codes(), factor.rows()) {
        (Some(codes), _) => {
            let mut sizes = vec![0.0; factor.width()];
            for (i, &code) in codes.iter().enumerate().filter(|(_, c)| **c != UNLABELLED) {
                sizes[code as usize] += count(i);
            }
            let total: f64 = sizes.iter().sum();
            let classes = sizes.iter().filter(|s| **s > 0.0).count();
            // Σ w (1 − 2 p_c + Σ p²) = n (1 − Σ p²).
            let squares = total - sizes.iter().map(|s| s / total * s).sum::<f64>();
            Ok((classes.saturating_sub(1), squares))
        }
        (None, Some(rows)) => {
            let mut weighted = rows.to_owned();
            for (i, mut row) in weighted.rows_mut().into_iter().enumerate() {
                row *= count(i).sqrt();
            }
            let gram = gemm::transposed_product(weighted.view(), weighted.view());
            let values = symmetric_eigenvalues(gram.view())?;
            let top = values.last().copied().unwrap_or(0.0);
            let floor = 8.0 * (values.len() as f64).sqrt() * f64::EPSILON * top;
            Ok((values.iter().filter(|v| **v > floor).count(), gram.diag().sum()))
        }
        (None, None) => Ok((0, 0.0)),
    }
}
