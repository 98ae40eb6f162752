//! Arrays of two model files or two tables of scores, compared bit by bit.

use safetensors::SafeTensors;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

/// Arrays that have another name in the new program's model files: (old, new).
pub const RENAMED: &[(&str, &str)] = &[
    ("mean_low", "mean_lo"),
    ("weight", "inv_scale"),
    ("linear.mean_low", "linear.mean_lo"),
    ("linear.weight", "linear.inv_scale"),
];

/// An array as its file holds it.
#[derive(Clone, PartialEq)]
pub struct Array {
    /// `F64`, `F32`, `I64` or what else the file says.
    pub kind: String,
    pub shape: Vec<usize>,
    /// Little endian, row by row.
    pub bytes: Vec<u8>,
}

pub type Arrays = BTreeMap<String, Array>;

/// What is not the same, and by how much.
#[derive(Debug, PartialEq)]
pub struct Difference {
    pub array: String,
    pub how: How,
}

#[derive(Debug, PartialEq)]
pub enum How {
    OnlyOld,
    OnlyNew,
    /// Another type or shape.
    Form(String, String),
    /// The largest difference, and that relative to the largest number of the old array.
    Numbers {
        absolute: f64,
        relative: f64,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Difference { array, how } = self;
        match how {
            How::OnlyOld => write!(f, "`{array}`: only the old program writes it"),
            How::OnlyNew => write!(f, "`{array}`: only the new program writes it"),
            How::Form(old, new) => write!(f, "`{array}`: {old} before, now {new}"),
            How::Numbers { absolute, relative } => {
                write!(f, "`{array}`: by {absolute:.1e}, relative {relative:.1e}")
            }
        }
    }
}

/// The arrays of a model file. Its description is left aside: words and versions may change.
pub fn model(path: &Path) -> Result<Arrays, String> {
    let bytes = read(path)?;
    let tensors =
        SafeTensors::deserialize(&bytes).map_err(|e| format!("`{}`: {e}", path.display()))?;
    let array = |(name, view): (&str, safetensors::tensor::TensorView)| {
        let (kind, shape) = (view.dtype().to_string(), view.shape().to_vec());
        (name.to_string(), Array { kind, shape, bytes: view.data().to_vec() })
    };
    Ok(tensors.iter().map(array).collect())
}

/// The array of a `.npy` file, as the program writes it: version 1, row by row.
pub fn npy(path: &Path) -> Result<Array, String> {
    let bytes = read(path)?;
    let wrong = || format!("`{}` is no .npy file as expected", path.display());
    let length = bytes.get(8..10).ok_or_else(wrong)?;
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    let (header, numbers) =
        bytes.get(10..).and_then(|rest| rest.split_at_checked(length)).ok_or_else(wrong)?;
    let header = String::from_utf8_lossy(header);
    if !header.contains("'fortran_order': False") {
        return Err(wrong());
    }
    let kind = match header.split("'descr': '").nth(1).and_then(|rest| rest.split('\'').next()) {
        Some("<f8") => "F64",
        Some("<f4") => "F32",
        _ => return Err(wrong()),
    };
    let shape = header.split("'shape': (").nth(1).and_then(|rest| rest.split(')').next());
    let sides = shape.ok_or_else(wrong)?.split(',').map(str::trim).filter(|side| !side.is_empty());
    let shape = sides.map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    Ok(Array { kind: kind.into(), shape, bytes: numbers.to_vec() })
}

/// Everything that is not the same to the last bit.
pub fn differences(old: &Arrays, new: &Arrays, renamed: &[(&str, &str)]) -> Vec<Difference> {
    let now = |name: &str| {
        renamed
            .iter()
            .find(|(old, _)| *old == name)
            .map_or_else(|| name.to_string(), |(_, new)| new.to_string())
    };
    let mut found = Vec::new();
    for (name, before) in old {
        let how = match new.get(&now(name)) {
            None => Some(How::OnlyOld),
            Some(after) => difference(before, after),
        };
        found.extend(how.map(|how| Difference { array: name.clone(), how }));
    }
    let known: Vec<String> = old.keys().map(|name| now(name)).collect();
    let more = new.keys().filter(|name| !known.contains(name));
    found.extend(more.map(|name| Difference { array: name.clone(), how: How::OnlyNew }));
    found
}

fn difference(old: &Array, new: &Array) -> Option<How> {
    if (&old.kind, &old.shape) != (&new.kind, &new.shape) {
        let form = |array: &Array| format!("{} {:?}", array.kind, array.shape);
        return Some(How::Form(form(old), form(new)));
    }
    if old.bytes == new.bytes {
        return None;
    }
    let (before, after) = (old.numbers(), new.numbers());
    let largest = before.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let apart = before.iter().zip(&after).map(|(a, b)| apart(*a, *b));
    let absolute = apart.fold(0.0, f64::max);
    let relative = if absolute == 0.0 { 0.0 } else { absolute / largest };
    Some(How::Numbers { absolute, relative })
}

/// Numbers of which one alone is none are infinitely far from each other.
fn apart(a: f64, b: f64) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0.0;
    }
    let apart = (a - b).abs();
    if apart.is_nan() { f64::INFINITY } else { apart }
}

impl Array {
    fn numbers(&self) -> Vec<f64> {
        let eights = self.bytes.chunks_exact(8).filter_map(|b| <[u8; 8]>::try_from(b).ok());
        let fours = self.bytes.chunks_exact(4).filter_map(|b| <[u8; 4]>::try_from(b).ok());
        match self.kind.as_str() {
            "F64" => eights.map(f64::from_le_bytes).collect(),
            "I64" => eights.map(|b| i64::from_le_bytes(b) as f64).collect(),
            "F32" => fours.map(|b| f64::from(f32::from_le_bytes(b))).collect(),
            _ => self.bytes.iter().map(|b| f64::from(*b)).collect(),
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|e| format!("`{}` cannot be read: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(numbers: &[f64]) -> Array {
        let bytes = numbers.iter().flat_map(|v| v.to_le_bytes()).collect();
        Array { kind: "F64".into(), shape: vec![numbers.len()], bytes }
    }

    fn arrays(all: &[(&str, Array)]) -> Arrays {
        all.iter().map(|(name, array)| (name.to_string(), array.clone())).collect()
    }

    #[test]
    fn the_last_bit_is_found() {
        let old = arrays(&[("mean", floats(&[2.0, -4.0])), ("values", floats(&[1.0]))]);
        assert_eq!(differences(&old, &old, &[]), []);
        let mut new = old.clone();
        new.get_mut("mean").unwrap().bytes[8] ^= 1;
        let found = differences(&old, &new, &[]);
        let absolute = 4.0 * f64::EPSILON;
        let how = How::Numbers { absolute, relative: f64::EPSILON };
        assert_eq!(found, [Difference { array: "mean".into(), how }]);
        assert_eq!(found[0].to_string(), "`mean`: by 8.9e-16, relative 2.2e-16");
    }

    #[test]
    fn signs_of_zero_and_numbers_that_are_none_count() {
        let old = arrays(&[("a", floats(&[0.0])), ("b", floats(&[1.0]))]);
        let new = arrays(&[("a", floats(&[-0.0])), ("b", floats(&[f64::NAN]))]);
        let how: Vec<How> = differences(&old, &new, &[]).into_iter().map(|d| d.how).collect();
        let endless = f64::INFINITY;
        let expected = [
            How::Numbers { absolute: 0.0, relative: 0.0 },
            How::Numbers { absolute: endless, relative: endless },
        ];
        assert_eq!(how, expected);
    }

    #[test]
    fn arrays_that_are_missing_renamed_or_of_another_form_are_told() {
        let old = arrays(&[("values", floats(&[1.0])), ("mean", floats(&[1.0, 2.0]))]);
        let new = arrays(&[("eigenvalues", floats(&[1.0])), ("mean", floats(&[1.0]))]);
        let found = differences(&old, &new, &[]);
        let told: Vec<String> = found.iter().map(ToString::to_string).collect();
        let expected = [
            "`mean`: F64 [2] before, now F64 [1]",
            "`values`: only the old program writes it",
            "`eigenvalues`: only the new program writes it",
        ];
        assert_eq!(told, expected);
        let found = differences(&old, &new, &[("values", "eigenvalues")]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn files_are_read() {
        let folder =
            std::env::temp_dir().join(format!("eigenlens-bits-test-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a");
        let numbers = [1.5f32, -2.0].map(f32::to_le_bytes).concat();
        let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![2], &numbers);
        fs::write(&path, safetensors::serialize([("x", view.unwrap())], None).unwrap()).unwrap();
        let found = model(&path).unwrap();
        assert_eq!(found["x"].numbers(), [1.5, -2.0]);

        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n";
        let start = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..]].concat();
        fs::write(&path, [&start, header.as_bytes(), &numbers].concat()).unwrap();
        let found = npy(&path).unwrap();
        assert_eq!((found.shape.as_slice(), found.numbers()), (&[2, 1][..], vec![1.5, -2.0]));
        fs::write(&path, &start[..5]).unwrap();
        assert!(npy(&path).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
