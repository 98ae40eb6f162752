//! The covariance within classes and the basis that whitens it, from rows measured from the mean of their
//! class: it is never a difference of two larger matrices.

use super::classes::Classes;
use super::{Lda, Pooling, Shrinkage};
use crate::data::{Dataset, SampleWeights, UNLABELLED};
use crate::error::{Error, Result};
use crate::linalg::dense::{power_of_two, thin_svd};
use crate::linalg::gemm;
use crate::options::Options;
use crate::passes::{
    ClassCentered, ClassMeans, Columns, Cross, Moments, RowGrid, Scaler, Standardized, batch_rows,
};
use crate::plan::Route;
use crate::scalar::Scalar;
use crate::solver::{dense, tsqr};
use ndarray::{Array2, Axis, s};
use rayon::prelude::*;

/// The means of all samples and of the classes, in prescaled units.
pub(super) struct Means {
    pub columns: Columns,
    /// The mean of each class less the mean of all (c × d).
    pub offsets: Array2<f64>,
    /// Where rows are measured from.
    pub of_rows: ClassMeans,
}

impl Means {
    /// One pass over dense data, two over sparse ones.
    pub fn of<T: Scalar>(grid: &mut RowGrid<T>, classes: &Classes) -> Result<Means> {
        let factor = classes.factor(grid.counts());
        let Cross { columns, matrix } = Cross::of(grid, &factor)?;
        let (d, c) = matrix.dim();
        let offsets = Array2::from_shape_fn((c, d), |(c, f)| matrix[[f, c]] / classes.sizes[c]);
        let from_leading =
            Array2::from_shape_fn((c, d), |(c, f)| columns.mean_lo[f] + offsets[[c, f]]);
        let of_rows = ClassMeans {
            codes: classes.codes.clone(),
            mean_hi: columns.mean_hi.clone(),
            offsets: from_leading,
        };
        Ok(Means { columns, offsets, of_rows })
    }
}

/// `Σ = scale · Σ_i ω_i x̃_i x̃_iᵀ + diag(target)`, with `x̃` rows about the mean of their class and `ω_i` the
/// weight of the row times that of its class.
pub(super) struct Recipe {
    class_weights: Vec<f64>,
    scale: f64,
    target: ShrinkageTarget,
    /// What was shrunk: one number, or one for each class.
    pub intensities: Vec<f64>,
}

enum ShrinkageTarget {
    None,
    /// So much of the mean variance, for every feature.
    Identity(f64),
    /// Variances of the features (d), in true units times these powers of two.
    Diagonal(Vec<f64>, Vec<i32>),
}

impl Recipe {
    /// How classes are put together; Ledoit and Wolf look at the data for it.
    pub fn new<T: Scalar>(
        lda: &Lda,
        classes: &Classes,
        means: &Means,
        grid: &RowGrid<T>,
    ) -> Result<Recipe> {
        let (n, c) = (classes.weight(), classes.len());
        let by_prior = |c: usize| classes.priors[c] * n / classes.sizes[c];
        let (mut class_weights, divisor) = match lda.pooling {
            Pooling::Samples => (vec![1.0; c], n - c as f64),
            Pooling::Likelihood => (vec![1.0; c], n),
            Pooling::Priors => ((0..c).map(by_prior).collect::<Vec<f64>>(), n),
        };
        let plain = |class_weights, scale| Recipe {
            class_weights,
            scale,
            target: ShrinkageTarget::None,
            intensities: Vec::new(),
        };
        match lda.shrinkage {
            None => Ok(plain(class_weights, 1.0 / divisor)),
            Some(Shrinkage::Fixed(alpha)) => Ok(Recipe {
                target: ShrinkageTarget::Identity(alpha / divisor),
                intensities: vec![alpha],
                ..plain(class_weights, (1.0 - alpha) / divisor)
            }),
            Some(Shrinkage::LedoitWolf) => {
                let exponents =
                    grid.exponents().map_or(vec![0; grid.data.n_features()], <[_]>::to_vec);
                let mut diagonal = vec![0.0; exponents.len()];
                let mut intensities = Vec::with_capacity(c);
                for class in 0..c {
                    let found = LedoitWolf::of(grid, means, class as u32, &exponents)?;
                    class_weights[class] = by_prior(class) * (1.0 - found.intensity);
                    let share = classes.priors[class] * found.intensity * found.mean;
                    diagonal.iter_mut().zip(&found.variances).for_each(|(t, v)| *t += share * v);
                    intensities.push(found.intensity);
                }
                let target = ShrinkageTarget::Diagonal(diagonal, exponents);
                // Where every class is shrunk to its diagonal no row counts, but all have a weight.
                let scale = if class_weights.iter().any(|w| *w > 0.0) { 1.0 / n } else { 0.0 };
                if scale == 0.0 {
                    class_weights.fill(1.0);
                }
                Ok(Recipe { target, intensities, ..plain(class_weights, scale) })
            }
        }
    }

    /// The variances of the target (d) for columns prescaled by 2⁻ᵉ.
    fn target(&self, squares: &[f64], exponents: &[i32]) -> Vec<f64> {
        match &self.target {
            ShrinkageTarget::None => vec![0.0; squares.len()],
            ShrinkageTarget::Identity(share) => {
                let units = common_units(exponents);
                let sum: f64 = squares.iter().zip(&units).map(|(s, u)| s * u * u).sum();
                let mean = share * sum / squares.len() as f64;
                units.iter().map(|u| mean / u / u).collect()
            }
            ShrinkageTarget::Diagonal(variances, from) => variances
                .iter()
                .zip(from.iter().zip(exponents))
                .map(|(v, (from, to))| v * power_of_two(2 * (from - to)))
                .collect(),
        }
    }

    fn shrinks(&self) -> bool {
        self.intensities.iter().any(|alpha| *alpha > 0.0)
    }

    /// ω of every row, where they are not all 1.
    fn row_weights(&self, codes: &[u32], counts: Option<&[f64]>) -> Option<SampleWeights> {
        if counts.is_none() && self.class_weights.iter().all(|w| *w == 1.0) {
            return None;
        }
        let weight = |(i, &code): (usize, &u32)| match code {
            UNLABELLED => 0.0,
            code => counts.map_or(1.0, |c| c[i]) * self.class_weights[code as usize],
        };
        let weights: Vec<f64> = codes.iter().enumerate().map(weight).collect();
        Some(SampleWeights::frequency(weights))
    }
}

/// Powers of two that bring prescaled columns to one unit: that of the largest.
fn common_units(exponents: &[i32]) -> Vec<f64> {
    let largest = exponents.iter().copied().max().unwrap_or(0);
    exponents.iter().map(|e| power_of_two((e - largest).max(-1000))).collect()
}

/// What Ledoit & Wolf (2004) find for the standardised samples of one class.
struct LedoitWolf {
    intensity: f64,
    /// The mean variance of the standardised features: the share of them that vary.
    mean: f64,
    /// Variances (d, divisor n_c) in prescaled units. A feature that does not vary has variance 1 in the units of
    /// the data, as it has for scikit-learn, which divides it by 1.
    variances: Vec<f64>,
}

impl LedoitWolf {
    fn of<T: Scalar>(
        grid: &RowGrid<T>,
        means: &Means,
        class: u32,
        exponents: &[i32],
    ) -> Result<LedoitWolf> {
        let rows = centered(grid, &means.of_rows, Some(class));
        let members = (0..means.of_rows.codes.len()).filter(|&i| means.of_rows.codes[i] == class);
        let counts: Option<Vec<f64>> = grid.counts().map(|c| members.map(|i| c[i]).collect());
        let mut data = Dataset::streamed(&rows);
        if let Some(counts) = &counts {
            data = data.with_weights(SampleWeights::frequency(counts.clone()));
        }
        let moments = Moments::of(&data, &Options::default())?;
        let (n, d) = (moments.columns.weight, exponents.len());
        let roots: Vec<f64> = moments.columns.squares.iter().map(|s| (s / n).sqrt()).collect();
        let inverse: Vec<f64> =
            roots.iter().map(|r| if *r > 0.0 { 1.0 / r } else { 0.0 }).collect();
        let varying = roots.iter().filter(|r| **r > 0.0).count() as f64;
        let variances = (0..d)
            .map(|f| match roots[f] > 0.0 {
                true => (roots[f] * power_of_two(moments.exponents[f])).powi(2),
                false => power_of_two(-2 * exponents[f]),
            })
            .collect();
        let mean = varying / d as f64;
        if d == 1 || varying == 0.0 {
            return Ok(LedoitWolf { intensity: 0.0, mean, variances });
        }
        // ‖R‖² of the correlations, and how far the products of single samples lie about them.
        let entries = moments.scatter.indexed_iter();
        let squared: f64 =
            entries.map(|((i, j), v)| (v / n * inverse[i] * inverse[j]).powi(2)).sum();
        let fourth = fourth_powers(&data, &moments, inverse, counts.as_deref())?;
        let d = d as f64;
        let beta = (fourth / n - squared) / (d * n);
        let delta = (squared - d * mean * mean) / d;
        let intensity = if beta <= 0.0 { 0.0 } else { (beta.min(delta) / delta).clamp(0.0, 1.0) };
        Ok(LedoitWolf { intensity, mean, variances })
    }
}

/// `Σ w ‖x‖⁴` of standardised rows.
fn fourth_powers(
    data: &Dataset<f64>,
    moments: &Moments,
    inv_scale: Vec<f64>,
    counts: Option<&[f64]>,
) -> Result<f64> {
    let scaler = Scaler {
        mean_hi: moments.columns.mean_hi.clone(),
        mean_lo: moments.columns.mean_lo.clone(),
        inv_scale,
        column_exponents: None,
        scale: None,
        exponent: 0,
        constant: Vec::new(),
    };
    let mut grid = RowGrid::part(data)?;
    if moments.exponents.iter().any(|e| *e != 0) {
        grid.set_exponents(moments.exponents.clone());
    }
    let (mut sum, mut row) = (0.0, 0);
    Standardized { grid: &grid, scaler: &scaler }.for_each_panel(256, |panel| {
        for x in panel.rows() {
            // Rows come times √w, and count w times.
            let weight = counts.map_or(1.0, |counts| counts[row]);
            let square = x.dot(&x);
            sum += if weight > 0.0 { square * square / weight } else { 0.0 };
            row += 1;
        }
        Ok(())
    })?;
    Ok(sum)
}

/// Rows about the mean of their class.
pub(super) fn centered<'a, 'd, T: Scalar>(
    grid: &'a RowGrid<'d, T>,
    means: &'a ClassMeans,
    only: Option<u32>,
) -> ClassCentered<'a, 'd, T> {
    let prescale = grid.prescale().map(|p| p.iter().map(|v| v.to_f64()).collect());
    ClassCentered { data: &grid.data, means, prescale, only }
}

/// A basis in which Σ is the identity, and Σ itself as the data have it.
pub(super) struct Whitening {
    /// d × r: `Bᵀ Σ B = I`, in units of the standardised features.
    pub basis: Array2<f64>,
    /// What makes rows about their class standardised.
    pub of_rows: Scaler,
    /// What standardises prescaled features (d): 0 for those that are left out.
    pub inv_scale: Vec<f64>,
    /// Features that do not vary within any class.
    pub constant: Vec<usize>,
    /// The number of directions in which samples of a class differ.
    pub rank: usize,
    scale: f64,
    /// Of standardised features.
    target: Vec<f64>,
    /// Σ of standardised features, where it was given.
    given: Option<Array2<f64>>,
}

impl Whitening {
    /// Whether Σ was given in place of samples.
    pub fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// `Σ W` (d × b) against the rows themselves, in one pass.
    pub fn product<'r>(
        &'r self,
        rows: &'r RowGrid<'r, f64>,
        w: &Array2<f64>,
    ) -> Result<Array2<f64>> {
        if let Some(given) = &self.given {
            return Ok(gemm::product(given.view(), w.view()));
        }
        let mut product =
            Standardized { grid: rows, scaler: &self.of_rows }.gram_product(w.view())?;
        for ((f, j), v) in product.indexed_iter_mut() {
            *v = *v * self.scale + self.target[f] * w[[f, j]];
        }
        Ok(product)
    }
}

/// What a whitening is made from.
pub(super) struct WithinTask<'a, 'd, T: Scalar> {
    pub lda: &'a Lda,
    pub grid: &'a RowGrid<'d, T>,
    pub means: &'a Means,
    pub recipe: &'a Recipe,
    pub route: Route,
}

impl<T: Scalar> WithinTask<'_, '_, T> {
    /// The data of rows about their class, weighted.
    pub fn dataset<'r>(&self, rows: &'r ClassCentered<'_, '_, T>) -> Dataset<'r, f64> {
        let data = Dataset::streamed(rows);
        match self.recipe.row_weights(&self.means.of_rows.codes, self.grid.counts()) {
            Some(weights) => data.with_weights(weights),
            None => data,
        }
    }

    /// The basis, by the route of the plan; `offsets` (c × d) are the means that it must reach.
    pub fn whiten(&self, rows: &mut RowGrid<f64>, offsets: &Array2<f64>) -> Result<Whitening> {
        match (&self.lda.covariance, self.route) {
            (Some(given), _) => self.by_given(given),
            (None, Route::Dual) => self.by_gram(rows, offsets),
            (None, _) => self.by_covariance(rows),
        }
    }

    /// All pairs of the d × d covariance.
    fn by_covariance(&self, rows: &mut RowGrid<f64>) -> Result<Whitening> {
        let Moments { columns, scatter, .. } = Moments::of_grid(rows)?;
        let whitening = self.standardized(rows, &columns, false)?;
        let inverse = whitening.of_rows.inv_scale.clone();
        let (scale, target) = (self.recipe.scale, &whitening.target);
        let mut matrix = scatter;
        let d = matrix.nrows();
        gemm::slice_mut(&mut matrix).par_chunks_mut(d).enumerate().for_each(|(i, row)| {
            for (j, v) in row.iter_mut().enumerate() {
                *v = *v * scale * inverse[i] * inverse[j] + if i == j { target[i] } else { 0.0 };
            }
        });
        let (rank, basis) = self.whitening_basis(matrix)?;
        Ok(Whitening { basis, rank, ..whitening })
    }

    /// All pairs of a covariance that was given.
    fn by_given(&self, given: &Array2<f64>) -> Result<Whitening> {
        let d = given.nrows();
        let unit = |f: usize| power_of_two(-self.grid.exponents().map_or(0, |e| e[f]));
        let mut matrix = Array2::from_shape_fn((d, d), |(i, j)| given[[i, j]] * unit(i) * unit(j));
        let inverse: Vec<f64> =
            matrix.diag().iter().map(|v| if *v > 0.0 { 1.0 / v.sqrt() } else { 0.0 }).collect();
        for ((i, j), v) in matrix.indexed_iter_mut() {
            *v *= inverse[i] * inverse[j];
        }
        let (rank, basis) = self.whitening_basis(matrix.clone())?;
        Ok(Whitening {
            basis,
            rank,
            of_rows: Scaler {
                mean_hi: vec![0.0; d],
                mean_lo: vec![0.0; d],
                inv_scale: inverse.clone(),
                column_exponents: None,
                scale: None,
                exponent: 0,
                constant: Vec::new(),
            },
            constant: (0..d).filter(|&f| inverse[f] == 0.0).collect(),
            inv_scale: inverse,
            scale: 1.0,
            target: vec![0.0; d],
            given: Some(matrix),
        })
    }

    /// The rank of Σ (d × d), and the basis in which it is the identity.
    fn whitening_basis(&self, matrix: Array2<f64>) -> Result<(usize, Array2<f64>)> {
        let leading = dense::full(matrix.view(), matrix.nrows())?;
        drop(matrix);
        let values = &leading.ritz.values;
        let (top, last) = (values.first().copied(), values.last().copied());
        if let (Some(largest), Some(eigenvalue)) = (top, last)
            && eigenvalue < -1e-8 * largest
        {
            return Err(Error::NotPositive { what: COVARIANCE, eigenvalue, largest });
        }
        let rank = self.rank(values)?;
        let vectors = leading.ritz.vectors.slice(s![.., ..rank]);
        let mut basis = vectors.as_standard_layout().into_owned();
        for (mut column, value) in basis.columns_mut().into_iter().zip(values) {
            column /= value.sqrt();
        }
        Ok((rank, basis))
    }

    /// All pairs of the n × n Gram matrix of rows about their class.
    fn by_gram(&self, rows: &mut RowGrid<f64>, offsets: &Array2<f64>) -> Result<Whitening> {
        let columns = Columns::of(rows)?;
        let whitening = self.standardized(rows, &columns, self.recipe.shrinks())?;
        let n = self.means.of_rows.codes.len();
        let scale = self.recipe.scale;
        let mut gram = Array2::<f64>::zeros((n, n));
        self.for_each_strip(&whitening, |_, strip| {
            gram += &gemm::transposed_product(strip.view(), strip.view());
        })?;
        gram.par_mapv_inplace(|v| v * scale);
        let leading = dense::full(gram.view(), n)?;
        drop(gram);
        let values = leading.ritz.values;
        let rank = self.rank(&values)?;
        let left = leading.ritz.vectors.slice(s![.., ..rank]).as_standard_layout().into_owned();
        let mut vectors = Array2::<f64>::zeros((whitening.inv_scale.len(), rank));
        self.for_each_strip(&whitening, |first, strip| {
            let product = gemm::product(strip.view(), left.view());
            vectors.slice_mut(s![first..first + product.nrows(), ..]).assign(&product);
        })?;
        let roots: Vec<f64> = values.iter().take(rank).map(|v| (v / scale).sqrt()).collect();
        tsqr::orthonormalize(&mut vectors, &roots);
        let identity = whitening.target.first().copied().filter(|_| self.recipe.shrinks());
        let beside = match identity {
            Some(_) => self.beside(&vectors, &whitening.inv_scale, offsets)?,
            None => Array2::zeros((vectors.nrows(), 0)),
        };
        let identity = identity.unwrap_or(0.0);
        for (mut column, value) in vectors.columns_mut().into_iter().zip(&values) {
            column /= (value + identity).sqrt();
        }
        let rest = beside.mapv(|v| v / identity.sqrt());
        let basis = ndarray::concatenate(Axis(1), &[vectors.view(), rest.view()])
            .map_err(|e| Error::Internal(e.to_string()))?;
        Ok(Whitening { basis: basis.as_standard_layout().into_owned(), rank, ..whitening })
    }

    /// Orthonormal directions (d × at most c) of the means that lie outside the samples' own: there Σ is what
    /// shrinkage put in.
    fn beside(
        &self,
        vectors: &Array2<f64>,
        inv_scale: &[f64],
        offsets: &Array2<f64>,
    ) -> Result<Array2<f64>> {
        let mut rest = Array2::from_shape_fn((offsets.ncols(), offsets.nrows()), |(f, c)| {
            offsets[[c, f]] * inv_scale[f]
        });
        let size = rest.iter().map(|v| v * v).sum::<f64>().sqrt();
        for _ in 0..2 {
            let inside = gemm::transposed_product(vectors.view(), rest.view()).mapv(|v| -v);
            gemm::product_into(vectors.view(), inside.view(), &mut rest, false);
        }
        let svd = thin_svd(rest.view())?;
        let found = svd.s.iter().take_while(|s| **s > 1e-10 * size).count();
        Ok(svd.u.slice(s![.., ..found]).to_owned())
    }

    /// The scale of every feature, as Σ has it; one unit for all where the identity must stay one.
    fn standardized(
        &self,
        rows: &RowGrid<f64>,
        columns: &Columns,
        one_unit: bool,
    ) -> Result<Whitening> {
        let d = columns.squares.len();
        let own = rows.exponents().map_or(vec![0; d], <[i32]>::to_vec);
        let outer = self.grid.exponents().map_or(vec![0; d], <[i32]>::to_vec);
        let exponents: Vec<i32> = own.iter().zip(&outer).map(|(a, b)| a + b).collect();
        let target = self.recipe.target(&columns.squares, &exponents);
        let constant: Vec<usize> =
            (0..d).filter(|&f| target[f] == 0.0 && self.is_constant(columns, &own, f)).collect();
        let variance = |f: usize| self.recipe.scale * columns.squares[f] + target[f];
        let mut inverse: Vec<f64> = match one_unit {
            true => common_units(&exponents),
            false => (0..d).map(|f| 1.0 / variance(f).sqrt()).collect(),
        };
        constant.iter().for_each(|&f| inverse[f] = 0.0);
        if constant.len() == d {
            return Err(no_spread());
        }
        Ok(Whitening {
            basis: Array2::zeros((0, 0)),
            inv_scale: inverse.iter().zip(&own).map(|(v, e)| v * power_of_two(-e)).collect(),
            target: target.iter().zip(&inverse).map(|(t, v)| t * v * v).collect(),
            of_rows: Scaler {
                mean_hi: columns.mean_hi.clone(),
                mean_lo: columns.mean_lo.clone(),
                inv_scale: inverse,
                column_exponents: rows.exponents().map(<[i32]>::to_vec),
                scale: None,
                exponent: 0,
                constant: Vec::new(),
            },
            constant,
            rank: 0,
            scale: self.recipe.scale,
            given: None,
        })
    }

    /// Whether a feature varies within classes by no more than its numbers and their means are rounded.
    fn is_constant(&self, columns: &Columns, own: &[i32], f: usize) -> bool {
        let all = &self.means.columns;
        let within = (columns.squares[f] / columns.weight).sqrt() * power_of_two(own[f]);
        let spread = (all.squares[f] / all.weight).sqrt();
        within <= 4.0 * T::EPSILON * all.mean_hi[f].abs() + 64.0 * f64::EPSILON * spread
    }

    /// How many directions count, largest first.
    fn rank(&self, values: &[f64]) -> Result<usize> {
        let top = values.first().copied().unwrap_or(0.0);
        let rounding = 8.0 * (values.len() as f64).sqrt() * f64::EPSILON * top;
        let least = match self.recipe.shrinks() {
            true => rounding,
            false => (self.lda.rank_tolerance * self.lda.rank_tolerance).max(rounding),
        };
        match values.iter().take_while(|v| **v > least).count() {
            0 if !self.recipe.shrinks() => Err(no_spread()),
            rank => Ok(rank),
        }
    }

    /// Standardised rows about their class, times √ω, in strips of features (· × n), with the first feature of
    /// each.
    fn for_each_strip(
        &self,
        whitening: &Whitening,
        mut visit: impl FnMut(usize, Array2<f64>),
    ) -> Result<()> {
        const WIDTH: usize = 256;
        let ClassMeans { codes, mean_hi, offsets } = &self.means.of_rows;
        let (d, n) = (mean_hi.len(), codes.len());
        let weights = self.recipe.row_weights(codes, self.grid.counts());
        let root = |i: usize| weights.as_ref().map_or(1.0, |w| w.values()[i].sqrt());
        for first in (0..d).step_by(WIDTH) {
            let features = first..(first + WIDTH).min(d);
            let mut strip = Array2::<f64>::zeros((features.len(), n));
            self.grid.for_each_batch(batch_rows(d, 1), |batch| {
                let mut scratch = Vec::new();
                let block = batch.strip(0, batch.rows, features.clone(), &mut scratch);
                for i in 0..block.rows {
                    let (at, code) = (block.first + i, codes[block.first + i]);
                    for (p, x) in block.row(i).iter().enumerate() {
                        let f = first + p;
                        let mean =
                            if code == UNLABELLED { 0.0 } else { offsets[[code as usize, f]] };
                        let x = (x.to_f64() - mean_hi[f]) - mean;
                        strip[[p, at]] = x * whitening.inv_scale[f] * root(at);
                    }
                }
                Ok(())
            })?;
            visit(first, strip);
        }
        Ok(())
    }
}

/// What a given covariance is called in errors.
const COVARIANCE: &str = "the covariance within classes";

/// Refuses a covariance of another shape, or that is none.
pub(super) fn check_given(given: &Array2<f64>, d: usize) -> Result<()> {
    let (rows, columns) = given.dim();
    if (rows, columns) != (d, d) {
        return Err(Error::Shape {
            what: COVARIANCE,
            found: format!("the shape {rows} × {columns}"),
            expected: format!("{d} × {d}"),
        });
    }
    let size = given.iter().fold(0.0f64, |m, v| if v.is_nan() { f64::NAN } else { m.max(v.abs()) });
    if !size.is_finite() {
        let expected = "a matrix of finite numbers";
        return Err(Error::Parameter { name: "covariance", value: size.to_string(), expected });
    }
    let uneven = |((i, j), v): &((usize, usize), &f64)| (**v - given[[*j, *i]]).abs() > 1e-8 * size;
    match given.indexed_iter().find(uneven) {
        Some(((row, column), &upper)) => {
            let lower = given[[column, row]];
            Err(Error::NotSymmetric { what: COVARIANCE, row, column, upper, lower })
        }
        None => Ok(()),
    }
}

fn no_spread() -> Error {
    Error::NotDefined {
        what: "the distance between classes",
        why: "no feature varies within a class".into(),
    }
}

/// The within-class covariance (d × d) of the data in their own units, shrunk as the discriminants' is; the
/// covariances of the classes weighted by their priors.
pub(super) fn covariance<T: Scalar>(
    lda: &Lda,
    classes: &Classes,
    means: &Means,
    grid: &RowGrid<T>,
) -> Result<Array2<f64>> {
    if let Some(given) = &lda.covariance {
        return Ok(given.clone());
    }
    let lda = Lda { pooling: Pooling::Priors, ..lda.clone() };
    let recipe = Recipe::new(&lda, classes, means, grid)?;
    let task = WithinTask { lda: &lda, grid, means, recipe: &recipe, route: Route::Covariance };
    let rows = centered(grid, &means.of_rows, None);
    let data = task.dataset(&rows);
    let mut inner = RowGrid::new(&data)?;
    let moments = Moments::of_grid(&mut inner)?;
    let d = moments.columns.squares.len();
    let exponent = |f: usize| moments.exponents[f] + grid.exponents().map_or(0, |e| e[f]);
    let exponents: Vec<i32> = (0..d).map(exponent).collect();
    let target = recipe.target(&moments.columns.squares, &exponents);
    Ok(Array2::from_shape_fn((d, d), |(i, j)| {
        let inside = moments.scatter[[i, j]] * recipe.scale + if i == j { target[i] } else { 0.0 };
        inside * power_of_two(exponents[i]) * power_of_two(exponents[j])
    }))
}
