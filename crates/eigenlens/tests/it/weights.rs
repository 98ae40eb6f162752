//! A weight counts a row so often: on every path, for every method that takes weights.

use crate::estimators::{classes, estimator};
use crate::torture_support::{InBlocks, Random, compressed};
use eigenlens::{
    AnyDataset, Csr, Dataset, Error, FitContext, METHODS, Method, Missing, Model, NComponents,
    Options, Result, SampleWeights, Scalar,
};
use ndarray::{Array2, Axis};

const N: usize = 63;
const D: usize = 5;
const K: usize = 2;

fn weight(row: usize) -> usize {
    [1, 2, 0, 3][row % 4]
}

/// Three clouds, in features of distinct spread.
fn table() -> Array2<f64> {
    let mut x = Random::new(21).normals(N, D);
    for (row, mut values) in x.rows_mut().into_iter().enumerate() {
        for (f, v) in values.iter_mut().enumerate() {
            *v *= 2.0 / (1 << f) as f64;
        }
        values[0] += [0.0, 30.0, -10.0][row / 21];
        values[1] += [0.0, 10.0, 40.0][row / 21];
    }
    x
}

/// Every row as often as it weighs.
fn repeated<T: Scalar>(x: &Array2<T>) -> Array2<T> {
    let rows: Vec<usize> = (0..N).flat_map(|i| std::iter::repeat_n(i, weight(i))).collect();
    x.select(Axis(0), &rows)
}

fn fit<'a>(
    method: &'static Method,
    data: impl Into<AnyDataset<'a>>,
    first: &[f64],
) -> Result<Box<dyn Model>> {
    let k = NComponents::Fixed(K);
    let options = Options { tolerance: Some(1e-9), max_iterations: 5000, ..Options::default() };
    let data = data.into();
    let estimator = estimator(method, &k, &options, &data.shape()).unwrap();
    let target = classes(ndarray::ArrayView1::from(first));
    let mut context = FitContext::new().with_target(Some(&target));
    Ok(estimator.fit(&data, &mut context)?.model)
}

/// How many methods take weights, of the type and with the policy for missing entries.
fn weighted_is_repeated<T: Scalar>(x: Array2<T>, missing: Missing, tolerance: f64) -> usize
where
    for<'a> AnyDataset<'a>: From<Dataset<'a, T>>,
{
    let weights = SampleWeights::frequency((0..N).map(|i| weight(i) as f64).collect::<Vec<_>>());
    let csr: Csr<T> = compressed(&x);
    let streamed = InBlocks { rows: x.clone(), sizes: vec![5, 17], counted: true };
    let uncounted = InBlocks { rows: x.clone(), sizes: vec![8], counted: false };
    let forms = [
        ("dense", Dataset::from(&x)),
        ("sparse", Dataset::sparse(&csr)),
        ("streamed", Dataset::streamed(&streamed)),
        ("uncounted", Dataset::streamed(&uncounted)),
    ];
    let whole = table();
    let samples = whole.mapv(T::from_f64);
    let often = repeated(&x);
    let (once, again) = (whole.column(0).to_vec(), repeated(&whole).column(0).to_vec());
    let mut taken = 0;
    for method in METHODS.iter().filter(|m| missing == Missing::Error || m.takes_missing) {
        for (form, data) in &forms {
            let what = format!("{}, {form}, {missing:?}, {}", method.name, T::NAME);
            let data = data.clone().with_weights(weights.clone()).with_missing(missing);
            let found = match fit(method, data, &once) {
                Ok(model) => model,
                // No weight is dropped in silence; LSA does not iterate over missing entries.
                Err(Error::Unsupported { what: said, .. })
                    if said.contains("weight") || said.contains("policy `em`") =>
                {
                    continue;
                }
                Err(error) => panic!("{what}: {error:?}"),
            };
            taken += usize::from(*form == "dense");
            let data = Dataset::from(&often).with_missing(missing);
            let expected = fit(method, data, &again).unwrap_or_else(|e| panic!("{what}: {e:?}"));
            assert_eq!(found.n_samples(), expected.n_samples(), "{what}");
            let scores = |model: &dyn Model| {
                model.transform_f64(&Dataset::from(&samples.mapv(|v| v.to_f64()))).unwrap()
            };
            let (found, expected) = (scores(&*found), scores(&*expected));
            let size = expected.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let off = (&found - &expected).iter().fold(0.0f64, |m, v| m.max(v.abs()));
            assert!(off <= tolerance * size, "{what}: {off:e} of {size:e}");
        }
    }
    taken
}

#[test]
fn a_weighted_row_is_a_row_repeated() {
    let x = table();
    let taken = weighted_is_repeated(x.clone(), Missing::Error, 1e-6);
    assert_eq!(taken, weighted_is_repeated(x.mapv(|v| v as f32), Missing::Error, 1e-3));
    assert!(taken >= 7, "{taken} methods take weights");
}

#[test]
fn also_where_entries_are_missing() {
    let mut x = table();
    for i in 0..N {
        if i % 6 == 1 {
            x[[i, i % D]] = f64::NAN;
        }
    }
    for missing in [Missing::Em, Missing::Mean, Missing::DropRows] {
        assert!(weighted_is_repeated(x.clone(), missing, 1e-5) >= 3, "{missing:?}");
    }
}
