//! Results: where they go, and that they can go there before the long work begins.

use crate::failure::Failure;
use eigenlens_io::write::{Header, NumbersView, Output, TableWriter, table_writer};
use eigenlens_io::{AnyArray, Labels};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Prints to stdout.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Prints bytes to stdout.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|source| {
        Failure::File(eigenlens_io::Error::Write {
            file: "standard output".into(),
            created: true,
            source,
        })
    })
}

/// The name of an output beside which nothing was said: the data's own, with another ending, in
/// this directory.
pub fn default_path(of: &Path, ending: &str) -> PathBuf {
    let name = match of.file_name() {
        Some(name) if of != Path::new("-") => name.to_string_lossy().into_owned(),
        _ => "stdin".into(),
    };
    // `faces` of `faces/`, `iris` of `iris.csv.gz` and of `iris.model.safetensors`.
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("data");
    PathBuf::from(format!("{stem}.{ending}"))
}

/// A file of bytes: made at once, filled at the end.
pub fn create(path: &Path, inputs: &[PathBuf]) -> Result<Output, Failure> {
    Ok(Output::create(path, inputs)?)
}

/// Writes a file that appears whole or not at all.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut output = create(path, &[])?;
    output.put(bytes)?;
    Ok(output.commit()?)
}

/// A table: its file is made at once, its rows come later.
pub struct TableOutput {
    writer: Box<dyn TableWriter>,
    pub path: PathBuf,
}

impl TableOutput {
    pub fn create(path: &Path, inputs: &[PathBuf]) -> Result<TableOutput, Failure> {
        let writer = table_writer(Output::create(path, inputs)?)?;
        Ok(TableOutput { writer, path: path.into() })
    }

    pub fn is_stdout(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Begins the table.
    pub fn begin(
        &mut self,
        labels: &[String],
        numbers: &[String],
        is_f32: bool,
        n_rows: Option<usize>,
    ) -> Result<(), Failure> {
        let (labels, numbers) = unique(labels, numbers);
        Ok(self.writer.begin(&Header { labels, numbers, is_f32, n_rows })?)
    }

    /// Writes some rows.
    pub fn write(&mut self, labels: &[Labels], numbers: NumbersView) -> Result<(), Failure> {
        Ok(self.writer.write(labels, numbers)?)
    }

    /// Completes the file.
    pub fn finish(self) -> Result<(), Failure> {
        Ok(self.writer.finish()?)
    }

    /// A whole table at once.
    pub fn write_all(
        mut self,
        label_names: &[String],
        labels: &[Labels],
        number_names: &[String],
        numbers: &AnyArray,
    ) -> Result<(), Failure> {
        let view = view(numbers);
        let is_f32 = matches!(numbers, AnyArray::F32(_));
        self.begin(label_names, number_names, is_f32, Some(view.dim().0))?;
        self.write(labels, view)?;
        self.finish()
    }
}

/// Numbers, lent.
pub fn view(numbers: &AnyArray) -> NumbersView<'_> {
    match numbers {
        AnyArray::F32(numbers) => NumbersView::F32(numbers.view()),
        AnyArray::F64(numbers) => NumbersView::F64(numbers.view()),
    }
}

/// Labels that are called like a column of numbers give way: a reader must tell them apart.
fn unique(labels: &[String], numbers: &[String]) -> (Vec<String>, Vec<String>) {
    let rename = |name: &String| {
        let mut name = name.clone();
        while numbers.contains(&name) {
            name.push('_');
        }
        name
    };
    (labels.iter().map(rename).collect(), numbers.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_named_after_the_data() {
        for (data, expected) in [
            ("iris.csv", "iris.x"),
            ("some/where/iris.csv.gz", "iris.x"),
            ("iris.model.safetensors", "iris.x"),
            ("faces/", "faces.x"),
            ("-", "stdin.x"),
            (".hidden", "data.x"),
            ("..", "stdin.x"),
        ] {
            assert_eq!(default_path(Path::new(data), "x"), PathBuf::from(expected), "{data}");
        }
    }

    #[test]
    fn labels_give_way_to_numbers() {
        let names = |all: &[&str]| all.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let (labels, _) = unique(&names(&["PC1", "name"]), &names(&["PC1", "PC1_"]));
        assert_eq!(labels, names(&["PC1__", "name"]));
    }
}
