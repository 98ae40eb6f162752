//! Results: where they go, and that they can go there before the long work begins.

use crate::failure::Failure;
use eigenlens::Value;
use eigenlens_io::write::{Complete, Header, NumbersView, Output, TableWriter, table_writer};
use eigenlens_io::{AnyArray, Labels, StoredModel, json};
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

/// The name of a model beside which nothing was said, and why it is not the usual one. What is there
/// and is no model of the same method is never replaced: it would be lost unasked.
pub fn default_model_path(of: &Path, method: &str) -> Result<(PathBuf, Option<String>), Failure> {
    let usual = default_path(of, "model.safetensors");
    let Some(what) = holds_another(&usual, method) else { return Ok((usual, None)) };
    let other = default_path(of, &format!("{method}.safetensors"));
    if let Some(what) = holds_another(&other, method) {
        return Err(Failure::usage(
            format!("{what}, which `fit {method}` does not replace unasked"),
            format!("use `-o {}` to replace it, or another name", other.display()),
        ));
    }
    let reason = format!("{what}: the model of `{method}` goes to `{}`", other.display());
    Ok((other, Some(reason)))
}

/// What a file holds, unless there is none or it is a model of this method.
fn holds_another(path: &Path, method: &str) -> Option<String> {
    // Also what a link to nowhere would become.
    std::fs::symlink_metadata(path).ok()?;
    match StoredModel::method_in(path) {
        Ok(found) if found == method => None,
        Ok(found) => Some(format!("`{}` holds a model of the method `{found}`", path.display())),
        Err(_) => Some(format!("`{}` holds something else than a model", path.display())),
    }
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

    /// The same on standard output, as JSON: `name` is a list with an object for each row.
    pub fn json(name: &'static str) -> Result<TableOutput, Failure> {
        let path = PathBuf::from("-");
        let output = Output::create(&path, &[])?;
        let writer = JsonRows { output, name, header: Header::default(), n_rows: 0 };
        Ok(TableOutput { writer: Box::new(writer), path })
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

    /// Completes the file, whose name is still to be given.
    pub fn complete(self) -> Result<Complete, Failure> {
        Ok(self.writer.complete()?)
    }

    /// Completes the file, and gives it its name.
    pub fn finish(self) -> Result<(), Failure> {
        Ok(self.writer.finish()?)
    }

    /// A whole table at once, whose name is still to be given.
    pub fn write_all(
        mut self,
        label_names: &[String],
        labels: &[Labels],
        number_names: &[String],
        numbers: &AnyArray,
    ) -> Result<Complete, Failure> {
        let view = view(numbers);
        let is_f32 = matches!(numbers, AnyArray::F32(_));
        self.begin(label_names, number_names, is_f32, Some(view.dim().0))?;
        self.write(labels, view)?;
        self.complete()
    }
}

/// Rows as JSON objects.
struct JsonRows {
    output: Output,
    name: &'static str,
    header: Header,
    n_rows: usize,
}

impl TableWriter for JsonRows {
    fn begin(&mut self, header: &Header) -> eigenlens_io::Result<()> {
        self.header = header.clone();
        self.output.put(format!("{{\n  \"{}\": [", self.name).as_bytes())
    }

    fn write(&mut self, labels: &[Labels], numbers: NumbersView) -> eigenlens_io::Result<()> {
        // As many digits as tell a number of single precision from its neighbours.
        let single = |value: f32| value.to_string().parse().unwrap_or(f64::NAN);
        for row in 0..numbers.dim().0 {
            let texts =
                labels.iter().map(|column| Value::from(column.get(row).unwrap_or_default()));
            let texts = self.header.labels.iter().zip(texts);
            let values = (0..numbers.dim().1).map(|column| match numbers {
                NumbersView::F32(numbers) => Value::from(single(numbers[[row, column]])),
                NumbersView::F64(numbers) => Value::from(numbers[[row, column]]),
            });
            let object = Value::map(texts.chain(self.header.numbers.iter().zip(values)));
            let comma = if self.n_rows == 0 { "" } else { "," };
            self.output.put(format!("{comma}\n    {}", json::to_json(&object)).as_bytes())?;
            self.n_rows += 1;
        }
        Ok(())
    }

    fn complete(mut self: Box<Self>) -> eigenlens_io::Result<Complete> {
        self.output.put(format!("\n  ],\n  \"n_samples\": {}\n}}\n", self.n_rows).as_bytes())?;
        self.output.complete()
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
