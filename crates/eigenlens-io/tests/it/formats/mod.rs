//! Formats other than text: files of other programs, broken ones, and ours read back.

mod arrow;
mod images;
mod matrix_market;
mod mutations;
mod npy;
mod parquet;
mod sparse;
mod writers;

use eigenlens::{Csr, Scalar};
use eigenlens_io::{AnyArray, AnyCsr, Block, Kind, Result, Source, Wanted};
use ndarray::{Array2, Axis, concatenate};
use std::path::PathBuf;

/// Rows and columns of most fixtures.
const N: usize = 37;
const D: usize = 5;

/// What is in row `i` and column `j` of them.
fn cell(i: usize, j: usize) -> f64 {
    i as f64 + j as f64 / 8.0
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A whole table, all columns that can be used.
#[derive(Debug, PartialEq)]
struct Content {
    names: Vec<String>,
    numbers: Array2<f64>,
    labels: Vec<Vec<String>>,
}

impl Content {
    fn of(source: &dyn Source) -> Result<Content> {
        let which = |kinds: &[Kind]| -> Vec<usize> {
            let columns = source.columns().iter().enumerate();
            columns.filter(|(_, column)| kinds.contains(&column.kind)).map(|(i, _)| i).collect()
        };
        let (numbers, labels) = (which(&[Kind::Float, Kind::Integer]), which(&[Kind::Text]));
        let wanted = Wanted { numbers, labels, ..Wanted::default() };
        Content::wanted(source, &wanted)
    }

    /// Block by block and, where the source can, at once or as sparse rows: all must come to the same.
    fn wanted(source: &dyn Source, wanted: &Wanted) -> Result<Content> {
        let content = Content::by_blocks(source, wanted);
        if let Some(whole) = source.read_whole(wanted, &|_| {}) {
            match (&content, whole) {
                (Ok(content), Ok((block, _))) => content.assert_is(block),
                (Err(_), Err(_)) => {}
                (Ok(_), Err(error)) => panic!("only reading at once fails: {error}"),
                (Err(error), Ok(_)) => panic!("only reading by blocks fails: {error}"),
            }
        }
        if let (Ok(content), Some(sparse)) = (&content, source.sparse()) {
            let csr = sparse.csr(&wanted.numbers)?;
            assert_eq!(filled(&csr), content.numbers);
            assert_eq!(sparse.n_stored(&wanted.numbers), csr.n_stored());
        }
        content
    }

    fn assert_is(&self, block: Block) {
        let numbers = match block.numbers {
            AnyArray::F32(numbers) => numbers.mapv(f64::from),
            AnyArray::F64(numbers) => numbers,
        };
        assert_eq!(numbers.dim(), self.numbers.dim());
        for (found, expected) in numbers.iter().zip(&self.numbers) {
            assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan());
        }
        let labels = block.labels.iter().map(|l| l.iter().map(str::to_owned).collect());
        assert_eq!(labels.collect::<Vec<Vec<String>>>(), self.labels);
    }

    fn by_blocks(source: &dyn Source, wanted: &Wanted) -> Result<Content> {
        let mut reader = source.open(wanted)?;
        let mut blocks = vec![Array2::zeros((0, wanted.numbers.len()))];
        let mut labels = vec![Vec::new(); wanted.labels.len()];
        while let Some(block) = reader.next_block()? {
            let numbers = match block.numbers {
                AnyArray::F32(numbers) => {
                    assert!(source.is_f32());
                    numbers.mapv(f64::from)
                }
                AnyArray::F64(numbers) => numbers,
            };
            assert!(numbers.is_standard_layout() && numbers.nrows() > 0);
            for (all, more) in labels.iter_mut().zip(&block.labels) {
                assert_eq!(more.len(), numbers.nrows());
                all.extend(more.iter().map(str::to_owned));
            }
            blocks.push(numbers);
        }
        let views: Vec<_> = blocks.iter().map(|block| block.view()).collect();
        let numbers = concatenate(Axis(0), &views).unwrap();
        let names = wanted.numbers.iter().map(|&i| source.columns()[i].name.clone()).collect();
        Ok(Content { names, numbers, labels })
    }

    /// The numbers of a column.
    fn column(&self, name: &str) -> Vec<f64> {
        let index = self.names.iter().position(|n| n == name).unwrap();
        self.numbers.column(index).to_vec()
    }
}

/// All entries of a sparse matrix.
fn filled(csr: &AnyCsr) -> Array2<f64> {
    fn all<T: Scalar>(x: &Csr<T>) -> Array2<f64> {
        let mut out = Array2::zeros((x.n_rows(), x.n_columns()));
        for row in 0..x.n_rows() {
            let (columns, values) = x.row(row);
            columns.iter().zip(values).for_each(|(&c, v)| out[(row, c as usize)] += v.to_f64());
        }
        out
    }
    match csr {
        AnyCsr::F32(x) => all(x),
        AnyCsr::F64(x) => all(x),
    }
}

/// Asserts that this is the table in most fixtures.
fn assert_plain(content: &Content) {
    assert_eq!(content.numbers.dim(), (N, D));
    for ((i, j), &x) in content.numbers.indexed_iter() {
        assert_eq!(x, cell(i, j), "row {i}, column {j}");
    }
}

/// Asserts that two columns agree, NaN where NaN is.
fn assert_column(found: &[f64], expected: impl Fn(usize) -> f64) {
    for (i, &x) in found.iter().enumerate() {
        let y = expected(i);
        assert!(x == y || (x.is_nan() && y.is_nan()), "row {i}: {x}, not {y}");
    }
}

/// NaN in every fifth row from the fourth on, as in the fixtures.
fn holed(i: usize, x: f64) -> f64 {
    if i % 5 == 3 { f64::NAN } else { x }
}
