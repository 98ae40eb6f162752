//! Principal components of any program, against the data they are said to be of.

use super::columns::{self, ColumnSums};
use super::covariance::{Covariance, Gather};
use super::leading::{look_beside, orthogonality, spectrum};
use super::missed::{Left, Probes};
use super::rows::Reader;
use super::{Checks, Sum, Verification, VerifyOptions, norm};
use crate::data::AnyDataset;
use crate::error::{Error, Result};
use crate::passes::Scaler;
use ndarray::ArrayView2;

/// What any program says it found: principal components to be checked against the data.
///
/// ```
/// use eigenlens::{AnyDataset, Claim, Dataset, VerifyOptions, ndarray};
/// let x = ndarray::array![[0.0, 0.0], [3.0, 1.0], [6.0, 2.0]];
/// let data = AnyDataset::from(Dataset::from(&x));
/// let components = ndarray::array![[3.0, 1.0]] / 10f64.sqrt();
/// let claim = Claim {
///     components: components.view(),
///     mean: Some(&[3.0, 1.0]),
///     explained_variance: Some(&[10.0]),
///     total_variance: Some(10.0),
/// };
/// let options = VerifyOptions::default();
/// assert!(claim.verify(&data, &options)?.passed());
/// let wrong = Claim { explained_variance: Some(&[9.0]), ..claim };
/// let found = wrong.verify(&data, &options)?;
/// assert!(found.failures().any(|check| check.claim == "explained variance of component 1"));
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The components (k × d), one per row.
    pub components: ArrayView2<'a, f64>,
    /// The mean of every feature (d); `None` where nothing was subtracted.
    pub mean: Option<&'a [f64]>,
    /// The variance along each component (k), divisor n − 1: about 0 where nothing was subtracted.
    pub explained_variance: Option<&'a [f64]>,
    /// The total variance.
    pub total_variance: Option<f64>,
}

impl<'a> Claim<'a> {
    /// That these are components of data about 0, and nothing else.
    pub fn of(components: ArrayView2<'a, f64>) -> Claim<'a> {
        Claim { components, mean: None, explained_variance: None, total_variance: None }
    }

    /// Checks the claim against the data it was made from, all numbers to within the tolerance.
    pub fn verify(&self, data: &AnyDataset, options: &VerifyOptions) -> Result<Verification> {
        let (k, d) = self.components.dim();
        self.check_lengths()?;
        options.check(Reader::memory(d) + 64 * ((k + 10) * d) as u64)?;
        let mut checks = Checks::default();
        let Some(reader) = columns::missing(&mut checks, None, data, d)? else {
            return Ok(checks.finish(0, options));
        };
        let rows = self.check(&mut checks, &reader, options)?;
        Ok(checks.finish(rows, options))
    }

    fn check_lengths(&self) -> Result<()> {
        let (k, d) = self.components.dim();
        let lengths = [
            ("the mean", self.mean.map(<[f64]>::len), d),
            ("the explained variance", self.explained_variance.map(<[f64]>::len), k),
        ];
        match lengths.into_iter().find(|(_, found, expected)| found.is_some_and(|n| n != *expected))
        {
            Some((what, found, expected)) => Err(Error::Shape {
                what,
                found: format!("{} entries", found.unwrap_or(0)),
                expected: expected.to_string(),
            }),
            None => Ok(()),
        }
    }

    fn check(
        &self,
        checks: &mut Checks,
        reader: &Reader,
        options: &VerifyOptions,
    ) -> Result<usize> {
        let d = self.components.ncols();
        let scaler = Scaler {
            mean_hi: self.mean.map_or_else(|| vec![0.0; d], <[f64]>::to_vec),
            mean_lo: vec![0.0; d],
            inv_scale: vec![1.0; d],
            column_exponents: None,
            scale: None,
            exponent: 0,
            constant: Vec::new(),
        };
        let covariance = Covariance { reader, scaler: &scaler };
        let components: Vec<Vec<f64>> =
            self.components.outer_iter().map(|row| row.to_vec()).collect();
        let mut probes = Probes::new(options.seed, d);
        let mut vectors = components.clone();
        vectors.extend_from_slice(probes.deflated(&components));
        let few =
            !covariance.is_small() && covariance.has_few_samples() && options.memory.is_none();
        let mut passed =
            covariance.pass(&vectors, Gather { scatter: covariance.is_small(), held: few })?;
        let divisor = passed.columns.weight.value() - 1.0;
        let products = passed.along[components.len()..].iter().map(|a| a.product(divisor));
        probes.applied(products.collect(), &components);
        self.check_mean(checks, &passed.columns, reader, options.tolerance);
        let total = self.check_total(checks, &passed.columns, options.tolerance);
        let quotients: Vec<f64> =
            passed.along[..components.len()].iter().map(|a| a.squares() / divisor).collect();
        let values = self.explained_variance.map_or(quotients.clone(), <[f64]>::to_vec);
        let top = quotients.iter().fold(0.0f64, |m, v| m.max(*v));
        for (j, u) in components.iter().enumerate() {
            let product = passed.along[j].product(divisor);
            let claimed = (values[j], quotients[j]);
            check_pair(checks, j, u, &product, claimed, top, options.tolerance);
        }
        let (found, most) = (orthogonality(&components), options.tolerance);
        let words = format!("at most {most:e} off those of unit vectors at right angles");
        checks.other("products of different components", words, found, found <= most);
        let left = match spectrum(&mut passed, &components, divisor) {
            Some(spectrum) => Left::exactly(spectrum.left, probes.one_pass()),
            None => look_beside(&covariance, probes, &components, &values, total)?,
        };
        check_left(checks, &left, &values, options.tolerance * top);
        Ok(passed.rows)
    }

    fn check_mean(
        &self,
        checks: &mut Checks,
        columns: &ColumnSums,
        reader: &Reader,
        tolerance: f64,
    ) {
        let Some(mean) = self.mean else { return };
        let one = |(f, &claimed): (usize, &f64)| {
            let allowed =
                tolerance * columns.variance(f).sqrt() + 8.0 * f64::EPSILON * claimed.abs();
            (claimed, claimed + columns.mean_beside(f, claimed, 0.0), allowed)
        };
        let name = |f: usize| format!("mean of feature {}", reader.column_name(f));
        checks.worst(name, mean.iter().enumerate().map(one));
    }

    fn check_total(&self, checks: &mut Checks, columns: &ColumnSums, tolerance: f64) -> f64 {
        let one = |f: usize| match self.mean {
            Some(_) => columns.variance(f),
            None => columns.second_moment(f),
        };
        let total = Sum::of((0..self.components.ncols()).map(one));
        if let Some(claimed) = self.total_variance {
            checks.number("total variance", claimed, total, tolerance * total);
        }
        total
    }
}

fn check_pair(
    checks: &mut Checks,
    j: usize,
    u: &[f64],
    product: &[f64],
    (value, found): (f64, f64),
    top: f64,
    tolerance: f64,
) {
    let claim = format!("explained variance of component {}", j + 1);
    checks.number(claim, value, found, tolerance * top);
    let rest: Vec<f64> = product.iter().zip(u).map(|(p, u)| p - found * u).collect();
    let residual = if top > 0.0 { norm(&rest) / top } else { norm(&rest) };
    let claim = format!("component {} is an eigenvector", j + 1);
    let words = format!("a relative residual of at most {tolerance:e}");
    checks.other(claim, words, residual, residual <= tolerance);
}

fn check_left(checks: &mut Checks, left: &Left, values: &[f64], allowed: f64) {
    let last = values.iter().copied().fold(f64::INFINITY, f64::min);
    let claim = "largest explained variance beside the components";
    let holds = left.at_least <= last + allowed;
    checks.other(claim, format!("at most {last:e}"), left.at_least, holds);
    if holds && left.at_most > last + allowed {
        let (to, failure) = (left.at_most, left.failure);
        checks.skip(
            format!("{claim} between {last:.3e} and {to:.3e}"),
            format!("random probes exclude more than {to:.3e} only (but for a probability of {failure:.0e})"),
        );
    }
}
