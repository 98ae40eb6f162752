//! The fixed point, measured: at a maximum of the likelihood the components are eigenvectors of the
//! covariance that is expected of the whole data given what is observed of them.

use super::chunk::{Chunk, for_each_chunk};
use super::conditional::Latent;
use crate::data::{Prepared, Standardization};
use crate::error::Result;
use crate::linalg::small::{multiply, packed_len};
use crate::scalar::Scalar;
use ndarray::{Array1, Array2, ArrayView2};

/// `S* V` with `S* = (1/n) Σ E[(x − μ)(x − μ)ᵀ | observed]`, for V (d × b). `mean` is μ less the
/// reference mean. Rows with nothing observed are left out.
pub(crate) fn expected_covariance_times<T: Scalar>(
    prepared: &Prepared<T>,
    by: &Standardization,
    latent: &Latent,
    mean: &Array1<f64>,
    v: ArrayView2<f64>,
) -> Result<Array2<f64>> {
    let zero = || (Array2::<f64>::zeros(v.dim()), 0.0, None);
    let (mut total, mut weight) = (Array2::zeros(v.dim()), 0.0);
    for_each_chunk(
        prepared,
        by,
        16,
        zero,
        |(sum, weight, failure), chunk| {
            if let Err(e) = add(latent, mean, v, chunk, sum, weight) {
                *failure = Some(e);
            }
        },
        |(sum, more, failure)| {
            if let Some(e) = failure {
                return Err(e);
            }
            total += &sum;
            weight += more;
            Ok(())
        },
    )?;
    // Without any observed entry there is nothing to measure.
    Ok(if weight > 0.0 { total / weight } else { total })
}

fn add(
    latent: &Latent,
    mean: &Array1<f64>,
    v: ArrayView2<f64>,
    chunk: &Chunk,
    sum: &mut Array2<f64>,
    weight: &mut f64,
) -> Result<()> {
    let (d, b) = v.dim();
    let k = latent.w.ncols();
    let mut row = Array1::<f64>::zeros(d);
    for group in chunk.groups().filter(|g| g.observed() > 0) {
        let given = latent.given(|f| group.has(f))?;
        let mut count = 0.0;
        for &i in group.rows.iter().filter(|&&i| chunk.counts[i] > 0.0) {
            let w = chunk.counts[i];
            count += w;
            let found = chunk.row(i);
            for f in 0..d {
                row[f] = if group.has(f) { found[f] - mean[f] } else { 0.0 };
            }
            let z = Array1::from(given.mean(latent, row.as_slice().unwrap_or_default()));
            for f in (0..d).filter(|&f| !group.has(f)) {
                row[f] = latent.w.row(f).dot(&z);
            }
            let along = row.dot(&v) * w;
            for f in 0..d {
                sum.row_mut(f).scaled_add(row[f], &along);
            }
        }
        *weight += count;
        // The spread of the holes: σ² V_m + W_m cov W_mᵀ V_m.
        let holes: Vec<usize> = (0..d).filter(|&f| !group.has(f)).collect();
        if holes.is_empty() || count == 0.0 {
            continue;
        }
        let mut inner = Array2::<f64>::zeros((k, b));
        for &f in &holes {
            for j in 0..k {
                inner.row_mut(j).scaled_add(latent.w[[f, j]], &v.row(f));
            }
        }
        let mut spread = Array2::<f64>::zeros((k, b));
        let mut out = vec![0.0; k];
        debug_assert_eq!(given.covariance.len(), packed_len(k));
        for c in 0..b {
            multiply(&given.covariance, k, &inner.column(c).to_vec(), &mut out);
            spread.column_mut(c).iter_mut().zip(&out).for_each(|(s, o)| *s = *o);
        }
        for &f in &holes {
            sum.row_mut(f).scaled_add(count * latent.noise, &v.row(f));
            let along = latent.w.row(f).dot(&spread) * count;
            sum.row_mut(f).scaled_add(1.0, &along);
        }
    }
    Ok(())
}
