//! What supervised methods keep: a class or numbers for every sample.

use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView1, ArrayView2};
use std::collections::BTreeMap;

/// The code of a sample without a label.
pub(crate) const UNLABELLED: u32 = u32::MAX;

/// One class, or one or several numbers, for every sample; or a kernel between the samples.
///
/// ```
/// use eigenlens::{Target, ndarray};
/// let species = Target::classes(["setosa", "virginica", "setosa"]);
/// assert_eq!(species.class_names(), Some(&["setosa".to_string(), "virginica".to_string()][..]));
/// let yields = Target::numbers(ndarray::array![[1.5], [2.5], [0.5]]);
/// assert_eq!(yields.n_samples(), 3);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    pub(crate) body: Body,
}

/// What was given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    /// A code for each sample ([`UNLABELLED`] where there is none), and the classes' names.
    Classes { codes: Vec<u32>, names: Vec<String> },
    /// n × q; NaN where there is none.
    Numbers(Array2<f64>),
    /// A label kernel (n × n).
    Kernel(Array2<f64>),
    /// Its factor Δ (n × ℓ), with `K = ΔΔᵀ`.
    Factor(Array2<f64>),
}

/// What a target of numbers is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetKind {
    /// A class where one column holds few whole numbers, each several times; else numbers.
    #[default]
    Auto,
    /// Each value is a class.
    Class,
    /// Numbers, close to or far from each other.
    Number,
}

impl Target {
    /// Numbers (n × q; NaN where one is missing), taken for what the kind says. Classes are named
    /// by their numbers, several columns joined by ` / `.
    pub fn guess(values: Array2<f64>, kind: TargetKind) -> Target {
        let is_class = match kind {
            TargetKind::Class => true,
            TargetKind::Number => false,
            TargetKind::Auto => values.ncols() == 1 && looks_like_classes(&values),
        };
        if !is_class {
            return Target::numbers(values);
        }
        let name = |row: ArrayView1<f64>| {
            let words: Vec<String> = row.iter().map(f64::to_string).collect();
            row.iter().all(|v| !v.is_nan()).then(|| words.join(" / "))
        };
        Target::classes_or_missing(values.rows().into_iter().map(name))
    }

    /// A class for every sample. Classes are numbered in the order of their names.
    pub fn classes<S: AsRef<str>>(labels: impl IntoIterator<Item = S>) -> Target {
        Self::classes_or_missing(labels.into_iter().map(Some))
    }

    /// A class for every sample that has one.
    pub fn classes_or_missing<S: AsRef<str>>(
        labels: impl IntoIterator<Item = Option<S>>,
    ) -> Target {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut codes = Vec::new();
        for label in labels {
            codes.push(match label {
                None => UNLABELLED,
                Some(label) => match numbers.get(label.as_ref()) {
                    Some(&code) => code,
                    None => {
                        // Far fewer classes than this fit into memory.
                        let code = (numbers.len() as u32).min(UNLABELLED - 1);
                        numbers.insert(label.as_ref().to_string(), code);
                        code
                    }
                },
            });
        }
        // From the order of appearance to that of the names: rows in another order change nothing.
        let mut by_name = vec![0; numbers.len()];
        for (at, &code) in numbers.values().enumerate() {
            by_name[code as usize] = at as u32;
        }
        for code in codes.iter_mut().filter(|c| **c != UNLABELLED) {
            *code = by_name[*code as usize];
        }
        Target { body: Body::Classes { codes, names: numbers.into_keys().collect() } }
    }

    /// A class for every sample by its number among these names, whose order is kept: `None` where a number is
    /// none of them.
    pub fn coded(codes: Vec<u32>, names: Vec<String>) -> Option<Target> {
        let known = codes.iter().all(|&code| (code as usize) < names.len());
        known.then_some(Target { body: Body::Classes { codes, names } })
    }

    /// Numbers to keep (n × q), one column or several; NaN where one is missing.
    pub fn numbers(values: Array2<f64>) -> Target {
        Target { body: Body::Numbers(values) }
    }

    /// One number for every sample; NaN where it is missing.
    pub fn column(values: &[f64]) -> Target {
        let column = Array2::from_shape_fn((values.len(), 1), |(i, _)| values[i]);
        Target { body: Body::Numbers(column) }
    }

    /// A label kernel between the samples (n × n): symmetric, positive semi-definite.
    pub fn kernel(kernel: ArrayView2<f64>) -> Result<Target> {
        const WHAT: &str = "the label kernel";
        let (n, columns) = kernel.dim();
        if n != columns {
            return Err(Error::Shape {
                what: WHAT,
                found: format!("the shape {n} × {columns}"),
                expected: "a square matrix".into(),
            });
        }
        check_finite(kernel)?;
        let size = kernel.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for i in 0..n {
            for j in 0..i {
                let (upper, lower) = (kernel[[j, i]], kernel[[i, j]]);
                if (upper - lower).abs() > 1e-10 * size {
                    let (row, column) = (j, i);
                    return Err(Error::NotSymmetric { what: WHAT, row, column, upper, lower });
                }
            }
        }
        Ok(Target { body: Body::Kernel(kernel.to_owned()) })
    }

    /// The factor Δ (n × ℓ) of a label kernel `K = ΔΔᵀ`: the thinner, the faster.
    pub fn factor(factor: Array2<f64>) -> Result<Target> {
        check_finite(factor.view())?;
        Ok(Target { body: Body::Factor(factor) })
    }

    /// The number of samples, n.
    pub fn n_samples(&self) -> usize {
        match &self.body {
            Body::Classes { codes, .. } => codes.len(),
            Body::Numbers(values) => values.nrows(),
            Body::Kernel(kernel) => kernel.nrows(),
            Body::Factor(factor) => factor.nrows(),
        }
    }

    /// The classes' names, where the target is a class.
    pub fn class_names(&self) -> Option<&[String]> {
        match &self.body {
            Body::Classes { names, .. } => Some(names),
            _ => None,
        }
    }

    /// How many samples each class has, in the order of [`Target::class_names`].
    pub fn class_sizes(&self) -> Option<Vec<usize>> {
        let Body::Classes { codes, names } = &self.body else { return None };
        let mut sizes = vec![0; names.len()];
        codes.iter().filter(|c| **c != UNLABELLED).for_each(|&c| sizes[c as usize] += 1);
        Some(sizes)
    }

    /// The target as columns of numbers (n × q), for kernels of rows: classes as one column of codes
    /// (NaN where there is none).
    pub fn columns(&self) -> Array2<f64> {
        match &self.body {
            Body::Classes { codes, .. } => Array2::from_shape_fn((codes.len(), 1), |(i, _)| {
                if codes[i] == UNLABELLED { f64::NAN } else { f64::from(codes[i]) }
            }),
            Body::Numbers(values) => values.clone(),
            Body::Kernel(matrix) | Body::Factor(matrix) => matrix.clone(),
        }
    }

    /// The least and the largest number, where the target is numbers.
    pub fn number_range(&self) -> Option<(f64, f64)> {
        let Body::Numbers(values) = &self.body else { return None };
        let known = values.iter().filter(|v| !v.is_nan());
        Some(known.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v))))
    }

    /// About the bytes it takes in memory.
    pub fn n_bytes(&self) -> u64 {
        match &self.body {
            Body::Classes { codes, names } => {
                let names = names.iter().map(|name| size_of::<String>() + name.len());
                (size_of_val(&codes[..]) + names.sum::<usize>()) as u64
            }
            Body::Numbers(values) | Body::Kernel(values) | Body::Factor(values) => {
                8 * values.len() as u64
            }
        }
    }

    /// Samples without a label or number, counted from 0.
    pub fn missing_rows(&self) -> Vec<usize> {
        match &self.body {
            Body::Classes { codes, .. } => {
                (0..codes.len()).filter(|&i| codes[i] == UNLABELLED).collect()
            }
            Body::Numbers(values) => {
                (0..values.nrows()).filter(|&i| values.row(i).iter().any(|v| v.is_nan())).collect()
            }
            Body::Kernel(_) | Body::Factor(_) => Vec::new(),
        }
    }

    /// Only these samples, in this order; each below [`Target::n_samples`].
    pub fn select(&self, rows: &[usize]) -> Target {
        let axis = ndarray::Axis(0);
        let body = match &self.body {
            Body::Classes { codes, names } => Body::Classes {
                codes: rows.iter().map(|&i| codes[i]).collect(),
                names: names.clone(),
            },
            Body::Numbers(values) => Body::Numbers(values.select(axis, rows)),
            Body::Kernel(kernel) => {
                Body::Kernel(kernel.select(axis, rows).select(ndarray::Axis(1), rows))
            }
            Body::Factor(factor) => Body::Factor(factor.select(axis, rows)),
        };
        Target { body }
    }

    /// Only classes that a sample has.
    pub(crate) fn without_empty_classes(self) -> Target {
        let Body::Classes { codes, names } = self.body else { return self };
        let name = |code: u32| names.get(code as usize);
        Target::classes_or_missing(codes.into_iter().map(name))
    }

    /// Refuses infinite numbers, and a target that is the same for every labelled sample.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.body {
            Body::Classes { codes, names } => {
                let mut seen = vec![false; names.len()];
                codes.iter().filter(|c| **c != UNLABELLED).for_each(|&c| seen[c as usize] = true);
                let used: Vec<&String> =
                    names.iter().zip(&seen).filter(|(_, seen)| **seen).map(|(n, _)| n).collect();
                match used[..] {
                    [] => Err(Error::NoLabels),
                    [only] => Err(Error::OneClass { label: only.clone() }),
                    _ => Ok(()),
                }
            }
            Body::Numbers(values) => {
                if let Some(((row, _), &value)) =
                    values.indexed_iter().find(|(_, v)| v.is_infinite())
                {
                    return Err(Error::InfiniteTarget { row, value });
                }
                let missing = self.missing_rows();
                if values.ncols() == 0 || missing.len() == values.nrows() {
                    return Err(Error::NoLabels);
                }
                let varies = |column: ArrayView1<f64>| {
                    let (low, high) = column
                        .iter()
                        .filter(|v| !v.is_nan())
                        .fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
                    high > low
                };
                if values.columns().into_iter().any(varies) {
                    Ok(())
                } else {
                    let value = values.iter().copied().find(|v| !v.is_nan()).unwrap_or(0.0);
                    Err(Error::ConstantTarget { value })
                }
            }
            Body::Kernel(_) | Body::Factor(_) => Ok(()),
        }
    }
}

/// At most this many different whole numbers are classes.
const MOST_CLASSES: usize = 20;

fn looks_like_classes(values: &Array2<f64>) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    let mut known = 0;
    for &value in values.iter().filter(|v| !v.is_nan()) {
        if value.fract() != 0.0 || value.abs() > 1e15 {
            return false;
        }
        seen.insert(value as i64);
        known += 1;
        if seen.len() > MOST_CLASSES {
            return false;
        }
    }
    3 * seen.len() <= known
}

fn check_finite(values: ArrayView2<f64>) -> Result<()> {
    match values.indexed_iter().find(|(_, v)| !v.is_finite()) {
        Some(((row, _), &value)) => Err(Error::InfiniteTarget { row, value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn few_whole_numbers_are_classes() {
        let guess = |values: Array2<f64>| Target::guess(values, TargetKind::Auto);
        let column = |f: fn(usize) -> f64, n: usize| Array2::from_shape_fn((n, 1), |(i, _)| f(i));
        let digits = guess(column(|i| (i % 3) as f64, 30));
        assert_eq!(digits.class_sizes(), Some(vec![10, 10, 10]));
        assert_eq!(digits.class_names().unwrap(), ["0", "1", "2"]);
        assert!(guess(column(|i| i as f64, 30)).class_names().is_none());
        assert!(guess(column(|i| (i % 3) as f64 + 0.5, 30)).class_names().is_none());
        assert!(guess(array![[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]]).class_names().is_none());
        let forced = Target::guess(array![[0.5], [f64::NAN], [1.5]], TargetKind::Class);
        assert_eq!(forced.class_names().unwrap(), ["0.5", "1.5"]);
        assert_eq!(forced.missing_rows(), [1]);
        let numbers = Target::guess(column(|i| (i % 2) as f64, 30), TargetKind::Number);
        assert!(numbers.class_names().is_none());
    }

    #[test]
    fn classes_do_not_depend_on_the_order_of_rows() {
        let a = Target::classes(["b", "a", "c", "a"]);
        assert_eq!(a.columns(), array![[1.0], [0.0], [2.0], [0.0]]);
        assert_eq!(a.select(&[2, 1]).columns(), array![[2.0], [0.0]]);
    }
}
