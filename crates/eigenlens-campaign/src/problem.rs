//! A PCA to be fitted and judged: data as they are stored, what is asked for, and the truth about it.

use crate::compare::{Check, Claimed, compare};
use crate::double_double::DoubleDouble;
use crate::matrix::Matrix;
use crate::truth::Truth;
use eigenlens::{
    Csr, Dataset, Lsa, Options, Pca, PcaModel, Result, RowReader, Rows, SampleWeights, Scalar,
    Solver,
};
use ndarray::{Array2, ArrayView2, s};

/// One fit that was judged.
pub struct Judged {
    /// What was fitted, in words.
    pub what: String,
    /// Its claims beside the truth.
    pub checks: Vec<Check>,
}

/// The entries, in their element type.
pub enum Entries {
    Single(Array2<f32>),
    Double(Array2<f64>),
}

/// How the entries are handed over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Storage {
    Dense,
    Sparse,
    /// In blocks of at most this many rows.
    Streamed(usize),
}

/// How much samples count.
#[derive(Clone, Debug)]
pub enum Weights {
    Frequency(Vec<f64>),
    Relative(Vec<f64>),
}

/// Data, and what is asked for.
pub struct Problem {
    pub entries: Entries,
    pub storage: Storage,
    pub weights: Option<Weights>,
    pub center: bool,
    pub standardize: bool,
    pub solver: Solver,
    pub tolerance: Option<f64>,
    pub max_iterations: Option<usize>,
    pub n_components: usize,
    /// A power of two of about the size of the entries: the truth is that of the entries over it, so that their squares
    /// are numbers, and values are compared over its square.
    pub unit: f64,
    /// What is special about the data.
    pub about: String,
}

impl Problem {
    /// PCA of these numbers as they are.
    pub fn new(x: Array2<f64>, n_components: usize) -> Problem {
        Problem {
            entries: Entries::Double(x),
            storage: Storage::Dense,
            weights: None,
            center: true,
            standardize: false,
            solver: Solver::Auto,
            tolerance: None,
            max_iterations: None,
            n_components,
            unit: 1.0,
            about: String::new(),
        }
    }

    /// The same with the entries rounded to float32: the rounded ones are the data.
    pub fn single(mut self) -> Problem {
        if let Entries::Double(x) = &self.entries {
            self.entries = Entries::Single(x.mapv(|v| v as f32));
        }
        self
    }

    /// Fits and compares with the truth of the stored numbers.
    pub fn judge(&self) -> Result<Judged> {
        self.judge_by(&self.truth())
    }

    /// Fits and compares with a truth that is known otherwise.
    pub fn judge_by(&self, truth: &Truth) -> Result<Judged> {
        let model = match &self.entries {
            Entries::Single(x) => self.fit(x)?,
            Entries::Double(x) => self.fit(x)?,
        };
        // Twice: the square of a power of two may be no number.
        let unit = if self.standardize { 1.0 } else { self.unit };
        let values: Vec<f64> = model.explained_variance().iter().map(|v| v / unit / unit).collect();
        let checks = compare(&Claimed { values: &values, ..claimed(&model) }, truth);
        Ok(Judged { what: format!("{}; {}", self.words(), model.plan()), checks })
    }

    /// The eigenpairs of the covariance of the stored numbers: means, scales and products in double-double.
    pub fn truth(&self) -> Truth {
        match &self.entries {
            Entries::Single(x) => self.truth_of(x),
            Entries::Double(x) => self.truth_of(x),
        }
    }

    fn truth_of<T: Scalar>(&self, x: &Array2<T>) -> Truth {
        let (n, d) = x.dim();
        let counts = self.counts(n);
        let total = counts.iter().fold(DoubleDouble::ZERO, |sum, w| sum + *w);
        let divisor = total - DoubleDouble::ONE;
        let roots: Vec<DoubleDouble> = counts.iter().map(|w| (*w / divisor).sqrt()).collect();
        let mut rows =
            Matrix::from_fn(n, d, |i, f| DoubleDouble::from(x[[i, f]].to_f64() / self.unit));
        for f in 0..d {
            let weighted = |sum, i: usize| sum + counts[i] * rows.at(i, f);
            let mean = (0..n).fold(DoubleDouble::ZERO, weighted) / total;
            let spread = |sum, i: usize| {
                let rest = rows.at(i, f) - mean;
                sum + counts[i] * rest * rest
            };
            let sd = ((0..n).fold(DoubleDouble::ZERO, spread) / divisor).sqrt();
            // As documented: the rounding of stored numbers gives a constant column this much spread.
            let constant = sd.to_f64() <= 4.0 * T::EPSILON * mean.to_f64().abs();
            let scale = match (self.standardize, constant) {
                (false, _) => DoubleDouble::ONE,
                (true, true) => DoubleDouble::ZERO,
                (true, false) => DoubleDouble::ONE / sd,
            };
            let mean = if self.center { mean } else { DoubleDouble::ZERO };
            for i in 0..n {
                rows.row_mut(i)[f] = (rows.at(i, f) - mean) * scale * roots[i];
            }
        }
        Truth::of_factor(&rows)
    }

    /// How often each sample counts; relative weights have mean 1 over those that are not 0.
    fn counts(&self, n: usize) -> Vec<DoubleDouble> {
        match &self.weights {
            None => vec![DoubleDouble::ONE; n],
            Some(Weights::Frequency(w)) => w.iter().map(|&w| DoubleDouble::from(w)).collect(),
            Some(Weights::Relative(w)) => {
                let used = w.iter().filter(|w| **w > 0.0).count();
                let sum = w.iter().fold(DoubleDouble::ZERO, |sum, &w| sum + DoubleDouble::from(w));
                let factor = DoubleDouble::from(used as f64) / sum;
                w.iter().map(|&w| DoubleDouble::from(w) * factor).collect()
            }
        }
    }

    fn fit<T: Scalar>(&self, x: &Array2<T>) -> Result<PcaModel> {
        let sparse = if self.storage == Storage::Sparse { Some(to_csr(x)?) } else { None };
        let streamed = match self.storage {
            Storage::Streamed(block) => Some(Blocks { x, block }),
            _ => None,
        };
        let mut data = match (&sparse, &streamed) {
            (Some(rows), _) => Dataset::sparse(rows),
            (_, Some(rows)) => Dataset::streamed(rows),
            _ => Dataset::dense(x.view()),
        };
        data = match &self.weights {
            None => data,
            Some(Weights::Frequency(w)) => data.with_weights(SampleWeights::frequency(w.clone())),
            Some(Weights::Relative(w)) => data.with_weights(SampleWeights::relative(w.clone())),
        };
        let mut options = Options { tolerance: self.tolerance, ..Options::default() };
        options.max_iterations = self.max_iterations.unwrap_or(options.max_iterations);
        if !self.center && !self.standardize {
            return Lsa::new(self.n_components).solver(self.solver).options(options).fit(data);
        }
        let pca = Pca::new(self.n_components).solver(self.solver).options(options);
        pca.center(self.center).standardize(self.standardize).fit(data)
    }

    fn words(&self) -> String {
        let (element, (n, d)) = match &self.entries {
            Entries::Single(x) => ("f32", x.dim()),
            Entries::Double(x) => ("f64", x.dim()),
        };
        let mut words = format!("{n} × {d} {element}, k = {}", self.n_components);
        let mut add = |given: bool, text: String| {
            if given {
                words.push_str(", ");
                words.push_str(&text);
            }
        };
        add(!self.about.is_empty(), self.about.clone());
        add(!self.center, "uncentred".into());
        add(self.standardize, "standardised".into());
        add(matches!(self.weights, Some(Weights::Frequency(_))), "frequency weights".into());
        add(matches!(self.weights, Some(Weights::Relative(_))), "relative weights".into());
        add(self.storage != Storage::Dense, format!("{:?}", self.storage));
        add(self.solver != Solver::Auto, format!("{:?}", self.solver));
        add(self.tolerance.is_some(), format!("tolerance {:?}", self.tolerance));
        add(self.max_iterations.is_some(), format!("iterations {:?}", self.max_iterations));
        words
    }
}

/// What a fitted PCA says.
pub fn claimed(model: &PcaModel) -> Claimed<'_> {
    Claimed {
        values: model.explained_variance(),
        vectors: model.components().rows().into_iter().map(|row| Some(row.to_vec())).collect(),
        unit_vectors: true,
        certificate: model.certificate(),
    }
}

fn to_csr<T: Scalar>(x: &Array2<T>) -> Result<Csr<T>> {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.rows() {
        for (f, v) in row.iter().enumerate().filter(|(_, v)| v.to_f64() != 0.0) {
            columns.push(f as u32);
            values.push(*v);
        }
        starts.push(values.len());
    }
    Csr::new(x.nrows(), x.ncols(), starts, columns, values)
}

/// Rows lent in blocks.
struct Blocks<'a, T> {
    x: &'a Array2<T>,
    block: usize,
}

struct Reader<'a, T> {
    blocks: &'a Blocks<'a, T>,
    next: usize,
}

impl<T: Scalar> Rows<T> for Blocks<'_, T> {
    fn n_features(&self) -> usize {
        self.x.ncols()
    }

    fn n_samples(&self) -> Option<usize> {
        Some(self.x.nrows())
    }

    fn open(&self) -> Result<Box<dyn RowReader<T> + '_>> {
        Ok(Box::new(Reader { blocks: self, next: 0 }))
    }
}

impl<T: Scalar> RowReader<T> for Reader<'_, T> {
    fn next_rows(&mut self, at_most: usize) -> Result<Option<ArrayView2<'_, T>>> {
        let (start, x) = (self.next, self.blocks.x);
        self.next = (start + self.blocks.block.min(at_most)).min(x.nrows());
        Ok((start < self.next).then(|| x.slice(s![start..self.next, ..])))
    }
}
