//! What programs that hold data in parts, or the models of others, ask of the library.

use crate::support::Random;
use eigenlens::{
    AnyDataset, Claim, Csr, Dataset, Error, Missing, Model, Moments, Options, Pca, Ppca,
    SampleWeights, Solver, SparsePca, VerifyOptions,
};
use ndarray::{Array2, Axis, array, s};

fn table() -> Array2<f64> {
    Array2::from_shape_fn((40, 4), |(i, j)| {
        let t = (i * 7 + j * 3) as f64;
        1e3 * j as f64 + (t * 0.7).sin() * (4 - j) as f64 + (t * t * 0.01).cos()
    })
}

#[test]
fn a_claim_is_checked_against_the_data() {
    let x = table();
    let data = Dataset::from(&x);
    let model = Pca::new(2).fit(&data).unwrap();
    let claim = Claim {
        components: model.components(),
        mean: Some(model.mean()),
        explained_variance: Some(model.explained_variance()),
        total_variance: Some(model.total_variance()),
    };
    let (any, options) = (AnyDataset::from(data.clone()), VerifyOptions::default());
    let found = claim.verify(&any, &options).unwrap();
    assert!(found.passed(), "{:?}", found.failures().collect::<Vec<_>>());
    // Each part of a claim can be what is wrong with it.
    let mean: Vec<f64> = model.mean().iter().map(|m| m + 1e-3).collect();
    let turned = model.components().slice(s![..;-1, ..]).to_owned();
    let shorter = model.components().to_owned() * 0.999;
    let second = model.components().slice(s![1.., ..]).to_owned();
    let wrong = [
        (Claim { mean: Some(&mean), ..claim }, "mean of feature"),
        (Claim { mean: None, ..claim }, "total variance"),
        (Claim { total_variance: Some(1.001 * model.total_variance()), ..claim }, "total variance"),
        (Claim { components: turned.view(), ..claim }, "explained variance of component 1"),
        (Claim { components: shorter.view(), ..claim }, "products of different components"),
        (
            Claim { components: second.view(), mean: claim.mean, ..Claim::of(second.view()) },
            "largest explained variance beside the components",
        ),
    ];
    for (claim, name) in wrong {
        let found = claim.verify(&any, &options).unwrap();
        assert!(found.failures().any(|check| check.claim.contains(name)), "{name}: {found:?}");
    }
    let short = Claim { mean: Some(&mean[1..]), ..claim };
    assert!(matches!(short.verify(&any, &options), Err(Error::Shape { .. })));
    let narrow = AnyDataset::from(Dataset::dense(x.slice(s![.., ..3])));
    assert!(matches!(claim.verify(&narrow, &options), Err(Error::Shape { .. })));
}

#[test]
fn a_policy_for_holes_does_not_keep_whole_data_from_being_checked() {
    let x = table();
    let data = Dataset::from(&x).with_missing(Missing::Em);
    let density = Ppca::new(2).fit(&data).unwrap();
    let (any, options) = (AnyDataset::from(data.clone()), VerifyOptions::default());
    let found = Model::verify(&density, &any, None, &options).unwrap();
    assert!(found.passed(), "{:?}", found.failures().collect::<Vec<_>>());
    assert!(Pca::new(2).fit(&data).unwrap().verify(&data).unwrap().passed());
    let mut missing_counts = x.clone();
    missing_counts[[3, 1]] = f64::NAN;
    let found = Pca::new(2)
        .fit(&data)
        .unwrap()
        .verify(Dataset::from(&missing_counts).with_missing(Missing::Em))
        .unwrap();
    let false_ones: Vec<String> = found.failures().map(ToString::to_string).collect();
    assert_eq!(false_ones, ["missing entries: the model says 0, the data say 1"]);
}

#[test]
fn moments_grow_row_by_row() {
    let x = table();
    let options = Options::default();
    let mut all = Moments::empty(4);
    for row in x.axis_chunks_iter(Axis(0), 1) {
        all.update(&Moments::of(row, &options).unwrap()).unwrap();
    }
    let whole = Moments::of(&x, &options).unwrap();
    assert_eq!(all.n_samples(), 40.0);
    for (a, b) in all.covariance().iter().zip(&whole.covariance()) {
        assert!((a - b).abs() < 1e-12 * whole.covariance()[[0, 0]], "{a} {b}");
    }
    let one = Moments::of(x.slice(s![..1, ..]), &options).unwrap();
    assert!(matches!(Pca::new(1).fit_moments(&one), Err(Error::TooFewRows { found: 1, .. })));
}

/// Columns in the order of `names`, as a part of a table.
fn named(x: &Array2<f64>, names: &[&str]) -> Moments {
    let data = Dataset::from(x).with_feature_names(names.iter().copied()).unwrap();
    Moments::of(&data, &Options::default()).unwrap()
}

#[test]
fn merging_moments_leaves_both_as_they_are() {
    let x = table();
    let of = |rows: std::ops::Range<usize>| {
        Moments::of(x.slice(s![rows, ..]), &Options::default()).unwrap()
    };
    let parts = [of(0..10), of(10..20), of(20..40)];
    let before = parts.clone();
    for _ in 0..2 {
        let whole = parts.iter().fold(Moments::empty(4), |sum, part| sum.merge(part).unwrap());
        assert_eq!(whole.n_samples(), 40.0);
        let rest = whole.subtract(&parts[2]).unwrap();
        assert_eq!((whole.n_samples(), rest.n_samples()), (40.0, 20.0));
    }
    assert_eq!(parts, before);
}

/// Features are told apart by name: the same samples, once with their columns in another order.
#[test]
fn moments_are_merged_by_name() {
    let x = table();
    let (top, bottom) = (x.slice(s![..15, ..]).to_owned(), x.slice(s![15.., ..]).to_owned());
    let turned = bottom.select(Axis(1), &[2, 0, 3, 1]);
    let first = named(&top, &["a", "b", "c", "d"]);
    let second = named(&turned, &["c", "a", "d", "b"]);
    let straight = named(&bottom, &["a", "b", "c", "d"]);
    let names = |moments: &Moments| moments.feature_names().map(<[String]>::to_vec);
    let both = first.merge(&second).unwrap();
    assert_eq!(both, first.merge(&straight).unwrap());
    assert_eq!(names(&both).unwrap(), ["a", "b", "c", "d"]);
    // The order is the receiver's, also where it has no samples yet.
    let none = named(&Array2::zeros((0, 4)), &["a", "b", "c", "d"]);
    assert_eq!(none.merge(&second).unwrap(), straight);
    assert_eq!(both.subtract(&second).unwrap().feature_names(), first.feature_names());
    // Names are kept beside none, on either side, with samples or without.
    let unnamed = Moments::of(&bottom, &Options::default()).unwrap();
    assert_eq!(first.merge(&unnamed).unwrap(), both);
    assert_eq!(names(&unnamed.merge(&first).unwrap()), names(&first));
    assert_eq!(names(&Moments::empty(4).merge(&first).unwrap()), names(&first));
    assert_eq!(first.merge(&Moments::empty(4)).unwrap(), first);
    assert_eq!(Moments::empty(4).merge(&none).unwrap(), none);
    // They come with a model.
    let model = Pca::new(2).fit_moments(&both).unwrap();
    assert_eq!(model.feature_names().unwrap(), ["a", "b", "c", "d"]);
    let sparse = SparsePca::cardinality(1, 2).fit_moments(&both).unwrap();
    assert_eq!(sparse.feature_names().unwrap(), ["a", "b", "c", "d"]);
    // Others are refused by name; so is an order that cannot be told.
    let other = named(&bottom, &["a", "b", "x", "d"]);
    let error = first.merge(&other).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the features of the other moments are others; missing: `c`; not known: `x`"
    );
    let twice = named(&top, &["a", "a", "b", "c"]);
    assert!(twice.merge(&twice).is_ok());
    let error = twice.merge(&named(&top, &["a", "b", "a", "c"])).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }) && error.to_string().contains("`a`"), "{error}");
}

#[test]
fn parts_may_have_few_samples_or_none() {
    let x = table();
    let options = Options::default();
    let whole = Moments::of(&x, &options).unwrap();
    let none = Moments::of(Dataset::from(&Array2::<f64>::zeros((0, 4))), &options).unwrap();
    assert_eq!(none, Moments::empty(4));
    assert_eq!(whole.merge(&none).unwrap(), whole);
    assert_eq!(none.merge(&whole).unwrap(), whole);
    assert!(none.mean().iter().chain(&none.covariance()).all(|v| v.is_nan()));
    assert_eq!(Moments::from_bytes(&none.to_bytes()).unwrap(), none);
    // Weights that are too small for a variance add up to those of the whole.
    let weights: Vec<f64> = (0..40).map(|i| [0.0, 0.25, 0.5][i % 3]).collect();
    let weigh = |x: &Array2<f64>, weights: &[f64]| {
        let data = Dataset::from(x).with_weights(SampleWeights::frequency(weights));
        Moments::of(&data, &options).unwrap()
    };
    let expected = weigh(&x, &weights);
    let mut sum = Moments::empty(4);
    for (row, weight) in x.rows().into_iter().zip(&weights) {
        sum.update(&weigh(&row.to_owned().insert_axis(Axis(0)), &[*weight])).unwrap();
    }
    assert!((sum.n_samples() - weights.iter().sum::<f64>()).abs() < 1e-12);
    for (a, b) in sum.covariance().iter().zip(&expected.covariance()) {
        assert!((a - b).abs() < 1e-12 * expected.covariance()[[0, 0]], "{a} {b}");
    }
}

#[test]
fn columns_have_their_statistics_dense_and_sparse() {
    let x = array![[0.0, 3e200, 1.0], [0.0, 1e200, 2.0], [5.0, 2e200, 6.0]];
    let dense = Dataset::from(&x);
    let found = dense.column_statistics(&Options::default()).unwrap();
    assert_eq!(found.n_samples, 3.0);
    assert!((found.mean[0] - 5.0 / 3.0).abs() < 1e-15 && (found.mean[2] - 3.0).abs() < 1e-15);
    assert!((found.variance[0] - 25.0 / 3.0).abs() < 1e-14 && found.variance[2] == 7.0);
    // Its square is no number, its mean is.
    assert!((found.mean[1] / 2e200 - 1.0).abs() < 1e-15 && found.variance[1].is_infinite());
    let sparse: Csr<f64> = dense.to_csr().unwrap();
    assert_eq!(sparse.n_stored(), 7);
    assert_eq!(Dataset::sparse(&sparse).to_csr().unwrap(), sparse);
    let again = Dataset::sparse(&sparse).column_statistics(&Options::default()).unwrap();
    for (a, b) in again.mean.iter().zip(&found.mean) {
        assert!((a / b - 1.0).abs() < 1e-15);
    }
}

/// What scores look like on the support: coordinates in any orthonormal basis of it, and the density
/// of the normal distribution with their covariance.
fn density_of_coordinates(coordinates: &Array2<f64>) -> Vec<f64> {
    let (n, r) = coordinates.dim();
    let centered = coordinates - &coordinates.mean_axis(Axis(0)).unwrap();
    let mut left = centered.t().dot(&centered) / (n as f64 - 1.0);
    // Gauss & Jordan: the determinant from the pivots, beside it the solutions.
    let mut right = centered.t().to_owned();
    let mut log_determinant = 0.0;
    for j in 0..r {
        let pivot = left[[j, j]];
        log_determinant += pivot.ln();
        for i in (0..r).filter(|&i| i != j) {
            let factor = left[[i, j]] / pivot;
            let (row, solved) = (left.row(j).to_owned(), right.row(j).to_owned());
            left.row_mut(i).scaled_add(-factor, &row);
            right.row_mut(i).scaled_add(-factor, &solved);
        }
    }
    let solved = |j: usize, i: usize| right[[j, i]] / left[[j, j]];
    let constant = r as f64 * std::f64::consts::TAU.ln() + log_determinant;
    (0..n)
        .map(|i| {
            let distance: f64 = (0..r).map(|j| centered[[i, j]] * solved(j, i)).sum();
            -0.5 * (constant + distance)
        })
        .collect()
}

/// Rank 3 in 8 dimensions: the density is that of the three coordinates the samples were made from,
/// in whatever directions and at whatever place they lie, for as many components as one likes.
#[test]
fn the_likelihood_of_a_subspace_is_that_of_its_coordinates() {
    let mut random = Random::new(11);
    let coordinates = random.matrix(60, 3) * &array![3.0, 1.0, 0.2];
    let basis = random.orthonormal(8, 3, false);
    let expected = density_of_coordinates(&coordinates);
    for offset in [0.0, 10.0, 1e3, 1e6] {
        let x = coordinates.dot(&basis.t()) + offset;
        let data = Dataset::from(&x);
        for k in [3, 4, 7, 8] {
            for solver in [Solver::Auto, Solver::Covariance, Solver::Svd] {
                let model = Pca::new(k).solver(solver).fit(&data).unwrap();
                let found = model.log_likelihood(&data).unwrap();
                let what = format!("{k} components, {solver:?}, offset {offset}");
                for (a, b) in found.samples.iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-6, "{what}: {a} {b}");
                }
                // A sample that is beside the subspace.
                let mut off = x.slice(s![..2, ..]).to_owned();
                off[[1, 4]] += 0.01;
                let found = model.log_likelihood(&off).unwrap();
                assert!(found.samples[0].is_finite(), "{what}");
                assert_eq!(found.samples[1], f64::NEG_INFINITY, "{what}");
            }
        }
        let moments = Moments::of(&data, &Options::default()).unwrap();
        let model = Pca::new(3).fit_moments(&moments).unwrap();
        let found = model.log_likelihood(&data).unwrap();
        assert!((found.samples[5] - expected[5]).abs() < 1e-6, "from moments, offset {offset}");
    }
    // Fewer components than the rank leave noise: a density in all dimensions.
    let x = coordinates.dot(&basis.t());
    let model = Pca::new(2).fit(&x).unwrap();
    assert!(model.precision().is_ok() && model.log_likelihood(&x).is_ok());
    let model = Pca::new(8).fit(&x).unwrap();
    assert!(model.precision().is_err());
    // So does noise that is small, but no rounding.
    let noisy = x + random.matrix(60, 8) * 1e-6;
    let model = Pca::new(8).fit(&noisy).unwrap();
    let found = model.log_likelihood(&noisy).unwrap();
    let dense = density_of_coordinates(&noisy);
    assert!((found.samples[7] - dense[7]).abs() < 1e-3 * dense[7].abs());
}
