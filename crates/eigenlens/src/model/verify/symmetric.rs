//! Pairs of a symmetric matrix over samples, whose entries are made one by one whenever they are needed.

use super::dense::{SMALL, Tridiagonal};
use super::leading::{deflated, orthogonality};
use super::missed::{Left, Probes};
use super::pairs::{MeasuredPairs, Wording};
use super::{Checks, Sum, VerifyOptions, dot, norm};
use crate::solver::Certificate;
use rayon::prelude::*;

/// A symmetric matrix (n × n), or `H A H` of it.
pub(crate) struct Symmetric<'a> {
    pub n: usize,
    pub entry: &'a (dyn Fn(usize, usize) -> f64 + Sync),
    pub centered: bool,
}

/// What a model says of the pairs of largest value.
pub(crate) struct Claimed<'a> {
    pub certificate: &'a Certificate,
    /// Values above 0, largest first.
    pub values: &'a [f64],
    /// Unit vectors (n), one for each.
    pub vectors: Vec<Vec<f64>>,
    /// What rounding leaves of a measurement.
    pub slack: f64,
    /// The trace, where no value can be below 0.
    pub trace: Option<f64>,
}

/// Applications of a large matrix to probes: each costs as much as the matrix.
const LOOKS: usize = 3;

impl Symmetric<'_> {
    /// `A v` of each vector.
    pub fn apply(&self, vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let inside: Vec<Vec<f64>> = vectors.iter().map(|v| self.center(v.clone())).collect();
        let rows: Vec<Vec<f64>> = (0..self.n)
            .into_par_iter()
            .map(|i| {
                let row: Vec<f64> = (0..self.n).map(|j| (self.entry)(i, j)).collect();
                inside.iter().map(|v| dot(&row, v)).collect()
            })
            .collect();
        let column = |m: usize| self.center(rows.iter().map(|row| row[m]).collect());
        (0..vectors.len()).map(column).collect()
    }

    fn center(&self, mut v: Vec<f64>) -> Vec<f64> {
        if self.centered {
            let mean = Sum::of(v.iter().copied()) / self.n as f64;
            v.iter_mut().for_each(|x| *x -= mean);
        }
        v
    }

    /// All entries, where there are few.
    fn matrix(&self) -> Option<Vec<f64>> {
        if self.n > SMALL {
            return None;
        }
        let n = self.n;
        let mut all: Vec<f64> = (0..n * n).map(|at| (self.entry)(at / n, at % n)).collect();
        if self.centered {
            let mean = |row: &[f64]| Sum::of(row.iter().copied()) / n as f64;
            let means: Vec<f64> = all.chunks_exact(n).map(mean).collect();
            let whole = mean(&means);
            for (at, v) in all.iter_mut().enumerate() {
                *v += whole - means[at / n] - means[at % n];
            }
        }
        Some(all)
    }

    /// Checks pairs, bounds on them, and whether they are the leading ones; all values, where there are few.
    pub fn check(
        &self,
        checks: &mut Checks,
        claimed: &Claimed,
        wording: &Wording,
        options: &VerifyOptions,
    ) -> Option<Vec<f64>> {
        let vectors = &claimed.vectors;
        let top = claimed.values.first().copied().unwrap_or(0.0);
        let mut probes = Probes::new(options.seed, self.n);
        let mut block = vectors.clone();
        block.extend_from_slice(probes.deflated(vectors));
        let mut products = self.apply(&block);
        probes.applied(products.split_off(vectors.len()), vectors);
        let matrix = self.matrix();
        let spectrum = matrix.clone().map(|a| Tridiagonal::of(a, self.n).values());
        let measured = measure(claimed, &products, spectrum.as_deref());
        measured.check(checks, wording, options.tolerance);
        let left = match matrix {
            Some(matrix) => {
                let beside = Tridiagonal::of(deflated(matrix, self.n, vectors), self.n);
                let value = beside.values().first().copied().unwrap_or(0.0);
                Left::exactly(value.max(0.0), probes.one_pass())
            }
            None => self.look(probes, vectors),
        };
        measured.check_missed(checks, wording, &left, claimed.trace, options.tolerance);
        if let Some(all) = &spectrum {
            for (j, value) in claimed.values.iter().enumerate() {
                let stated = claimed.certificate.value_errors[j].min(options.tolerance);
                let allowed = stated * top + claimed.slack + 1e-12 * top;
                let claim = format!("{} number {} of all", wording.value, j + 1);
                let (claimed, found) = (value * wording.unit, all[j] * wording.unit);
                checks.number(claim, claimed, found, allowed * wording.unit);
            }
        }
        spectrum
    }

    /// The largest value beside these vectors.
    pub fn left(&self, vectors: &[Vec<f64>], seed: u64) -> Left {
        if let Some(matrix) = self.matrix() {
            let beside = Tridiagonal::of(deflated(matrix, self.n, vectors), self.n);
            return Left::exactly(beside.values().first().copied().unwrap_or(0.0).max(0.0), 0.0);
        }
        let mut probes = Probes::new(seed, self.n);
        let products = self.apply(probes.deflated(vectors));
        probes.applied(products, vectors);
        self.look(probes, vectors)
    }

    fn look(&self, mut probes: Probes, vectors: &[Vec<f64>]) -> Left {
        for _ in 1..LOOKS {
            let products = self.apply(probes.vectors());
            probes.applied(products, vectors);
        }
        let products = self.apply(probes.vectors());
        probes.conclude(&products)
    }
}

fn measure<'a>(
    claimed: &'a Claimed,
    products: &[Vec<f64>],
    spectrum: Option<&[f64]>,
) -> MeasuredPairs<'a> {
    let Claimed { certificate, values, vectors, slack, .. } = claimed;
    let rest = |j: usize| {
        let rest = products[j].iter().zip(&vectors[j]).map(|(p, v)| p - values[j] * v);
        norm(&rest.collect::<Vec<f64>>())
    };
    let along =
        |j: usize| dot(&products[j], &vectors[j]) - values[j] * dot(&vectors[j], &vectors[j]);
    MeasuredPairs {
        certificate,
        values,
        next: spectrum.and_then(|all| all.get(values.len()).copied()),
        residuals: (0..values.len()).map(rest).collect(),
        along: (0..values.len()).map(along).collect(),
        slack: vec![*slack; values.len()],
        // Vectors were scaled by the root of their value, and back.
        orthogonality: (orthogonality(vectors) - 8.0 * f64::EPSILON).max(0.0),
    }
}

/// All rows of the data as they are, in memory.
pub(crate) fn all_rows(reader: &super::Reader) -> crate::error::Result<Vec<Vec<f64>>> {
    let mut rows = Vec::new();
    reader.for_each(&mut |batch| {
        rows.extend((0..batch.rows()).map(|i| batch.dense_row(i)));
        Ok(())
    })?;
    Ok(rows)
}
