//! Weighting of term counts for latent semantic analysis.

use super::Csr;
use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// How counts of terms (columns) in documents (rows) are weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermWeighting {
    /// Count × (ln((1 + n)/(1 + documents with the term)) + 1).
    TfIdf,
    /// ln(1 + count) × (1 + Σ p ln p / ln n), with p the term's share in each document (Dumais
    /// 1991): terms spread evenly over all documents weigh 0.
    LogEntropy,
}

/// Weights learned from one set of documents, to be applied to it and to new ones.
///
/// ```
/// use eigenlens::{Csr, TermWeighting, TermWeights};
/// let counts = Csr::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![1.0, 3.0, 1.0])?;
/// let weights = TermWeights::fit(TermWeighting::LogEntropy, &counts)?;
/// // The first term is in both documents alike, the second in one alone.
/// assert!(weights.global()[0].abs() < 1e-15 && weights.global()[1] == 1.0);
/// let weighted = weights.apply(&counts)?;
/// assert_eq!(weighted.row(0).1[1], 4f64.ln());
/// # Ok::<(), eigenlens::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TermWeights {
    weighting: TermWeighting,
    global: Vec<f64>,
}

impl TermWeighting {
    /// Every weighting.
    pub const ALL: [TermWeighting; 2] = [TermWeighting::TfIdf, TermWeighting::LogEntropy];

    /// The name, the same on every surface.
    pub fn name(&self) -> &'static str {
        match self {
            TermWeighting::TfIdf => "tf-idf",
            TermWeighting::LogEntropy => "log-entropy",
        }
    }
}

impl TermWeights {
    /// Learns the terms' weights from counts (documents × terms), which must not be negative.
    pub fn fit<T: Scalar>(weighting: TermWeighting, counts: &Csr<T>) -> Result<TermWeights> {
        check(counts)?;
        let n = counts.n_rows() as f64;
        let terms = counts.n_columns();
        let mut totals = vec![0.0; terms];
        let mut documents = vec![0.0; terms];
        for (_, term, count) in entries(counts).filter(|e| e.2 > 0.0) {
            totals[term] += count;
            documents[term] += 1.0;
        }
        let global = match weighting {
            TermWeighting::TfIdf => {
                documents.iter().map(|df| ((1.0 + n) / (1.0 + df)).ln() + 1.0).collect()
            }
            TermWeighting::LogEntropy => {
                let mut entropy = vec![0.0; terms];
                for (_, term, count) in entries(counts).filter(|e| e.2 > 0.0) {
                    let p = count / totals[term];
                    entropy[term] += p * p.ln();
                }
                let unit = if n > 1.0 { n.ln() } else { 1.0 };
                entropy.iter().map(|e| (1.0 + e / unit).max(0.0)).collect()
            }
        };
        Ok(TermWeights { weighting, global })
    }

    /// Weights that were learned before, as [`TermWeights::global`] gave them.
    pub fn from_global(weighting: TermWeighting, global: Vec<f64>) -> Result<TermWeights> {
        match global.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
            Some(weight) => Err(Error::Parameter {
                name: "global",
                value: weight.to_string(),
                expected: "finite and not negative",
            }),
            None => Ok(TermWeights { weighting, global }),
        }
    }

    /// How counts are weighted.
    pub fn weighting(&self) -> TermWeighting {
        self.weighting
    }

    /// The weight of each term.
    pub fn global(&self) -> &[f64] {
        &self.global
    }

    /// The weighted counts, as sparse as before.
    pub fn apply<T: Scalar>(&self, counts: &Csr<T>) -> Result<Csr<T>> {
        check(counts)?;
        if counts.n_columns() != self.global.len() {
            return Err(Error::Shape {
                what: "the counts",
                found: format!("{} terms", counts.n_columns()),
                expected: format!("{}", self.global.len()),
            });
        }
        Ok(counts.map_values(|term, count| {
            let count = count.to_f64();
            let local = match self.weighting {
                TermWeighting::TfIdf => count,
                TermWeighting::LogEntropy => count.ln_1p(),
            };
            T::from_f64(local * self.global[term])
        }))
    }
}

fn entries<T: Scalar>(counts: &Csr<T>) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
    (0..counts.n_rows()).flat_map(|row| {
        let (columns, values) = counts.row(row);
        columns.iter().zip(values).map(move |(&c, v)| (row, c as usize, v.to_f64()))
    })
}

fn check<T: Scalar>(counts: &Csr<T>) -> Result<()> {
    if let Some((row, column, value)) = counts.find_bad() {
        let name = None;
        return Err(if value.is_nan() {
            Error::MissingValue { row, column, name }
        } else {
            Error::Infinite { row, column, name, value }
        });
    }
    match entries(counts).find(|e| e.2 < 0.0) {
        Some((row, column, value)) => Err(Error::NegativeCount { row, column, value }),
        None => Ok(()),
    }
}
