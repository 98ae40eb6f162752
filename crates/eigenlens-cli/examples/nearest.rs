//! How well two components tell classes apart: the accuracy of the nearest neighbour on held-out
//! rows of the bundled tables, for PCA and supervised PCA.
//! `cargo run --release -p eigenlens-cli --example nearest`.

use eigenlens::{Dataset, Kernel, KernelSupervisedPca, Pca, SupervisedPca, Target};
use eigenlens_io::{ColumnChoice, ReadOptions, open};
use ndarray::{Array2, Axis};
use std::error::Error;
use std::path::Path;

/// A bundled table: features and classes.
struct Bundled {
    x: Array2<f64>,
    classes: Vec<String>,
}

/// Accuracy in percent of PCA, supervised and kernel supervised PCA.
pub struct Row {
    /// The table.
    pub name: &'static str,
    /// Of PCA.
    pub pca: f64,
    /// Of supervised PCA.
    pub supervised: f64,
    /// Of kernel supervised PCA.
    pub kernel: f64,
}

/// Prints the table of accuracies.
pub fn main() -> Result<(), Box<dyn Error>> {
    println!("| table | PCA | supervised PCA | kernel supervised PCA |");
    println!("| --- | --- | --- | --- |");
    for row in rows()? {
        println!("{}", row.text());
    }
    Ok(())
}

impl Row {
    /// A line of the table.
    pub fn text(&self) -> String {
        let Row { name, pca, supervised, kernel } = self;
        format!("| {name} | {pca:.1} % | {supervised:.1} % | {kernel:.1} % |")
    }
}

/// Every third row is held out; columns are standardised, but for the pixels of the digits.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let tables = [("iris", "iris.csv"), ("wine", "wine.csv"), ("digits", "digits.csv.gz")];
    tables.into_iter().map(|(name, file)| row(name, &read(file)?)).collect()
}

fn row(name: &'static str, table: &Bundled) -> Result<Row, Box<dyn Error>> {
    let n = table.x.nrows();
    let (held, kept): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| i % 3 == 2);
    let mut x = table.x.clone();
    if name != "digits" {
        standardize(&mut x, &kept);
    }
    let (train, test) = (x.select(Axis(0), &kept), x.select(Axis(0), &held));
    let of = |rows: &[usize]| rows.iter().map(|&i| &table.classes[i]).collect::<Vec<_>>();
    let (known, expected) = (of(&kept), of(&held));
    let target = Target::classes(&known);
    let (train, test) = (Dataset::from(&train), Dataset::from(&test));
    let accuracy = |a: Array2<f64>, b: Array2<f64>| accuracy(&a, &known, &b, &expected);

    let (pca, z) = Pca::new(2).fit_transform(&train)?;
    let (supervised, s) = SupervisedPca::new(2).fit_transform(&train, &target)?;
    let fit = KernelSupervisedPca::new(2).kernel(Kernel::rbf());
    let (kernel, k) = fit.fit_transform(&train, &target)?;
    Ok(Row {
        name,
        pca: accuracy(z, pca.transform(&test)?),
        supervised: accuracy(s, supervised.transform(&test)?),
        kernel: accuracy(k, kernel.transform(&test)?),
    })
}

/// By the means and standard deviations of the rows that are fitted.
fn standardize(x: &mut Array2<f64>, kept: &[usize]) {
    for mut column in x.columns_mut() {
        let n = kept.len() as f64;
        let mean = kept.iter().map(|&i| column[i]).sum::<f64>() / n;
        let squares: f64 = kept.iter().map(|&i| (column[i] - mean).powi(2)).sum();
        let sd = (squares / (n - 1.0)).sqrt();
        column.mapv_inplace(|v| if sd > 0.0 { (v - mean) / sd } else { 0.0 });
    }
}

/// The share of test rows, in percent, whose nearest training row is of their class.
fn accuracy(
    train: &Array2<f64>,
    known: &[&String],
    test: &Array2<f64>,
    expected: &[&String],
) -> f64 {
    let right = test.rows().into_iter().zip(expected).filter(|(z, class)| {
        let distance = |i: usize| (&train.row(i) - z).mapv(|v| v * v).sum();
        let nearest = (0..train.nrows()).fold((0, f64::INFINITY), |best, i| {
            let found = distance(i);
            if found < best.1 { (i, found) } else { best }
        });
        known[nearest.0] == **class
    });
    100.0 * right.count() as f64 / expected.len() as f64
}

fn read(file: &str) -> Result<Bundled, Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(file);
    let table = open(&[path], &ReadOptions::default())?;
    let selection = table.select(&ColumnChoice::default())?;
    let x = table.numbers(&selection.wanted().numbers, &[])?;
    let labels = table.labels(&selection.wanted().labels, &[])?;
    let classes = labels.first().map(|labels| labels.iter().map(String::from).collect());
    Ok(Bundled { x, classes: classes.unwrap_or_default() })
}
