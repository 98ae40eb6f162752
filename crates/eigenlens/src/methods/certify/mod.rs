//! Pairs measured against the data, in the pass that makes the scores.

mod rounding;

use crate::error::Result;
use crate::linalg::transpose::transpose_into;
use crate::linalg::{gemm, random};
use crate::model::LinearMap;
use crate::passes::{Pass, ScoreMoments, Scores, Standardized};
use crate::scalar::Scalar;
use crate::solver::certificate::{
    self, Certificate, Evidence, Measured, NoneMissed, PROBES, ResidualParts,
};
use crate::solver::covariance_solver::{CovarianceSolver, EigenPairs};
use crate::solver::krylov::Remainder;
use ndarray::{Array2, ArrayView2, Axis, s};
use rounding::PassRounding;
use std::ops::Range;

/// Measures pairs against the data.
pub(super) struct Certifier<'a> {
    pub map: &'a LinearMap,
    pub values: &'a [f64],
    pub pairs: &'a EigenPairs,
    pub rank: usize,
    /// Of each standardised column.
    pub variances: &'a [f64],
    /// Their sum.
    pub total: f64,
    /// Rows of positive weight.
    pub rows: usize,
    /// n − 1.
    pub divisor: f64,
    /// The relative residual that is asked for.
    pub tolerance: f64,
    pub seed: u64,
}

impl Certifier<'_> {
    /// The certificate; scores and their moments on the way.
    pub fn certify<T: Scalar>(
        &self,
        data: &Standardized<T>,
        solver: &CovarianceSolver<T>,
        scores: Option<&mut Scores<'_, T>>,
        score_moments: &mut ScoreMoments,
    ) -> Result<Certificate> {
        // 1. What is multiplied with the data.
        let (d, k) = (self.map.components.ncols(), self.values.len());
        let guard = usize::from(self.pairs.values.len() > k && self.pairs.vectors.ncols() > k);
        let kept = k + guard;
        // Measuring every one of many components would cost more than the scores.
        let many = certificate::leaves_to_probes(k, kept, d);
        let residual_model = if many { self.residual_model(solver, kept) } else { None };
        // The values of a matrix are counted beside the pass, where that takes long.
        let counted = solver.matrix().is_some_and(certificate::counts_values);
        let early = match counted && self.pairs.spectrum.is_none() {
            true => None,
            false => Some(self.find_missed(solver)),
        };
        let everywhere = if early == Some(None) { PROBES } else { 0 };
        let among = if residual_model.is_some() { PROBES } else { 0 };
        let block = self.block(data, kept, everywhere, among);
        // 2. The pass over the data.
        let from = if residual_model.is_some() { block.padded } else { 0 };
        let mut product = Array2::zeros((0, 0));
        let wanted =
            Pass { scores, gram: Some((from, &mut product)), score_moments: Some(score_moments) };
        let pass = || data.pass(block.vectors.view(), wanted);
        let (passed, missed) = match early {
            Some(missed) => (pass(), missed),
            None => rayon::join(pass, || self.find_missed(solver)),
        };
        passed?;
        product.par_mapv_inplace(|v| v / self.divisor);
        let measured =
            |columns: Range<usize>| product.slice(s![.., columns.start - from..columns.end - from]);
        // 3. Residuals of the components and of the guard.
        let mut values: Vec<f64> = self.values.to_vec();
        values.extend(self.pairs.values.get(k).filter(|_| guard > 0));
        let rounding = PassRounding::new(
            data,
            block.vectors.ncols() - from,
            self.variances,
            self.rows,
            values.first().copied().unwrap_or(0.0),
        );
        let quotients = score_moments.sums_of_squares().map(|s| s / self.divisor);
        let quotients: Vec<f64> = quotients.collect();
        let mut bounds = match residual_model {
            Some(model) => {
                Bounds::believed(&model, &block, &values, measured(block.among()), &quotients)
            }
            None => Bounds::measured(measured(0..kept), block.kept(), &values, &quotients),
        };
        if bounds.too_wide(k, self.tolerance * values.first().map_or(0.0, |v| v.abs())) {
            bounds = self.measured_alone(data, block.kept(), &values, &quotients)?;
        }
        rounding.add_to(&mut bounds.parts, block.kept(), &values);
        // Where components were lost in rounding, how much of them there is is not known any better than that.
        let drowned = if self.rank < k { rounding.drowning() } else { 0.0 };
        let mut rounding = rounding.of(block.kept(), &values);
        if guard == 0 && k < d {
            // Every component the samples can span was asked for: beside them the variance is 0.
            values.push(0.0);
            bounds.push_null();
            rounding.residuals.push(0.0);
            rounding.values.push(0.0);
        }
        // 4. What might have been missed.
        let (none_missed, unseen) = missed.unwrap_or_else(|| {
            let found = block.kept().slice_move(s![.., ..self.rank]);
            let (products, probes) = (measured(block.everywhere()), block.gaussian.view());
            let (values, total) = (&values[..self.rank], Some(self.total));
            (certificate::missed_by_probes(products, probes, found, values, total), 0.0)
        });
        Ok(certificate::certify(Measured {
            values: &values,
            k,
            residuals: &bounds.residuals,
            along: &bounds.along,
            rounding,
            parts: Some(bounds.parts),
            orthogonality: certificate::orthogonality(block.vectors.slice(s![.., ..k])),
            rounding_floor: self.pairs.rounding_floor,
            evidence: bounds.evidence,
            none_missed,
            unseen: unseen.max(drowned),
        }))
    }

    /// Whether a component was missed, as far as spectrum or matrix tell.
    fn find_missed<T: Scalar>(&self, solver: &CovarianceSolver<T>) -> Option<(NoneMissed, f64)> {
        match &self.pairs.spectrum {
            Some(_) => Some((NoneMissed::Complete, 0.0)),
            None => certificate::missed_by_matrix(
                solver.matrix().map(|matrix| (matrix, self.pairs.vectors.view())),
                &self.pairs.values,
                self.values.len().min(self.rank),
                self.total,
                solver.noise(),
            ),
        }
    }

    /// Components and guard, then as many probes of all directions and of those that were found.
    fn block<T: Scalar>(
        &self,
        data: &Standardized<T>,
        kept: usize,
        everywhere: usize,
        among: usize,
    ) -> Block {
        let (d, k) = (self.map.components.ncols(), self.values.len());
        // Passes over sparse rows would copy columns that do not fill vectors.
        let whole = everywhere + among > 0 || data.grid.is_sparse();
        let padded = kept.next_multiple_of(if whole { data.column_step() } else { 1 });
        let mut vectors = Array2::<f64>::zeros((d, padded + everywhere + among));
        // Null components too: that the data have nothing along them must be measured. Their factor
        // of 0 silences their scores.
        let width = vectors.ncols();
        if let Some(vectors) = vectors.as_slice_mut() {
            transpose_into(self.map.components.view(), vectors, width);
        }
        if kept > k {
            vectors.column_mut(k).assign(&self.pairs.vectors.column(k));
        }
        let mut rng = random::stream(self.seed, 3);
        let gaussian = random::normal_matrix(&mut rng, d, everywhere);
        vectors.slice_mut(s![.., padded..padded + everywhere]).assign(&gaussian);
        let mixture = random::normal_matrix(&mut rng, kept, among);
        let found = gemm::product(vectors.slice(s![.., ..kept]), mixture.view());
        vectors.slice_mut(s![.., padded + everywhere..]).assign(&found);
        Block { vectors, kept, padded, gaussian, mixture }
    }

    /// Probes bound what any direction may have lost, by far too much where errors lie in all of them: before the
    /// pairs are given up they are measured themselves.
    fn measured_alone<T: Scalar>(
        &self,
        data: &Standardized<T>,
        columns: ArrayView2<f64>,
        values: &[f64],
        quotients: &[f64],
    ) -> Result<Bounds> {
        let mut product = Array2::zeros((0, 0));
        let gram = Some((0, &mut product));
        data.pass(columns, Pass { scores: None, gram, score_moments: None })?;
        product.par_mapv_inplace(|v| v / self.divisor);
        Ok(Bounds::measured(product.view(), columns, values, quotients))
    }

    /// What the solver believes of the first `kept` columns.
    fn residual_model<'r, T: Scalar>(
        &'r self,
        solver: &'r CovarianceSolver<T>,
        kept: usize,
    ) -> Option<ResidualModel<'r>> {
        if let Some(matrix) = solver.matrix() {
            return Some(ResidualModel::Matrix(matrix));
        }
        let Remainder { basis, coefficients: known } = self.pairs.remainder.as_ref()?;
        let mut coefficients = Array2::zeros((basis.ncols(), kept));
        if basis.is_empty() {
            return Some(ResidualModel::Remainder { basis: basis.view(), coefficients });
        }
        // Components that took the place of rounding have nothing to do with what was found.
        let found = |j: &usize| *j < self.rank || *j >= self.values.len();
        for j in (0..kept.min(known.ncols())).filter(found) {
            coefficients.column_mut(j).assign(&known.column(j));
        }
        // Components have signs of their own.
        let components = self.map.components.rows().into_iter();
        for ((component, vector), mut coefficients) in
            components.zip(self.pairs.vectors.columns()).zip(coefficients.columns_mut())
        {
            coefficients *= component.dot(&vector).signum();
        }
        Some(ResidualModel::Remainder { basis: basis.view(), coefficients })
    }
}

/// What a pass multiplies with the data.
struct Block {
    /// Components and guard, then (from a multiple of the micro-kernel's width on) the probes (d × ·).
    vectors: Array2<f64>,
    /// Components and guard.
    kept: usize,
    /// Where the probes begin.
    padded: usize,
    /// Probes of all directions (d × ·).
    gaussian: Array2<f64>,
    /// Probes of the directions that were found, as combinations of them (kept × ·).
    mixture: Array2<f64>,
}

impl Block {
    fn kept(&self) -> ArrayView2<'_, f64> {
        self.vectors.slice(s![.., ..self.kept])
    }

    fn everywhere(&self) -> Range<usize> {
        self.padded..self.padded + self.gaussian.ncols()
    }

    fn among(&self) -> Range<usize> {
        self.everywhere().end..self.vectors.ncols()
    }
}

/// ‖A c − λ c‖ and |cᵀA c − λ| of each component, or bounds on them, and where they are from.
struct Bounds {
    residuals: Vec<f64>,
    along: Vec<f64>,
    /// The residuals of the components taken apart.
    parts: ResidualParts,
    evidence: Evidence,
}

impl Bounds {
    /// From `A C` itself (d × ·). The Rayleigh `quotients` of the components are the variances of their scores.
    fn measured(
        product: ArrayView2<f64>,
        columns: ArrayView2<f64>,
        values: &[f64],
        quotients: &[f64],
    ) -> Bounds {
        let residuals = certificate::residuals(product, columns, values);
        let mut along = certificate::along(product, columns, values);
        off_quotients(&mut along, columns, values, quotients);
        let rest = rest(product, columns, values);
        let parts = ResidualParts::of(&rest, columns.slice(s![.., ..quotients.len()]));
        Bounds { residuals, along, parts, evidence: Evidence::Data }
    }

    /// As the solver believes them, and how wrong it is about the probes, whose products with the data are `probed`.
    fn believed(
        model: &ResidualModel,
        block: &Block,
        values: &[f64],
        probed: ArrayView2<f64>,
        quotients: &[f64],
    ) -> Bounds {
        let (columns, k) = (block.kept(), quotients.len());
        let rest = model.rest(columns, values);
        let (mut residuals, mut along) = (lengths(&rest), certificate::inner(&rest, columns));
        let difference = model.of_probes(block, values) - probed;
        let error = certificate::error_bound(difference.view());
        residuals.iter_mut().chain(&mut along).for_each(|bound| *bound += error);
        off_quotients(&mut along, columns, values, quotients);
        let found = columns.slice(s![.., ..k]);
        let mut parts = ResidualParts::of(&rest, found);
        // What the solver is wrong about lies outside the components for the most part: of what is along one of them
        // the probes see a single number each, whose size says far more.
        let inside = gemm::transposed_product(found, difference.view());
        parts.widen(&certificate::row_bounds(inside.view()), error, values);
        let evidence = Evidence::Probes { failure: certificate::error_failure(k) };
        Bounds { residuals, along, parts, evidence }
    }

    /// Whether bounds by probes allow more than this for one of `k` components.
    fn too_wide(&self, k: usize, allowed: f64) -> bool {
        matches!(self.evidence, Evidence::Probes { .. })
            && self.residuals.iter().take(k).any(|r| *r > allowed)
    }

    /// One more, of a direction along which there is nothing.
    fn push_null(&mut self) {
        self.residuals.push(0.0);
        self.along.push(0.0);
    }
}

/// What a solver believes of the data's matrix A.
enum ResidualModel<'a> {
    /// A itself, formed from the data.
    Matrix(ArrayView2<'a, f64>),
    /// What is left of the components C, `A C − C Λ = basis · coefficients`.
    Remainder { basis: ArrayView2<'a, f64>, coefficients: Array2<f64> },
}

impl ResidualModel<'_> {
    /// `A P` of the probes P that are for it, were it true.
    fn of_probes(&self, block: &Block, values: &[f64]) -> Array2<f64> {
        match self {
            ResidualModel::Matrix(matrix) => {
                gemm::product(*matrix, block.vectors.slice(s![.., block.among()]))
            }
            ResidualModel::Remainder { basis, coefficients } => {
                let mut scaled = block.mixture.clone();
                for (mut row, &value) in scaled.rows_mut().into_iter().zip(values) {
                    row *= value;
                }
                let mut believed = gemm::product(block.kept(), scaled.view());
                let left = gemm::product(coefficients.view(), block.mixture.view());
                gemm::product_into(*basis, left.view(), &mut believed, false);
                believed
            }
        }
    }

    /// `A C − C Λ`, were it true.
    fn rest(&self, columns: ArrayView2<f64>, values: &[f64]) -> Array2<f64> {
        match self {
            ResidualModel::Matrix(matrix) => {
                rest(gemm::product(*matrix, columns).view(), columns, values)
            }
            ResidualModel::Remainder { basis, coefficients } => {
                gemm::product(*basis, coefficients.view())
            }
        }
    }
}

/// `A C − C Λ` (d × m), from `A C`.
fn rest(product: ArrayView2<f64>, columns: ArrayView2<f64>, values: &[f64]) -> Array2<f64> {
    let mut rest = product.to_owned();
    for (mut rest, u) in rest.rows_mut().into_iter().zip(columns.rows()) {
        for ((rest, u), value) in rest.iter_mut().zip(u).zip(values) {
            *rest -= value * u;
        }
    }
    rest
}

/// The length of every column.
fn lengths(columns: &Array2<f64>) -> Vec<f64> {
    columns.map_axis(Axis(0), |c| c.dot(&c).sqrt()).to_vec()
}

/// How far the values of the leading columns are from Rayleigh quotients that are known.
fn off_quotients(along: &mut [f64], columns: ArrayView2<f64>, values: &[f64], quotients: &[f64]) {
    let lengths = columns.map_axis(Axis(0), |u| u.dot(&u));
    let of_pairs = along.iter_mut().zip(values).zip(&lengths);
    for (((along, value), length), quotient) in of_pairs.zip(quotients) {
        *along = (quotient - value * length).abs();
    }
}

#[cfg(test)]
mod tests {
    use super::super::fit::covariance;
    use super::*;
    use crate::data::Dataset;
    use crate::operator::FeatureGram;
    use crate::options::Options;
    use crate::passes::{Columns, Moments, RowGrid, Scaler};
    use crate::solver::finish;

    /// Certifies pairs of a covariance that was spoilt after it was formed, or spoilt pairs.
    fn residual(k: usize, spoil_matrix: f64, spoil_vector: f64) -> f64 {
        let mut rng = random::stream(7, 0);
        let mut x = random::normal_matrix(&mut rng, 500, 90);
        for (f, mut column) in x.columns_mut().into_iter().enumerate() {
            column.mapv_inplace(|v| 1e3 + v * (4.0 - 0.04 * f as f64));
        }
        let data = Dataset::from(&x);
        let mut grid = RowGrid::new(&data).unwrap();
        let moments = Moments::of_grid(&mut grid).unwrap();
        let columns = moments.columns;
        let scaler = Scaler::new::<f64>(&columns, None, true, false);
        let mut matrix = covariance(moments.scatter, &columns, &scaler, true);
        let variances = matrix.diag().to_vec();
        let total = variances.iter().sum();
        matrix[[3, 5]] += spoil_matrix * matrix[[3, 3]];
        matrix[[5, 3]] = matrix[[3, 5]];
        let solver: CovarianceSolver<f64> = CovarianceSolver::Covariance { matrix, noise: 0.0 };
        let pairs = solver.leading(k, 90, 1e-10, usize::MAX, &Options::default()).unwrap();
        let (values, mut components) =
            finish::largest_first(&pairs.values, &pairs.vectors, k, f64::SIGN_TIE);
        components[[0, 0]] += spoil_vector;
        let map = LinearMap { scaler: scaler.clone(), components, rank: k, threads: None };
        let certifier = Certifier {
            map: &map,
            values: &values,
            pairs: &pairs,
            rank: k,
            variances: &variances,
            total,
            rows: columns.rows,
            divisor: columns.weight - 1.0,
            tolerance: f64::INFINITY,
            seed: 0,
        };
        let standardized = Standardized { grid: &grid, scaler: &scaler };
        let certificate =
            certifier.certify(&standardized, &solver, None, &mut ScoreMoments::new(k)).unwrap();
        certificate.relative_residual()
    }

    #[test]
    fn a_spoilt_covariance_is_caught() {
        // By residuals against the data for few components, by probes for many.
        for k in [5, 60] {
            assert!(residual(k, 0.0, 0.0) < 1e-12, "k = {k}");
            assert!(residual(k, 1e-3, 0.0) > 1e-5, "k = {k}");
        }
    }

    #[test]
    fn a_spoilt_component_is_caught() {
        for k in [5, 60] {
            assert!(residual(k, 0.0, 1e-3) > 1e-5, "k = {k}");
        }
    }

    /// Residuals of 30 components that an iteration stopped early at, as the certificate bounds them
    /// and as the data have them, after `spoil`.
    fn after_iteration(spoil: impl Fn(&mut EigenPairs, &mut Array2<f64>)) -> (Vec<f64>, Vec<f64>) {
        let mut x = random::normal_matrix(&mut random::stream(8, 0), 600, 400);
        for (f, mut column) in x.columns_mut().into_iter().enumerate() {
            column.mapv_inplace(|v| 50.0 + v * (1.0 + 30.0 / (1.0 + f as f64)));
        }
        let (certificate, top, truth) = iterate(&x, 1e-4, spoil);
        assert!(matches!(certificate.evidence, Evidence::Probes { .. }));
        (certificate.residuals.iter().map(|r| r * top).collect(), truth)
    }

    /// The certificate of 30 components, the largest value, and the true residuals.
    fn iterate(
        x: &Array2<f64>,
        tolerance: f64,
        spoil: impl Fn(&mut EigenPairs, &mut Array2<f64>),
    ) -> (Certificate, f64, Vec<f64>) {
        let (d, k) = (x.ncols(), 30);
        let data = Dataset::from(x);
        let mut grid = RowGrid::new(&data).unwrap();
        let columns = Columns::of(&mut grid).unwrap();
        let scaler = Scaler::new::<f64>(&columns, None, true, false);
        let divisor = columns.weight - 1.0;
        let standardized = || Standardized { grid: &grid, scaler: &scaler };
        let solver =
            CovarianceSolver::Iterative { operator: FeatureGram { data: standardized(), divisor } };
        let mut pairs = solver.leading(k, d, tolerance, usize::MAX, &Options::default()).unwrap();
        let (values, mut components) =
            finish::largest_first(&pairs.values, &pairs.vectors, k, f64::SIGN_TIE);
        spoil(&mut pairs, &mut components);
        let centered = x - &x.mean_axis(ndarray::Axis(0)).unwrap();
        let true_residuals = (components.rows().into_iter().zip(&values))
            .map(|(c, &value)| {
                let rest = centered.t().dot(&centered.dot(&c)) / divisor - &c * value;
                rest.dot(&rest).sqrt()
            })
            .collect();
        let map = LinearMap { scaler: scaler.clone(), components, rank: k, threads: None };
        let variances: Vec<f64> = columns.squares.iter().map(|s| s / divisor).collect();
        let certifier = Certifier {
            map: &map,
            values: &values,
            pairs: &pairs,
            rank: k,
            variances: &variances,
            total: variances.iter().sum(),
            rows: columns.rows,
            divisor,
            tolerance: f64::INFINITY,
            seed: 0,
        };
        let certificate =
            certifier.certify(&standardized(), &solver, None, &mut ScoreMoments::new(k)).unwrap();
        (certificate, values[0], true_residuals)
    }

    /// Values that fall so far that many lie together beside the first: fresh vectors are tried.
    #[test]
    fn an_iteration_that_looked_again_is_measured_component_by_component() {
        let mut x = random::normal_matrix(&mut random::stream(9, 0), 600, 400);
        for (f, mut column) in x.columns_mut().into_iter().enumerate() {
            column.mapv_inplace(|v| v * 10f64.powf(-(f.min(60) as f64) / 6.0));
        }
        let (certificate, top, truth) = iterate(&x, 1e-9, |_, _| {});
        assert!(matches!(certificate.evidence, Evidence::Data));
        for (bound, truth) in certificate.residuals.iter().zip(&truth) {
            assert!((bound * top - truth).abs() < 1e-13 * top, "{bound} for {truth}");
        }
    }

    #[test]
    fn what_an_iteration_says_is_left_is_what_the_data_say() {
        let (bounds, truth) = after_iteration(|_, _| {});
        assert!(truth.iter().any(|&r| r > 1e-5), "stopped early");
        for (bound, truth) in bounds.iter().zip(&truth) {
            assert!((bound - truth).abs() < 1e-10, "{bound} for {truth}");
        }
    }

    #[test]
    fn an_iteration_that_is_wrong_about_itself_is_caught() {
        // It believes that it has converged.
        let (bounds, truth) = after_iteration(|pairs, _| {
            pairs.remainder.as_mut().unwrap().coefficients.fill(0.0);
        });
        assert!(bounds.iter().zip(&truth).all(|(bound, truth)| bound >= truth));
        // A component, the first or the last, is not what it found.
        for j in [0, 29] {
            let (bounds, truth) = after_iteration(|_, components| components[[j, 7]] += 1e-3);
            assert!(truth[j] > 1e-5 && bounds.iter().zip(&truth).all(|(b, t)| b >= t), "{j}");
        }
    }
}
