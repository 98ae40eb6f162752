//! Model files with false claims under a true hash: `verify` rejects each, and says which claim is false.

use eigenlens::model::parts::{Array, Numbers};
use eigenlens::{
    AnyDataset, Dataset, FitContext, Method, Missing, Options, Parts, Pca, Ppca, Preprocessing,
    Solver, Target, Value, VerifyOptions, from_parts, verify_model,
};
use eigenlens_io::{Origin, StoredModel};
use ndarray::{Array1, Array2};
use std::collections::BTreeMap;
use std::path::Path;

/// Noise of a linear congruence, the same everywhere.
fn table(n: usize, d: usize) -> Array2<f64> {
    let mut state = 12345u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut normal = move || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    let mut x = Array2::from_shape_fn((n, d), |_| normal());
    for (j, mut column) in x.columns_mut().into_iter().enumerate() {
        column.mapv_inplace(|v| 3.0 + j as f64 + v * 5.0 / (1.0 + j as f64));
    }
    x
}

/// Writes parts to a file with its hash, reads it back and verifies it: what was false, or why it was refused.
fn false_claims(parts: &Parts, data: &AnyDataset, target: Option<&Target>) -> Vec<String> {
    let model = match from_parts(parts) {
        Ok(model) => model,
        Err(refused) => return vec![refused.to_string()],
    };
    let stored =
        StoredModel { model, preprocessing: Preprocessing::default(), origin: Origin::default() };
    let file = Path::new("forged.safetensors");
    let bytes = stored.to_bytes(file).unwrap();
    let read = StoredModel::from_bytes(&bytes, file).unwrap();
    let options = VerifyOptions { seed: 4711, ..VerifyOptions::default() };
    let found = verify_model(&*read.model, &read.preprocessing, data, target, &options).unwrap();
    found.failures().map(ToString::to_string).collect()
}

fn numbers<'a>(parts: &'a mut Parts, name: &str) -> &'a mut Vec<f64> {
    let array = parts.arrays.get_mut(name).unwrap_or_else(|| panic!("no array `{name}`"));
    match &mut array.numbers {
        Numbers::F64(values) => values,
        Numbers::I64(_) => panic!("`{name}` holds whole numbers"),
    }
}

fn entry<'a>(map: &'a mut BTreeMap<String, Value>, path: &[&str]) -> &'a mut Value {
    let (last, inner) = path.split_last().unwrap();
    let mut map = map;
    for name in inner {
        let Some(Value::Map(next)) = map.get_mut(*name) else { panic!("no map `{name}`") };
        map = next;
    }
    map.get_mut(*last).unwrap_or_else(|| panic!("no `{last}`"))
}

fn set(parts: &mut Parts, path: &[&str], value: impl Into<Value>) {
    *entry(&mut parts.description, path) = value.into();
}

fn scale(parts: &mut Parts, path: &[&str], factor: f64) {
    let found = entry(&mut parts.description, path);
    let number = match found {
        Value::Number(number) => *number,
        Value::Integer(number) => *number as f64,
        other => panic!("{other:?} is no number"),
    };
    *found = Value::Number(number * factor);
}

/// Rows of a matrix of d columns.
fn rows(values: &[f64], d: usize) -> Vec<Vec<f64>> {
    values.chunks_exact(d).map(<[f64]>::to_vec).collect()
}

fn rotate(values: &mut [f64], d: usize, a: usize, b: usize, angle: f64) {
    let (c, s) = (angle.cos(), angle.sin());
    for f in 0..d {
        let (x, y) = (values[a * d + f], values[b * d + f]);
        values[a * d + f] = c * x - s * y;
        values[b * d + f] = s * x + c * y;
    }
}

/// One forgery: its name, what it changes, and a word of the sentence that must name it.
type Forgery = (&'static str, Box<dyn Fn(&mut Parts)>, &'static str);

fn forgery(
    name: &'static str,
    change: impl Fn(&mut Parts) + 'static,
    word: &'static str,
) -> Forgery {
    (name, Box::new(change), word)
}

fn check(honest: &Parts, data: &AnyDataset, target: Option<&Target>, forgeries: &[Forgery]) {
    let found = false_claims(honest, data, target);
    assert!(found.is_empty(), "the honest model: {found:#?}");
    for (name, change, word) in forgeries {
        let mut forged = honest.clone();
        change(&mut forged);
        let found = false_claims(&forged, data, target);
        assert!(
            found.iter().any(|sentence| sentence.contains(word)),
            "{name}: no sentence has `{word}`: {found:#?}"
        );
    }
}

const D: usize = 8;

/// The leading three of eight components with the others beside them: what forgers take from.
fn all_components(x: &Array2<f64>) -> (Array2<f64>, Vec<f64>) {
    let all = Pca::new(D).fit(x).unwrap();
    (all.components().to_owned(), all.explained_variance().to_vec())
}

fn take(x: &Array2<f64>, from: usize, k: usize) -> impl Fn(&mut Parts) + 'static {
    let (components, values) = all_components(x);
    let total: f64 = values.iter().sum();
    move |parts: &mut Parts| {
        let chosen = components.slice(ndarray::s![from..from + k, ..]);
        *numbers(parts, "components") = chosen.iter().copied().collect();
        *numbers(parts, "values") = values[from..from + k].to_vec();
        set(parts, &["total"], total);
    }
}

#[test]
fn false_claims_of_principal_components_are_named() {
    let x = table(60, D);
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let data = Dataset::from(&x).with_feature_names(names).unwrap();
    let honest = Pca::new(4).fit(&data).unwrap().to_parts();
    let tiny = |name: &'static str| {
        forgery(name, move |p: &mut Parts| numbers(p, name).fill(1e-300), "bound on")
    };
    let forgeries = [
        forgery("the four smallest as the first", take(&x, 4, 4), "beside the components"),
        forgery("the first left out", take(&x, 1, 4), "variance number 1 of all"),
        tiny("certificate.residuals"),
        tiny("certificate.value_errors"),
        tiny("certificate.angles"),
        forgery(
            "orthogonality",
            |p| set(p, &["certificate", "orthogonality"], 1e-300),
            "bound on the products of different components",
        ),
        forgery(
            "a rotation by 1e-9",
            |p| rotate(numbers(p, "components"), D, 0, 3, 1e-9),
            "bound on the relative residual of component 1",
        ),
        forgery(
            "a rotation by half a radian under a tolerance of 0.99",
            |p| {
                rotate(numbers(p, "components"), D, 0, 1, 0.5);
                set(p, &["tolerance"], 0.99);
                for name in ["residuals", "value_errors", "angles"] {
                    numbers(p, &format!("certificate.{name}")).fill(0.99);
                }
            },
            "component 1 is an eigenvector",
        ),
        forgery("samples", |p| set(p, &["n_samples"], 61.0), "number of samples"),
        forgery(
            "a variance",
            |p| numbers(p, "values")[2] *= 1.0 + 1e-7,
            "explained variance of component 3",
        ),
        forgery("the spectrum", |p| numbers(p, "spectrum")[6] *= 1.01, "of the spectrum"),
        forgery(
            "the first left out",
            |p| scale(p, &["next_value"], 0.9),
            "first variance left out",
        ),
        forgery("the total", |p| scale(p, &["total"], 1.0 + 1e-8), "total variance"),
        forgery("the mean", |p| numbers(p, "mean")[5] += 1e-7, "mean of feature `f`"),
        forgery(
            "what is left of the mean",
            |p| numbers(p, "mean_lo")[0] += 1e-8,
            "mean of feature `a`",
        ),
        forgery("a scale", |p| numbers(p, "inv_scale")[1] = 1.5, "scale of feature `b`"),
        forgery(
            "a constant column",
            |p| {
                let numbers = Numbers::I64(vec![2]);
                p.arrays.insert("constant_columns".into(), Array { shape: vec![1], numbers });
            },
            "constant columns",
        ),
        forgery(
            "a column's variance",
            |p| numbers(p, "column_variances")[7] *= 1.001,
            "variance of feature `h`",
        ),
        forgery(
            "a rank of three",
            |p| {
                numbers(p, "values")[3] = 0.0;
                set(p, &["rank"], 3usize);
            },
            "components that carry variance",
        ),
        forgery("the certified rank", |p| set(p, &["certificate", "rank"], 3usize), "as certified"),
        forgery(
            "excluded by the trace",
            |p| {
                set(
                    p,
                    &["certificate", "none_missed"],
                    Value::map([("kind", Value::from("trace"))]),
                )
            },
            "by the trace",
        ),
        forgery(
            "no spectrum behind a count of all",
            |p| drop(p.arrays.remove("spectrum")),
            "not all are stored",
        ),
        forgery(
            "a sign",
            |p| numbers(p, "components")[..D].iter_mut().for_each(|v| *v = -*v),
            "sign of component 1",
        ),
        forgery(
            "two components in each other's place",
            |p| {
                let all = rows(numbers(p, "components"), D);
                *numbers(p, "components") =
                    [&all[1], &all[0], &all[2], &all[3]].map(|r| r.clone()).concat();
            },
            "explained variance of component 1",
        ),
        forgery(
            "two names in each other's place",
            |p| set(p, &["feature_names"], Value::list(["b", "a", "c", "d", "e", "f", "g", "h"])),
            "name of feature 1",
        ),
        forgery("a number that is none", |p| numbers(p, "values")[0] = f64::NAN, "NaN"),
        forgery("a negative variance", |p| numbers(p, "values")[3] = -1.0, "at least 0"),
        forgery("a negative bound", |p| numbers(p, "certificate.angles")[0] = -1.0, "not negative"),
        forgery(
            "missing entries that there were not",
            |p| {
                let report = Value::map([
                    ("policy", Value::from("drop-rows")),
                    ("missing", Value::from(3usize)),
                    ("entries", Value::from(60 * D)),
                    ("rows_with_missing", Value::from(3usize)),
                    ("empty_rows", Value::from(0usize)),
                    ("dropped_columns", Value::List(Vec::new())),
                ]);
                p.description.insert("missing".into(), report);
            },
            "missing entries",
        ),
        forgery(
            "evidence of another kind",
            |p| {
                set(
                    p,
                    &["certificate", "evidence"],
                    Value::map([("kind", Value::from("operator"))]),
                )
            },
            "what residuals were measured against",
        ),
    ];
    check(&honest, &AnyDataset::from(data), None, &forgeries);
}

/// So many components are left to random probes that residuals said to be measured one by one were not.
#[test]
fn bounds_by_probes_do_not_pass_for_measured_ones() {
    let x = table(400, 60);
    let data = AnyDataset::from(Dataset::from(&x));
    let honest = Pca::new(30).solver(Solver::Covariance).fit(&x).unwrap().to_parts();
    let kind = |name: &str| Value::map([("kind", Value::from(name))]);
    let probes = entry(&mut honest.clone().description, &["certificate", "evidence"]).clone();
    assert_ne!(probes, kind("data"));
    let relabelled = forgery(
        "bounds by probes relabelled",
        move |p| set(p, &["certificate", "evidence"], kind("data")),
        "measured one by one",
    );
    check(&honest, &data, None, &[relabelled]);
    let few = Pca::new(3).fit(&x).unwrap().to_parts();
    let relabelled = forgery(
        "measured bounds relabelled",
        move |p| set(p, &["certificate", "evidence"], probes.clone()),
        "measured one by one",
    );
    check(&few, &data, None, &[relabelled]);
}

/// Components that are the same but for rounding are known only together; a component of one row warns.
#[test]
fn groups_and_warnings_are_claims() {
    // A cube: every direction has the same variance.
    let cube = Array2::from_shape_fn((8, 3), |(i, j)| if i >> j & 1 == 1 { 1.0 } else { -1.0 });
    let data = AnyDataset::from(Dataset::from(&cube));
    let honest = Pca::new(2).fit(&cube).unwrap().to_parts();
    let emptied = |p: &mut Parts| {
        set(p, &["certificate", "groups"], Value::List(Vec::new()));
        p.arrays.remove("certificate.group_angles");
    };
    let tight = move |p: &mut Parts| {
        emptied(p);
        numbers(p, "certificate.angles").fill(1e-15);
    };
    let forgeries = [
        forgery("groups emptied", emptied, "identified only together"),
        forgery("groups emptied, angles forged", tight, "bound on the angle of component"),
    ];
    check(&honest, &data, None, &forgeries);
    let mut row = table(40, 5);
    row[[7, 0]] = 1e4;
    let honest = Pca::new(2).fit(&row).unwrap();
    assert!(!honest.warnings().is_empty());
    let dropped = [forgery(
        "warnings dropped",
        |p| set(p, &["warnings"], Value::List(Vec::new())),
        "warning of component 1 being one row",
    )];
    check(&honest.to_parts(), &AnyDataset::from(Dataset::from(&row)), None, &dropped);
    // A standardised model: its scales are claims.
    let x = table(50, 4);
    let honest = Pca::new(2).standardize(true).fit(&x).unwrap().to_parts();
    let scaled = [
        forgery("a scale", |p| numbers(p, "scale")[2] *= 1.0 + 1e-8, "scale of feature 2"),
        forgery("its inverse", |p| numbers(p, "inv_scale")[3] *= 1.0 + 1e-8, "scale of feature 3"),
    ];
    check(&honest, &AnyDataset::from(Dataset::from(&x)), None, &scaled);
}

/// An iteration bounds what it may have missed by probes: less than these show is a false claim.
#[test]
fn what_may_have_been_missed_is_a_claim() {
    let x = table(480, 420);
    let solver = Solver::Iterative;
    let honest = Pca::new(3).solver(solver).fit(&x).unwrap().to_parts();
    let data = AnyDataset::from(Dataset::from(&x));
    let kind = |name: &'static str| Value::map([("kind", Value::from(name))]);
    let probabilistic = |bound: f64| {
        Value::map([
            ("kind", Value::from("probabilistic")),
            ("bound", Value::from(bound)),
            ("failure", Value::from(2e-9)),
        ])
    };
    let missed = ["certificate", "none_missed"];
    let forgeries = [
        forgery("by inertia", move |p| set(p, &missed, kind("inertia")), "that nothing was missed"),
        forgery(
            "by all values",
            move |p| set(p, &missed, kind("complete")),
            "that nothing was missed",
        ),
        forgery(
            "a smaller bound",
            move |p| set(p, &missed, probabilistic(0.01)),
            "bound on a missed",
        ),
        forgery("the next value", |p| scale(p, &["next_value"], 0.2), "first variance left out"),
        forgery(
            "a component left out",
            |p| {
                let all = numbers(p, "components").clone();
                let d = all.len() / 3;
                *numbers(p, "components") = all[d..].to_vec();
                p.arrays.get_mut("components").unwrap().shape = vec![2, d];
                for name in [
                    "values",
                    "certificate.residuals",
                    "certificate.value_errors",
                    "certificate.angles",
                ] {
                    numbers(p, name).remove(0);
                    let shape = numbers(p, name).len();
                    p.arrays.get_mut(name).unwrap().shape = vec![shape];
                }
                set(p, &["rank"], 2usize);
                set(p, &["certificate", "rank"], 2usize);
            },
            "largest explained variance beside the components",
        ),
    ];
    check(&honest, &data, None, &forgeries);
}

#[test]
fn false_claims_of_a_probabilistic_model_are_named() {
    let x = table(70, 6);
    let data = AnyDataset::from(Dataset::from(&x));
    let honest = Ppca::new(2).fit(&x).unwrap().to_parts();
    let closed = [
        forgery("the noise", |p| scale(p, &["noise"], 1.001), "noise variance"),
        forgery("the likelihood", |p| scale(p, &["log_likelihood"], 0.999), "log-likelihood"),
        forgery("a component", |p| rotate(numbers(p, "components"), 6, 0, 1, 1e-3), "component 1"),
    ];
    check(&honest, &data, None, &closed);
    let mut gaps = x.clone();
    (0..70).step_by(5).for_each(|i| gaps[[i, i % 6]] = f64::NAN);
    let gaps_of = Dataset::from(&gaps).with_missing(Missing::Em);
    let honest = Ppca::new(2).fit(&gaps_of).unwrap().to_parts();
    let iterated = [
        forgery("the mean", |p| numbers(p, "mean")[0] += 1e-3, "one more step changes"),
        forgery("the noise", |p| scale(p, &["noise"], 1.01), "one more step changes"),
        forgery("the likelihood", |p| scale(p, &["log_likelihood"], 0.999), "log-likelihood"),
        forgery("missing entries", |p| set(p, &["missing", "missing"], 13usize), "missing entries"),
        forgery("samples", |p| set(p, &["n_samples"], 71.0), "number of samples"),
    ];
    check(&honest, &AnyDataset::from(Dataset::from(&gaps)), None, &iterated);
}

/// Parts of a model of any method, fitted with its usual options.
fn usual(method: &str, x: &Array2<f64>, target: Option<&Target>) -> Parts {
    let method = Method::named(method).unwrap();
    let mut values = method.values().with_options(Options::default());
    values.set_n_components(2);
    let data = AnyDataset::from(Dataset::from(x));
    let mut context = FitContext::new().with_target(target);
    values.fit(&data, &mut context).unwrap().model.to_parts().unwrap()
}

#[test]
fn false_claims_of_other_methods_are_named() {
    let x = table(50, 5);
    let data = AnyDataset::from(Dataset::from(&x));
    let of = |method: &str, forgeries: &[Forgery]| {
        check(&usual(method, &x, None), &data, None, forgeries);
    };
    of(
        "kernel-pca",
        &[
            forgery(
                "an eigenvalue",
                |p| numbers(p, "values")[0] *= 1.0001,
                "eigenvalue of component 1",
            ),
            forgery("a coefficient", |p| numbers(p, "dual_coefficients")[3] += 0.01, "component"),
            forgery("a sample", |p| numbers(p, "points")[4] += 0.1, "of training sample 1"),
            forgery("the total", |p| scale(p, &["total"], 1.1), "total of the centred kernel"),
            forgery("a bound", |p| numbers(p, "certificate.residuals").fill(1e-300), "bound on"),
            forgery("an offset", |p| numbers(p, "offsets")[0] += 0.01, "offset of the scores"),
        ],
    );
    of(
        "lsa",
        &[
            forgery(
                "a value",
                |p| numbers(p, "values")[1] *= 1.0001,
                "explained variance of component 2",
            ),
            forgery("the total", |p| scale(p, &["total"], 1.1), "total variance"),
        ],
    );
    of(
        "mds",
        &[
            forgery("a coordinate", |p| numbers(p, "coordinates")[7] += 0.1, "coordinate"),
            forgery(
                "an eigenvalue",
                |p| numbers(p, "eigenvalues")[0] *= 1.001,
                "eigenvalue of component 1",
            ),
        ],
    );
    of(
        "laplacian",
        &[
            forgery("a coordinate", |p| numbers(p, "coordinates")[7] += 0.1, "is an eigenvector"),
            forgery(
                "an eigenvalue",
                |p| numbers(p, "eigenvalues")[0] *= 1.01,
                "eigenvalue of component 1",
            ),
            forgery("a degree", |p| numbers(p, "degrees")[3] += 1.0, "degree of sample 4"),
        ],
    );
    of(
        "sparse-pca",
        &[forgery(
            "a variance",
            |p| numbers(p, "score_covariance")[0] *= 1.001,
            "explained variance of component 1",
        )],
    );
    of(
        "ppca-mixture",
        &[
            forgery(
                "a share",
                |p| {
                    let shares = numbers(p, "shares");
                    (shares[0], shares[1]) = (shares[0] + 0.1, shares[1] - 0.1);
                },
                "share of part",
            ),
            forgery("the likelihood", |p| scale(p, &["log_likelihood"], 1.001), "log-likelihood"),
        ],
    );
    let labels: Array1<f64> = x.column(0).to_owned();
    let target = Target::classes(labels.iter().map(|v| if *v > 3.0 { "high" } else { "low" }));
    let honest = usual("supervised-pca", &x, Some(&target));
    let forgeries = [
        forgery(
            "the dependence",
            |p| numbers(p, "hsic")[0] *= 1.01,
            "dependence (HSIC) of component 1",
        ),
        forgery("a component", |p| rotate(numbers(p, "components"), 5, 0, 1, 1e-3), "component 1"),
        forgery("labels", |p| set(p, &["target", "labelled"], 49usize), "samples with a label"),
    ];
    check(&honest, &data, Some(&target), &forgeries);
}
