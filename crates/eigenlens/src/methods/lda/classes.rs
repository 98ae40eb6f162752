//! The classes of a fit: who belongs to which, how much each weighs, how likely each is.

use super::Lda;
use crate::data::{Factor, Target, TargetBody, UNLABELLED};
use crate::error::{Error, Hint, Result};

/// The classes that samples of positive weight have.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    /// The class of each sample (n); [`UNLABELLED`] where its class weighs nothing.
    pub codes: Vec<u32>,
    pub names: Vec<String>,
    /// The weight of each class, n_c.
    pub sizes: Vec<f64>,
    /// The probability of each class, π_c.
    pub priors: Vec<f64>,
    /// Whether priors were given.
    pub given_priors: bool,
    /// Samples of positive weight.
    pub rows: usize,
}

impl Classes {
    pub fn new(lda: &Lda, target: &Target, counts: Option<&[f64]>) -> Result<Classes> {
        let TargetBody::Classes { codes, names } = &target.body else {
            return Err(Error::Unsupported {
                what: "a target of numbers".into(),
                why: "has no classes to separate",
                instead: Some(Hint::Set { option: "target_kind", value: "class".into() }),
            });
        };
        target.check()?;
        let missing = target.missing_rows();
        if !missing.is_empty() && !lda.keep_unlabelled {
            return Err(Error::MissingLabels { rows: missing });
        }
        if let Some(counts) = counts.filter(|counts| counts.len() != codes.len()) {
            return Err(Error::Shape {
                what: "the target",
                found: format!("{} values", codes.len()),
                expected: format!("one for each of {} samples", counts.len()),
            });
        }
        let count = |i: usize| match codes[i] {
            UNLABELLED => 0.0,
            _ => counts.map_or(1.0, |counts| counts[i]),
        };
        let mut sizes = vec![0.0; names.len()];
        let labelled = codes.iter().enumerate().filter(|(_, code)| **code != UNLABELLED);
        labelled.for_each(|(i, &code)| sizes[code as usize] += count(i));
        // Classes without weight are none.
        let present: Vec<usize> = (0..names.len()).filter(|&c| sizes[c] > 0.0).collect();
        let mut place = vec![UNLABELLED; names.len()];
        present.iter().enumerate().for_each(|(at, &c)| place[c] = at as u32);
        if let [only] = present[..] {
            return Err(Error::OneClass { label: names[only].clone() });
        }
        let rows = (0..codes.len()).filter(|&i| count(i) > 0.0).count();
        let sizes: Vec<f64> = present.iter().map(|&c| sizes[c]).collect();
        let total: f64 = sizes.iter().sum();
        // As many samples as classes vary about no mean.
        if rows <= present.len() || total <= present.len() as f64 {
            return Err(Error::TooFewRows { found: rows, needed: present.len() + 1 });
        }
        let priors = match &lda.priors {
            None => sizes.iter().map(|size| size / total).collect(),
            Some(given) => {
                check_priors(given, names.len())?;
                let sum: f64 = present.iter().map(|&c| given[c]).sum();
                present.iter().map(|&c| given[c] / sum).collect()
            }
        };
        Ok(Classes {
            codes: codes
                .iter()
                .map(|&code| place.get(code as usize).copied().unwrap_or(UNLABELLED))
                .collect(),
            names: present.iter().map(|&c| names[c].clone()).collect(),
            sizes,
            priors,
            given_priors: lda.priors.is_some(),
            rows,
        })
    }

    /// The number of classes, c.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The sum of the weights, n.
    pub fn weight(&self) -> f64 {
        self.sizes.iter().sum()
    }

    /// The one-hot factor whose product with the data has the means of the classes.
    pub fn factor(&self, counts: Option<&[f64]>) -> Factor {
        Factor::one_hot(self.codes.clone(), self.len(), counts)
    }
}

fn check_priors(priors: &[f64], classes: usize) -> Result<()> {
    if priors.len() != classes {
        return Err(Error::Shape {
            what: "the list of priors",
            found: format!("{} numbers", priors.len()),
            expected: format!("one for each of {classes} classes"),
        });
    }
    let sum: f64 = priors.iter().sum();
    if let Some(wrong) = priors.iter().find(|p| !(**p > 0.0 && p.is_finite())) {
        let expected = "a probability above 0 for each class";
        return Err(Error::Parameter { name: "priors", value: wrong.to_string(), expected });
    }
    if (sum - 1.0).abs() > 1e-5 {
        let value = format!("a list that sums to {sum}");
        return Err(Error::Parameter { name: "priors", value, expected: "a list that sums to 1" });
    }
    Ok(())
}
