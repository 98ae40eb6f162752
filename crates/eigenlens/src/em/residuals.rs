//! The fixed point, measured: at a maximum of the likelihood the components are eigenvectors of the
//! covariance that is expected of the whole data given what is observed of them.

use super::chunk::{Chunk, for_each_chunk};
use super::conditional::Latent;
use super::gather::{gather, scatter};
use super::lanes::{LANES, Room, invert};
use crate::error::Result;
use crate::linalg::aligned::Aligned;
use crate::linalg::simd::{GemmFlags, Left, Tile, vectorized};
use crate::linalg::small::{multiply, packed_len};
use crate::passes::{RowGrid, Scaler};
use crate::scalar::Scalar;
use ndarray::{Array1, Array2, ArrayView2};

/// `S* V` with `S* = (1/n) Σ E[(x − μ)(x − μ)ᵀ | observed]`, for V (d × b). `mean` is μ less the
/// reference mean. Rows with nothing observed are left out.
pub(crate) fn expected_covariance_times<T: Scalar>(
    grid: &RowGrid<T>,
    scaler: &Scaler,
    latent: &Latent,
    mean: &Array1<f64>,
    v: ArrayView2<f64>,
) -> Result<Array2<f64>> {
    let tables = Tables::new(latent, mean, v);
    let mut total = tables.zero();
    for_each_chunk(
        grid,
        scaler,
        16,
        || (tables.zero(), Buffers::default(), None),
        |(sums, buffers, failure), chunk| {
            if let Err(e) = tables.add(chunk, sums, buffers) {
                *failure = Some(e);
            }
        },
        |(sums, _, failure)| {
            if let Some(e) = failure {
                return Err(e);
            }
            total.merge(&sums);
            Ok(())
        },
    )?;
    Ok(tables.finish(&total))
}

/// What does not change from row to row, padded to whole vectors.
struct Tables<'a> {
    latent: &'a Latent,
    mean: &'a Array1<f64>,
    /// Columns of V, and what they are padded to.
    b: usize,
    width: usize,
    /// V (d × width).
    v: Aligned<f64>,
    /// W (d × k padded), Wᵀ (k × d padded) and `Wᵀ V` (k × width).
    w: Aligned<f64>,
    wt: Aligned<f64>,
    wv: Aligned<f64>,
    /// `w_f w_fᵀ` (d × k(k + 1)/2 padded).
    outer: Aligned<f64>,
}

/// Sums over rows.
struct Sums {
    /// `Σ E[x − μ] (Vᵀ E[x − μ])ᵀ` and the spread of missing entries that is shared through z (d × width).
    product: Aligned<f64>,
    /// That spread as if nothing were observed, for chunks where little is (k × width).
    unseen: Aligned<f64>,
    /// Weight of the rows that have a feature.
    present: Vec<f64>,
    weight: f64,
}

/// Room for one chunk.
#[derive(Default)]
struct Buffers {
    /// `E[x − μ]` (rows × stride).
    x: Aligned<f64>,
    /// `Σ_o w_f x_f`, then `E[z]` (rows × k padded).
    z: Aligned<f64>,
    /// `M⁻¹` and `cov[z]` of the groups (groups × k(k + 1)/2 padded).
    gains: Aligned<f64>,
    covariances: Aligned<f64>,
    /// `weight · Vᵀ E[x − μ]` (rows × width).
    along: Aligned<f64>,
    /// `Σ w_f v_fᵀ` over features of one kind (groups × k × width); then the covariance of z times it.
    inner: Aligned<f64>,
    spread: Aligned<f64>,
    /// Features of one kind, one group after the other, and where each begins.
    features: Vec<u32>,
    starts: Vec<usize>,
    room: Room,
}

/// Groups whose spread is summed together.
const GROUPS: usize = 32;

fn padded(columns: usize) -> usize {
    columns.next_multiple_of(f64::PAD)
}

impl<'a> Tables<'a> {
    fn new(latent: &'a Latent, mean: &'a Array1<f64>, v: ArrayView2<f64>) -> Tables<'a> {
        let ((d, b), k) = (v.dim(), latent.w.ncols());
        let rows = |m: ArrayView2<f64>| {
            let width = padded(m.ncols());
            let mut out = Aligned::zeros(m.nrows() * width);
            for (out, row) in out.chunks_exact_mut(width.max(1)).zip(m.rows()) {
                out.iter_mut().zip(row).for_each(|(o, x)| *o = *x);
            }
            out
        };
        let outer = Array2::from_shape_fn((d, packed_len(k)), |(f, p)| {
            let i = (0..k).rfind(|&i| packed_len(i) <= p).unwrap_or(0);
            latent.w[[f, i]] * latent.w[[f, p - packed_len(i)]]
        });
        Tables {
            latent,
            mean,
            b,
            width: padded(b),
            v: rows(v),
            w: rows(latent.w.view()),
            wt: rows(latent.w.t()),
            wv: rows(latent.w.t().dot(&v).view()),
            outer: rows(outer.view()),
        }
    }

    fn d(&self) -> usize {
        self.latent.w.nrows()
    }

    fn k(&self) -> usize {
        self.latent.w.ncols()
    }

    fn zero(&self) -> Sums {
        Sums {
            product: Aligned::zeros(self.d() * self.width),
            unseen: Aligned::zeros(self.k() * self.width),
            present: vec![0.0; self.d()],
            weight: 0.0,
        }
    }

    fn add(&self, chunk: &Chunk, sums: &mut Sums, buffers: &mut Buffers) -> Result<()> {
        self.complete(chunk, buffers)?;
        let Buffers { x, along, .. } = buffers;
        along.resize(chunk.rows * self.width);
        let flags = GemmFlags { overwrite: true, padded: true, ..GemmFlags::default() };
        let left = Left::new(x, chunk.rows, chunk.d, chunk.stride, 1);
        f64::product(left, &self.v, self.width, self.width, along, self.width, flags);
        for group in chunk.groups() {
            let mut count = 0.0;
            for &i in group.rows {
                let weight = if group.observed() > 0 { chunk.counts[i] } else { 0.0 };
                along[i * self.width..(i + 1) * self.width].iter_mut().for_each(|a| *a *= weight);
                count += weight;
            }
            group.features.iter().for_each(|&f| sums.present[f as usize] += count);
            sums.weight += count;
        }
        let flags = GemmFlags { padded: true, ..GemmFlags::default() };
        let left = Left::new(x, chunk.d, chunk.rows, 1, chunk.stride);
        f64::product(left, along, self.width, self.width, &mut sums.product, self.width, flags);
        self.spread(chunk, sums, buffers);
        Ok(())
    }

    /// `E[x − μ]` of every row, and `cov[z]` of every group.
    fn complete(&self, chunk: &Chunk, buffers: &mut Buffers) -> Result<()> {
        let (k, narrow, packed) = (self.k(), padded(self.k()), padded(packed_len(self.k())));
        let Buffers { x, z, gains, covariances, room, .. } = buffers;
        x.resize(chunk.rows * chunk.stride);
        if k > 0 {
            gains.resize(chunk.groups().len() * packed);
            covariances.resize(gains.len());
            gather(|g| chunk.group_entries(g), &self.outer, packed, packed, gains);
            let batches =
                gains.chunks_mut(LANES * packed).zip(covariances.chunks_mut(LANES * packed));
            for (batch, (sums, covariances)) in batches.enumerate() {
                for sums in sums.chunks_exact_mut(packed) {
                    (0..k).for_each(|j| sums[packed_len(j) + j] += self.latent.noise);
                }
                let logs = invert(sums, packed, k, room);
                let both = sums.chunks_exact_mut(packed).zip(covariances.chunks_exact_mut(packed));
                for (lane, (gain, covariance)) in both.enumerate() {
                    covariance.iter_mut().zip(&*gain).for_each(|(c, g)| *c = self.latent.noise * g);
                    if self.latent.noise <= 0.0 || logs[lane].is_infinite() {
                        let group = chunk.patterns.group(batch * LANES + lane);
                        let given = self.latent.given(|f| group.has(f))?;
                        gain[..packed_len(k)].copy_from_slice(&given.gain);
                        covariance[..packed_len(k)].copy_from_slice(&given.covariance);
                    }
                }
            }
            z.resize(chunk.rows * narrow);
            let entries = |i: usize| {
                let (features, at) = chunk.row_entries(i);
                (features, move |place: usize, f: usize| at(place, f) - self.mean[f])
            };
            gather(entries, &self.w, narrow, narrow, z);
            let mut room = vec![0.0; k];
            for (group, gain) in chunk.groups().zip(gains.chunks_exact(packed)) {
                for &i in group.rows {
                    let z = &mut z[i * narrow..i * narrow + k];
                    multiply(gain, k, z, &mut room);
                    z.copy_from_slice(&room);
                }
            }
            let flags = GemmFlags { overwrite: true, padded: true, ..GemmFlags::default() };
            let left = Left::new(z, chunk.rows, k, narrow, 1);
            f64::product(left, &self.wt, chunk.stride, chunk.stride, x, chunk.stride, flags);
        } else {
            x.fill(0.0);
        }
        for (i, row) in x.chunks_exact_mut(chunk.stride).enumerate() {
            let (features, at) = chunk.row_entries(i);
            for (place, f) in features.iter().map(|&f| f as usize).enumerate() {
                row[f] = at(place, f) - self.mean[f];
            }
        }
        Ok(())
    }

    /// Adds `W_m cov[z] W_mᵀ V_m` of every row with the missing entries m. Where most entries are there the sums
    /// go over the missing entries, elsewhere over what is observed, and are taken from those over all.
    fn spread(&self, chunk: &Chunk, sums: &mut Sums, buffers: &mut Buffers) {
        let (k, packed) = (self.k(), padded(packed_len(self.k())));
        let item = k * self.width;
        if item == 0 {
            return;
        }
        let Buffers { inner, spread, features, starts, covariances, .. } = buffers;
        let observed: usize = chunk.groups().map(|g| g.observed()).sum();
        let over_missing = 2 * observed >= chunk.groups().len() * chunk.d;
        for first in (0..chunk.groups().len()).step_by(GROUPS) {
            let groups = || chunk.groups().skip(first).take(GROUPS);
            features.clear();
            starts.clear();
            for group in groups() {
                starts.push(features.len());
                if over_missing {
                    features.extend((0..chunk.d as u32).filter(|&f| !group.has(f as usize)));
                } else {
                    features.extend(group.features);
                }
            }
            starts.push(features.len());
            inner.resize(groups().len() * item);
            spread.resize(groups().len() * item);
            // Item by item: a row j of the k × width sums of a group.
            let entries = |i: usize| {
                let (group, j) = (i / k, i % k);
                let w = &self.w[j..];
                (&features[starts[group]..starts[group + 1]], move |_: usize, f: usize| {
                    w[f * padded(k)]
                })
            };
            gather(entries, &self.v, self.width, self.width, inner);
            let all = inner.chunks_exact_mut(item).zip(spread.chunks_exact_mut(item));
            for (g, (group, (inner, spread))) in groups().zip(all).enumerate() {
                let count: f64 = match group.observed() {
                    0 => 0.0,
                    _ => group.rows.iter().map(|&i| chunk.counts[i]).sum(),
                };
                let covariance = &covariances[(first + g) * packed..][..packed_len(k)];
                vectorized(
                    #[inline(always)]
                    || {
                        if !over_missing {
                            inner.iter_mut().zip(&*self.wv).for_each(|(i, all)| *i = all - *i);
                        }
                        for (i, out) in spread.chunks_exact_mut(self.width).enumerate() {
                            out.fill(0.0);
                            for (j, inner) in inner.chunks_exact(self.width).enumerate() {
                                let c = count * covariance[packed_len(i.max(j)) + i.min(j)];
                                out.iter_mut().zip(inner).for_each(|(o, x)| *o += c * x);
                            }
                        }
                        if !over_missing {
                            sums.unseen.iter_mut().zip(&*spread).for_each(|(s, x)| *s += x);
                            spread.iter_mut().for_each(|s| *s = -*s);
                        }
                    },
                );
            }
            scatter(entries, spread, self.width, &mut sums.product, self.width);
        }
    }

    /// `S* V` of the sums.
    fn finish(&self, sums: &Sums) -> Array2<f64> {
        let mut out = Array2::zeros((self.d(), self.b));
        // Without any observed entry there is nothing to measure.
        if sums.weight <= 0.0 {
            return out;
        }
        for ((f, c), out) in out.indexed_iter_mut() {
            let at = |row: usize| row * self.width + c;
            let unseen: f64 =
                (0..self.k()).map(|j| self.latent.w[[f, j]] * sums.unseen[at(j)]).sum();
            let noise = self.latent.noise * (sums.weight - sums.present[f]) * self.v[at(f)];
            *out = (sums.product[at(f)] + unseen + noise) / sums.weight;
        }
        out
    }
}

impl Sums {
    fn merge(&mut self, other: &Sums) {
        let pairs = [
            (&mut self.product[..], &other.product[..]),
            (&mut self.unseen[..], &other.unseen[..]),
            (&mut self.present[..], &other.present[..]),
        ];
        for (sums, more) in pairs {
            sums.iter_mut().zip(more).for_each(|(s, m)| *s += m);
        }
        self.weight += other.weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::linalg::random;
    use crate::linalg::small::{cholesky, solve};

    /// `A⁻¹ B` for a positive definite A.
    fn solved(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
        let n = a.nrows();
        let lower = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let mut factor: Vec<f64> = lower.map(|at| a[at]).collect();
        cholesky(&mut factor, n).unwrap();
        let mut out = b.clone();
        for mut column in out.columns_mut() {
            let mut x = column.to_vec();
            solve(&factor, n, &mut x);
            column.assign(&Array1::from(x));
        }
        out
    }

    #[test]
    fn equals_dense_conditional_gaussians() {
        let (n, d, b) = (300, 9, 5);
        for (k, one_in, patterns) in [(3, 5, 300), (3, 2, 300), (3, 2, 4), (0, 3, 300), (1, 1, 1)] {
            let mut rng = random::stream(k as u64, 9);
            let w = random::normal_matrix(&mut rng, d, k);
            let v = random::normal_matrix(&mut rng, d, b);
            let mean = random::normal_matrix(&mut rng, d, 1).column(0).to_owned();
            let mut x = random::normal_matrix(&mut rng, n, d);
            let kinds = random::normal_matrix(&mut rng, patterns, d);
            for ((i, f), x) in x.indexed_iter_mut() {
                // Of some rows nothing is there.
                let there = kinds[[i % patterns, f]].abs() < 2.0 / f64::from(one_in);
                *x = if there && i % 50 != 7 { *x } else { f64::NAN };
            }
            let latent = Latent { w: w.clone(), noise: 0.3 };
            let c = w.dot(&w.t()) + Array2::<f64>::eye(d) * 0.3;
            let mut expected = Array2::<f64>::zeros((d, d));
            let mut count = 0.0;
            for row in x.rows() {
                let (o, m): (Vec<usize>, Vec<usize>) = (0..d).partition(|&f| !row[f].is_nan());
                if o.is_empty() {
                    continue;
                }
                count += 1.0;
                let block = |a: &[usize], b: &[usize]| {
                    Array2::from_shape_fn((a.len(), b.len()), |(i, j)| c[[a[i], b[j]]])
                };
                let gain = solved(&block(&o, &o), &block(&o, &m));
                let seen: Array1<f64> = o.iter().map(|&f| row[f] - mean[f]).collect();
                let mut whole = Array1::<f64>::zeros(d);
                o.iter().zip(&seen).for_each(|(&f, v)| whole[f] = *v);
                m.iter().zip(gain.t().dot(&seen)).for_each(|(&f, v)| whole[f] = v);
                let spread = block(&m, &m) - block(&m, &o).dot(&gain);
                for i in 0..d {
                    (0..d).for_each(|j| expected[[i, j]] += whole[i] * whole[j]);
                }
                for (i, &p) in m.iter().enumerate() {
                    m.iter().enumerate().for_each(|(j, &q)| expected[[p, q]] += spread[[i, j]]);
                }
            }
            let expected = (expected / count).dot(&v);
            let data = Dataset::from(&x);
            let grid = RowGrid::surveying(&data).unwrap();
            let scaler = Scaler {
                mean_hi: vec![0.0; d],
                mean_lo: vec![0.0; d],
                inv_scale: vec![1.0; d],
                column_exponents: None,
                scale: None,
                exponent: 0,
                constant: vec![],
            };
            let found =
                expected_covariance_times(&grid, &scaler, &latent, &mean, v.view()).unwrap();
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "k = {k}: {a} {b}");
            }
        }
    }
}
