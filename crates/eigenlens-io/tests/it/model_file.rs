//! The model file: nothing is lost, nothing damaged is accepted.

use crate::common::{changed, fuzz_rounds};
use eigenlens::{Dataset, Lsa, Pca, Preprocessing, TermWeighting, TermWeights, Value};
use eigenlens_io::json::{from_json, to_json};
use eigenlens_io::{Error, ImageShape, Origin, OriginColumn, StoredModel};
use ndarray::{Array2, array};
use safetensors::SafeTensors;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn data() -> Array2<f64> {
    array![
        [7.0, 4.0, 3.0],
        [4.0, 1.0, 8.0],
        [6.0, 3.0, 5.0],
        [8.0, 6.0, 1.0],
        [8.0, 5.0, 7.0],
        [7.0, 2.0, 9.0]
    ]
}

fn stored() -> StoredModel {
    let x = data();
    let data = Dataset::from(&x).with_feature_names(["a", "b\u{1b}", "ç"]).unwrap();
    let column = |name: &str| OriginColumn { name: name.into(), kind: "float".into() };
    StoredModel {
        model: Box::new(Pca::new(2).standardize(true).fit(&data).unwrap()),
        preprocessing: Preprocessing::default(),
        origin: Origin {
            program: "eigenlens 0.1.0".into(),
            options: [("scale".to_string(), "true".to_string())].into(),
            columns: ["a", "b\u{1b}", "ç"].map(column).into(),
            labels: vec!["species".into()],
            image: Some(ImageShape { width: 3, height: 1 }),
        },
    }
}

fn name() -> &'static Path {
    Path::new("some.safetensors")
}

fn complaint(bytes: &[u8]) -> String {
    match StoredModel::from_bytes(bytes, name()) {
        Err(Error::Content { file, what, .. }) if file == name() => what,
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("a damaged model was accepted"),
    }
}

fn bits(x: &Array2<f64>) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

fn filling(fill: &[f64]) -> Preprocessing {
    Preprocessing { fill: Some(fill.to_vec()), ..Preprocessing::default() }
}

#[test]
fn a_model_comes_back_whole() {
    let before = stored();
    let bytes = before.to_bytes(name()).unwrap();
    assert_eq!(bytes, stored().to_bytes(name()).unwrap(), "the same model, the same bytes");
    let after = StoredModel::from_bytes(&bytes, name()).unwrap();
    assert_eq!(after.origin, before.origin);
    assert!(after.preprocessing.term_weights.is_none());
    assert_eq!(after.model.to_parts().unwrap(), before.model.to_parts().unwrap());
    let x = data();
    let scores = |m: &StoredModel| bits(&m.model.transform_f64(&Dataset::from(&x)).unwrap());
    assert_eq!(scores(&after), scores(&before));
    assert_eq!(after.to_bytes(name()).unwrap(), bytes);
}

#[test]
fn term_weights_come_back() {
    let weights = TermWeights::from_global(TermWeighting::LogEntropy, vec![0.1, 0.0, 2.5]).unwrap();
    let before = StoredModel {
        model: Box::new(Lsa::new(1).fit(Dataset::from(&data())).unwrap()),
        preprocessing: Preprocessing { term_weights: Some(weights.clone()), fill: None },
        origin: Origin::default(),
    };
    let bytes = before.to_bytes(name()).unwrap();
    let after = StoredModel::from_bytes(&bytes, name()).unwrap();
    assert_eq!(after.preprocessing.term_weights, Some(weights));
    assert_eq!(after.model.method(), "lsa");
    let lost = edit(&bytes, |_, arrays| drop(arrays.remove("term_weights")));
    assert!(complaint(&lost).contains("term_weights"));
}

#[test]
fn what_goes_into_holes_comes_back() {
    let fill = vec![6.5, f64::MIN_POSITIVE, -1e300];
    let before = StoredModel { preprocessing: filling(&fill), ..stored() };
    let bytes = before.to_bytes(name()).unwrap();
    assert_eq!(StoredModel::from_bytes(&bytes, name()).unwrap().preprocessing.fill, Some(fill));
    for wrong in [vec![6.5, 3.5], vec![6.5, f64::NAN, 5.5]] {
        let bytes =
            StoredModel { preprocessing: filling(&wrong), ..stored() }.to_bytes(name()).unwrap();
        assert!(complaint(&bytes).contains("fill"));
    }
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let bytes = stored().to_bytes(name()).unwrap();
    for end in 0..bytes.len() {
        complaint(&bytes[..end]);
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(complaint(&longer).contains("bytes too many"));
}

#[test]
fn every_flipped_bit_is_noticed_or_harmless() {
    let bytes = stored().to_bytes(name()).unwrap();
    let parts = stored().model.to_parts().unwrap();
    let mut harmless = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            match StoredModel::from_bytes(&flipped, name()) {
                Err(Error::Content { .. }) => {}
                Err(other) => panic!("byte {at}, bit {bit}: {other}"),
                Ok(read) => {
                    // Other spellings of the same JSON, such as `\u001B` for `\u001b`.
                    assert_eq!(read.model.to_parts().unwrap(), parts, "byte {at}, bit {bit}");
                    assert_eq!(read.origin, stored().origin, "byte {at}, bit {bit}");
                    harmless += 1;
                }
            }
        }
    }
    assert!(harmless < 20, "{harmless} flips went unnoticed");
}

#[test]
fn heaps_of_random_changes_are_refused_or_harmless() {
    let bytes = stored().to_bytes(name()).unwrap();
    let parts = stored().model.to_parts().unwrap();
    for seed in 0..fuzz_rounds(2000) {
        match StoredModel::from_bytes(&changed(&bytes, seed as u64), name()) {
            Err(Error::Content { .. }) => {}
            Err(other) => panic!("{seed}: {other}"),
            Ok(read) => assert_eq!(read.model.to_parts().unwrap(), parts, "{seed}"),
        }
    }
}

/// Type, shape and bytes of an array.
type Raw = (String, Vec<u64>, Vec<u8>);

/// The file with another content and a hash that fits, written by hand from the documentation.
fn edit(
    bytes: &[u8],
    change: impl FnOnce(&mut BTreeMap<String, Value>, &mut BTreeMap<String, Raw>),
) -> Vec<u8> {
    let tensors = SafeTensors::deserialize(bytes).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
    let text = metadata.metadata().as_ref().unwrap().get("eigenlens").unwrap().clone();
    let Ok(Value::Map(mut description)) = from_json(&text) else { panic!("no description") };
    description.remove("sha256");
    let mut arrays: BTreeMap<String, Raw> = tensors
        .iter()
        .map(|(name, view)| {
            let shape = view.shape().iter().map(|n| *n as u64).collect();
            (name.to_string(), (view.dtype().to_string(), shape, view.data().to_vec()))
        })
        .collect();
    change(&mut description, &mut arrays);

    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(to_json(&Value::Map(description.clone())).as_bytes());
    for (name, (kind, shape, data)) in &arrays {
        add(name.as_bytes());
        add(kind.as_bytes());
        add(&shape.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>());
        add(data);
    }
    let hash: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    description.insert("sha256".into(), Value::Text(hash));

    let mut header = BTreeMap::new();
    let mut offset = 0;
    let mut body = Vec::new();
    for (name, (kind, shape, data)) in &arrays {
        let info = Value::map([
            ("dtype", Value::from(kind)),
            ("shape", Value::list(shape.iter().copied())),
            ("data_offsets", Value::list([offset, offset + data.len()])),
        ]);
        header.insert(name.clone(), info);
        offset += data.len();
        body.extend_from_slice(data);
    }
    let text = to_json(&Value::Map(description));
    header.insert("__metadata__".into(), Value::map([("eigenlens", Value::from(text))]));
    file(&to_json(&Value::Map(header)), &body)
}

fn file(header: &str, body: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), body].concat()
}

fn set(arrays: &mut BTreeMap<String, Raw>, name: &str, at: usize, value: f64) {
    arrays.get_mut(name).unwrap().2[8 * at..8 * at + 8].copy_from_slice(&value.to_le_bytes());
}

#[test]
fn the_editor_of_these_tests_writes_valid_files() {
    let bytes = edit(&stored().to_bytes(name()).unwrap(), |_, _| {});
    let read = StoredModel::from_bytes(&bytes, name()).unwrap();
    assert_eq!(read.model.to_parts().unwrap(), stored().model.to_parts().unwrap());
}

#[test]
fn each_check_is_named() {
    let good = stored().to_bytes(name()).unwrap();
    let insert = |name: &str, value: Value| {
        complaint(&edit(&good, |description, _| drop(description.insert(name.into(), value))))
    };
    assert!(insert("format_version", Value::Integer(3)).contains("`format_version` is 3"));
    assert!(insert("format_version", Value::from("1")).contains("`format_version`"));
    assert!(insert("method", Value::from("alchemy")).contains("`method` is `alchemy`"));
    assert!(insert("surprise", Value::Null).contains("`surprise`"));
    assert!(insert("input", Value::Null).contains("`input`"));
    assert!(insert("term_weighting", Value::from("tf-idf")).contains("term_weights"));
    assert!(insert("model", Value::map([("x", Value::Null)])).contains("is missing"));

    let spoil = |change: &dyn Fn(&mut BTreeMap<String, Raw>)| {
        complaint(&edit(&good, |_, arrays| change(arrays)))
    };
    let nan = spoil(&|arrays| set(arrays, "components", 0, f64::NAN));
    assert!(nan.contains("`components` is NaN"), "{nan}");
    let bent = spoil(&|arrays| set(arrays, "components", 0, 0.99));
    assert!(bent.contains("`components` is not orthonormal"), "{bent}");
    let order = spoil(&|arrays| set(arrays, "values", 1, 1e9));
    assert!(order.contains("`values` rises"), "{order}");
    let narrow = spoil(&|arrays| arrays.get_mut("mean").unwrap().0 = "F32".into());
    assert!(narrow.contains("does not fit its offsets"), "{narrow}");
    let missing = spoil(&|arrays| drop(arrays.remove("mean")));
    assert!(missing.contains("`mean` is missing"), "{missing}");
    let shape = spoil(&|arrays| arrays.get_mut("components").unwrap().1 = vec![3, 2]);
    assert!(shape.contains("`components`"), "{shape}");
    let empty =
        spoil(&|arrays| drop(arrays.insert("x".into(), ("F64".into(), vec![0], Vec::new()))));
    assert!(empty.contains("`x` is empty"), "{empty}");

    // Another number, the old hash.
    let mut changed = good.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert!(complaint(&changed).contains("SHA-256"));
}

#[test]
fn hostile_containers_are_refused() {
    let info = |shape: &str, offsets: &str| {
        format!(r#"{{"dtype":"F64","shape":{shape},"data_offsets":{offsets}}}"#)
    };
    let text = |description: &str| {
        let text = to_json(&Value::from(description));
        file(&format!(r#"{{"__metadata__":{{"eigenlens":{text}}}}}"#), &[])
    };
    let one = |info: &str| file(&format!(r#"{{"a":{info}}}"#), &[0; 8]);
    let two = |b: &str| file(&format!(r#"{{"a":{},"b":{b}}}"#, info("[1]", "[0,8]")), &[0; 8]);
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (Vec::new(), "too short"),
        (u64::MAX.to_le_bytes().to_vec(), "at most"),
        ((65u64 << 20).to_le_bytes().to_vec(), "at most"),
        (100u64.to_le_bytes().to_vec(), "past the end"),
        (file("{}", &[]), "no eigenlens model"),
        (file("[]", &[]), "header is wrong"),
        (one(&info("[9223372036854775807,16]", "[0,8]")), "overflows"),
        (one(&info("[2]", "[0,8]")), "does not fit"),
        (one(&info("[1]", "[0,16]")), "does not fit"),
        (one(&info("[1]", "[8,0]")), "offsets of `a`"),
        (two(&info("[1]", "[0,8]")), "overlap"),
        (two(&info("[1]", "[4,12]")), "overlap"),
        (text("[]"), "no JSON object"),
        (text(&deep), "recursion limit"),
        (text(r#"{"a":1,"a":2}"#), "comes twice"),
        (text(r#"{"a":1e999}"#), "out of range"),
        (text(r#"{"format_version":1}"#), "`sha256` is missing"),
        (text(r#"{"format_version":1,"sha256":"00"}"#), "SHA-256"),
        (text("{}"), "`format_version` is missing"),
    ];
    for (bytes, expected) in cases {
        let what = complaint(&bytes);
        assert!(what.contains(expected), "`{expected}` is not in: {what}");
    }
    let nested = format!(r#"{{"a":{deep}}}"#);
    assert!(complaint(&file(&nested, &[])).contains("recursion limit"));
}

#[test]
fn files_that_are_no_files_are_told() {
    let missing = StoredModel::read(Path::new("no/such/file"));
    assert!(matches!(missing, Err(Error::Open { .. })));
    let folder = StoredModel::read(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(matches!(folder, Err(Error::Content { .. } | Error::Open { .. })));
}

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/model-v1.safetensors")
}

/// The first version's file must load for ever, with the numbers it was written with.
#[test]
fn the_first_version_loads() {
    let read = StoredModel::read(&kept()).unwrap();
    assert_eq!(read.origin, stored().origin);
    let model = read.model.pca().unwrap();
    assert_eq!((model.n_components(), model.n_features()), (2, 3));
    assert_eq!(model.feature_names().unwrap()[2], "ç");
    assert_eq!(model.n_samples(), Some(6.0));
    // From Jacobi rotations of the correlation matrix in 50 decimal digits.
    let expected = [2.3669619467139746, 0.5743182447194483];
    for (found, expected) in model.explained_variance().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }
    let scores = model.transform(&data()).unwrap();
    for (found, expected) in scores.row(0).iter().zip([0.7213442811807855, -0.46298472384216754]) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }
    assert!(model.verify(&data()).unwrap().passed());
}
