//! Arrays and a description in a safetensors container, with a hash over both.

use crate::file_kind::FileKind;
use crate::json::{from_json, to_json};
use eigenlens::model::parts::{Array, Numbers};
use eigenlens::{Parts, Value};
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, SafeTensors};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Headers hold names and a description: more than this is no model of ours.
const MOST_HEADER_BYTES: u64 = 64 << 20;

const DESCRIPTION: &str = "eigenlens";
const HASH: &str = "sha256";

/// What is in a model file.
pub(super) struct Content {
    pub arrays: BTreeMap<String, Array>,
    pub description: BTreeMap<String, Value>,
}

impl Content {
    /// The file's bytes: the same for the same content.
    pub fn encode(mut self) -> Result<Vec<u8>, String> {
        let hash = self.hash();
        self.description.insert(HASH.into(), Value::Text(hash));
        let text = to_json(&Value::Map(self.description));
        let bytes: BTreeMap<&String, Vec<u8>> =
            self.arrays.iter().map(|(name, array)| (name, little_endian(array))).collect();
        let mut views = Vec::with_capacity(bytes.len());
        for (name, array) in &self.arrays {
            let kind = match array.numbers {
                Numbers::F64(_) => Dtype::F64,
                Numbers::I64(_) => Dtype::I64,
            };
            let view = TensorView::new(kind, array.shape.clone(), &bytes[name]);
            views.push((name, view.map_err(|e| format!("`{name}`: {e}"))?));
        }
        // One entry only: more would come in the order of a hash map.
        let metadata = Some(std::iter::once((DESCRIPTION.to_string(), text)).collect());
        safetensors::serialize(views, metadata).map_err(|e| e.to_string())
    }

    /// The content of a file's bytes, its hash checked.
    pub fn decode(bytes: &[u8]) -> Result<Content, String> {
        check_start(bytes)?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(check_name)?;
        let Some(text) = metadata.metadata().as_ref().and_then(|m| m.get(DESCRIPTION)) else {
            return Err(format!(
                "this is a safetensors file, but no eigenlens model: its metadata have no `{DESCRIPTION}`"
            ));
        };
        let description = match from_json(text) {
            Ok(Value::Map(map)) => map,
            Ok(_) => return Err("the description is no JSON object".into()),
            Err(e) => return Err(format!("the description is no valid JSON: {e}")),
        };
        let tensors = SafeTensors::deserialize(bytes).map_err(check_name)?;
        let mut arrays = BTreeMap::new();
        for (name, view) in tensors.iter() {
            arrays.insert(name.to_string(), array(name, &view)?);
        }
        let mut content = Content { arrays, description };
        // A future version may hash in another way: it is told apart before.
        let known = match content.description.get("format_version") {
            Some(Value::Integer(version)) => *version as u64 <= Parts::VERSION,
            _ => false,
        };
        let stored = content.description.remove(HASH);
        match stored {
            Some(Value::Text(stored)) if stored == content.hash() => Ok(content),
            _ if !known => Ok(content),
            Some(Value::Text(_)) => {
                Err("the SHA-256 does not fit the content: the file was damaged or changed".into())
            }
            _ => Err(format!("`{HASH}` is missing from the description")),
        }
    }

    /// SHA-256 of the description without the hash, then of every array: name, type, shape, bytes.
    fn hash(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(to_json(&Value::Map(self.description.clone())).as_bytes());
        for (name, array) in &self.arrays {
            add(name.as_bytes());
            add(match array.numbers {
                Numbers::F64(_) => b"F64",
                Numbers::I64(_) => b"I64",
            });
            let shape: Vec<u8> =
                array.shape.iter().flat_map(|&n| (n as u64).to_le_bytes()).collect();
            add(&shape);
            add(&little_endian(array));
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Refuses what is no model, and a header that is too long, before the rest is read.
pub(super) fn check_start(bytes: &[u8]) -> Result<(), String> {
    // After its length the header begins, which is JSON: whatever the length says.
    let kind = match bytes.get(LENGTH_BYTES) {
        None | Some(b'{') => None,
        Some(_) => FileKind::of(bytes),
    };
    if let Some(kind) = kind {
        return Err(format!("this is no model file, but {}", kind.name()));
    }
    if FileKind::is_text(bytes) {
        return Err("this is no model file: it looks like text, such as a table".into());
    }
    if bytes.len() < LENGTH_BYTES {
        return Err(format!("the file has {} bytes: too short for a model", bytes.len()));
    }
    let length = header_bytes(bytes) - LENGTH_BYTES as u64;
    if length > MOST_HEADER_BYTES {
        return Err(format!(
            "the header has {length} bytes, but at most {MOST_HEADER_BYTES} are allowed: this is no model file"
        ));
    }
    Ok(())
}

/// The header begins with its length.
const LENGTH_BYTES: usize = 8;

/// How many bytes come before the arrays.
pub(super) fn header_bytes(bytes: &[u8]) -> u64 {
    let length = bytes.first_chunk::<LENGTH_BYTES>().copied().unwrap_or_default();
    u64::from_le_bytes(length).saturating_add(LENGTH_BYTES as u64)
}

/// The method that a header names.
pub(super) fn method(bytes: &[u8]) -> Result<String, String> {
    let no_model = || "this is no model of eigenlens".to_string();
    let end = usize::try_from(header_bytes(bytes)).map_err(|_| no_model())?;
    let header = bytes.get(LENGTH_BYTES..end).ok_or_else(no_model)?;
    let header = std::str::from_utf8(header).map_err(|_| no_model())?;
    let entry = |value: Value, name: &str| match value {
        Value::Map(mut map) => map.remove(name),
        _ => None,
    };
    let metadata = from_json(header).ok().and_then(|header| entry(header, "__metadata__"));
    let Some(Value::Text(text)) = metadata.and_then(|metadata| entry(metadata, DESCRIPTION)) else {
        return Err(no_model());
    };
    match from_json(&text).ok().and_then(|description| entry(description, "method")) {
        Some(Value::Text(method)) => Ok(method),
        _ => Err(no_model()),
    }
}

fn array(name: &str, view: &TensorView) -> Result<Array, String> {
    if view.data().is_empty() {
        return Err(format!("`{name}` is empty: its offsets hold no bytes"));
    }
    let eights = || view.data().chunks_exact(8).filter_map(|eight| <[u8; 8]>::try_from(eight).ok());
    let numbers = match view.dtype() {
        Dtype::F64 => Numbers::F64(eights().map(f64::from_le_bytes).collect()),
        Dtype::I64 => Numbers::I64(eights().map(i64::from_le_bytes).collect()),
        other => return Err(format!("`{name}` has the type {other}, but F64 or I64 is expected")),
    };
    Ok(Array { shape: view.shape().to_vec(), numbers })
}

fn little_endian(array: &Array) -> Vec<u8> {
    match &array.numbers {
        Numbers::F64(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        Numbers::I64(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
    }
}

/// The container's check that failed, in words.
fn check_name(error: SafeTensorError) -> String {
    match error {
        SafeTensorError::InvalidHeaderLength => {
            "the header's length goes past the end of the file: it is cut off or no model".into()
        }
        SafeTensorError::MetadataIncompleteBuffer => {
            "the arrays do not fill the file: it is cut off or has bytes too many".into()
        }
        SafeTensorError::InvalidOffset(name) => {
            format!("the offsets of `{name}` overlap others or leave a hole")
        }
        SafeTensorError::ValidationOverflow => "the shape of an array overflows".into(),
        SafeTensorError::TensorInvalidInfo => {
            "the shape of an array does not fit its offsets".into()
        }
        other => format!("the header is wrong: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content() -> Content {
        let floats = Array { shape: vec![2, 1], numbers: Numbers::F64(vec![1.5, -0.0]) };
        let whole = Array { shape: vec![1], numbers: Numbers::I64(vec![i64::MIN]) };
        Content {
            arrays: [("a".into(), floats), ("b".into(), whole)].into(),
            description: [("format_version".into(), Value::Integer(1))].into(),
        }
    }

    #[test]
    fn content_comes_back_and_bytes_are_always_the_same() {
        let bytes = content().encode().unwrap();
        assert_eq!(bytes, content().encode().unwrap());
        let back = Content::decode(&bytes).unwrap();
        assert_eq!((back.arrays, back.description), (content().arrays, content().description));
    }

    #[test]
    fn the_hash_sees_names_types_shapes_and_bytes() {
        let hash = content().hash();
        let with = |change: &dyn Fn(&mut Content)| {
            let mut changed = content();
            change(&mut changed);
            changed.hash()
        };
        assert_ne!(hash, with(&|c| c.arrays.get_mut("a").unwrap().shape = vec![1, 2]));
        assert_ne!(hash, with(&|c| drop(c.arrays.remove("b"))));
        assert_ne!(hash, with(&|c| drop(c.description.insert("x".into(), Value::Null))));
        assert_ne!(
            hash,
            with(&|c| c.arrays.get_mut("a").unwrap().numbers = Numbers::F64(vec![1.5, 0.0]))
        );
        let bits = (1.5f64.to_bits() as i64, (-0.0f64).to_bits() as i64);
        assert_ne!(
            hash,
            with(&|c| c.arrays.get_mut("a").unwrap().numbers = Numbers::I64(vec![bits.0, bits.1]))
        );
    }
}
