//! What every method promises: one suite, for all that are in `METHODS`.

use crate::estimators::{classes, estimator};
use crate::support::Random;
use crate::torture_support::{InBlocks, compressed};
use eigenlens::from_parts;
use eigenlens::model::Cells;
use eigenlens::{
    AnyDataset, Dataset, Error, ErrorKind, FitContext, METHODS, Method, Model, NComponents,
    Options, Result, dispatch,
};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// How far fits may be apart, relative to the largest score.
struct Tolerance {
    /// Of a fit to the same rows in another order.
    order: f64,
    /// Of fits in float32 and float64.
    single: f64,
    /// Of fits to the same data in another form.
    form: f64,
}

fn tolerance(method: &'static Method) -> Tolerance {
    let exact = Tolerance { order: 1e-9, single: 1e-4, form: 1e-8 };
    match method.name {
        "isomap" => Tolerance { order: 1e-7, ..exact },
        "laplacian" | "lle" => Tolerance { order: 1e-6, single: 1e-3, ..exact },
        // Iterations end where a step changes less than 1e-7.
        "bayesian-pca" | "ppca-mixture" => Tolerance { order: 1e-5, single: 1e-3, form: 1e-5 },
        _ => exact,
    }
}

/// Fits so many components to data of either type.
fn fit_data<'a>(
    method: &'static Method,
    data: impl Into<AnyDataset<'a>>,
    k: usize,
    options: Options,
) -> Result<Box<dyn Model>> {
    let data = data.into();
    let estimator = estimator(method, &NComponents::Fixed(k), &options, &data.shape())?;
    let first: Result<Array2<f64>> = dispatch!(&data, d => {
        d.sample_rows().map(|rows| rows.map_or_else(Default::default, |(rows, _)| rows))
    });
    // Data that cannot be read have no target: whatever is wrong is for the fit to say.
    let target = first.ok().filter(|x| x.ncols() > 0).map(|x| classes(x.column(0)));
    let unread = classes(Array1::from_elem(data.n_samples().unwrap_or(0), 0.0).view());
    let target = target.unwrap_or(unread);
    let mut context = FitContext::new().with_target(Some(&target));
    Ok(estimator.fit(&data, &mut context)?.model)
}

const N: usize = 90;
const D: usize = 7;
const K: usize = 3;

fn table() -> Array2<f64> {
    let mut random = Random::new(11);
    let mut x = random.ordinary(N, D);
    // Well separated variances: scores of neighbours must not mix.
    for (j, mut column) in x.columns_mut().into_iter().enumerate() {
        column *= 4.0 / (1 << j.min(4)) as f64;
    }
    x
}

fn fit(method: &'static Method, x: &Array2<f64>) -> Box<dyn Model> {
    let fitted = fit_data(method, Dataset::from(x), K, Options::default());
    fitted.unwrap_or_else(|e| panic!("{}: {e}", method.name))
}

fn scores(model: &dyn Model, x: &Array2<f64>) -> Array2<f64> {
    model.transform_f64(&Dataset::from(x)).unwrap_or_else(|e| panic!("{}: {e}", model.method()))
}

fn bits(x: &Array2<f64>) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

fn largest(x: ArrayView2<f64>) -> f64 {
    x.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

fn near(what: &str, a: &Array2<f64>, b: &Array2<f64>, tolerance: f64) {
    assert_eq!(a.dim(), b.dim(), "{what}");
    let off = largest((a - b).view());
    let size = largest(b.view());
    assert!(off <= tolerance * size, "{what}: {off:e} of {size:e}");
}

#[test]
fn a_model_says_what_it_is() {
    let x = table();
    let names: Vec<String> = (0..D).map(|f| format!("feature {f}")).collect();
    for method in METHODS {
        let data = Dataset::from(&x).with_feature_names(&names).unwrap();
        let model = fit_data(method, data.clone(), K, Options::default()).unwrap();
        assert_eq!(model.method(), method.name);
        assert_eq!((model.n_components(), model.n_features()), (K, D), "{}", method.name);
        assert_eq!(model.feature_names(), Some(&names[..]), "{}", method.name);
        assert_eq!(model.n_samples(), Some(N as f64), "{}", method.name);
        let summary = model.summary();
        assert!(summary.headline.contains(method.name), "{}", summary.headline);
        assert!(!summary.trust.is_empty(), "{}", method.name);
        for column in &summary.columns {
            let cells = match &column.cells {
                Cells::Numbers(values) => values.len(),
                Cells::Shares(values) => {
                    let sound = values.iter().all(|v| (0.0..=1.0 + 1e-9).contains(v));
                    assert!(sound, "{}: {} {values:?}", method.name, column.name);
                    values.len()
                }
                Cells::Words(words) => words.len(),
            };
            assert_eq!(cells, K, "{}: {}", method.name, column.name);
        }
        if let Some(linear) = model.linear() {
            assert_eq!(linear.components.dim(), (K, D), "{}", method.name);
            assert_eq!(linear.loadings.dim(), (D, K), "{}", method.name);
            assert_eq!(linear.mean.len(), D, "{}", method.name);
            for row in linear.components.rows() {
                assert!((row.dot(&row) - 1.0).abs() < 1e-10, "{}: unit rows", method.name);
            }
        }
    }
}

#[test]
fn scores_are_finite_and_do_not_depend_on_company() {
    let x = table();
    for method in METHODS {
        let model = fit(method, &x);
        let all = scores(&*model, &x);
        assert_eq!(all.dim(), (N, K), "{}", method.name);
        assert!(all.iter().all(|v| v.is_finite()), "{}", method.name);
        let mut alone = Array2::zeros((N, K));
        for i in 0..N {
            let one = x.slice(s![i..i + 1, ..]).to_owned();
            alone.row_mut(i).assign(&scores(&*model, &one).row(0));
        }
        near(method.name, &alone, &all, 1e-12);
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let x = table();
    for method in METHODS {
        let of = |threads| {
            let options = Options { threads: Some(threads), ..Options::default() };
            let model = fit_data(method, Dataset::from(&x), K, options).unwrap();
            (bits(&scores(&*model, &x)), model.to_parts().unwrap().arrays)
        };
        let one = of(1);
        for threads in [2, 3, 8] {
            assert!(of(threads) == one, "{}: {threads} threads", method.name);
        }
    }
}

#[test]
fn parts_give_the_same_model_back() {
    let x = table();
    for method in METHODS {
        let model = fit(method, &x);
        let parts = model.to_parts().unwrap();
        assert_eq!(parts.method, method.name);
        let back = from_parts(&parts).unwrap_or_else(|e| panic!("{}: {e}", method.name));
        assert_eq!(back.to_parts().unwrap(), parts, "{}", method.name);
        assert_eq!(bits(&scores(&*back, &x)), bits(&scores(&*model, &x)), "{}", method.name);
        assert_eq!(back.summary(), model.summary(), "{}", method.name);
        assert_eq!(back.warnings(), model.warnings(), "{}", method.name);
        // Nothing of it may be missing.
        for name in parts.arrays.keys() {
            let mut less = parts.clone();
            less.arrays.remove(name);
            match from_parts(&less) {
                Err(Error::Model { .. }) => {}
                Err(other) => panic!("{}: without `{name}`: {other:?}", method.name),
                // An optional array: what comes back must say so, and not be the same.
                Ok(back) => assert_ne!(back.to_parts().unwrap(), parts, "{}", method.name),
            }
        }
        for name in parts.description.keys() {
            let mut less = parts.clone();
            less.description.remove(name);
            assert!(from_parts(&less).is_err(), "{}: without `{name}`", method.name);
        }
    }
}

#[test]
fn the_element_type_changes_little() {
    let x = table().mapv(|v| v as f32);
    let wide = x.mapv(f64::from);
    for method in METHODS {
        let single = fit_data(method, Dataset::from(&x), K, Options::default()).unwrap();
        let found = single.transform_f32(&Dataset::from(&x)).unwrap().mapv(f64::from);
        near(method.name, &found, &scores(&*fit(method, &wide), &wide), tolerance(method).single);
    }
}

#[test]
fn sparse_and_streamed_data_give_the_same_answer() {
    let x = table();
    let csr = compressed(&x);
    let streamed = InBlocks { rows: x.clone(), sizes: vec![7, 31], counted: true };
    for method in METHODS {
        let expected = scores(&*fit(method, &x), &x);
        let forms = [("sparse", Dataset::sparse(&csr)), ("streamed", Dataset::streamed(&streamed))];
        for (form, data) in forms {
            let what = format!("{}, {form}", method.name);
            let model = fit_data(method, data.clone(), K, Options::default());
            let model = model.unwrap_or_else(|e| panic!("{what}: {e:?}"));
            let found = model.transform_f64(&data).unwrap();
            near(&what, &found, &expected, tolerance(method).form);
        }
    }
}

#[test]
fn a_bad_cell_is_named() {
    let names: Vec<String> = (0..D).map(|f| format!("f{f}")).collect();
    for method in METHODS {
        let clean = table();
        let model = fit(method, &clean);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut x = clean.clone();
            x[[61, 4]] = value;
            let data = Dataset::from(&x).with_feature_names(&names).unwrap();
            let fitted = fit_data(method, data.clone(), K, Options::default()).err();
            let projected = model.transform_f64(&data).err();
            for (when, error) in [("fit", fitted), ("transform", projected)] {
                let what = format!("{}, {when}, {value}", method.name);
                let error = error.unwrap_or_else(|| panic!("{what}: no error"));
                let at = match &error {
                    Error::MissingValue { row, column, .. } => (*row, *column),
                    Error::Infinite { row, column, .. } => (*row, *column),
                    other => panic!("{what}: {other:?}"),
                };
                assert_eq!(at, (61, 4), "{what}");
                assert_eq!(error.kind(), ErrorKind::Data, "{what}");
            }
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let x = table();
    for method in METHODS {
        let model = fit(method, &x);
        let narrow = x.slice(s![.., ..D - 1]).to_owned();
        let error = model.transform_f64(&Dataset::from(&narrow)).err();
        assert!(matches!(error, Some(Error::Shape { .. })), "{}: {error:?}", method.name);
        let one = x.slice(s![..1, ..]).to_owned();
        let error = fit_data(method, Dataset::from(&one), 1, Options::default()).err();
        let kind = error.as_ref().map(Error::kind);
        assert!(
            matches!(kind, Some(ErrorKind::Data | ErrorKind::Usage)),
            "{}: {error:?}",
            method.name
        );
        let none = x.slice(s![..0, ..]).to_owned();
        let error = fit_data(method, Dataset::from(&none), 1, Options::default()).err();
        assert!(error.is_some(), "{}: no rows", method.name);
        let error = fit_data(method, Dataset::from(&x), 10 * N, Options::default()).err();
        let kind = error.as_ref().map(Error::kind);
        assert_eq!(kind, Some(ErrorKind::Usage), "{}: too many components", method.name);
        let error = fit_data(method, Dataset::from(&x), 0, Options::default()).err();
        let kind = error.as_ref().map(Error::kind);
        assert_eq!(kind, Some(ErrorKind::Usage), "{}: no components", method.name);
    }
}

#[test]
fn dull_data_give_no_nonsense() {
    let mut constant_column = table();
    constant_column.column_mut(2).fill(5.0);
    let mut twice = table();
    let copy = twice.slice(s![..N / 2, ..]).to_owned();
    twice.slice_mut(s![N / 2.., ..]).assign(&copy);
    let mut random = Random::new(5);
    let rank_one = random.matrix(N, 1).dot(&random.matrix(1, D));
    let same = Array2::from_elem((N, D), 3.25);
    let cases = [
        ("constant column", constant_column),
        ("rows twice", twice),
        ("rank 1", rank_one),
        ("all rows the same", same),
    ];
    for (what, x) in &cases {
        for method in METHODS {
            match fit_data(method, Dataset::from(x), K, Options::default()) {
                Ok(model) => {
                    let found = scores(&*model, x);
                    let what = format!("{}, {what}", method.name);
                    assert!(found.iter().all(|v| v.is_finite()), "{what}");
                    let summary = model.summary();
                    for column in summary.columns {
                        if let Cells::Numbers(values) | Cells::Shares(values) = column.cells {
                            let sound = values.iter().all(|v| v.is_finite());
                            assert!(sound, "{what}: {} {values:?}", column.name);
                        }
                    }
                }
                // A method may refuse what it cannot do, in words.
                Err(error) => {
                    let kind = error.kind();
                    assert!(
                        matches!(kind, ErrorKind::Data | ErrorKind::Usage),
                        "{}, {what}: {error:?}",
                        method.name
                    );
                }
            }
        }
    }
}

#[test]
fn the_order_of_the_rows_moves_nobody() {
    let x = table();
    let mut order: Vec<usize> = (0..N).collect();
    order.reverse();
    let turned = x.select(Axis(0), &order);
    for method in METHODS {
        let straight = scores(&*fit(method, &x), &x);
        let found = scores(&*fit(method, &turned), &x);
        near(method.name, &found, &straight, tolerance(method).order);
    }
}
