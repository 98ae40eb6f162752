//! The fast search: truncated power iteration from several starts (Yuan & Zhang 2013).

use super::gram::Gram;
use super::local_search;
use super::vector::SparseVector;
use crate::error::Result;
use crate::linalg::{cancel, dense, random};
use crate::solver::finish;
use ndarray::{Array1, ArrayView1, ArrayView2};

/// What is sought: `max βᵀSβ` with `‖β‖₂ = 1` and at most `cardinality` entries that are not 0.
pub(crate) struct SupportSearch<'a> {
    pub cardinality: usize,
    /// Only β ≥ 0.
    pub non_negative: bool,
    /// Random starts, beside those that the matrix suggests.
    pub random_starts: usize,
    pub seed: u64,
    /// Steps of one iteration.
    pub max_iterations: usize,
    /// Directions to start from (d), such as that of a plain component.
    pub hints: Vec<ArrayView1<'a, f64>>,
}

/// A vector within the cardinality, and its variance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub vector: SparseVector,
    pub value: f64,
    /// Whether the iteration came to rest.
    pub converged: bool,
    /// Steps of the longest iteration.
    pub iterations: usize,
}

/// A step that moves no entry by more than this is the last.
const AT_REST: f64 = 1e-9;

/// The largest diagonal entries whose rows are starts.
const ROW_STARTS: usize = 3;

/// Cardinalities up to which the greedy start is made: on a matrix, and where every row costs a pass
/// over the data.
const GREEDY_STEPS: usize = 32;
const GREEDY_PASSES: usize = 16;

/// The best vector that the starts lead to.
pub(crate) fn search(gram: &Gram, options: &SupportSearch) -> Result<Found> {
    let mut starts = suggested_starts(gram, options)?;
    let greedy_steps = if gram.matrix().is_some() { GREEDY_STEPS } else { GREEDY_PASSES };
    if options.cardinality <= greedy_steps {
        starts.extend(greedy(gram, options)?);
    }
    let mut paths = iterate(gram, options, starts)?;
    let iterations = paths.iter().map(|p| p.iterations).max().unwrap_or(0);
    // Ties within rounding go to the earliest start.
    let mut best = Found::nothing();
    for path in paths.drain(..) {
        if path.value > best.value * (1.0 + 1e-12) {
            best = path;
        }
    }
    if best.vector.is_zero() {
        return Ok(best);
    }
    let mut best = polish(gram, options, best)?;
    if let Some(matrix) = gram.matrix() {
        local_search::swaps(matrix, options, &mut best)?;
    }
    best.iterations = iterations;
    Ok(best)
}

impl Found {
    pub fn nothing() -> Found {
        Found { vector: SparseVector::default(), value: 0.0, converged: true, iterations: 0 }
    }
}

/// The leading eigenvector of a small symmetric matrix, signed, and its value.
pub(super) fn leading(matrix: ArrayView2<f64>) -> Result<(f64, Array1<f64>)> {
    let (values, vectors) = dense::symmetric_eigen(matrix)?;
    let Some(&value) = values.last() else { return Ok((0.0, Array1::zeros(0))) };
    let vector = vectors.column(values.len() - 1).to_owned();
    let sign = finish::sign_of(vector.view(), finish::f64_tie());
    Ok((value, vector * sign))
}

/// Directions that the matrix suggests, each within the cardinality.
fn suggested_starts(gram: &Gram, options: &SupportSearch) -> Result<Vec<SparseVector>> {
    let d = gram.dim();
    let c = options.cardinality;
    let mut dense_starts: Vec<Array1<f64>> = options.hints.iter().map(|h| h.to_owned()).collect();
    let by_variance = finish::descending(&gram.diagonal());
    let top: Vec<usize> = by_variance.into_iter().take(ROW_STARTS).collect();
    dense_starts.extend(gram.rows(&top)?.outer_iter().map(|row| row.to_owned()));
    // Random directions, turned towards the larger eigenvalues by one product.
    if options.random_starts > 0 {
        let mut rng = random::stream(random::seed_for(options.seed, gram.fingerprint()), 11);
        let block = random::normal_matrix(&mut rng, d, options.random_starts);
        let turned = gram.apply(block.view())?;
        dense_starts.extend(turned.columns().into_iter().map(|column| column.to_owned()));
    }
    let mut starts = Vec::new();
    for start in dense_starts {
        let truncate = |v: ArrayView1<f64>| SparseVector::truncated(v, c, options.non_negative);
        starts.push(truncate(start.view()));
        if options.non_negative {
            starts.push(truncate(start.mapv(|v| -v).view()));
        }
    }
    starts.retain(|s| !s.is_zero());
    Ok(starts)
}

/// Forward selection: each step adds the feature most correlated with the scores of those chosen
/// (d'Aspremont, Bach & El Ghaoui 2008, the approximate greedy path).
fn greedy(gram: &Gram, options: &SupportSearch) -> Result<Option<SparseVector>> {
    let d = gram.dim();
    let diagonal = gram.diagonal();
    let Some(&first) = finish::descending(&diagonal).first() else { return Ok(None) };
    let c = options.cardinality.min(d);
    let mut chosen = vec![first];
    let mut rows = gram.rows(&chosen)?;
    let mut vector = vec![1.0];
    while chosen.len() < c {
        let mut product = Array1::<f64>::zeros(d);
        for (row, v) in rows.outer_iter().zip(&vector) {
            product.scaled_add(*v, &row);
        }
        // Several at a time once there are many: the order within a batch hardly matters.
        let batch = (chosen.len() / 16).clamp(1, c - chosen.len());
        let size = |f: usize| {
            if options.non_negative { product[f].max(0.0) } else { product[f].abs() }
        };
        let mut rest: Vec<usize> = (0..d).filter(|f| !chosen.contains(f)).collect();
        rest.sort_unstable_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        rest.truncate(batch);
        let new = gram.rows(&rest)?;
        chosen.extend(&rest);
        rows = ndarray::concatenate![ndarray::Axis(0), rows, new];
        let inside = rows.select(ndarray::Axis(1), &chosen);
        let (_, leading) = leading(inside.view())?;
        vector = leading.to_vec();
    }
    let dense = SparseVector::new(&chosen, &vector).dense(d);
    let one = SparseVector::truncated(dense.view(), c, options.non_negative);
    Ok(Some(one).filter(|s| !s.is_zero()))
}

/// All starts together, so that a pass over the data serves them all: multiply, keep the largest
/// entries, normalise.
fn iterate(gram: &Gram, options: &SupportSearch, starts: Vec<SparseVector>) -> Result<Vec<Found>> {
    let mut paths: Vec<Found> = starts
        .into_iter()
        .map(|vector| Found { vector, value: 0.0, converged: false, iterations: 0 })
        .collect();
    for step in 1..=options.max_iterations {
        let moving: Vec<usize> = (0..paths.len()).filter(|&p| !paths[p].converged).collect();
        if moving.is_empty() {
            break;
        }
        let vectors: Vec<SparseVector> = moving.iter().map(|&p| paths[p].vector.clone()).collect();
        cancel::check()?;
        let products = gram.apply_sparse(&vectors)?;
        for (&p, product) in moving.iter().zip(products.outer_iter()) {
            let path = &mut paths[p];
            path.iterations = step;
            path.value = path.vector.dot(product);
            let next = SparseVector::truncated(product, options.cardinality, options.non_negative);
            if next.is_zero() {
                path.converged = true;
                continue;
            }
            let same = next.support == path.vector.support;
            let change = next.values.iter().zip(&path.vector.values);
            let moved = change.fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            // The supports of most starts are settled long before their entries, which an
            // eigenproblem on the support gives at once.
            path.converged = same && (moved < AT_REST || step >= 8 && moved < 1e-2);
            path.vector = next;
        }
    }
    Ok(paths)
}

/// The exact leading eigenvector on the support, for as long as another step then moves the support.
fn polish(gram: &Gram, options: &SupportSearch, mut best: Found) -> Result<Found> {
    const ROUNDS: usize = 50;
    for _ in 0..ROUNDS {
        let on_support = gram.principal(&best.vector.support)?;
        let exact = best_on(on_support.view(), &best.vector, options.non_negative)?;
        let product = gram.apply_sparse(std::slice::from_ref(&exact))?;
        let product = product.row(0);
        best.value = exact.dot(product);
        let next = SparseVector::truncated(product, options.cardinality, options.non_negative);
        let settled = next.support == exact.support || next.is_zero();
        best.vector = exact;
        if settled {
            return Ok(best);
        }
        let onward = next.dot(gram.apply_sparse(std::slice::from_ref(&next))?.row(0));
        if onward <= best.value * (1.0 + 1e-13) {
            return Ok(best);
        }
        best.vector = next;
    }
    best.converged = false;
    Ok(best)
}

/// The best vector on a support whose principal submatrix is known, by rising position; where it
/// must not be negative and the eigenvector is of both signs, what projected power steps reach.
fn best_on(
    principal: ArrayView2<f64>,
    from: &SparseVector,
    non_negative: bool,
) -> Result<SparseVector> {
    let (_, vector) = leading(principal)?;
    if !non_negative || vector.iter().all(|v| *v >= 0.0) {
        return Ok(SparseVector::of_eigenvector(&from.support, vector.view()));
    }
    let mut v = Array1::from(from.values.clone());
    for _ in 0..500 {
        let mut next: Array1<f64> = principal.dot(&v);
        next.mapv_inplace(|x| x.max(0.0));
        let norm = next.dot(&next).sqrt();
        if norm == 0.0 {
            break;
        }
        next /= norm;
        let moved = next.iter().zip(&v).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        v = next;
        if moved < 1e-14 {
            break;
        }
    }
    Ok(SparseVector::new(&from.support, &v.to_vec()))
}
