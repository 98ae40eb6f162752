//! The model file: one `.safetensors` file with named arrays and a JSON description.
//!
//! Any language can open it, loading executes nothing, and everything is checked: the container
//! (header, offsets, shapes), a SHA-256 of the content, the format's version, and every part of the
//! model. The same model always gives the same bytes.
//!
//! | in the file | what |
//! | --- | --- |
//! | arrays | `components` (k × d), `values` (k), `mean`, `inv_scale`, `column_variances` (d) … |
//! | `__metadata__.eigenlens` | JSON: `format_version`, `program`, `method`, `options`, `input`, `model`, `sha256` |

mod container;

use crate::error::{Error, Place, Result};
use crate::file_kind::FileKind;
use crate::images::ImageShape;
use crate::source::Kind;
use container::Content;
use eigenlens::model::parts::{Array, Numbers};
use eigenlens::{Model, Parts, Preprocessing, TermWeighting, TermWeights, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A model and where it came from, as one file holds them.
pub struct StoredModel {
    /// The model.
    pub model: Box<dyn Model>,
    /// What is done to data before the model sees them.
    pub preprocessing: Preprocessing,
    /// Where the model came from.
    pub origin: Origin,
}

/// Where a model came from: what is needed to find its columns in other files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// The program that made it, with its version.
    pub program: String,
    /// What was asked for, in the words of the surface that was asked.
    pub options: BTreeMap<String, String>,
    /// The columns that became features, in order; none where they had no names.
    pub columns: Vec<OriginColumn>,
    /// The columns that were carried along as labels.
    pub labels: Vec<String>,
    /// The size of the images, where samples are images.
    pub image: Option<ImageShape>,
}

/// A column that became a feature.
#[derive(Clone, Debug, PartialEq)]
pub struct OriginColumn {
    /// Its name.
    pub name: String,
    /// What was in it: `float`, `integer`.
    pub kind: String,
}

impl Kind {
    /// The kind's name in model files and messages.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Float | Kind::Empty => "float",
            Kind::Integer => "integer",
            Kind::Text => "text",
            Kind::Unusable(_) => "unusable",
        }
    }
}

const TERM_WEIGHTS: &str = "term_weights";
const FILL: &str = "fill";

impl StoredModel {
    /// The file's bytes. `file` is named in errors.
    pub fn to_bytes(&self, file: &Path) -> Result<Vec<u8>> {
        let parts = self.model.to_parts().map_err(|e| content_error(file, e.to_string()))?;
        let Parts { version, method, mut arrays, description } = parts;
        let Preprocessing { term_weights, fill } = &self.preprocessing;
        let own = [
            (TERM_WEIGHTS, term_weights.as_ref().map(TermWeights::global)),
            (FILL, fill.as_deref()),
        ];
        for (name, numbers) in own {
            if let Some(numbers) = numbers.map(<[f64]>::to_vec) {
                let array = Array { shape: vec![numbers.len()], numbers: Numbers::F64(numbers) };
                arrays.insert(name.into(), array);
            }
        }
        let weighting = term_weights.as_ref().map(|w| w.weighting().name());
        let content = Content {
            arrays,
            description: [
                ("format_version", Value::from(version)),
                ("program", Value::from(&self.origin.program)),
                ("method", Value::from(method)),
                ("options", options(&self.origin.options)),
                ("input", input(&self.origin)),
                ("term_weighting", weighting.into()),
                ("model", Value::Map(description)),
            ]
            .map(|(name, value)| (name.to_string(), value))
            .into(),
        };
        content.encode().map_err(|what| content_error(file, what))
    }

    /// Reads and checks a model file.
    pub fn read(file: &Path) -> Result<StoredModel> {
        crate::write::recover(file);
        let (mut opened, mut bytes) = start(file)?;
        opened
            .read_to_end(&mut bytes)
            .map_err(|source| Error::Read { file: file.into(), source })?;
        StoredModel::from_bytes(&bytes, file)
    }

    /// The method of the model in a file, from the file's header alone: the model is not checked.
    pub fn method_in(file: &Path) -> Result<String> {
        let (mut opened, mut bytes) = start(file)?;
        let header = container::header_bytes(&bytes);
        let rest = header.saturating_sub(bytes.len() as u64);
        let read = |source| Error::Read { file: file.into(), source };
        opened.by_ref().take(rest).read_to_end(&mut bytes).map_err(read)?;
        container::method(&bytes).map_err(|what| content_error(file, what))
    }

    /// The model in a file's bytes. `file` is named in errors.
    pub fn from_bytes(bytes: &[u8], file: &Path) -> Result<StoredModel> {
        load(bytes).map_err(|what| content_error(file, what))
    }
}

/// Opens a model file and reads its first bytes, which tell whether the rest is worth reading.
fn start(file: &Path) -> Result<(File, Vec<u8>)> {
    let open = |source| Error::Open { file: file.into(), source };
    let mut opened = File::open(file).map_err(open)?;
    if !opened.metadata().map_err(open)?.is_file() {
        return Err(content_error(file, "a model is read from a regular file only".into()));
    }
    let mut bytes = Vec::new();
    let read = |source| Error::Read { file: file.into(), source };
    let n = FileKind::HEAD_BYTES as u64;
    opened.by_ref().take(n).read_to_end(&mut bytes).map_err(read)?;
    container::check_start(&bytes).map_err(|what| content_error(file, what))?;
    Ok((opened, bytes))
}

fn content_error(file: &Path, what: String) -> Error {
    Error::Content { file: file.into(), place: Place::default(), what }
}

fn load(bytes: &[u8]) -> std::result::Result<StoredModel, String> {
    let content = Content::decode(bytes)?;
    let mut entries = content.description;
    let version = match entries.remove("format_version") {
        Some(Value::Integer(version)) if version > 0 => version as u64,
        other => return Err(must_be("format_version", &other, "a whole number above 0")),
    };
    if version > Parts::VERSION {
        return Err(format!(
            "`format_version` is {version}, but this program reads up to {}: a newer one is needed",
            Parts::VERSION
        ));
    }
    let Some(Value::Map(description)) = entries.remove("model") else {
        return Err("`model` is missing from the description".into());
    };
    let mut arrays = content.arrays;
    let weights = arrays.remove(TERM_WEIGHTS);
    let fill = arrays.remove(FILL);
    let parts = Parts { version, method: text(&mut entries, "method")?, arrays, description };
    let model = eigenlens::from_parts(&parts).map_err(|e| e.to_string())?;
    let term_weights = term_weights(&mut entries, weights, model.n_features())?;
    let fill = read_fill(fill, model.n_features())?;
    let origin = read_origin(&mut entries, model.n_features())?;
    match entries.keys().next() {
        Some(name) => Err(format!("`{name}` is no part of format version {version}")),
        None => {
            let preprocessing = Preprocessing { term_weights, fill };
            Ok(StoredModel { model, preprocessing, origin })
        }
    }
}

fn read_fill(fill: Option<Array>, d: usize) -> std::result::Result<Option<Vec<f64>>, String> {
    match fill {
        None => Ok(None),
        Some(Array { shape, numbers: Numbers::F64(numbers) })
            if shape == [d] && numbers.len() == d && numbers.iter().all(|v| v.is_finite()) =>
        {
            Ok(Some(numbers))
        }
        Some(_) => Err(format!("`{FILL}` must hold one finite number for each of {d} features")),
    }
}

fn term_weights(
    entries: &mut BTreeMap<String, Value>,
    weights: Option<Array>,
    d: usize,
) -> std::result::Result<Option<TermWeights>, String> {
    let weighting = match entries.remove("term_weighting") {
        Some(Value::Null) => None,
        Some(Value::Text(name)) => {
            let found = TermWeighting::ALL.into_iter().find(|w| w.name() == name);
            Some(found.ok_or(format!("`term_weighting` is `{name}`, which is not known"))?)
        }
        other => return Err(must_be("term_weighting", &other, "a weighting or null")),
    };
    match (weighting, weights) {
        (None, None) => Ok(None),
        (Some(weighting), Some(Array { shape, numbers: Numbers::F64(global) }))
            if shape == [d] && global.len() == d =>
        {
            TermWeights::from_global(weighting, global)
                .map(Some)
                .map_err(|e| format!("`{TERM_WEIGHTS}`: {e}"))
        }
        _ => Err(format!("`{TERM_WEIGHTS}` must hold one number for each of {d} features")),
    }
}

fn options(options: &BTreeMap<String, String>) -> Value {
    Value::map(options.iter().map(|(name, value)| (name, Value::from(value))))
}

fn input(origin: &Origin) -> Value {
    let column = |c: &OriginColumn| {
        Value::map([("name", Value::from(&c.name)), ("kind", Value::from(&c.kind))])
    };
    let image = origin.image.map(|shape| {
        Value::map([("width", Value::from(shape.width)), ("height", Value::from(shape.height))])
    });
    Value::map([
        ("columns", Value::List(origin.columns.iter().map(column).collect())),
        ("labels", Value::list(&origin.labels)),
        ("image", image.unwrap_or(Value::Null)),
    ])
}

fn read_origin(
    entries: &mut BTreeMap<String, Value>,
    d: usize,
) -> std::result::Result<Origin, String> {
    let program = text(entries, "program")?;
    let options = match entries.remove("options") {
        Some(Value::Map(map)) => map
            .into_iter()
            .map(|(name, value)| match value {
                Value::Text(value) => Ok((name, value)),
                other => Err(must_be(&format!("options.{name}"), &Some(other), "text")),
            })
            .collect::<std::result::Result<_, _>>()?,
        other => return Err(must_be("options", &other, "a map")),
    };
    let mut input = match entries.remove("input") {
        Some(Value::Map(map)) => map,
        other => return Err(must_be("input", &other, "a map")),
    };
    let columns = list(&mut input, "columns")?
        .into_iter()
        .map(|column| match column {
            Value::Map(mut column) => Ok(OriginColumn {
                name: text(&mut column, "name")?,
                kind: text(&mut column, "kind")?,
            }),
            other => Err(must_be("input.columns", &Some(other), "a list of maps")),
        })
        .collect::<std::result::Result<Vec<_>, String>>()?;
    if !columns.is_empty() && columns.len() != d {
        let found = columns.len();
        return Err(format!("`input.columns` has {found} entries, but there are {d} features"));
    }
    let labels = list(&mut input, "labels")?
        .into_iter()
        .map(|label| match label {
            Value::Text(label) => Ok(label),
            other => Err(must_be("input.labels", &Some(other), "a list of texts")),
        })
        .collect::<std::result::Result<Vec<_>, String>>()?;
    let image = match input.remove("image") {
        Some(Value::Null) => None,
        Some(Value::Map(shape)) => match (shape.get("width"), shape.get("height")) {
            (Some(Value::Integer(width)), Some(Value::Integer(height)))
                if *width > 0 && width.checked_mul(*height) == i64::try_from(d).ok() =>
            {
                Some(ImageShape { width: *width as usize, height: *height as usize })
            }
            _ => return Err(format!("`input.image` must hold width and height of {d} pixels")),
        },
        other => return Err(must_be("input.image", &other, "a map or null")),
    };
    Ok(Origin { program, options, columns, labels, image })
}

fn text(entries: &mut BTreeMap<String, Value>, name: &str) -> std::result::Result<String, String> {
    match entries.remove(name) {
        Some(Value::Text(text)) => Ok(text),
        other => Err(must_be(name, &other, "text")),
    }
}

fn list(
    entries: &mut BTreeMap<String, Value>,
    name: &str,
) -> std::result::Result<Vec<Value>, String> {
    match entries.remove(name) {
        Some(Value::List(list)) => Ok(list),
        other => Err(must_be(name, &other, "a list")),
    }
}

fn must_be(name: &str, found: &Option<Value>, expected: &str) -> String {
    match found {
        None => format!("`{name}` is missing from the description"),
        Some(_) => format!("`{name}` of the description must be {expected}"),
    }
}
