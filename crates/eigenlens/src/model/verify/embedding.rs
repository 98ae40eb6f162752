//! Spectral embeddings: the operator is rebuilt from the data by simple code, its eigenvectors are measured.

use super::columns;
use super::pairs::Wording;
use super::rows::Reader;
use super::symmetric::{Claimed, Symmetric, all_rows};
use super::{Checks, Sum, Verification, VerifyOptions, dot, norm, pca, skip_the_run};
use crate::data::{AnyDataset, DataShape, Target};
use crate::error::Result;
use crate::graph::{Metric, Neighborhood, Network};
use crate::linalg::dense::power_of_two;
use crate::model::embedding::{
    Affinity, DistanceMap, Distances, EmbeddingMap, EmbeddingModel, EmbeddingParts, LaplacianMap,
    LleMap, LleVariant, Normalization, Samples,
};
use rayon::prelude::*;

/// More samples than these make graphs and their distances more than three fits' work.
const MOST_SAMPLES: usize = 3000;

pub(in crate::model) fn verify(
    model: &EmbeddingModel,
    data: &AnyDataset,
    _: Option<&Target>,
    options: &VerifyOptions,
) -> Result<Verification> {
    let (parts, needed) = (model.parts(), memory(model, &data.shape()));
    let d = parts.map.n_features();
    let (mut checks, reader) = columns::open(&parts.core, d, needed, data, options)?;
    let n = parts.coordinates.nrows();
    if let Some(reader) = &reader {
        match &parts.map {
            EmbeddingMap::Linear { pca, signs } => {
                linear(&mut checks, parts, pca.parts(), signs, reader, options)?;
            }
            _ if n > MOST_SAMPLES => {
                let reason = "so many samples would take longer than three fits";
                checks.skip("coordinates, eigenvalues and bounds", reason);
            }
            map => {
                let rows = all_rows(reader)?;
                checks.samples(&parts.core, reader, rows.len() as f64);
                if rows.len() == n {
                    of_rows(&mut checks, parts, map, rows, reader, options);
                }
            }
        }
    }
    skip_the_run(&mut checks);
    checks.skip(
        "quality of the embedding (trustworthiness, continuity, stress)",
        "it is judged on samples drawn at random",
    );
    Ok(checks.finish(n, options))
}

pub(in crate::model) fn memory(model: &EmbeddingModel, shape: &DataShape) -> u64 {
    let (n, d) = (model.n_samples().min(MOST_SAMPLES) as u64, shape.n_features as u64);
    let k = model.n_components() as u64;
    let linear = match &model.parts().map {
        EmbeddingMap::Linear { pca, .. } => pca::memory(pca, shape),
        _ => 8 * n * (d + 3 * n.max(super::SMALL as u64)),
    };
    linear + 8 * n * 6 * (k + 10) + Reader::memory(shape.n_features)
}

fn of_rows(
    checks: &mut Checks,
    parts: &EmbeddingParts,
    map: &EmbeddingMap,
    rows: Vec<Vec<f64>>,
    reader: &Reader,
    options: &VerifyOptions,
) {
    match map {
        EmbeddingMap::Distances(map) => distances(checks, parts, map, rows, reader, options),
        EmbeddingMap::Laplacian(map) => laplacian(checks, parts, map, rows, options),
        EmbeddingMap::Lle(map) => lle(checks, parts, map, rows, options),
        EmbeddingMap::Linear { .. } => {}
    }
}

/// Euclidean MDS is PCA: coordinates are its scores, each times +1 or −1.
fn linear(
    checks: &mut Checks,
    parts: &EmbeddingParts,
    body: &crate::model::PcaParts,
    signs: &[f64],
    reader: &Reader,
    options: &VerifyOptions,
) -> Result<()> {
    pca::body(checks, body, reader, options)?;
    let reader = reader.scaled_by(body.map.scaler.column_exponents.as_deref());
    let n = parts.coordinates.nrows();
    let scaler = &body.map.scaler;
    let unit = power_of_two(scaler.exponent);
    let components: Vec<Vec<f64>> =
        body.map.components.outer_iter().map(|row| row.to_vec()).collect();
    let (mut worst, mut at) = ((0.0, 0.0, 0.0, String::new()), 0);
    let size = parts.coordinates.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let rounding = if reader.is_f32() { 1e-6 } else { 1e-11 };
    reader.for_each(&mut |batch| {
        for i in 0..batch.rows() {
            let row = batch.dense_row(i);
            let x: Vec<f64> = (0..row.len())
                .map(|f| ((row[f] - scaler.mean_hi[f]) - scaler.mean_lo[f]) * scaler.inv_scale[f])
                .collect();
            for (j, u) in components.iter().enumerate().take(body.map.rank) {
                let found = signs[j] * dot(u, &x) * unit;
                let claimed = if at < n { parts.coordinates[[at, j]] } else { f64::NAN };
                let off = (claimed - found).abs();
                if off.is_nan() || off > worst.0 {
                    worst =
                        (off, claimed, found, format!("coordinate {} of sample {}", j + 1, at + 1));
                }
            }
            at += 1;
        }
        Ok(())
    })?;
    let (_, claimed, found, name) = worst;
    let name = if name.is_empty() { "coordinates".into() } else { name };
    checks.number(name, claimed, found, rounding * size);
    let divisor = n as f64 - 1.0;
    let top = body.values.first().copied().unwrap_or(0.0) * divisor;
    for (j, value) in body.values.iter().enumerate() {
        let claim = format!("eigenvalue of component {}", j + 1);
        checks.number(claim, parts.eigenvalues[j], value * divisor, 1e-12 * top);
    }
    if let Some(trace) = parts.trace {
        let found = body.total * divisor;
        checks.number("sum of all eigenvalues", trace, found, 1e-12 * found);
    }
    check_signs(checks, parts);
    Ok(())
}

/// The entry of largest modulus of every column of coordinates is positive.
fn check_signs(checks: &mut Checks, parts: &EmbeddingParts) {
    for (j, column) in parts.coordinates.columns().into_iter().enumerate() {
        let largest = column.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let decides = column.iter().find(|v| v.abs() >= (1.0 - 2e-3) * largest);
        let narrow = column.iter().find(|v| v.abs() >= largest);
        let negative = |v: Option<&f64>| v.is_some_and(|v| *v < 0.0);
        let wrong = negative(decides) && negative(narrow);
        let found = if wrong { "negative" } else { "positive" };
        let claim = format!("sign of component {}: its largest coordinate is", j + 1);
        checks.other(claim, "positive", found, !wrong);
    }
}

fn distance(metric: Metric, a: &[f64], b: &[f64]) -> f64 {
    let differences = || a.iter().zip(b).map(|(x, y)| (x - y).abs());
    match metric {
        Metric::Euclidean => norm(&differences().collect::<Vec<f64>>()),
        Metric::Manhattan => Sum::of(differences()),
        Metric::Chebyshev => differences().fold(0.0, f64::max),
        Metric::Cosine if a == b => 0.0,
        Metric::Cosine => {
            let size = norm(a) * norm(b);
            if size > 0.0 { (1.0 - dot(a, b) / size).max(0.0) } else { 1.0 }
        }
    }
}

/// MDS of other distances, and Isomap: pairs of `−½ H D∘D H`.
fn distances(
    checks: &mut Checks,
    parts: &EmbeddingParts,
    map: &DistanceMap,
    rows: Vec<Vec<f64>>,
    reader: &Reader,
    options: &VerifyOptions,
) {
    let n = rows.len();
    let down = power_of_two(-parts.exponent);
    let Some(all) = all_distances(checks, parts, map, &rows, down) else { return };
    let squares = |i: usize, j: usize| 0.5 * (all[i][j] * all[i][j] + all[j][i] * all[j][i]);
    let mean = |i: usize| Sum::of((0..n).map(|j| squares(i, j))) / n as f64;
    let means: Vec<f64> = (0..n).map(mean).collect();
    let size = means.iter().fold(0.0f64, |m, v| m.max(*v));
    let rounding = if reader.is_f32() { 1e-6 } else { 1e-10 };
    let one = |(claimed, found): (&f64, &f64)| (*claimed, *found, rounding * size);
    let name = |i: usize| format!("mean squared distance of sample {}", i + 1);
    checks.worst(name, map.means.iter().zip(&means).map(one));
    // Coordinates are eigenvectors times the root of their value.
    let rank = parts.rank;
    let values = &parts.eigenvalues[..rank];
    let vectors: Vec<Vec<f64>> = (0..rank)
        .map(|j| {
            let root = values[j].sqrt();
            parts.coordinates.column(j).iter().map(|c| c * down / root).collect()
        })
        .collect();
    let whole = Sum::of(means.iter().copied()) / n as f64;
    if let Some(trace) = parts.trace {
        let found = 0.5 * whole * n as f64;
        checks.number("sum of all eigenvalues", trace, found, 10.0 * rounding * found.abs());
    }
    let entry = |i: usize, j: usize| -0.5 * squares(i, j);
    let operator = Symmetric { n, entry: &entry, centered: true };
    let top = values.first().copied().unwrap_or(0.0);
    let claimed = Claimed {
        certificate: &parts.certificate,
        values,
        vectors,
        slack: rounding * top + 64.0 * f64::EPSILON * size * (n as f64).sqrt(),
        trace: None,
    };
    let wording = Wording { value: "eigenvalue", vector: "component", unit: 1.0 };
    operator.check(checks, &claimed, &wording, options);
    check_projector(checks, parts, map, down);
    check_signs(checks, parts);
}

/// Distances between all samples, as the model made them; `None` where it did not make them all.
fn all_distances(
    checks: &mut Checks,
    parts: &EmbeddingParts,
    map: &DistanceMap,
    rows: &[Vec<f64>],
    down: f64,
) -> Option<Vec<Vec<f64>>> {
    let n = rows.len();
    Some(match &map.from {
        Distances::Given { .. } => {
            let entry = |i: usize, j: usize| match i == j {
                true => 0.0,
                false => 0.5 * (rows[i][j] + rows[j][i]) * down,
            };
            (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
        }
        Distances::Metric { metric, .. } => {
            let unit = if metric.has_units() { down } else { 1.0 };
            let line = |i: usize| {
                let apart = |j: usize| distance(*metric, &rows[i], &rows[j]) * unit;
                (0..n).map(apart).collect()
            };
            (0..n).into_par_iter().map(line).collect()
        }
        Distances::Geodesic { landmarks: Some(_), .. } => {
            let reason = "only distances to landmarks were made, from which all others are placed";
            checks.skip("coordinates, eigenvalues and bounds", reason);
            return None;
        }
        Distances::Geodesic { network, .. } => {
            check_graph(checks, parts, network, rows, down);
            (0..n).into_par_iter().map(|i| shortest(network, i)).collect()
        }
    })
}

/// What places new samples is coordinates over eigenvalues.
fn check_projector(checks: &mut Checks, parts: &EmbeddingParts, map: &DistanceMap, down: f64) {
    let rank = parts.rank;
    let size = map.projector.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let one = |at: usize| {
        let (i, j) = (at / rank, at % rank);
        let found = parts.coordinates[[i, j]] * down / parts.eigenvalues[j];
        (map.projector[[i, j]], found, 1e-11 * size)
    };
    if rank > 0 {
        let name = |at: usize| {
            format!("weight of sample {} in component {}", at / rank + 1, at % rank + 1)
        };
        checks.worst(name, (0..map.projector.nrows() * rank).map(one));
    }
}

/// Every sample's nearest others, by looking at all: positions and distances.
struct Nearest {
    /// Distance of the farthest neighbour of each sample.
    reach: Vec<f64>,
    /// Whether others are exactly as far, so that who is a neighbour is a matter of order.
    ties: bool,
}

impl Nearest {
    fn of(rows: &[Vec<f64>], which: Neighborhood, down: f64) -> Nearest {
        let n = rows.len();
        let k = match which {
            Neighborhood::Nearest(k) => k,
            Neighborhood::Radius(radius) => {
                return Nearest { reach: vec![radius * down; n], ties: false };
            }
        };
        let one = |i: usize| {
            // The k smallest, kept in order as they come.
            let mut least: Vec<f64> = Vec::with_capacity(k + 2);
            for j in (0..n).filter(|&j| j != i) {
                let d = distance(Metric::Euclidean, &rows[i], &rows[j]) * down;
                let at = least.iter().position(|known| d < *known).unwrap_or(least.len());
                least.insert(at, d);
                least.truncate(k + 1);
            }
            let reach = least.get(k - 1).copied().unwrap_or(0.0);
            (reach, least.get(k).is_some_and(|next| *next <= reach * (1.0 + 1e-12)))
        };
        let found: Vec<(f64, bool)> = (0..n).into_par_iter().map(one).collect();
        let ties = found.iter().any(|(_, tie)| *tie);
        Nearest { reach: found.into_iter().map(|(reach, _)| reach).collect(), ties }
    }
}

/// The graph of a model: neighbours are joined, edges are as long as samples are apart, and the others are bridges.
fn check_graph(
    checks: &mut Checks,
    parts: &EmbeddingParts,
    network: &Network,
    rows: &[Vec<f64>],
    down: f64,
) {
    let Some(which) = parts.neighborhood else { return };
    let nearest = Nearest::of(rows, which, down);
    let (mut off, mut bridges, mut edges) = (0.0f64, 0usize, 0usize);
    for i in 0..rows.len() {
        let range = network.starts[i]..network.starts[i + 1];
        for (&j, &length) in network.columns[range.clone()].iter().zip(&network.lengths[range]) {
            let (j, own) = (j as usize, nearest.reach[i]);
            let found = distance(Metric::Euclidean, &rows[i], &rows[j]) * down;
            off = off.max((found - length).abs() / found.max(f64::MIN_POSITIVE));
            let near = found <= own.max(nearest.reach[j]) * (1.0 + 1e-9);
            edges += usize::from(i < j);
            bridges += usize::from(!near && i < j);
        }
    }
    let most = 1e-6;
    let words = format!("at most {most:e} off");
    checks.other("lengths of the edges of the graph", words, off, off <= most);
    checks.number("bridges between parts of the graph", parts.bridges as f64, bridges as f64, 0.0);
    if nearest.ties {
        let reason = "some are exactly as far as others";
        return checks.skip("that all neighbours are joined", reason);
    }
    let n = rows.len();
    let joined = |i: usize| {
        let near = |j: &usize| {
            let j = *j;
            let reach = nearest.reach[i].max(nearest.reach[j]);
            distance(Metric::Euclidean, &rows[i], &rows[j]) * down <= reach
        };
        (0..i).filter(near).count()
    };
    let expected: usize = (0..n).into_par_iter().map(joined).sum();
    let claimed = (edges - bridges) as f64;
    checks.number("neighbours joined by the graph", claimed, expected as f64, 0.0);
}

/// Distances along the graph from one sample (Dijkstra 1959, with a plain search for the nearest).
fn shortest(network: &Network, from: usize) -> Vec<f64> {
    let n = network.starts.len() - 1;
    let mut known = vec![f64::INFINITY; n];
    let mut done = vec![false; n];
    known[from] = 0.0;
    for _ in 0..n {
        let mut next: Option<usize> = None;
        for i in (0..n).filter(|&i| !done[i] && known[i].is_finite()) {
            if next.is_none_or(|best| known[i] < known[best]) {
                next = Some(i);
            }
        }
        let Some(i) = next else { break };
        done[i] = true;
        let range = network.starts[i]..network.starts[i + 1];
        for (&j, &length) in network.columns[range.clone()].iter().zip(&network.lengths[range]) {
            known[j as usize] = known[j as usize].min(known[i] + length);
        }
    }
    known
}

/// Laplacian eigenmaps: affinities by brute force, then `L f − λ D f`.
fn laplacian(
    checks: &mut Checks,
    parts: &EmbeddingParts,
    map: &LaplacianMap,
    rows: Vec<Vec<f64>>,
    options: &VerifyOptions,
) {
    let down = match &map.samples {
        Samples::Points(points) => power_of_two(-points.exponent()),
        _ => 1.0,
    };
    if parts.bridges > 0 || matches!(map.samples, Samples::Distances) {
        let reason = "bridges or given distances make a graph that is not rebuilt here";
        return checks.skip("coordinates, eigenvalues and bounds", reason);
    }
    let neighbors = parts.neighborhood.filter(|_| map.affinity.is_of_neighbors());
    let nearest = neighbors.map(|which| Nearest::of(&rows, which, down));
    if nearest.as_ref().is_some_and(|nearest| nearest.ties) {
        let reason =
            "some samples are exactly as far as others: who is a neighbour is a matter of order";
        return checks.skip("coordinates, eigenvalues and bounds", reason);
    }
    if let Some(nearest) =
        nearest.as_ref().filter(|_| matches!(neighbors, Some(Neighborhood::Nearest(_))))
    {
        let one = |(claimed, reach): (&f64, &f64)| (*claimed, reach * reach, 1e-9 * reach * reach);
        let name =
            |i: usize| format!("squared distance of the farthest neighbour of sample {}", i + 1);
        checks.worst(name, map.reach.iter().zip(&nearest.reach).map(one));
    }
    let ties = ties(map, &rows, nearest.as_ref(), down);
    let degrees: Vec<f64> = ties.iter().map(|row| Sum::of(row.iter().copied())).collect();
    let one = |(claimed, found): (&f64, &f64)| (*claimed, *found, 1e-9 * found.abs().max(1e-300));
    checks.worst(
        |i| format!("degree of sample {}", i + 1),
        map.degrees.iter().zip(&degrees).map(one),
    );
    smallest_pairs(checks, parts, options, &|f: &[f64]| {
        laplacian_product(map.normalization, &ties, &degrees, f)
    });
    check_signs(checks, parts);
}

/// Affinities between all samples, row by row.
fn ties(
    map: &LaplacianMap,
    rows: &[Vec<f64>],
    nearest: Option<&Nearest>,
    down: f64,
) -> Vec<Vec<f64>> {
    let n = rows.len();
    let affinity = |i: usize, j: usize| -> f64 {
        if i == j {
            return 0.0;
        }
        if map.affinity == Affinity::Precomputed {
            return 0.5 * (rows[i][j] + rows[j][i]);
        }
        let d = distance(Metric::Euclidean, &rows[i], &rows[j]) * down;
        match nearest {
            None => (-map.affinity.gamma().unwrap_or(0.0) * d * d).exp(),
            Some(nearest) => {
                let (mine, other) = (d <= nearest.reach[i], d <= nearest.reach[j]);
                if mine || other { map.affinity(d, mine && other) } else { 0.0 }
            }
        }
    };
    (0..n).into_par_iter().map(|i| (0..n).map(|j| affinity(i, j)).collect()).collect()
}

/// `A f` and `B f` of the problem `A f = λ B f` that a normalisation stands for, in its norm.
fn laplacian_product(
    normalization: Normalization,
    ties: &[Vec<f64>],
    degrees: &[f64],
    f: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let n = f.len();
    let product =
        |f: &[f64]| -> Vec<f64> { (0..n).map(|i| degrees[i] * f[i] - dot(&ties[i], f)).collect() };
    match normalization {
        Normalization::Generalized => {
            // In the norm of D^½: `D^−½ L f − λ D^½ f`.
            let root = |i: usize| degrees[i].max(f64::MIN_POSITIVE).sqrt();
            let scaled = product(f).iter().enumerate().map(|(i, p)| p / root(i)).collect();
            (scaled, (0..n).map(|i| root(i) * f[i]).collect())
        }
        Normalization::Symmetric => {
            let root = |i: usize| if degrees[i] > 0.0 { degrees[i].sqrt() } else { 1.0 };
            let inner: Vec<f64> = (0..n).map(|i| f[i] / root(i)).collect();
            let scaled = product(&inner).iter().enumerate().map(|(i, p)| p / root(i)).collect();
            (scaled, f.to_vec())
        }
        Normalization::Unnormalized => (product(f), f.to_vec()),
    }
}

/// `A f` and `B f` of a problem `A f = λ B f`.
type Pencil<'a> = dyn Fn(&[f64]) -> (Vec<f64>, Vec<f64>) + 'a;

/// Coordinates as eigenvectors at the small end: `apply` gives `A f` and `B f`, each in the norm of the problem.
fn smallest_pairs(
    checks: &mut Checks,
    parts: &EmbeddingParts,
    options: &VerifyOptions,
    apply: &Pencil,
) {
    let k = parts.coordinates.ncols();
    let columns: Vec<Vec<f64>> = (0..k).map(|j| parts.coordinates.column(j).to_vec()).collect();
    let applied: Vec<(Vec<f64>, Vec<f64>)> = columns.iter().map(|f| apply(f)).collect();
    let scale = parts.eigenvalues.iter().fold(1.0f64, |m, v| m.max(v.abs()));
    for (j, (product, inside)) in applied.iter().enumerate() {
        let size = norm(inside);
        let value = dot(product, inside) / (size * size);
        let claim = format!("eigenvalue of component {}", j + 1);
        let allowed = options.tolerance * scale;
        checks.number(claim, parts.eigenvalues[j], value, allowed);
        let rest = product.iter().zip(inside).map(|(p, b)| p - parts.eigenvalues[j] * b);
        let residual = norm(&rest.collect::<Vec<f64>>()) / size / scale;
        let claim = format!("component {} is an eigenvector", j + 1);
        let words = format!("a relative residual of at most {:e}", options.tolerance);
        checks.other(claim, words, residual, residual <= options.tolerance);
        for i in 0..j {
            let other = &applied[i].1;
            let cosine = dot(inside, other) / size / norm(other);
            let claim = format!("product of components {} and {}", i + 1, j + 1);
            checks.number(claim, 0.0, cosine, options.tolerance);
        }
    }
    let reason = "the small end of a spectrum is not counted a second time";
    checks.skip("that nothing smaller was missed, and the bounds of the certificate", reason);
}

/// Locally linear embedding: the weights that rebuild every sample from its neighbours, then `M = (I − W)ᵀ(I − W)`.
fn lle(
    checks: &mut Checks,
    parts: &EmbeddingParts,
    map: &LleMap,
    rows: Vec<Vec<f64>>,
    options: &VerifyOptions,
) {
    let n = rows.len();
    let down = power_of_two(-map.points.exponent());
    let Some(which) = parts.neighborhood.filter(|_| map.variant == LleVariant::Standard) else {
        let reason = "only the weights of the standard variant are rebuilt";
        return checks.skip("coordinates, eigenvalues and bounds", reason);
    };
    let nearest = Nearest::of(&rows, which, down);
    if nearest.ties || parts.bridges > 0 {
        let reason = "who is a neighbour is a matter of order, or of bridges";
        return checks.skip("coordinates, eigenvalues and bounds", reason);
    }
    let weights: Vec<Vec<(usize, f64)>> = (0..n)
        .into_par_iter()
        .map(|i| {
            let near: Vec<usize> = (0..n)
                .filter(|&j| {
                    let d = distance(Metric::Euclidean, &rows[i], &rows[j]) * down;
                    j != i && d <= nearest.reach[i]
                })
                .collect();
            rebuilding(&rows, i, near, map.regularization)
        })
        .collect();
    smallest_pairs(checks, parts, options, &|f: &[f64]| {
        let rest: Vec<f64> =
            (0..n).map(|i| f[i] - weights[i].iter().map(|(j, w)| w * f[*j]).sum::<f64>()).collect();
        let mut product = rest.clone();
        for (i, row) in weights.iter().enumerate() {
            row.iter().for_each(|(j, w)| product[*j] -= w * rest[i]);
        }
        (product, f.to_vec())
    });
    check_signs(checks, parts);
}

/// Weights of sum 1 with `(G + r tr(G) I) w ∝ 1`, by Gauss's elimination.
fn rebuilding(rows: &[Vec<f64>], i: usize, near: Vec<usize>, share: f64) -> Vec<(usize, f64)> {
    let k = near.len();
    let away: Vec<Vec<f64>> =
        near.iter().map(|&j| rows[i].iter().zip(&rows[j]).map(|(a, b)| a - b).collect()).collect();
    let mut system: Vec<Vec<f64>> =
        (0..k).map(|a| (0..k).map(|b| dot(&away[a], &away[b])).collect()).collect();
    let trace: f64 = (0..k).map(|a| system[a][a]).sum();
    let ridge = if trace > 0.0 { share * trace } else { 1.0 };
    (0..k).for_each(|a| system[a][a] += ridge);
    let mut right = vec![1.0; k];
    for a in 0..k {
        for b in a + 1..k {
            let factor = system[b][a] / system[a][a];
            let (above, below) = system.split_at_mut(b);
            below[0].iter_mut().zip(&above[a]).for_each(|(x, y)| *x -= factor * y);
            right[b] -= factor * right[a];
        }
    }
    for a in (0..k).rev() {
        let inside: f64 = (a + 1..k).map(|b| system[a][b] * right[b]).sum();
        right[a] = (right[a] - inside) / system[a][a];
    }
    let sum: f64 = right.iter().sum();
    near.into_iter().zip(right.into_iter().map(|w| w / sum)).collect()
}
