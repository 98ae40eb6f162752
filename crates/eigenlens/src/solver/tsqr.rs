//! Singular values and right vectors of tall or wide data through QR factorisations: nothing is
//! squared, so small singular values keep their digits.

use crate::error::{Error, Hint, Result};
use crate::linalg::dense::{qr_q, qr_r, thin_svd};
use crate::passes::Standardized;
use crate::scalar::Scalar;
use crate::solver::certificate::orthogonality;
use ndarray::{Array2, Axis, concatenate, s};
use rayon::prelude::*;

/// Factorisations made at once: bounds the memory, and fixes the tree of merges.
const WAVE: usize = 4;

/// Singular values (descending) of `W^½ Xs`, and right singular vectors (d × wanted).
pub(crate) struct RightSvd {
    pub values: Vec<f64>,
    pub vectors: Array2<f64>,
}

/// Rows of one factorisation.
pub(crate) fn chunk_rows(d: usize) -> usize {
    (2 * d).max(256)
}

/// Bytes the tall route allocates.
pub(crate) fn tall_memory(d: usize) -> u64 {
    let panel = (chunk_rows(d) * d * 8) as u64;
    // A wave of panels, the copies the factorisations make of them, and the triangles.
    panel * (2 * WAVE as u64 + 1) + (d * d * 8) as u64 * 12
}

/// For n ≥ d: the triangular factor of the data, by a tree of small factorisations.
pub(crate) fn tall<T: Scalar>(data: &Standardized<T>, wanted: usize) -> Result<RightSvd> {
    let d = data.grid.data.n_features();
    let mut total: Option<Array2<f64>> = None;
    let mut wave: Vec<Array2<f64>> = Vec::new();
    data.for_each_panel(chunk_rows(d), |panel| {
        wave.push(panel.clone());
        if wave.len() == WAVE {
            merge_wave(&mut total, std::mem::take(&mut wave))?;
        }
        Ok(())
    })?;
    merge_wave(&mut total, wave)?;
    let r = total.ok_or(Error::NoRows)?;
    let svd = thin_svd(r.view())?;
    Ok(RightSvd { values: svd.s, vectors: first_columns(&svd.v, wanted) })
}

/// For n < d: the triangular factor of the transposed data, features in chunks; then
/// `U = Xᵀ V Σ⁻¹`, made orthonormal again where small values have cost digits.
pub(crate) fn wide<T: Scalar>(data: &Standardized<T>, wanted: usize) -> Result<RightSvd> {
    let Some(n) = data.grid.data.n_samples().filter(|_| data.in_memory()) else {
        return Err(Error::Unsupported {
            what: "the svd route on sparse or streamed data".into(),
            why: "needs at least as many samples as features",
            instead: Some(Hint::Set { option: "solver", value: "iterative".into() }),
        });
    };
    let d = data.grid.data.n_features();
    let chunk = chunk_rows(n);
    let starts: Vec<usize> = (0..d).step_by(chunk).collect();
    let mut total: Option<Array2<f64>> = None;
    for wave in starts.chunks(WAVE) {
        let panels =
            wave.iter().map(|&f| data.features(f, chunk.min(d - f))).collect::<Result<_>>()?;
        merge_wave(&mut total, panels)?;
    }
    let r = total.ok_or(Error::NoColumns)?;
    // W^½ Xs = Rᵀ Qᵀ: the left vectors of the data are the right vectors of R.
    let svd = thin_svd(r.view())?;
    let wanted = wanted.min(svd.s.len());
    let mut left = first_columns(&svd.v, wanted);
    if let Some(counts) = data.grid.counts() {
        for (mut row, w) in left.rows_mut().into_iter().zip(counts) {
            row *= w.sqrt();
        }
    }
    let mut vectors = data.transposed_product(left.view())?;
    orthonormalize(&mut vectors, &svd.s);
    Ok(RightSvd { values: svd.s, vectors })
}

/// Scales the columns of `Xᵀ V` to length 1 and, where small values have cost digits, takes the
/// larger ones out of the smaller ones. Columns without any length (null directions) are left 0.
pub(crate) fn orthonormalize(vectors: &mut Array2<f64>, values: &[f64]) {
    let (d, m) = vectors.dim();
    let top = values.first().copied().unwrap_or(0.0);
    let rounding_floor = top * f64::EPSILON * (d.max(m) as f64).sqrt();
    let positive = values.iter().take(m).take_while(|v| **v > rounding_floor).count();
    let factors: Vec<f64> =
        (0..m).map(|j| if j < positive { 1.0 / values[j] } else { 0.0 }).collect();
    vectors.axis_chunks_iter_mut(Axis(0), 4096).into_par_iter().for_each(|mut rows| {
        for mut row in rows.rows_mut() {
            row.iter_mut().zip(&factors).for_each(|(v, f)| *v *= f);
        }
    });
    let head = vectors.slice(s![.., ..positive]);
    // Long columns that are orthonormal already are not worth a factorisation.
    if positive == 0 || (d >= 4096 && orthogonality(head) < 1e-14 * (d as f64).sqrt()) {
        return;
    }
    // QR of nearly orthonormal columns changes them by no more than their errors.
    let q = qr_q(head);
    let signs: Vec<f64> = (0..positive)
        .map(|j| if q.column(j).dot(&head.column(j)) < 0.0 { -1.0 } else { 1.0 })
        .collect();
    for (mut to, from) in vectors.rows_mut().into_iter().zip(q.rows()) {
        to.iter_mut().zip(from).zip(&signs).for_each(|((t, f), s)| *t = f * s);
    }
}

fn merge_wave(total: &mut Option<Array2<f64>>, wave: Vec<Array2<f64>>) -> Result<()> {
    if wave.is_empty() {
        return Ok(());
    }
    let mut triangles: Vec<Array2<f64>> =
        wave.into_par_iter().map(|panel| qr_r(panel.view())).collect();
    while triangles.len() > 1 {
        triangles = triangles.par_chunks(2).map(stack).collect::<Result<_>>()?;
    }
    let newest = triangles.remove(0);
    *total = Some(match total.take() {
        None => newest,
        Some(before) => stack(&[before, newest])?,
    });
    Ok(())
}

fn stack(pair: &[Array2<f64>]) -> Result<Array2<f64>> {
    let views: Vec<_> = pair.iter().map(|r| r.view()).collect();
    let both = concatenate(Axis(0), &views).map_err(|e| Error::Internal(e.to_string()))?;
    Ok(if pair.len() == 1 { both } else { qr_r(both.view()) })
}

fn first_columns(a: &Array2<f64>, wanted: usize) -> Array2<f64> {
    a.slice(s![.., ..wanted.min(a.ncols())]).to_owned()
}
