//! Kernel supervised PCA: supervised PCA in the feature space of a kernel.

use super::estimator::{Estimator, FitContext, Fitted, Method, estimator, need_target};
use super::kernel_options::{KERNEL, LABELS};
use super::option_spec::{OptionSpec, OptionValues};
use super::supervised_pca::{NO_RULES, refuse_rules};
use crate::data::{AnyDataset, DataShape, Dataset, Target, compiled_here};
use crate::dependence::{LabelKernel, Labels};
use crate::error::{Error, Result, Warning};
use crate::kernel::{Arithmetic, Gathering, Kernel, Points, Projection, ResolvedKernel};
use crate::linalg::dense::symmetric_eigen;
use crate::linalg::{gemm, pool};
use crate::model::ModelCore;
use crate::model::{KernelMap, KernelSupervisedParts, KernelSupervisedPcaModel, TargetRecord};
use crate::n_components::{AllValues, NComponents};
use crate::operator::{KernelGram, Operator};
use crate::options::Options;
use crate::passes::reduction_block_rows;
use crate::plan::{self, Plan, Route};
use crate::scalar::Scalar;
use crate::solver::certificate::{self, Certificate, Evidence, Measured, NoneMissed, Rounding};
use crate::solver::{Convergence, finish};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// What every surface knows of the method.
pub(super) const METHOD: Method = Method {
    name: "kernel-supervised-pca",
    about: "kernel supervised PCA: the same in the feature space of a kernel",
    axis: "KSPC",
    linear: false,
    takes_missing: false,
    default_n_components: |_| NComponents::VarianceShare(0.99),
    supervised: true,
    options: &[LABELS, KERNEL, OPTIONS],
    build,
    load: |parts| Ok(Box::new(KernelSupervisedPcaModel::from_parts(parts)?)),
};

/// What a user may ask for.
const OPTIONS: &[OptionSpec] =
    &[OptionSpec::flag("center", true, "Subtract the mean in feature space from scores")];

fn build(values: &OptionValues, shape: &DataShape) -> Result<Box<dyn Estimator>> {
    Ok(Box::new(
        KernelSupervisedPca::new(values.n_components(shape))
            .kernel(values.kernel()?)
            .label_kernel(values.label_kernel())
            .center(values.flag("center"))
            .keep_unlabelled(values.keeps_unlabelled())
            .options(values.options.clone()),
    ))
}

/// Kernel supervised PCA (Barshan, Ghodsi, Azimifar & Zolghadri Jahromi 2011): directions in the
/// feature space of a kernel that depend most on a target. With `H K_y H = ΔΔᵀ`, they come from the
/// eigenpairs of the thin `Δᵀ K_x Δ`; no n × n matrix is kept.
///
/// ```
/// use eigenlens::{Kernel, KernelSupervisedPca, Target, ndarray};
/// // Two rings: their classes differ in the distance from the middle only.
/// let x = ndarray::Array2::from_shape_fn((80, 2), |(i, f)| {
///     let (angle, radius) = (i as f64 * 0.37, if i % 2 == 0 { 1.0 } else { 3.0 });
///     radius * if f == 0 { angle.cos() } else { angle.sin() }
/// });
/// let target = Target::classes((0..80).map(|i| ["inner", "outer"][i % 2]));
/// let fit = KernelSupervisedPca::new(1).kernel(Kernel::rbf());
/// let (model, scores) = fit.fit_transform(&x, &target)?;
/// let side = scores[[0, 0]].signum();
/// assert!((0..80).all(|i| (scores[[i, 0]].signum() == side) == (i % 2 == 0)));
/// assert!(model.certificate().relative_residual() < 1e-9);
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KernelSupervisedPca {
    n_components: NComponents,
    kernel: Kernel,
    label_kernel: LabelKernel,
    center: bool,
    keep_unlabelled: bool,
    options: Options,
}

/// Columns the kernel is applied to at a time: bounds the memory of partial sums.
const COLUMNS: usize = 32;

impl KernelSupervisedPca {
    /// Keeps `n_components`: a number, or a [`NComponents`]; a share is a share of HSIC, and
    /// all are as many as the target can tell apart. The kernel is Gaussian with the median
    /// heuristic unless [`KernelSupervisedPca::kernel`] says otherwise.
    pub fn new(n_components: impl Into<NComponents>) -> Self {
        KernelSupervisedPca {
            n_components: n_components.into(),
            kernel: Kernel::default(),
            label_kernel: LabelKernel::Auto,
            center: true,
            keep_unlabelled: false,
            options: Options::default(),
        }
    }

    /// The kernel between samples (default: Gaussian, median heuristic).
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// The kernel between targets (default: delta for classes, Gaussian for numbers).
    pub fn label_kernel(mut self, kernel: LabelKernel) -> Self {
        self.label_kernel = kernel;
        self
    }

    /// Scores about the training mean in feature space (default: yes). Without, they differ by a
    /// constant.
    pub fn center(mut self, center: bool) -> Self {
        self.center = center;
        self
    }

    /// Lets samples without a label take part in the mean (default: no, they are an error).
    pub fn keep_unlabelled(mut self, keep: bool) -> Self {
        self.keep_unlabelled = keep;
        self
    }

    /// Threads, memory, seed, tolerance.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// What would be done, without reading a row of the data.
    pub fn plan(&self, shape: impl Into<DataShape>, target: &Target) -> Result<Plan> {
        let shape = shape.into();
        self.check(&shape, target)?;
        pool::run(self.options.threads, || self.planned(&shape, &self.labels(target)?))?
    }

    /// Fits the model.
    pub fn fit<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        target: &Target,
    ) -> Result<KernelSupervisedPcaModel> {
        let data = &data.into();
        compiled_here!(
            KernelSupervisedPca,
            self.fit_typed(data, target: &Target) -> Result<KernelSupervisedPcaModel>
        )
    }

    fn fit_typed<T: Scalar>(
        &self,
        data: &Dataset<T>,
        target: &Target,
    ) -> Result<KernelSupervisedPcaModel> {
        self.check(&data.shape(), target)?;
        pool::run(self.options.threads, || {
            let labels = self.labels(target)?;
            let plan = self.planned(&data.shape(), &labels)?.reserved()?;
            self.run(data, target, &labels, plan)
        })?
    }

    /// Fits the model and returns the training scores (n × k).
    pub fn fit_transform<'a, T: Scalar>(
        &self,
        data: impl Into<Dataset<'a, T>>,
        target: &Target,
    ) -> Result<(KernelSupervisedPcaModel, Array2<T>)> {
        let data = &data.into();
        let model = self.fit(data, target)?;
        let scores = model.transform(data)?;
        Ok((model, scores))
    }

    fn labels(&self, target: &Target) -> Result<Labels> {
        Labels::new(target, self.label_kernel, self.keep_unlabelled, None, self.options.memory)
    }

    fn run<T: Scalar>(
        &self,
        data: &Dataset<T>,
        target: &Target,
        labels: &Labels,
        plan: Plan,
    ) -> Result<KernelSupervisedPcaModel> {
        // 1. The points.
        let kernel = self.kernel.resolve(data, self.options.seed)?;
        let points = self.gather(&kernel, data, labels)?;
        let (n, d) = (points.len(), data.n_features());
        // 2. K_x Δ and the means of K_x, in one go over the kernel for each few columns.
        let delta = labels.factor.to_matrix();
        let gram = KernelGram::recomputed(&kernel, &points);
        let product = applied(&gram, delta.view())?;
        let means: Array1<f64> = gram.row_sums()?.into_iter().map(|sum| sum / n as f64).collect();
        check_finite(&means)?;
        // 3. Eigenpairs of Δᵀ K_x Δ (ℓ × ℓ), and how many of them.
        let diagonal = gram.diagonal();
        let small = SmallPairs::new(&delta, &product, &diagonal, labels)?;
        let (limit, mut notes) = (small.carry.clamp(1, n), Vec::new());
        let descending = small.values(small.carry);
        let floor = small.rounding_floor;
        let k = AllValues::without_rules(&descending, small.total, floor, limit, NO_RULES)
            .resolve(&self.n_components, &mut notes)?;
        let rank = k.min(small.carry);
        // 4. A = Δ V Σ⁻¹, signed by the training scores H K_x A.
        let (coefficients, scores) = small.signed(rank, &delta, &product, T::SIGN_TIE);
        // 5. The certificate, against the kernel applied once more.
        let mut values = small.values(rank);
        let certificate =
            certify(&gram, &delta, &small.vectors(rank), &values, small.rounding_floor, k)?;
        drop(product);
        // 6. The model; null components score 0.
        let divisor = n as f64 - 1.0;
        let mut variances: Vec<f64> =
            scores.columns().into_iter().map(|z| z.dot(&z) / divisor).collect();
        variances.resize(k, 0.0);
        values.resize(k, 0.0);
        let mut all = Array2::zeros((n, k));
        all.slice_mut(s![.., ..rank]).assign(&coefficients);
        let offsets = if self.center { means.dot(&all).to_vec() } else { vec![0.0; k] };
        let variance = (diagonal.iter().sum::<f64>() - means.sum()).max(0.0) / divisor;
        let points = if kernel.is_precomputed() { Points::absent(&kernel, n) } else { points };
        let pairs = (labels.weight - 1.0) * (labels.weight - 1.0);
        Ok(KernelSupervisedPcaModel::new(KernelSupervisedParts {
            core: ModelCore {
                method: "kernel-supervised-pca",
                n_samples: Some(n as f64),
                feature_names: data.feature_names().map(<[String]>::to_vec),
                plan,
                warnings: small.warnings(labels, rank, k),
                missing: None,
            },
            map: KernelMap {
                projection: Projection { kernel, points, coefficients: all, offsets },
                center: vec![1.0 / n as f64; n],
                threads: self.options.threads,
            },
            hsic: values.iter().map(|v| v / pairs).collect(),
            total_hsic: small.total / pairs,
            values,
            variances,
            total: variance,
            n_features: d,
            center: self.center,
            target: TargetRecord::new(target, labels),
            certificate,
            convergence: Convergence { converged: true, ..Convergence::default() },
            tolerance: self.options.tolerance.unwrap_or(1e-9),
        }))
    }

    /// The points, checked; moved by their mean where that changes no score.
    fn gather<T: Scalar>(
        &self,
        kernel: &ResolvedKernel,
        data: &Dataset<T>,
        labels: &Labels,
    ) -> Result<Points> {
        let gathering = Gathering::new(kernel, data)?.exact();
        let gathering = if self.center { gathering.centered() } else { gathering };
        let (n, d) = (gathering.n_samples(), data.n_features());
        labels.factor.check_rows(n)?;
        self.n_components.check_limit(n, n, d)?;
        let points = gathering.gather()?;
        if kernel.is_precomputed() {
            if n != d {
                return Err(not_square(n, d));
            }
            points.check_symmetric("the precomputed kernel", 10.0 * T::EPSILON.max(1e-9))?;
        }
        Ok(points)
    }

    /// Route, memory; refused where it does not fit the budget.
    fn planned(&self, shape: &DataShape, labels: &Labels) -> Result<Plan> {
        let (n, d, width) = (labels.factor.len(), shape.n_features, labels.factor.width());
        let points = Points::memory(n, d, Arithmetic::F64);
        let columns = (n * (3 * width + 4 * self.likely_k(width) + 8) * 8) as u64;
        let reading = (3 * reduction_block_rows(d) + 5000) as u64 * d as u64 * 8 + (24 << 20);
        let peak_memory = points
            .saturating_add(KernelGram::apply_memory(n, COLUMNS))
            .saturating_add(columns)
            .saturating_add((6 * width * width * 8) as u64)
            .saturating_add(reading)
            .saturating_add(labels.held_memory());
        let reason = format!("{n} × {d}: a label factor of {width} columns, the kernel in blocks");
        plan::only(Route::Labels, reason, 3, peak_memory, self.options.memory)
    }

    fn likely_k(&self, width: usize) -> usize {
        self.n_components.number(width).unwrap_or(width)
    }

    /// Refuses what cannot be meant, before any row is read.
    fn check(&self, shape: &DataShape, target: &Target) -> Result<()> {
        self.options.check()?;
        self.kernel.check()?;
        let d = shape.n_features;
        if d == 0 {
            return Err(Error::NoColumns);
        }
        self.n_components.check()?;
        refuse_rules(&self.n_components)?;
        if let Some(n) = shape.n_samples {
            if n == 0 {
                return Err(Error::NoRows);
            }
            if n < 2 {
                return Err(Error::TooFewRows { found: n, needed: 2 });
            }
            if n != target.n_samples() {
                return Err(Error::Shape {
                    what: "the target",
                    found: format!("{} values", target.n_samples()),
                    expected: format!("one for each of {n} samples"),
                });
            }
            if self.kernel == Kernel::Precomputed && n != d {
                return Err(not_square(n, d));
            }
        }
        let n = target.n_samples();
        self.n_components.check_limit(n, n, d)
    }
}

/// All eigenpairs of `Δᵀ K_x Δ` (ℓ × ℓ).
struct SmallPairs {
    values: Vec<f64>,
    /// ℓ × ℓ.
    vectors: Array2<f64>,
    /// Which are the largest.
    order: Vec<usize>,
    /// The trace.
    total: f64,
    /// Values at or below this are rounding.
    rounding_floor: f64,
    /// How many carry something.
    carry: usize,
}

impl SmallPairs {
    /// From Δ and `K_x Δ` (n × ℓ), and the diagonal of K_x.
    fn new(
        delta: &Array2<f64>,
        product: &Array2<f64>,
        diagonal: &[f64],
        labels: &Labels,
    ) -> Result<SmallPairs> {
        let mut small = gemm::transposed_product(delta.view(), product.view());
        symmetrize(&mut small);
        let (values, vectors) = symmetric_eigen(small.view())?;
        let total = small.diag().sum().max(0.0);
        let order = finish::descending(&values);
        let top = order.first().map_or(0.0, |&j| values[j].max(0.0));
        let size = diagonal.iter().fold(0.0f64, |m, v| m.max(v.abs())) * labels.squares;
        let rounding_floor = 1e-14 * top + 16.0 * f64::EPSILON * size;
        let most = labels.rank.min(delta.nrows() - 1);
        let carry = order.iter().take(most).filter(|&&j| values[j] > rounding_floor).count();
        Ok(SmallPairs { values, vectors, order, total, rounding_floor, carry })
    }

    /// The largest `count` values.
    fn values(&self, count: usize) -> Vec<f64> {
        self.order.iter().take(count).map(|&j| self.values[j]).collect()
    }

    /// Their vectors (ℓ × count).
    fn vectors(&self, count: usize) -> Array2<f64> {
        let chosen: Vec<usize> = self.order.iter().copied().take(count).collect();
        self.vectors.select(Axis(1), &chosen).as_standard_layout().into_owned()
    }

    /// Dual coefficients `Δ V Σ⁻¹` and centred training scores `H K_x Δ V Σ⁻¹` (n × rank), signed by these.
    fn signed(
        &self,
        rank: usize,
        delta: &Array2<f64>,
        product: &Array2<f64>,
        tie: f64,
    ) -> (Array2<f64>, Array2<f64>) {
        let mut inner = self.vectors(rank);
        for (mut column, value) in inner.columns_mut().into_iter().zip(self.values(rank)) {
            column /= value.sqrt();
        }
        let mut scores = gemm::product(product.view(), inner.view());
        let mut coefficients = gemm::product(delta.view(), inner.view());
        for j in 0..rank {
            let mean = scores.column(j).mean().unwrap_or(0.0);
            scores.column_mut(j).mapv_inplace(|z| z - mean);
            let sign = finish::sign_of(scores.column(j), tie);
            scores.column_mut(j).mapv_inplace(|z| z * sign);
            coefficients.column_mut(j).mapv_inplace(|a| a * sign);
        }
        (coefficients, scores)
    }

    /// What the user should know of `k` components, of which `rank` carry something.
    fn warnings(&self, labels: &Labels, rank: usize, k: usize) -> Vec<Warning> {
        let mut warnings = labels.warnings.clone();
        if rank == 0 {
            warnings.push(Warning::NoDependence);
        } else if rank < k {
            warnings.push(Warning::LabelRank { rank, requested: k });
        }
        let SmallPairs { values, order, total, .. } = self;
        let top = order.first().map_or(0.0, |&j| values[j].max(0.0));
        let smallest = order.last().map_or(0.0, |&j| values[j].min(0.0));
        if smallest < -1e-10 * top {
            let negative: f64 = order.iter().map(|&j| values[j].min(0.0).abs()).sum();
            let share = negative / (total + 2.0 * negative).max(f64::MIN_POSITIVE);
            warnings.push(Warning::IndefiniteKernel { share, smallest, complete: true });
        }
        warnings
    }
}

super::traits::fit_trait!(KernelSupervisedPca => KernelSupervisedPcaModel, supervised);
estimator!(KernelSupervisedPca, supervised);

/// `K V`, a few columns at a time.
fn applied(gram: &KernelGram, v: ArrayView2<f64>) -> Result<Array2<f64>> {
    let (n, columns) = v.dim();
    let mut product = Array2::zeros((n, columns));
    for first in (0..columns).step_by(COLUMNS) {
        let last = (first + COLUMNS).min(columns);
        let mut part = Array2::zeros((n, last - first));
        gram.apply(v.slice(s![.., first..last]).as_standard_layout().view(), &mut part)?;
        product.slice_mut(s![.., first..last]).assign(&part);
    }
    Ok(product)
}

/// `‖Δᵀ K Δ v − λ v‖`, with the kernel computed once more for the combination `Δ v` itself.
fn certify(
    gram: &KernelGram,
    delta: &Array2<f64>,
    vectors: &Array2<f64>,
    values: &[f64],
    rounding_floor: f64,
    k: usize,
) -> Result<Certificate> {
    let combined = gemm::product(delta.view(), vectors.view());
    let product = applied(gram, combined.view())?;
    let product = gemm::transposed_product(delta.view(), product.view());
    let size = gram.diagonal().iter().fold(0.0f64, |most, v| most.max(v.abs()));
    // Of unit vectors; those that are multiplied have lengths of their own.
    let norm = delta.iter().map(|v| v * v).sum::<f64>().sqrt();
    let lengths = combined.map_axis(Axis(0), |c| c.dot(&c).sqrt().max(f64::MIN_POSITIVE));
    let rounding = gram.rounding(size, (&combined / &lengths).view()).into_iter().zip(&lengths);
    let rounding =
        rounding.fold(0.0f64, |most, ((error, _), length)| most.max(error * length * norm));
    let mut measured = values.to_vec();
    let mut residuals = certificate::residuals(product.view(), vectors.view(), values);
    let mut along = certificate::along(product.view(), vectors.view(), values);
    let orthogonality = certificate::orthogonality(vectors.view());
    // Null components, and the rest beside them.
    measured.resize(k + 1, 0.0);
    residuals.resize(k + 1, 0.0);
    along.resize(k + 1, 0.0);
    Ok(certificate::certify(Measured {
        values: &measured,
        k,
        residuals: &residuals,
        along: &along,
        rounding: Rounding::uniform(rounding, measured.len()),
        parts: None,
        orthogonality,
        rounding_floor,
        evidence: Evidence::Data,
        none_missed: NoneMissed::Complete,
        unseen: 0.0,
    }))
}

/// A kernel that overflows has no components.
fn check_finite(means: &Array1<f64>) -> Result<()> {
    match means.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(row) => Err(Error::NotDefined {
            what: "kernel supervised PCA",
            why: format!("kernel values of row {row} are not finite"),
        }),
    }
}

fn symmetrize(matrix: &mut Array2<f64>) {
    for i in 0..matrix.nrows() {
        for j in 0..i {
            let mean = 0.5 * (matrix[[i, j]] + matrix[[j, i]]);
            matrix[[i, j]] = mean;
            matrix[[j, i]] = mean;
        }
    }
}

fn not_square(n: usize, d: usize) -> Error {
    Error::Shape {
        what: "the precomputed kernel",
        found: format!("{n} × {d} entries"),
        expected: "a square matrix".into(),
    }
}
