//! Kernel PCA as ordinary PCA on a factor F of the kernel, `K ≈ F Fᵀ`: Nyström and random features.

use super::fit::Fit;
use super::kernel_pca::{Approximation, KernelPca, Landmarks};
use super::kernel_plan::KernelTask;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::{
    Factor, FactorRows, Gathering, Points, Projection, RandomFeatures, ResolvedKernel, between,
    pivoted_cholesky, sample_rows, tile, uniform,
};
use crate::linalg::dense;
use crate::model::ModelCore;
use crate::model::{
    FeatureMap, KernelAccuracy, KernelBody, KernelMap, KernelPcaModel, KernelPcaParts, PcaModel,
};
use crate::plan::Plan;
use crate::scalar::Scalar;
use ndarray::{Array1, Array2, s};

/// Fits by landmarks: `F = K(X, L) W^{-1/2}` with `W = K(L, L)` (Williams & Seeger 2001).
pub(super) fn nystrom<T: Scalar>(
    fit: &KernelPca,
    kernel: ResolvedKernel,
    data: &Dataset<T>,
    plan: Plan,
) -> Result<KernelPcaModel> {
    let task = KernelTask::new(fit, &data.shape());
    // Step 1: landmarks, chosen among a uniform sample of rows: all of them, where they fit.
    let gathering = Gathering::new(&kernel, data)?.centered().exact();
    let n = gathering.n_samples();
    let m = task.landmarks().min(n);
    fit.check_k(fit.limit(n).min(m), Some(n), data.n_features())?;
    let candidates = sample_rows(data, task.landmark_candidates(m), fit.options.seed)?;
    let mut points = gathering.empty();
    points.push_rows(&candidates)?;
    drop(candidates);
    let selection = match fit.approximation {
        Approximation::Nystrom { selection, .. } => selection,
        _ => Landmarks::PivotedCholesky,
    };
    let chosen = match selection {
        Landmarks::PivotedCholesky => pivoted_cholesky(&kernel, &points, m, fit.options.seed),
        Landmarks::Uniform => uniform(points.len(), m, fit.options.seed),
    };
    let landmarks = points.select(&chosen);
    drop(points);
    // Step 2: W^{-1/2} on the part of W above its rounding.
    let root = inverse_root(&kernel, &landmarks)?;
    let projection = Projection {
        offsets: vec![0.0; root.ncols()],
        coefficients: root,
        kernel: kernel.clone(),
        points: landmarks,
    };
    // Step 3: PCA on the factor, made row by row as it is read.
    let (pca, trace) = {
        let rows = FactorRows { data: data.unweighted(), factor: Factor::Landmarks(&projection) };
        (fit_factor::<T>(fit, &rows)?, trace_of(&kernel, &gathering, data)?)
    };
    // Step 4: the trace of `F Fᵀ` is in the variances and means of its columns.
    let mean = Array1::from(pca.mean().to_vec());
    let explained = pca.total_variance() * (n as f64 - 1.0) + n as f64 * mean.dot(&mean);
    let trace_error = (trace - explained).max(0.0);
    let trace_error_share = if trace > 0.0 { trace_error / trace } else { 0.0 };
    // Step 5: scores `(F − mean) U` as a kernel map on the landmarks.
    let components = silenced(&pca);
    let coefficients = projection.coefficients.dot(&components);
    let offsets = mean.dot(&components).to_vec();
    let landmarks = projection.points.len();
    let map = KernelMap {
        center: projection.coefficients.dot(&mean).to_vec(),
        projection: Projection { coefficients, offsets, ..projection },
        threads: fit.options.threads,
    };
    let total = pca.total_variance() * (n as f64 - 1.0) + trace_error;
    let accuracy = KernelAccuracy::Nystrom { landmarks, trace_error, trace_error_share };
    Ok(dressed::<T>(fit, data, pca, KernelBody::Points(map), n, total, accuracy, plan))
}

/// Fits on random Fourier features.
pub(super) fn random_features<T: Scalar>(
    fit: &KernelPca,
    kernel: ResolvedKernel,
    data: &Dataset<T>,
    plan: Plan,
) -> Result<KernelPcaModel> {
    let (Some(gamma), Approximation::RandomFeatures { orthogonal, .. }) =
        (kernel.gaussian_gamma(), fit.approximation)
    else {
        return Err(Error::Internal("random features that were not asked for".into()));
    };
    let task = KernelTask::new(fit, &data.shape());
    let gathering = Gathering::new(&kernel, data)?;
    let (n, m) = (gathering.n_samples(), task.features());
    fit.check_k(m.min(n), Some(n), data.n_features())?;
    let features =
        RandomFeatures::draw(gamma, gathering.means().to_vec(), m, orthogonal, fit.options.seed);
    let pca = fit_factor::<T>(
        fit,
        &FactorRows { data: data.unweighted(), factor: Factor::Random(&features) },
    )?;
    let kernel_error = kernel_error(&kernel, &features, data, fit.options.seed)?;
    let components = silenced(&pca);
    let offsets = Array1::from(pca.mean().to_vec()).dot(&components).to_vec();
    let total = pca.total_variance() * (n as f64 - 1.0);
    let map = FeatureMap { features, components, offsets, threads: fit.options.threads };
    let accuracy = KernelAccuracy::RandomFeatures { features: m, orthogonal, kernel_error };
    Ok(dressed::<T>(fit, data, pca, KernelBody::Features(map), n, total, accuracy, plan))
}

fn fit_factor<T: Scalar>(fit: &KernelPca, rows: &FactorRows<T>) -> Result<PcaModel> {
    let mut pca = Fit::new("pca", fit.n_components.clone(), true);
    pca.options = fit.options.clone();
    pca.options.tolerance = Some(fit.tolerance::<T>());
    // The budget was checked as a whole.
    pca.options.memory = None;
    pca.solver = crate::options::Solver::Auto;
    Ok(pca.run(&Dataset::streamed(rows), false)?.0)
}

/// The components (m × k) with null ones 0.
fn silenced(pca: &PcaModel) -> Array2<f64> {
    let mut components = pca.components().t().as_standard_layout().into_owned();
    components.slice_mut(s![.., pca.rank()..]).fill(0.0);
    components
}

/// `Q Λ^{-1/2}` (m × r) of `W = Q Λ Qᵀ`, without eigenvalues that are rounding.
fn inverse_root(kernel: &ResolvedKernel, landmarks: &Points) -> Result<Array2<f64>> {
    let w = between(kernel, landmarks, landmarks);
    let m = w.nrows();
    let (values, vectors) = dense::symmetric_eigen(w.view())?;
    let top = values.last().copied().unwrap_or(0.0).max(0.0);
    let rounding_floor = 8.0 * m as f64 * f64::EPSILON * top;
    let kept: Vec<usize> = (0..m).rev().filter(|&j| values[j] > rounding_floor).collect();
    if kept.is_empty() {
        // A kernel of zeros: one column of zeros stands for it.
        return Ok(Array2::zeros((m, 1)));
    }
    Ok(Array2::from_shape_fn((m, kept.len()), |(i, j)| {
        vectors[[i, kept[j]]] / values[kept[j]].sqrt()
    }))
}

/// `tr K`, from a pass over the data where the kernel's diagonal is not constant.
fn trace_of<T: Scalar>(
    kernel: &ResolvedKernel,
    gathering: &Gathering<T>,
    data: &Dataset<T>,
) -> Result<f64> {
    if kernel.has_unit_diagonal() {
        return Ok(gathering.n_samples() as f64);
    }
    let mut trace = 0.0;
    gathering.empty().for_each_panel(data, |panel| {
        trace += tile::diagonal(kernel, panel).iter().sum::<f64>();
    })?;
    Ok(trace)
}

/// Root mean square error of the kernel values that features give, over pairs of sampled rows.
fn kernel_error<T: Scalar>(
    kernel: &ResolvedKernel,
    features: &RandomFeatures,
    data: &Dataset<T>,
    seed: u64,
) -> Result<f64> {
    let rows = sample_rows(data, 200, seed)?;
    let rows = Dataset::from(&rows);
    let exact = kernel.matrix(&rows, &rows)?;
    let f = features.transform(&rows)?;
    let off = exact - f.dot(&f.t());
    Ok((off.iter().map(|v| v * v).sum::<f64>() / off.len() as f64).sqrt())
}

#[expect(clippy::too_many_arguments)]
fn dressed<T: Scalar>(
    fit: &KernelPca,
    data: &Dataset<T>,
    pca: PcaModel,
    body: KernelBody,
    n: usize,
    total: f64,
    accuracy: KernelAccuracy,
    plan: Plan,
) -> KernelPcaModel {
    let divisor = n as f64 - 1.0;
    KernelPcaModel::new(KernelPcaParts {
        core: ModelCore {
            method: "kernel-pca",
            n_samples: Some(n as f64),
            feature_names: data.feature_names().map(<[String]>::to_vec),
            plan,
            warnings: pca.warnings().iter().filter(|w| w.concerns_kernels()).cloned().collect(),
            missing: None,
        },
        body,
        values: pca.explained_variance().iter().map(|v| v * divisor).collect(),
        total,
        n_features: data.n_features(),
        column_means: Vec::new(),
        mean: pca.mean().iter().map(|v| v * v).sum(),
        negative: None,
        accuracy,
        certificate: pca.certificate().clone(),
        convergence: pca.convergence().clone(),
        tolerance: fit.tolerance::<T>(),
    })
}
