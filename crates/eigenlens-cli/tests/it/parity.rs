//! Every operation of every method, in Rust and on the command line, on the same small table: the same numbers. The
//! tests of the Python package compare with the same file.

use crate::support::{Sandbox, columns, entry, number, numbers, table};
use eigenlens::model::rotation::VarimaxOptions;
use eigenlens::{
    AnyDataset, DataShape, Dataset, FitContext, Fitted, METHODS, Method, Model, Moments,
    OPERATIONS, Offer, OptionValues, PreImage, Preprocessing, SparsePca, Target, Value,
    VerifyOptions, verify_model,
};
use ndarray::{Array2, Axis, s};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// New samples: some of the training samples.
const NEW: usize = 5;

/// What is said of every method beside the number of components, as the command line says it; Python's classes are
/// told the same.
const SETTINGS: &[(&str, &[(&str, &str)])] = &[
    ("ppca-mixture", &[("n_parts", "2")]),
    ("sparse-pca", &[("cardinality", "2"), ("path", "4")]),
    ("kernel-pca", &[("kernel", "rbf"), ("gamma", "0.5")]),
    ("kernel-supervised-pca", &[("kernel", "rbf"), ("gamma", "0.5")]),
    ("lda", &[("pooling", "likelihood"), ("singular", "range"), ("rank_tolerance", "0.0001")]),
    ("isomap", &[("n_neighbors", "8")]),
    ("laplacian", &[("n_neighbors", "8"), ("affinity", "averaged")]),
    ("lle", &[("n_neighbors", "8")]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/parity")
}

/// Rows, columns and entries.
type Found = BTreeMap<(String, String), Array2<f64>>;

fn expected() -> Found {
    let text = fs::read_to_string(folder().join("expected.csv")).unwrap();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let shape = (fields[2].parse().unwrap(), fields[3].parse().unwrap());
        let values = fields[4].split_whitespace().map(|v| v.parse().unwrap()).collect();
        let key = (fields[0].to_string(), fields[1].to_string());
        (key, Array2::from_shape_vec(shape, values).unwrap())
    };
    text.lines().skip(1).map(row).collect()
}

fn write(found: &Found) {
    let mut text = String::from("method,operation,rows,columns,values\n");
    for ((method, operation), matrix) in found {
        let values: Vec<String> = matrix.iter().map(|v| format!("{v:e}")).collect();
        let (rows, columns) = matrix.dim();
        text += &format!("{method},{operation},{rows},{columns},{}\n", values.join(" "));
    }
    fs::write(folder().join("expected.csv"), text).unwrap();
}

fn samples() -> (Array2<f64>, Target) {
    let text = fs::read_to_string(folder().join("samples.csv")).unwrap();
    let (names, rows) = table(&text);
    let d = names.len() - 1;
    let x = Array2::from_shape_fn((rows.len(), d), |(i, j)| rows[i][j].parse().unwrap());
    (x, Target::classes(rows.iter().map(|row| row[d].as_str())))
}

fn covariance() -> Array2<f64> {
    let text = fs::read_to_string(folder().join("covariance.csv")).unwrap();
    let (names, rows) = table(&text);
    Array2::from_shape_fn((names.len(), names.len()), |(i, j)| rows[i][j].parse().unwrap())
}

fn settings(method: &str) -> &'static [(&'static str, &'static str)] {
    SETTINGS.iter().find(|(name, _)| *name == method).map_or(&[], |(_, said)| said)
}

/// How many components are asked for, where that is not a number of its own.
fn k(method: &str) -> usize {
    if method == "ppca-mixture" { 1 } else { 2 }
}

/// The first row, or what there is of a list.
fn one_row(values: &[f64]) -> Array2<f64> {
    Array2::from_shape_fn((1, values.len()), |(_, j)| values[j])
}

/// The entries of the table that are hidden to be filled again.
fn with_holes(x: &Array2<f64>) -> Array2<f64> {
    let mut rows = x.slice(s![..NEW, ..]).to_owned();
    (rows[[1, 2]], rows[[3, 0]]) = (f64::NAN, f64::NAN);
    rows
}

/// Rust: everything through the registry and what models say of themselves.
struct InRust {
    x: Array2<f64>,
    target: Target,
    values: OptionValues,
    fitted: Fitted,
}

impl InRust {
    fn new(method: &'static Method) -> InRust {
        let (x, target) = samples();
        let values = said(method, &[]);
        let data = AnyDataset::from(Dataset::from(&x));
        let mut context = FitContext::new().with_target(Some(&target)).with_scores(true);
        let fitted = values.fit(&data, &mut context).unwrap();
        InRust { fitted, x, target, values }
    }

    fn model(&self) -> &dyn Model {
        &*self.fitted.model
    }

    fn new_samples(&self) -> Array2<f64> {
        self.x.slice(s![..NEW, ..]).to_owned()
    }

    fn scores(&self) -> Array2<f64> {
        let new = self.new_samples();
        self.model().transform_f64(&Dataset::from(&new)).unwrap()
    }

    fn run(&self, operation: &str) -> Array2<f64> {
        let model = self.model();
        let new = self.new_samples();
        let new = Dataset::from(&new);
        let data = AnyDataset::from(Dataset::from(&self.x));
        let some = AnyDataset::from(new.clone());
        match operation {
            "plan" => {
                let (n, d) = self.x.dim();
                let shape = DataShape::dense(n, d);
                let estimator = self.values.method().build(&self.values, &shape).unwrap();
                one_row(&[estimator.plan(&shape, Some(&self.target)).unwrap().passes as f64])
            }
            "training_scores" => match self.fitted.scores.as_ref().unwrap() {
                eigenlens::AnyArray::F64(scores) => scores.clone(),
                eigenlens::AnyArray::F32(_) => panic!("scores of float32"),
            },
            "transform" | "save" => self.scores(),
            "inverse_transform" => model.inverse_transform_f64(self.scores().view()).unwrap(),
            "reconstruct" => model.reconstruct_f64(&new).unwrap(),
            "pre_image" => model.pre_images_f64(&new, PreImage::FixedPoint).unwrap().unwrap().rows,
            "components" => model.linear().unwrap().components.to_owned(),
            "loadings" => model.linear().unwrap().loadings,
            "shares" => one_row(&model.component_shares().unwrap().values),
            "certificate" => one_row(&[model.certificate().unwrap().rank as f64]),
            "verify" => {
                let steps = Preprocessing::default();
                let options = VerifyOptions::default();
                let found = verify_model(model, &steps, &data, Some(&self.target), &options);
                one_row(&[f64::from(u8::from(found.unwrap().passed()))])
            }
            "log_likelihood" => {
                let found = model.density().unwrap().score_samples(&some).unwrap();
                found.column(0).to_owned().insert_axis(Axis(1))
            }
            "sample" => model.density().unwrap().sample(3, 0).rows,
            "impute" => {
                let holes = with_holes(&self.x);
                let holes = AnyDataset::from(Dataset::from(&holes));
                let filled = model.density().unwrap().impute(&holes, 0, 0).unwrap();
                match filled.tables.into_iter().next().unwrap() {
                    eigenlens::AnyArray::F64(table) => table,
                    eigenlens::AnyArray::F32(_) => panic!("a table of float32"),
                }
            }
            "predict" => model.classifier().unwrap().predict_proba(&some).unwrap(),
            "standard_errors" => {
                model.uncertain_scores().unwrap().scores_with_errors(&some).unwrap().standard_errors
            }
            "posterior_covariance" => {
                let posterior = model.latent().unwrap().posterior(&some).unwrap();
                posterior.covariance(0).unwrap().to_owned()
            }
            "sampling_errors" => one_row(&model.pca().unwrap().sampling_errors().unwrap()),
            "varimax" => model.pca().unwrap().varimax(VarimaxOptions::default()).unwrap().loadings,
            "fit_covariance" => {
                let values = said(
                    self.values.method(),
                    &[("input", "covariance"), ("sample_count", "36"), ("path", "")],
                );
                let matrix = covariance();
                let data = AnyDataset::from(Dataset::from(&matrix));
                let model = values.fit(&data, &mut FitContext::new()).unwrap().model;
                model.linear().unwrap().loadings
            }
            "fit_moments" => {
                let (first, second) = self.x.view().split_at(Axis(0), 20);
                let of = |rows| Moments::of(Dataset::dense(rows), &Default::default()).unwrap();
                let moments = of(first).merge(&of(second)).unwrap();
                let values = said(self.values.method(), &[("path", "")]);
                let shape = DataShape::dense(36, 4);
                let estimator = values.method().build(&values, &shape).unwrap();
                estimator.fit_moments(&moments).unwrap().model.linear().unwrap().loadings
            }
            "path" => {
                let points = &model.path().unwrap().points;
                let explained: Vec<f64> = points.iter().map(|p| p.explained()).collect();
                one_row(&explained)
            }
            "implied_kernel" => {
                let estimator = self.values.method().build(&self.values, &data.shape()).unwrap();
                estimator.implied_kernel(&data).unwrap().kernel.slice(s![..NEW, ..]).to_owned()
            }
            "picture" => one_row(&[1.0]),
            other => panic!("nobody runs `{other}` in Rust"),
        }
    }
}

fn said(method: &'static Method, more: &[(&'static str, &str)]) -> OptionValues {
    let mut values = method.values();
    let spec = |name: &str| method.options().find(|spec| spec.name == name);
    let left_out =
        |name: &str| more.iter().any(|(other, value)| *other == name && value.is_empty());
    let own = settings(method.name).iter().filter(|(name, _)| !left_out(name));
    let more = more.iter().filter(|(_, value)| !value.is_empty());
    for (name, value) in own.chain(more) {
        values.set(name, spec(name).unwrap().parse(value).unwrap()).unwrap();
    }
    values.set_n_components(k(method.name));
    values
}

/// The command line: a model file, and commands on it.
struct OnTheCommandLine {
    sandbox: Sandbox,
    method: &'static Method,
}

const MODEL: &str = "m.safetensors";

impl OnTheCommandLine {
    fn new(method: &'static Method) -> OnTheCommandLine {
        let sandbox = Sandbox::new(&format!("parity_{}", method.name));
        for file in ["samples.csv", "covariance.csv"] {
            fs::copy(folder().join(file), sandbox.path(file)).unwrap();
        }
        let (x, _) = samples();
        let line = |row: ndarray::ArrayView1<f64>| {
            let cell = |v: &f64| if v.is_nan() { String::new() } else { v.to_string() };
            row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n"
        };
        let text = |rows: &Array2<f64>| {
            let lines: String = rows.rows().into_iter().map(line).collect();
            format!("north,south,east,west\n{lines}")
        };
        sandbox.write("new.csv", &text(&x.slice(s![..NEW, ..]).to_owned()));
        sandbox.write("holes.csv", &text(&with_holes(&x)));
        let this = OnTheCommandLine { sandbox, method };
        let mut outputs = vec!["--scores", "scores.csv"];
        if method.linear {
            outputs.extend(["--components-file", "c.csv", "--loadings-file", "l.csv"]);
        }
        if matches!(method.name, "mds" | "isomap" | "laplacian" | "lle") {
            outputs.extend(["--kernel-file", "kernel.csv"]);
        }
        this.fit("samples.csv", &[], &outputs);
        this
    }

    fn fit(&self, data: &str, left_out: &[&str], more: &[&str]) -> String {
        let k = k(self.method.name).to_string();
        let mut all: Vec<String> =
            ["fit", self.method.name, data, "-k", &k].map(String::from).into();
        for (name, value) in settings(self.method.name) {
            if !left_out.contains(name) {
                let flag = name.strip_prefix("n_").unwrap_or(name).replace('_', "-");
                all.extend([format!("--{flag}"), value.to_string()]);
            }
        }
        if self.method.supervised {
            all.extend(["--target", "kind"].map(String::from));
        }
        all.extend(more.iter().map(|word| word.to_string()));
        if !more.contains(&"-o") && !more.contains(&"--plan") {
            all.extend(["-o", MODEL].map(String::from));
        }
        self.sandbox.ok(&all.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn inspect(&self, model: &str, path: &[&str]) -> Value {
        entry(&self.sandbox.json(&["inspect", model]), path).clone()
    }

    /// The numbers of a table, without its labels.
    fn matrix(&self, text: &str) -> Array2<f64> {
        let (names, rows) = table(text);
        let of_numbers = |j: &usize| rows[0][*j].parse::<f64>().is_ok();
        let wanted: Vec<usize> = (0..names.len()).filter(of_numbers).collect();
        Array2::from_shape_fn((rows.len(), wanted.len()), |(i, j)| {
            rows[i][wanted[j]].parse().unwrap()
        })
    }

    fn file(&self, name: &str) -> Array2<f64> {
        self.matrix(&self.sandbox.text(name))
    }

    fn out(&self, arguments: &[&str]) -> Array2<f64> {
        self.matrix(&self.sandbox.ok(arguments))
    }

    fn run(&self, operation: &str) -> Array2<f64> {
        let sandbox = &self.sandbox;
        let list = |path: &[&str]| one_row(&numbers(&self.inspect(MODEL, path)));
        match operation {
            "plan" => {
                let text = self.fit("samples.csv", &[], &["--plan", "--json"]);
                let value = eigenlens_io::json::from_json(&text).unwrap();
                one_row(&[number(entry(&value, &["plan", "passes"]))])
            }
            "training_scores" => self.file("scores.csv"),
            "transform" | "save" => self.out(&["transform", MODEL, "new.csv"]),
            "inverse_transform" => {
                sandbox.ok(&["transform", MODEL, "new.csv", "-o", "z.csv"]);
                let back = ["reconstruct", MODEL, "z.csv", "--from-scores", "-o", "back.csv"];
                sandbox.ok(&back);
                self.file("back.csv")
            }
            "reconstruct" => {
                sandbox.ok(&["reconstruct", MODEL, "new.csv", "-o", "kept.csv"]);
                self.file("kept.csv")
            }
            "pre_image" => {
                let way = ["--pre-image", "fixed-point", "-o", "pre.csv"];
                sandbox.ok(&[&["reconstruct", MODEL, "new.csv"][..], &way].concat());
                self.file("pre.csv")
            }
            "components" => self.file("c.csv"),
            "loadings" => self.file("l.csv"),
            "shares" => match self.method.name {
                "sparse-pca" => list(&["adjusted_variance_ratio"]),
                _ => list(&["explained_variance_ratio"]),
            },
            "certificate" => one_row(&[number(&self.inspect(MODEL, &["certificate", "rank"]))]),
            "verify" => {
                let passed = sandbox.run(&["verify", MODEL, "samples.csv"]).code == 0;
                one_row(&[f64::from(u8::from(passed))])
            }
            "log_likelihood" => {
                let text = sandbox.ok(&["score", MODEL, "new.csv", "-o", "-"]);
                let found = columns(&text, &["log_likelihood"]);
                Array2::from_shape_fn((found.len(), 1), |(i, _)| found[i][0])
            }
            "sample" => {
                let text = sandbox.ok(&["sample", MODEL, "-n", "3"]);
                let found = columns(&text, &["north", "south", "east", "west"]);
                Array2::from_shape_fn((3, 4), |(i, j)| found[i][j])
            }
            "impute" => self.out(&["impute", MODEL, "holes.csv"]),
            "predict" => self.out(&["predict", MODEL, "new.csv"]),
            "standard_errors" => {
                let text = sandbox.ok(&["transform", MODEL, "new.csv", "--standard-errors"]);
                let (names, _) = table(&text);
                let errors: Vec<&str> =
                    names.iter().map(String::as_str).filter(|n| n.ends_with("_error")).collect();
                let found = columns(&text, &errors);
                Array2::from_shape_fn((found.len(), errors.len()), |(i, j)| found[i][j])
            }
            "posterior_covariance" => {
                let Value::List(rows) = self.inspect(MODEL, &["posterior_covariance"]) else {
                    panic!("no covariance")
                };
                let rows: Vec<Vec<f64>> = rows.iter().map(numbers).collect();
                Array2::from_shape_fn((rows.len(), rows.len()), |(i, j)| rows[i][j])
            }
            "sampling_errors" => list(&["standard_errors"]),
            "varimax" => self.out(&["rotate", MODEL]),
            "fit_covariance" => {
                let more = ["--input", "covariance", "--sample-count", "36"];
                let files = ["-o", "of_c.safetensors", "--loadings-file", "lc.csv"];
                self.fit("covariance.csv", &["path"], &[&more[..], &files].concat());
                self.file("lc.csv")
            }
            "path" => {
                let Value::List(points) = self.inspect(MODEL, &["path", "points"]) else {
                    panic!("no path")
                };
                let explained = |point: &Value| {
                    numbers(entry(point, &["adjusted_variance_ratio"])).iter().sum::<f64>()
                };
                one_row(&points.iter().map(explained).collect::<Vec<_>>())
            }
            "implied_kernel" => self.file("kernel.csv").slice(s![..NEW, ..]).to_owned(),
            "picture" => {
                sandbox.ok(&["plot", MODEL, "samples.csv", "--kind", "scores", "-o", "p.svg"]);
                one_row(&[1.0])
            }
            other => panic!("nobody runs `{other}` on the command line"),
        }
    }
}

fn check(surface: &str, key: &(String, String), found: &Array2<f64>, wanted: &Array2<f64>) {
    assert_eq!(found.dim(), wanted.dim(), "{surface}: {key:?}");
    let size = wanted.iter().fold(1e-3f64, |m, v| m.max(v.abs()));
    for (found, wanted) in found.iter().zip(wanted) {
        let off = (found - wanted).abs();
        assert!(off <= 1e-7 * size, "{surface}: {key:?}: {found} is not {wanted}");
    }
}

/// What is offered is run, on both surfaces; what is not has a reason.
#[test]
fn parity_of_rust_and_the_command_line() {
    let mut all = Found::new();
    let writes = std::env::var_os("EIGENLENS_WRITE_PARITY").is_some();
    let known = if writes { Found::new() } else { expected() };
    for method in METHODS {
        let (rust, command) = (InRust::new(method), OnTheCommandLine::new(method));
        for operation in OPERATIONS {
            if operation.reason_against(method).is_some() {
                continue;
            }
            let key = (method.name.to_string(), operation.name.to_string());
            let found = rust.run(operation.name);
            if let Offer::As(_) = operation.command {
                check("command line", &key, &command.run(operation.name), &found);
            }
            if !writes {
                check("Rust", &key, &found, known.get(&key).unwrap_or_else(|| panic!("{key:?}")));
            }
            all.insert(key, found);
        }
    }
    if writes {
        write(&all);
    } else {
        assert_eq!(known.len(), all.len(), "a row of expected.csv that nothing gives");
    }
}

/// The typed ways from a matrix give what the registry's give.
#[test]
fn parity_of_fits_from_a_covariance_matrix() {
    let matrix = covariance();
    let typed = SparsePca::cardinality(2, 2).fit_covariance(matrix.view(), Some(36.0)).unwrap();
    let known = &expected()[&("sparse-pca".to_string(), "fit_covariance".to_string())];
    check(
        "Rust, typed",
        &("sparse-pca".into(), "fit_covariance".into()),
        &(&typed as &dyn Model).linear().unwrap().loadings,
        known,
    );
}
