//! A model checked together with what is done to data before it sees them.

use super::estimator::Method;
use crate::data::{AnyDataset, Csr, Missing, Target, TermWeighting, TermWeights};
use crate::error::Result;
use crate::model::verify::{Checks, MissingSums, Reader, Sums, rounding};
use crate::model::{Model, Verification, VerifyOptions};
use crate::options::Options;
use crate::passes::{Prepared, Preprocessing};

/// Checks a model and its preprocessing against data as they were read: weights of terms and what goes into missing
/// entries are made once more, then the model is verified on what it saw ([`Model::verify`]).
pub fn verify_model(
    model: &dyn Model,
    steps: &Preprocessing,
    data: &AnyDataset,
    target: Option<&Target>,
    options: &VerifyOptions,
) -> Result<Verification> {
    let resolves = Method::named(model.method()).is_some_and(|method| !method.takes_missing);
    let mut checks = Checks::default();
    if let Some(weights) = &steps.term_weights {
        let counts = dispatch!(data, d => d.to_csr())?;
        check_term_weights(&mut checks, weights, &counts, data);
    }
    if let Some(fill) = &steps.fill {
        check_fill(&mut checks, fill, data)?;
    }
    let own = Options { memory: options.memory, ..Options::default() };
    let prepared = match (&steps.term_weights, &steps.fill, data.missing()) {
        (None, None, Missing::DropRows | Missing::DropColumns | Missing::Mean) if resolves => {
            Prepared::resolved(data, &own)?
        }
        _ => steps.apply(data, &own)?,
    };
    let target = target.map(|target| prepared.target(target)).transpose()?;
    let found = model.verify(&prepared.data(), target.as_ref(), options);
    Ok(checks.before(found.map_err(|e| prepared.in_original_rows(e))?))
}

/// Weights of terms by their formula, documents one after the other.
fn check_term_weights(
    checks: &mut Checks,
    weights: &TermWeights,
    counts: &Csr<f64>,
    data: &AnyDataset,
) {
    let (n, terms) = (counts.n_rows(), counts.n_columns());
    let mut sums = [(); 3].map(|()| Sums::zeros(terms));
    for row in 0..n {
        let (columns, values) = counts.row(row);
        for (&term, &count) in columns.iter().zip(values).filter(|(_, count)| **count > 0.0) {
            let term = term as usize;
            sums[0].add(term, 1.0);
            sums[1].add(term, count);
            // Σ p ln p = Σ c ln c / t − ln t for counts c of sum t.
            sums[2].add(term, count * count.ln());
        }
    }
    let n = n as f64;
    let weight = |term: usize| {
        let (documents, total) = (sums[0].value(term), sums[1].value(term));
        match weights.weighting() {
            TermWeighting::TfIdf => ((1.0 + n) / (1.0 + documents)).ln() + 1.0,
            TermWeighting::LogEntropy if total > 0.0 => {
                let entropy = sums[2].value(term) / total - total.ln();
                (1.0 + entropy / if n > 1.0 { n.ln() } else { 1.0 }).max(0.0)
            }
            TermWeighting::LogEntropy => 1.0,
        }
    };
    let one = |(term, claimed): (usize, &f64)| (*claimed, weight(term), 1e-10);
    let name =
        |term: usize| format!("weight of the term {}", dispatch!(data, d => d.column_name(term)));
    checks.worst(name, weights.global().iter().enumerate().map(one));
}

/// Means of what is observed of every feature.
fn check_fill(checks: &mut Checks, fill: &[f64], data: &AnyDataset) -> Result<()> {
    let found = MissingSums::of(data)?;
    let allowed = rounding(&Reader::keeping(data));
    let one = |(claimed, mean): (&f64, &f64)| {
        (*claimed, *mean, allowed * (claimed.abs() + mean.abs()).max(f64::MIN_POSITIVE))
    };
    let name = |f: usize| {
        let name = dispatch!(data, d => d.column_name(f));
        format!("what goes into missing entries of feature {name}")
    };
    checks.worst(name, fill.iter().zip(found.means()).map(one));
    Ok(())
}
