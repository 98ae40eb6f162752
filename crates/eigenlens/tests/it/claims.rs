//! What programs that hold data in parts, or the models of others, ask of the library.

use eigenlens::{Claim, Csr, Dataset, Error, Missing, Model, Moments, Options, Pca, Ppca};
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
        explained_variance: model.explained_variance(),
        total_variance: model.total_variance(),
        mean: model.mean(),
        tolerance: 1e-9,
    };
    assert!(claim.verify(&data).unwrap().passed());
    // Each part of a claim can be what is wrong with it.
    let mean: Vec<f64> = model.mean().iter().map(|m| m + 1e-3).collect();
    let turned = model.components().slice(s![..;-1, ..]).to_owned();
    let shorter = model.components().to_owned() * 0.999;
    let wrong = [
        Claim { mean: &mean, ..claim },
        Claim { total_variance: 1.001 * model.total_variance(), ..claim },
        Claim { components: turned.view(), ..claim },
        Claim { components: shorter.view(), ..claim },
    ];
    for claim in wrong {
        assert!(!claim.verify(&data).unwrap().passed(), "{claim:?}");
    }
    assert!(matches!(Claim { mean: &mean[1..], ..claim }.verify(&data), Err(Error::Shape { .. })));
    let narrow = Dataset::dense(x.slice(s![.., ..3]));
    assert!(matches!(claim.verify(&narrow), Err(Error::Shape { .. })));
}

#[test]
fn a_policy_for_holes_does_not_keep_whole_data_from_being_checked() {
    let x = table();
    let data = Dataset::from(&x).with_missing(Missing::Em);
    let density = Ppca::new(2).fit(&data).unwrap();
    assert!(Model::verify_f64(&density, &data).unwrap().passed());
    assert!(Pca::new(2).fit(&data).unwrap().verify(&data).unwrap().passed());
    let mut holes = x.clone();
    holes[[3, 1]] = f64::NAN;
    let found =
        Pca::new(2).fit(&data).unwrap().verify(&Dataset::from(&holes).with_missing(Missing::Em));
    assert!(matches!(found, Err(Error::MissingValue { row: 3, column: 1, .. })), "{found:?}");
}

#[test]
fn moments_grow_row_by_row() {
    let x = table();
    let options = Options::default();
    let mut all = Moments::empty(4);
    for row in x.axis_chunks_iter(Axis(0), 1) {
        all.merge(&Moments::of(&Dataset::dense(row), &options).unwrap()).unwrap();
    }
    let whole = Moments::of(&Dataset::from(&x), &options).unwrap();
    assert_eq!(all.n_samples(), 40.0);
    for (a, b) in all.covariance().iter().zip(&whole.covariance()) {
        assert!((a - b).abs() < 1e-12 * whole.covariance()[[0, 0]], "{a} {b}");
    }
    let one = Moments::of(&Dataset::dense(x.slice(s![..1, ..])), &options).unwrap();
    assert!(matches!(Pca::new(1).fit_moments(&one), Err(Error::TooFewRows { found: 1, .. })));
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
