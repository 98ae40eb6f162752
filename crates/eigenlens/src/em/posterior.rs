//! Posteriors of the rows of a chunk under one part, eight rows at a time, one in each lane.

use super::lanes::{LANES, Lane, Room, invert_lanes, load, store};
use super::patterns::Patterns;
use super::widths::{packed_width, width};
use crate::linalg::aligned::Aligned;
use crate::linalg::simd::vectorized;
use crate::linalg::small::packed_len;

/// Which rows of a chunk have the same entries.
#[derive(Clone, Default)]
pub(super) struct Groups {
    /// The group of every row, numbered in the order of their first rows.
    pub of_row: Vec<u8>,
    /// How many entries the rows of a group have.
    pub observed: Vec<u32>,
}

impl Groups {
    /// Rows that have the same entries; where hardly any have, each is a group of its own.
    pub fn find(&mut self, patterns: &Patterns) {
        let n = patterns.of_rows().len();
        let observed = |i: usize| patterns.of_row(i).observed() as u32;
        self.of_row.clear();
        self.observed.clear();
        if 4 * patterns.len() >= 3 * n {
            self.of_row.extend((0..n).map(|i| i as u8));
            self.observed.extend((0..n).map(observed));
        } else {
            self.of_row.extend(patterns.of_rows().iter().map(|&p| p as u8));
            let all = (0..patterns.len()).map(|p| patterns.group(p).observed() as u32);
            self.observed.extend(all);
        }
    }

    /// Whether every row is a group of its own.
    pub fn all_differ(&self) -> bool {
        self.observed.len() == self.of_row.len()
    }
}

/// Buffers for one part.
#[derive(Default)]
pub(super) struct Posterior {
    /// `Σ ŵ x` of every row (rows × width); then weight × (z, 1).
    pub rows: Aligned<f64>,
    /// `Σ E[ŵ ŵᵀ]` of every group (groups × packed); then `Σ E[ẑ ẑᵀ]`.
    pub groups: Aligned<f64>,
    /// Logarithm of the density of every row (and of up to seven that are none); then its weight.
    pub log_densities: Vec<f64>,
    /// Of eight groups at a time: `M⁻¹` and the rest of `Σ E[ŵ ŵᵀ]`, and what the logarithms of densities
    /// have in common.
    given: Vec<Lane>,
    /// `E[z]` of eight rows at a time, and a lane to spare.
    means: Vec<Lane>,
    picked: Picked,
    b: Vec<Lane>,
    moments: Vec<Lane>,
    total: Vec<Lane>,
    turned: Aligned<f64>,
    room: Room,
}

impl Posterior {
    /// Makes room for the sums.
    pub fn begin(&mut self, groups: &Groups, k: usize) {
        self.rows.resize(groups.of_row.len() * width(k));
        self.groups.resize(groups.observed.len() * packed_width(k));
    }

    /// From sums over the entries of rows and groups to posterior means and log densities; `norms` are
    /// the squared lengths of the rows.
    pub fn infer(&mut self, groups: &Groups, k: usize, noise: f64, norms: &[f64]) {
        self.invert(groups, k, noise);
        self.condition(groups, k, noise, norms);
    }

    fn invert(&mut self, groups: &Groups, k: usize, noise: f64) {
        let (packed, height) = (packed_width(k), packed_width(k) + 1);
        let (log_tau, log_noise) = (std::f64::consts::TAU.ln(), noise.ln());
        self.given.resize(groups.observed.len().div_ceil(LANES) * height, [0.0; LANES]);
        let batches = self.groups.chunks(LANES * packed).zip(groups.observed.chunks(LANES));
        for ((sums, observed), given) in batches.zip(self.given.chunks_exact_mut(height)) {
            load(sums, packed, &mut given[..packed]);
            // σ² > 0 keeps M definite; what rounding could still do to it costs no more than this row.
            given[packed] = vectorized(
                #[inline(always)]
                || {
                    for j in 0..k {
                        given[packed_len(j) + j].iter_mut().for_each(|m| *m += noise);
                    }
                    invert_lanes(given, k, observed.len(), &mut self.room)
                },
            );
            for (constant, m) in given[packed].iter_mut().zip(observed) {
                let m = f64::from(*m);
                *constant += m * log_tau + (m - k as f64) * log_noise;
            }
        }
    }

    fn condition(&mut self, groups: &Groups, k: usize, noise: f64, norms: &[f64]) {
        let width = width(k);
        let n = groups.of_row.len();
        self.log_densities.resize(n.next_multiple_of(LANES), 0.0);
        self.means.resize(n.div_ceil(LANES) * (k + 1), [0.0; LANES]);
        self.b.resize(width, [0.0; LANES]);
        self.picked.forget();
        let b = &mut self.b[..];
        let outputs = self.log_densities.as_chunks_mut().0.iter_mut().zip(norms.as_chunks().0);
        let batches = groups.of_row.chunks(LANES).zip(self.rows.chunks(LANES * width));
        let batches = batches.zip(self.means.chunks_exact_mut(k + 1)).zip(outputs);
        for (((of_row, rows), means), (log_densities, norms)) in batches {
            let given = self.picked.of(&self.given, packed_width(k) + 1, of_row);
            load(rows, width, b);
            vectorized(
                #[inline(always)]
                || *log_densities = expect_lanes(given, k, noise, norms, b, means),
            );
        }
        // Lanes without a row weigh nothing.
        self.log_densities[n..].fill(0.0);
    }

    /// From weights (in place of log densities) to the sums of moments: those of groups in `groups`,
    /// those of rows in `rows`, and over all rows added to `latent` (q).
    pub fn weigh(&mut self, groups: &Groups, k: usize, noise: f64, latent: &mut [f64]) {
        let (width, packed, q) = (width(k), packed_width(k), packed_len(k + 1));
        let alone = groups.all_differ();
        if !alone {
            self.groups.fill(0.0);
        }
        self.turned.resize(LANES * packed);
        // Zeros up to whole vectors, of all moments and of the last ones.
        self.moments.clear();
        self.moments.resize(packed.max(packed_len(k) + width), [0.0; LANES]);
        self.total.clear();
        self.total.resize(q, [0.0; LANES]);
        self.picked.forget();
        let (moments, total) = (&mut self.moments[..], &mut self.total[..]);
        let batches = groups.of_row.chunks(LANES).zip(self.rows.chunks_mut(LANES * width));
        let batches = batches.zip(self.means.chunks_exact(k + 1));
        let weights = self.log_densities.as_chunks().0;
        for (batch, (((of_row, rows), means), weights)) in batches.zip(weights).enumerate() {
            let given = self.picked.of(&self.given, packed + 1, of_row);
            vectorized(
                #[inline(always)]
                || moments_of_lanes(given, k, noise, weights, means, moments, total),
            );
            store(&moments[packed_len(k)..][..width], rows, width);
            if alone {
                let groups = self.groups.chunks_mut(LANES * packed).nth(batch).unwrap_or_default();
                store(&moments[..packed], groups, packed);
                continue;
            }
            store(&moments[..packed], &mut self.turned, packed);
            vectorized(
                #[inline(always)]
                || {
                    for (&g, row) in of_row.iter().zip(self.turned.chunks_exact(packed)) {
                        let sums = &mut self.groups[usize::from(g) * packed..][..packed];
                        sums.iter_mut().zip(row).for_each(|(s, r)| *s += r);
                    }
                },
            );
        }
        for (sum, total) in latent.iter_mut().zip(total) {
            *sum += total.iter().sum::<f64>();
        }
    }
}

/// From `b = Σ ŵ x` to means and logarithms of densities.
#[inline(always)]
fn expect_lanes(
    given: &[Lane],
    k: usize,
    noise: f64,
    norms: &Lane,
    b: &mut [Lane],
    means: &mut [Lane],
) -> Lane {
    let (inverse, rest) = given.split_at(packed_len(k));
    let mut length = *norms;
    for l in 0..LANES {
        length[l] += rest[k][l] - 2.0 * b[k][l];
    }
    for (b, cross) in b[..k].iter_mut().zip(&rest[..k]) {
        for l in 0..LANES {
            b[l] -= cross[l];
        }
    }
    for i in 0..k {
        let mut z = [0.0; LANES];
        for (j, b) in b[..k].iter().enumerate() {
            let inverse = &inverse[packed_len(i.max(j)) + i.min(j)];
            for l in 0..LANES {
                z[l] += inverse[l] * b[l];
            }
        }
        for l in 0..LANES {
            length[l] -= z[l] * b[i][l];
        }
        means[i] = z;
    }
    let constant = &given[packed_width(k)];
    let mut logs = [0.0; LANES];
    for l in 0..LANES {
        logs[l] = -0.5 * (constant[l] + length[l].max(0.0) / noise);
    }
    logs
}

/// `weight · E[ẑ ẑᵀ]`, also added to `total`.
#[inline(always)]
fn moments_of_lanes(
    given: &[Lane],
    k: usize,
    noise: f64,
    weights: &Lane,
    means: &[Lane],
    moments: &mut [Lane],
    total: &mut [Lane],
) {
    let spread = weights.map(|w| w * noise);
    // E[zzᵀ] = cov + E[z] E[z]ᵀ, with cov = σ²M⁻¹.
    for i in 0..k {
        let row = &mut moments[packed_len(i)..][..=i];
        let inverse = &given[packed_len(i)..][..=i];
        let mut weighted = [0.0; LANES];
        for l in 0..LANES {
            weighted[l] = weights[l] * means[i][l];
        }
        for j in 0..=i {
            let mut moment = [0.0; LANES];
            for l in 0..LANES {
                moment[l] = weighted[l] * means[j][l] + spread[l] * inverse[j][l];
            }
            row[j] = moment;
        }
        moments[packed_len(k) + i] = weighted;
    }
    moments[packed_len(k) + k] = *weights;
    for (total, m) in total.iter_mut().zip(moments) {
        for l in 0..LANES {
            total[l] += m[l];
        }
    }
}

/// What the groups of eight rows have, in the rows' lanes.
#[derive(Default)]
struct Picked {
    lanes: Vec<Lane>,
    /// The groups they are from.
    groups: Vec<u8>,
}

impl Picked {
    fn forget(&mut self) {
        self.groups.clear();
    }

    /// From `given`, in which eight groups take `height` lanes.
    #[inline(always)]
    fn of<'g>(&'g mut self, given: &'g [Lane], height: usize, groups: &[u8]) -> &'g [Lane] {
        let first = usize::from(groups[0]);
        let together = groups.iter().enumerate().all(|(l, &g)| usize::from(g) == first + l);
        if together && first.is_multiple_of(LANES) {
            return &given[first / LANES * height..][..height];
        }
        if self.groups != groups {
            self.groups.clear();
            self.groups.extend_from_slice(groups);
            self.lanes.resize(height, [0.0; LANES]);
            for (l, g) in groups.iter().map(|&g| usize::from(g)).enumerate() {
                let given = &given[g / LANES * height..][..height];
                for (to, from) in self.lanes.iter_mut().zip(given) {
                    to[l] = from[g % LANES];
                }
            }
        }
        &self.lanes[..height]
    }
}
