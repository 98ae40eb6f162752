//! Columns by plain loops: how many samples, which entries are missing, means and variances.

use super::rows::{Entries, Reader, Treatment};
use super::{Batch, Checks, Sum, Sums, VerifyOptions};
use crate::data::{AnyDataset, Missing, MissingReport};
use crate::error::{Error, Result};
use crate::linalg::dense::power_of_two;
use crate::model::ModelCore;
use crate::passes::Scaler;

/// Sums over the samples, of entries about a pivot.
pub(crate) struct ColumnSums {
    pub rows: usize,
    pub weight: Sum,
    pivot: Vec<f64>,
    deviations: Sums,
    squares: Sums,
    /// The weight of entries that are stored, where others are 0.
    stored: Option<Sums>,
}

impl ColumnSums {
    /// About the mean that a model has; where it has none, about the first row: squares about 0 would lose the
    /// digits of a small spread.
    pub fn about(pivot: Vec<f64>) -> ColumnSums {
        let d = pivot.len();
        let (deviations, squares) = (Sums::zeros(d), Sums::zeros(d));
        ColumnSums { rows: 0, weight: Sum::default(), pivot, deviations, squares, stored: None }
    }

    pub fn add(&mut self, batch: &Batch) {
        let d = self.pivot.len();
        if self.rows == 0 && batch.rows() > 0 && self.pivot.iter().all(|p| *p == 0.0) {
            self.pivot = batch.dense_row(0);
        }
        self.rows += batch.rows();
        for (i, &w) in batch.weights.iter().enumerate() {
            self.weight.add(w);
            match &batch.entries {
                Entries::Dense(x) => {
                    let row = &x[i * d..(i + 1) * d];
                    (0..d).for_each(|f| self.add_entry(f, w, row[f] - self.pivot[f]));
                }
                Entries::Sparse(rows) => {
                    let (columns, values) = &rows[i];
                    for (f, v) in columns.iter().map(|f| *f as usize).zip(values) {
                        self.stored.get_or_insert_with(|| Sums::zeros(d)).add(f, w);
                        self.add_entry(f, w, v - self.pivot[f]);
                    }
                }
            }
        }
        if let (Entries::Sparse(_), None) = (&batch.entries, &self.stored) {
            self.stored = Some(Sums::zeros(d));
        }
    }

    fn add_entry(&mut self, f: usize, w: f64, deviation: f64) {
        self.deviations.add(f, w * deviation);
        self.squares.add(f, w * deviation * deviation);
    }

    /// The weight of entries of 0 that are not stored.
    fn unstored(&self, f: usize) -> f64 {
        self.stored.as_ref().map_or(0.0, |stored| self.weight.value() - stored.value(f))
    }

    /// Sum of what a column is away from the pivot.
    fn deviation(&self, f: usize) -> f64 {
        self.deviations.value(f) - self.unstored(f) * self.pivot[f]
    }

    /// The mean of a column.
    pub fn mean(&self, f: usize) -> f64 {
        self.pivot[f] + self.mean_beside_pivot(f)
    }

    /// The mean of a column less a number near it, which may be in two parts.
    pub fn mean_beside(&self, f: usize, high: f64, low: f64) -> f64 {
        (self.pivot[f] - high) + (self.mean_beside_pivot(f) - low)
    }

    fn mean_beside_pivot(&self, f: usize) -> f64 {
        self.deviation(f) / self.weight.value()
    }

    /// Variance about the mean, divisor n − 1.
    pub fn variance(&self, f: usize) -> f64 {
        let (n, sum, pivot) = (self.weight.value(), self.deviation(f), self.pivot[f]);
        let squares = self.squares.value(f) + self.unstored(f) * pivot * pivot;
        ((squares - sum * (sum / n)) / (n - 1.0)).max(0.0)
    }

    /// Mean square about 0, divisor n − 1.
    pub fn second_moment(&self, f: usize) -> f64 {
        let n = self.weight.value();
        let mean = self.mean(f);
        self.variance(f) + n * mean * mean / (n - 1.0)
    }
}

/// How far numbers that are one sum over the samples may be off, relative to their size.
pub(crate) fn rounding(reader: &Reader) -> f64 {
    // Blocks of float32 rows may be summed in float32.
    if reader.is_f32() { 4e-6 } else { 1e-10 }
}

impl Checks {
    /// What every model says of samples and features.
    pub fn samples(&mut self, core: &ModelCore, reader: &Reader, weight: f64) {
        if let Some(claimed) = core.n_samples {
            self.number("number of samples", claimed, weight, 1e-9 * weight);
        }
        if let (Some(claimed), Some(found)) = (&core.feature_names, reader.feature_names()) {
            let found = &found;
            let differs = claimed.iter().zip(found).position(|(a, b)| a != b);
            let at = differs.unwrap_or(0);
            let name = |names: &[String]| names.get(at).cloned().unwrap_or_default();
            let same = differs.is_none() && claimed.len() == found.len();
            let claim = format!("name of feature {}", at + 1);
            self.other(claim, name(claimed), name(found), same);
        }
    }

    /// What is subtracted from and multiplied onto every column. `sums` are about the mean of the scaler.
    pub fn scaler(&mut self, scaler: &Scaler, sums: &ColumnSums, center: bool, reader: &Reader) {
        let d = scaler.inv_scale.len();
        let rounding = rounding(reader);
        let deviation = |f: usize| sums.variance(f).sqrt();
        if center {
            // Means are kept to twice the digits of a number: their error is relative to the spread.
            let off = |f: usize| {
                let unit = power_of_two(scaler.column_exponents.as_ref().map_or(0, |e| e[f]));
                let claimed = (scaler.mean_hi[f] + scaler.mean_lo[f]) * unit;
                let off = sums.mean_beside(f, scaler.mean_hi[f], scaler.mean_lo[f]) * unit;
                let allowed = (rounding * deviation(f) + 1e-22 * scaler.mean_hi[f].abs()) * unit;
                (claimed, claimed + off, allowed)
            };
            self.worst(|f| format!("mean of feature {}", reader.column_name(f)), (0..d).map(off));
        }
        let factor = |f: usize| {
            let e = scaler.column_exponents.as_ref().map_or(0, |e| e[f]);
            if scaler.scale.is_none() {
                // Of the powers of two nothing may be left.
                let found = power_of_two((e - scaler.exponent).clamp(-1074, 1000));
                return (scaler.inv_scale[f], found, 0.0);
            }
            let constant = scaler.constant.contains(&f);
            let found = if constant || deviation(f) == 0.0 { 0.0 } else { 1.0 / deviation(f) };
            (scaler.inv_scale[f], found, rounding * found)
        };
        let name = |f: usize| format!("scale of feature {}", reader.column_name(f));
        self.worst(name, (0..d).map(factor));
        if let Some(scale) = &scaler.scale {
            let divisor = |f: usize| {
                let unit = power_of_two(scaler.column_exponents.as_ref().map_or(0, |e| e[f]));
                let constant = scaler.constant.contains(&f) || deviation(f) == 0.0;
                let found = if constant { 1.0 } else { deviation(f) * unit };
                (scale[f], found, rounding * found)
            };
            self.worst(name, (0..d).map(divisor));
        }
        self.constant_columns(scaler, sums, reader);
    }

    /// A column is constant where its spread is the rounding of its numbers.
    fn constant_columns(&mut self, scaler: &Scaler, sums: &ColumnSums, reader: &Reader) {
        let d = scaler.inv_scale.len();
        let limit = |f: usize| 4.0 * reader.epsilon() * sums.mean(f).abs();
        let spread = |f: usize| sums.variance(f).sqrt();
        // Columns near the limit may be called either.
        let surely = |f: &usize| spread(*f) == 0.0 || spread(*f) < 0.5 * limit(*f);
        let hardly = |f: &usize| spread(*f) > 2.0 * limit(*f) && spread(*f) > 0.0;
        let missed = (0..d).filter(surely).find(|f| !scaler.constant.contains(f));
        let false_one = scaler.constant.iter().copied().find(hardly);
        let name = |f: Option<usize>| f.map(|f| reader.column_name(f));
        let claimed = name(false_one).unwrap_or_else(|| format!("{}", scaler.constant.len()));
        let found = match (missed, false_one) {
            (Some(f), _) => format!("{} is constant too", reader.column_name(f)),
            (None, Some(f)) => format!("a standard deviation of {:e}", spread(f)),
            (None, None) => claimed.clone(),
        };
        let holds = missed.is_none() && false_one.is_none();
        self.other("constant columns", claimed, found, holds);
    }
}

/// Where entries are missing, by a pass of its own.
#[derive(Default)]
pub(crate) struct MissingSums {
    rows: usize,
    missing: usize,
    rows_with_missing: usize,
    empty_rows: usize,
    /// Missing entries of each column.
    columns: Vec<usize>,
    /// Means of what is observed (d).
    means: Vec<f64>,
}

impl MissingSums {
    pub fn of(data: &AnyDataset) -> Result<MissingSums> {
        let d = data.n_features();
        let mut found = MissingSums { columns: vec![0; d], ..MissingSums::default() };
        let (mut pivot, mut sums) = (Vec::new(), Sums::zeros(d));
        let mut weights = Sums::zeros(d);
        Reader::new(data, Treatment::Keep).for_each(&mut |batch| {
            for (i, &w) in batch.weights.iter().enumerate() {
                let row = batch.dense_row(i);
                if pivot.is_empty() {
                    pivot = row.iter().map(|v| if v.is_nan() { 0.0 } else { *v }).collect();
                }
                found.count(&row);
                for f in (0..d).filter(|&f| !row[f].is_nan()) {
                    sums.add(f, w * (row[f] - pivot[f]));
                    weights.add(f, w);
                }
            }
            Ok(())
        })?;
        let mean = |f: usize| pivot[f] + sums.value(f) / weights.value(f);
        found.means = (0..pivot.len()).map(mean).collect();
        Ok(found)
    }

    fn count(&mut self, row: &[f64]) {
        let missing = row.iter().filter(|v| v.is_nan()).count();
        self.rows += 1;
        self.missing += missing;
        self.rows_with_missing += usize::from(missing > 0);
        self.empty_rows += usize::from(missing == row.len());
        for (count, v) in self.columns.iter_mut().zip(row) {
            *count += usize::from(v.is_nan());
        }
    }
}

/// How every check of a model begins: within its budget, with the rows as the model saw them; without rows where what was
/// missing cannot be told.
pub(crate) fn open<'a>(
    core: &ModelCore,
    d: usize,
    memory: u64,
    data: &'a AnyDataset,
    options: &VerifyOptions,
) -> Result<(Checks, Option<Reader<'a>>)> {
    options.check(memory)?;
    super::need_samples(core)?;
    let mut checks = Checks::default();
    let reader = missing(&mut checks, core.missing.as_ref(), data, d)?;
    Ok((checks, reader))
}

/// What the model says was done about missing entries, checked against where they are; the rows as they are to be
/// read so that the rest can be checked, where they can. `d` is the number of features of the model.
pub(crate) fn missing<'a>(
    checks: &mut Checks,
    report: Option<&MissingReport>,
    data: &'a AnyDataset,
    d: usize,
) -> Result<Option<Reader<'a>>> {
    let columns_left_out = report.is_some_and(|r| r.policy == Missing::DropColumns);
    if data.n_features() != d && !(columns_left_out && data.n_features() > d) {
        return Err(Error::Shape {
            what: "the data",
            found: format!("{} features", data.n_features()),
            expected: format!("{d}, as in training,"),
        });
    }
    if report.is_none() && Reader::new(data, Treatment::Refuse).is_complete_and_sparse() {
        return Ok(Some(Reader::new(data, Treatment::Refuse)));
    }
    let found = MissingSums::of(data)?;
    let Some(report) = report else {
        let none = found.missing == 0;
        if !none {
            checks.number("missing entries", 0.0, found.missing as f64, 0.0);
        }
        return Ok(none.then(|| Reader::new(data, Treatment::Refuse)));
    };
    if columns_left_out && data.n_features() == d {
        checks.skip(
            "what was done about missing entries",
            "the columns that were left out are not among these data",
        );
        let none = found.missing == 0;
        if !none {
            checks.number("missing entries of the columns kept", 0.0, found.missing as f64, 0.0);
        }
        return Ok(none.then(|| Reader::new(data, Treatment::Refuse)));
    }
    found.check(checks, report, data.n_features());
    let kept: Vec<usize> = (0..data.n_features()).filter(|&f| found.columns[f] == 0).collect();
    Ok(match report.policy {
        Missing::DropRows => Some(Reader::new(data, Treatment::DropRows)),
        Missing::Mean => Some(Reader::new(data, Treatment::Fill(found.means))),
        Missing::Em => Some(Reader::new(data, Treatment::Keep)),
        Missing::DropColumns => {
            checks.number("features without a missing entry", d as f64, kept.len() as f64, 0.0);
            let fits = kept.len() == d;
            fits.then(|| Reader::new(data, Treatment::Refuse).with_columns(Some(kept)))
        }
        Missing::Error => (found.missing == 0).then(|| Reader::new(data, Treatment::Refuse)),
    })
}

impl MissingSums {
    fn check(&self, checks: &mut Checks, report: &MissingReport, n_features: usize) {
        let counts = [
            ("missing entries", report.missing, self.missing),
            ("entries", report.entries, self.rows * n_features),
            ("samples with missing entries", report.rows_with_missing, self.rows_with_missing),
            ("samples with nothing observed", report.empty_rows, self.empty_rows),
        ];
        for (claim, claimed, found) in counts {
            checks.number(claim, claimed as f64, found as f64, 0.0);
        }
    }

    /// Means of what is observed (d).
    pub fn means(&self) -> &[f64] {
        &self.means
    }
}
