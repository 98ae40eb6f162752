//! Block Krylov iteration with full reorthogonalisation and thick restart.
//!
//! Blocks of eight vectors: wide enough to find values repeated up to seven times at once and to
//! use the memory's bandwidth, narrow enough that the basis stays small. A cluster of eight or more
//! makes it look again with fresh random vectors, until nothing new appears.

use super::{Convergence, finish};
use crate::error::Result;
use crate::linalg::{cancel, dense, gemm, random};
use crate::operator::Operator;
use crate::options::Options;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rand_chacha::ChaCha8Rng;

/// Vectors in a block.
pub(crate) const WIDTH: usize = 8;

/// What is asked of the iteration.
pub(crate) struct EigenRequest {
    /// Pairs that must converge.
    pub k: usize,
    /// Further pairs returned as they are, to know the gap after the last one.
    pub guard: usize,
    /// Residual wanted, relative to the largest value.
    pub tolerance: f64,
    pub max_applications: usize,
    /// Applications after which another way would have been cheaper: an iteration that will clearly
    /// take longer stops at once.
    pub affordable: usize,
    /// Columns the basis may have.
    pub max_basis: usize,
    pub seed: u64,
}

impl EigenRequest {
    pub fn new(k: usize, dim: usize, tolerance: f64, options: &Options) -> EigenRequest {
        EigenRequest {
            k,
            guard: usize::from(k < dim),
            tolerance,
            max_applications: options.max_iterations,
            affordable: usize::MAX,
            max_basis: basis_columns(k, dim),
            seed: options.seed,
        }
    }
}

/// Columns of a comfortable basis for k pairs.
pub(crate) fn basis_columns(k: usize, dim: usize) -> usize {
    (4 * k + 8 * WIDTH).max(20 * WIDTH).min(dim)
}

/// Approximate eigenpairs, in no particular order.
pub(crate) struct RitzPairs {
    /// k + guard values.
    pub values: Vec<f64>,
    /// d × (k + guard).
    pub vectors: Array2<f64>,
    pub convergence: Convergence,
    /// What the iteration believes is left of the pairs, where it knows.
    pub remainder: Option<Remainder>,
}

/// What is left of pairs, `A V − V Λ`, as a product of two thin matrices.
pub(crate) struct Remainder {
    /// d × b.
    pub basis: Array2<f64>,
    /// b × pairs.
    pub coefficients: Array2<f64>,
}

impl Remainder {
    /// Nothing is left, but for rounding.
    pub fn nothing(d: usize) -> Remainder {
        Remainder { basis: Array2::zeros((d, 0)), coefficients: Array2::zeros((0, 0)) }
    }
}

/// The largest pairs of a symmetric operator.
pub(crate) fn largest(operator: &dyn Operator, request: &EigenRequest) -> Result<RitzPairs> {
    let d = operator.dim();
    let wanted = request.k + request.guard;
    // A basis that would nearly fill the space: take all of it.
    if d <= wanted + 3 * WIDTH || request.max_basis + WIDTH >= d {
        return whole_space(operator, wanted);
    }
    let seed = random::seed_for(request.seed, operator.fingerprint());
    let mut basis = Basis::new(d, request.max_basis.max(wanted + 2 * WIDTH), seed);
    let mut record = Convergence::default();
    // Step 1: a random block.
    let start = random::normal_matrix(&mut basis.rng, d, WIDTH);
    basis.append(start);
    let mut since_check = 0;
    let mut looked_again: Option<Vec<f64>> = None;
    let mut pace = Pace::default();
    loop {
        // Step 2: multiply the newest block, take out what is known, keep the rest as the next one.
        cancel::check()?;
        let coupling = basis.expand(operator)?;
        record.operator_applications += 1;
        since_check += 1;
        let full = basis.columns + WIDTH > basis.capacity;
        let most = request.max_applications.min(request.affordable);
        let out_of_time = record.operator_applications >= most;
        let due = basis.multiplied >= wanted + WIDTH && since_check >= 2;
        if !(full || out_of_time || due) {
            continue;
        }
        since_check = 0;
        // Step 3: Rayleigh–Ritz in the basis.
        let (values, inner) = basis.ritz()?;
        // The size of the operator: its largest value may be the smallest in modulus, or 0.
        let top =
            values.first().map_or(0.0, |v| v.abs()).max(values.last().map_or(0.0, |v| v.abs()));
        let m = basis.multiplied;
        let left = coupling.dot(&inner.slice(s![m - WIDTH..m, ..wanted.min(m)]));
        let residuals: Vec<f64> = left.columns().into_iter().map(norm).collect();
        let good = |j: usize| residuals[j] <= request.tolerance * top;
        let done = residuals.len() >= wanted && (0..request.k).all(good);
        pace.note(record.operator_applications, residuals.get(request.k / 2).map(|r| r / top));
        let out_of_time =
            out_of_time || pace.predicts(request.tolerance) > request.affordable.saturating_mul(2);
        if done || out_of_time {
            let settled = looked_again.as_ref().is_some_and(|before| {
                (0..request.k).all(|j| values[j] - before[j] <= 10.0 * request.tolerance * top)
            });
            if out_of_time || settled || !crowded(&values[..request.k], request.tolerance * top) {
                record.converged = done;
                record.residuals = residuals;
                let vectors = basis.combine(inner.slice(s![.., ..wanted.min(m)]));
                // What was left when fresh vectors took the place of the newest ones is forgotten.
                let remainder = Remainder { basis: basis.newest(), coefficients: left };
                let remainder = looked_again.is_none().then_some(remainder);
                return Ok(RitzPairs {
                    values: values[..wanted.min(m)].to_vec(),
                    vectors,
                    convergence: record,
                    remainder,
                });
            }
            // A cluster as large as the block may be larger still: look with fresh vectors.
            looked_again = Some(values[..request.k].to_vec());
            let keep = (wanted + WIDTH).min(m);
            basis.restart(&values[..keep], inner.slice(s![.., ..keep]), None);
            record.iterations += 1;
            continue;
        }
        // Step 4: a full basis shrinks to its best Ritz vectors and goes on from the newest block.
        if full {
            let keep =
                (wanted + (basis.capacity - wanted) / 2).min(basis.capacity - 2 * WIDTH).min(m);
            let newest = basis.newest();
            basis.restart(&values[..keep], inner.slice(s![.., ..keep]), Some(newest));
            record.iterations += 1;
        }
    }
}

/// How fast the middle one of the wanted pairs converges. The last one is slower still, so what this
/// predicts is too little rather than too much, but for the speeding up that Krylov methods know.
#[derive(Default)]
struct Pace {
    first: Option<(usize, f64)>,
    last: (usize, f64),
}

impl Pace {
    fn note(&mut self, applications: usize, residual: Option<f64>) {
        if let Some(residual) = residual.filter(|r| *r > 0.0) {
            self.first.get_or_insert((applications, residual));
            self.last = (applications, residual);
        }
    }

    /// Applications until the residual is below `tolerance`, at the pace so far.
    fn predicts(&self, tolerance: f64) -> usize {
        match self.first {
            Some((start, from)) if self.last.0 >= start + 4 => {
                let (now, residual) = self.last;
                let per_step = (from / residual).ln().max(1e-3) / (now - start) as f64;
                now + ((residual / tolerance).ln().max(0.0) / per_step) as usize
            }
            _ => 0,
        }
    }
}

/// Whether as many values as a block has vectors lie together.
fn crowded(values: &[f64], tolerance: f64) -> bool {
    let top = values.first().map_or(0.0, |v| v.abs());
    let together = (1e-7 * top).max(10.0 * tolerance);
    values.windows(WIDTH).any(|w| w[0] - w[WIDTH - 1] <= together)
}

/// All eigenpairs of a small operator, from what it does to the unit vectors.
fn whole_space(operator: &dyn Operator, wanted: usize) -> Result<RitzPairs> {
    let d = operator.dim();
    let mut matrix = Array2::<f64>::zeros((d, d));
    let mut applications = 0;
    for first in (0..d).step_by(WIDTH) {
        let width = WIDTH.min(d - first);
        let units = Array2::from_shape_fn((d, width), |(i, j)| f64::from(u8::from(i == first + j)));
        let mut product = Array2::zeros((d, width));
        operator.apply(units.view(), &mut product)?;
        matrix.slice_mut(s![.., first..first + width]).assign(&product);
        applications += 1;
    }
    let (values, vectors) = symmetric_part(matrix)?;
    let order = finish::descending(&values);
    let order = &order[..wanted.min(d)];
    Ok(RitzPairs {
        values: order.iter().map(|&j| values[j]).collect(),
        vectors: vectors.select(Axis(1), order),
        convergence: Convergence {
            converged: true,
            residuals: vec![0.0; order.len()],
            iterations: 0,
            operator_applications: applications,
        },
        remainder: Some(Remainder::nothing(d)),
    })
}

fn symmetric_part(mut matrix: Array2<f64>) -> Result<(Vec<f64>, Array2<f64>)> {
    for i in 0..matrix.nrows() {
        for j in 0..i {
            let mean = 0.5 * (matrix[[i, j]] + matrix[[j, i]]);
            matrix[[i, j]] = mean;
            matrix[[j, i]] = mean;
        }
    }
    dense::symmetric_eigen(matrix.view())
}

/// An orthonormal basis and the operator's projection on it.
struct Basis {
    /// d × (capacity + WIDTH); the first `columns` are orthonormal.
    vectors: Array2<f64>,
    columns: usize,
    /// Columns the operator has been applied to: all but the newest block.
    multiplied: usize,
    capacity: usize,
    /// `Qᵀ A Q` of the multiplied columns.
    projected: Array2<f64>,
    /// The largest product seen: what counts as nothing.
    size: f64,
    rng: ChaCha8Rng,
}

/// Takes the columns before `j` out of column `j`, twice; returns what they had in common.
fn take_out_earlier(block: &mut Array2<f64>, j: usize) -> Array1<f64> {
    let mut total = Array1::zeros(j);
    let (earlier, mut late) = block.view_mut().split_at(Axis(1), j);
    let mut column = late.column_mut(0);
    for _ in 0..2 {
        for i in 0..j {
            let inside = earlier.column(i).dot(&column);
            column.scaled_add(-inside, &earlier.column(i));
            total[i] += inside;
        }
    }
    total
}

fn norm(v: ArrayView1<f64>) -> f64 {
    v.dot(&v).sqrt()
}

impl Basis {
    fn new(d: usize, capacity: usize, seed: u64) -> Basis {
        Basis {
            vectors: Array2::zeros((d, capacity + WIDTH)),
            columns: 0,
            multiplied: 0,
            capacity,
            projected: Array2::zeros((capacity + WIDTH, capacity + WIDTH)),
            size: 0.0,
            rng: random::stream(seed, 1),
        }
    }

    fn known(&self) -> ArrayView2<'_, f64> {
        self.vectors.slice(s![.., ..self.columns])
    }

    fn newest(&self) -> Array2<f64> {
        self.vectors.slice(s![.., self.multiplied..self.columns]).to_owned()
    }

    /// Applies the operator to the newest block and appends what is new in the product. Returns the
    /// coupling (WIDTH × WIDTH) of the new block with the one before.
    fn expand(&mut self, operator: &dyn Operator) -> Result<Array2<f64>> {
        let block = self.newest();
        let mut product = Array2::zeros(block.dim());
        operator.apply(block.view(), &mut product)?;
        // An operator may have put a matrix of its own in place of the one it was lent.
        let mut product = product.as_standard_layout().into_owned();
        for column in product.columns() {
            self.size = self.size.max(norm(column));
        }
        let inside = self.take_out(&mut product);
        let (from, to) = (self.multiplied, self.columns);
        self.projected.slice_mut(s![..to, from..to]).assign(&inside);
        self.projected.slice_mut(s![from..to, ..to]).assign(&inside.t());
        self.multiplied = to;
        Ok(self.append(product))
    }

    /// Orthogonalises `block` against the basis, twice; returns `Qᵀ block`.
    fn take_out(&self, block: &mut Array2<f64>) -> Array2<f64> {
        let first = gemm::transposed_product(self.known(), block.view());
        let second = gemm::subtract_and_project(self.known(), &first, block);
        gemm::product_into(self.known(), second.mapv(|x| -x).view(), block, false);
        first + second
    }

    /// Orthonormalises `block` and appends it; a vector with nothing new in it is replaced by a
    /// random one. Returns R with `block = Q R` (zero where replaced).
    fn append(&mut self, block: Array2<f64>) -> Array2<f64> {
        let width = block.ncols();
        // Each vector in one run of memory.
        let mut block = block.t().as_standard_layout().into_owned().reversed_axes();
        let mut r = Array2::<f64>::zeros((width, width));
        for j in 0..width {
            let before = norm(block.column(j));
            let inside = take_out_earlier(&mut block, j);
            r.slice_mut(s![..j, j]).assign(&inside);
            let mut left = norm(block.column(j));
            // What is left is rounding: of this vector, or of the operator as a whole.
            let negligible = left <= 1e-12 * before || left <= 1e-14 * self.size;
            if !negligible && left < 0.01 * before {
                // Little is left, with the rounding of all that was taken out: once more.
                let mut rest = block.slice(s![.., j..j + 1]).to_owned();
                self.take_out(&mut rest);
                block.column_mut(j).assign(&rest.column(0));
                take_out_earlier(&mut block, j);
                left = norm(block.column(j));
            }
            r[[j, j]] = if negligible { 0.0 } else { left };
            while negligible && left != 1.0 {
                let mut fresh = random::normal_matrix(&mut self.rng, block.nrows(), 1);
                let before = norm(fresh.column(0));
                self.take_out(&mut fresh);
                block.column_mut(j).assign(&fresh.column(0));
                take_out_earlier(&mut block, j);
                let free = norm(block.column(j));
                if free > 1e-8 * before {
                    block.column_mut(j).mapv_inplace(|v| v / free);
                    left = 1.0;
                }
            }
            block.column_mut(j).mapv_inplace(|v| v / left);
            if !negligible && left < 0.1 * before {
                // Little was left of it: what rounding had left along the basis has grown with it.
                let mut column = block.slice(s![.., j..j + 1]).as_standard_layout().into_owned();
                self.take_out(&mut column);
                block.column_mut(j).assign(&column.column(0));
                take_out_earlier(&mut block, j);
                let rest = norm(block.column(j));
                block.column_mut(j).mapv_inplace(|v| v / rest);
            }
        }
        self.vectors.slice_mut(s![.., self.columns..self.columns + width]).assign(&block);
        self.columns += width;
        r
    }

    /// Eigenpairs of the projection, largest first.
    fn ritz(&self) -> Result<(Vec<f64>, Array2<f64>)> {
        let m = self.multiplied;
        let (values, vectors) = dense::symmetric_eigen(self.projected.slice(s![..m, ..m]))?;
        let order = finish::descending(&values);
        Ok((order.iter().map(|&j| values[j]).collect(), vectors.select(Axis(1), &order)))
    }

    /// `Q Y`.
    fn combine(&self, inner: ArrayView2<f64>) -> Array2<f64> {
        let inner = inner.as_standard_layout();
        gemm::product(self.vectors.slice(s![.., ..self.multiplied]), inner.view())
    }

    /// Shrinks to the given Ritz pairs, followed by `next` or else by a random block.
    fn restart(&mut self, values: &[f64], inner: ArrayView2<f64>, next: Option<Array2<f64>>) {
        let keep = values.len();
        let kept = self.combine(inner);
        self.vectors.slice_mut(s![.., ..keep]).assign(&kept);
        self.projected.fill(0.0);
        for (j, &v) in values.iter().enumerate() {
            self.projected[[j, j]] = v;
        }
        self.columns = keep;
        self.multiplied = keep;
        let next = next.unwrap_or_else(|| {
            let d = self.vectors.nrows();
            let mut fresh = random::normal_matrix(&mut self.rng, d, WIDTH);
            self.take_out(&mut fresh);
            fresh
        });
        self.append(next);
    }
}
