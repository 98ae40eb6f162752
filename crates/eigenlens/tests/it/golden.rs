//! Published numbers, each to half a unit of its last digit.

use crate::support::*;
use eigenlens::{Error, Lsa, Pca, PcaModel, Solver};
use ndarray::{Array2, array};

const USARRESTS: &str = include_str!("../../../../golden/usarrests/data.csv");
const USARRESTS_EXPECTED: &str = include_str!("../../../../golden/usarrests/expected.csv");
const IRIS: &str = include_str!("../../../../golden/iris/data.csv");
const IRIS_EXPECTED: &str = include_str!("../../../../golden/iris/expected.csv");

/// The numbers of a table with a header, from the given column on.
fn table(text: &str, from: usize) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').skip(from).map(|v| v.parse().unwrap()).collect())
        .collect();
    let d = rows[0].len();
    Array2::from_shape_vec((rows.len(), d), rows.concat()).unwrap()
}

/// A printed number and half a unit of its last digit.
fn printed(number: &str) -> (f64, f64) {
    let decimals = number.split('.').nth(1).map_or(0, str::len);
    (number.parse().unwrap(), 0.5 * 10f64.powi(-(decimals as i32)))
}

/// The rows of an `expected.csv` about one quantity.
fn expected(text: &str, quantity: &str) -> Vec<Vec<(f64, f64)>> {
    let rows = text.lines().filter(|line| line.split(',').next() == Some(quantity));
    rows.map(|line| line.split(',').nth(2).unwrap().split(' ').map(printed).collect()).collect()
}

#[track_caller]
fn check(what: &str, found: &[f64], numbers: &[(f64, f64)]) {
    assert_eq!(found.len(), numbers.len(), "{what}");
    for (f, (number, half)) in found.iter().zip(numbers) {
        // The slack is for 0.5 itself, which is not a number of doubles.
        assert_close(what, *f, *number, half * (1.0 + 1e-9));
    }
}

/// Components (columns of `numbers`, one row for each feature) up to their signs.
fn check_components(model: &PcaModel, numbers: &[Vec<(f64, f64)>]) {
    let u = model.components();
    for (j, row) in u.rows().into_iter().enumerate() {
        let product: f64 = row.iter().zip(numbers).map(|(v, n)| v * n[j].0).sum();
        for (v, n) in row.iter().zip(numbers) {
            check("component", &[v * product.signum()], &[n[j]]);
        }
    }
}

fn columns<const N: usize>(rows: &[[&str; N]]) -> Vec<Vec<(f64, f64)>> {
    rows.iter().map(|row| row.iter().map(|n| printed(n)).collect()).collect()
}

fn fit_everywhere(x: &Array2<f64>, pca: impl Fn(Solver) -> Pca, check: impl Fn(&PcaModel)) {
    for storage in STORAGES {
        let table = Table::<f64>::new(x, storage);
        for solver in SOLVERS {
            if feasible(storage, solver, x.nrows(), x.ncols()) {
                check(&pca(solver).fit(table.dataset()).unwrap());
            }
        }
    }
}

/// NIST/SEMATECH e-Handbook of Statistical Methods, section 6.5.5.2.
#[test]
fn nist_handbook() {
    let x = array![
        [7.0, 4.0, 3.0],
        [4.0, 1.0, 8.0],
        [6.0, 3.0, 5.0],
        [8.0, 6.0, 1.0],
        [8.0, 5.0, 7.0],
        [7.0, 2.0, 9.0],
        [5.0, 3.0, 3.0],
        [9.0, 5.0, 8.0],
        [7.0, 4.0, 5.0],
        [8.0, 2.0, 2.0]
    ];
    let printed_components =
        columns(&[[".64", ".38", "-.66"], [".69", ".10", ".72"], ["-.34", ".92", ".20"]]);
    fit_everywhere(
        &x,
        |solver| Pca::new(3).standardize(true).solver(solver),
        |model| {
            let values = model.explained_variance();
            check("λ", values, &["1.769", ".927", ".304"].map(printed));
            check("λ", values, &["1.76877414", ".92707592", ".30414995"].map(printed));
            check_components(model, &printed_components);
        },
    );
    let two = Pca::new(2).standardize(true).fit(&x).unwrap();
    let communalities = two.feature_diagnostics().unwrap().communalities.to_vec();
    check("communalities", &communalities, &[".8662", ".8420", ".9876"].map(printed));
    // From the correlation matrix alone.
    let oracle = Oracle::new(&x, true, true);
    let given = Pca::new(3).fit_covariance(oracle.covariance.view(), None).unwrap();
    check("λ", given.explained_variance(), &["1.769", ".927", ".304"].map(printed));
}

#[test]
fn usarrests() {
    let x = table(USARRESTS, 1);
    assert_eq!(x.dim(), (50, 4));
    let sdev = &expected(USARRESTS_EXPECTED, "sdev")[0];
    let proportion = &expected(USARRESTS_EXPECTED, "proportion")[0];
    let components = expected(USARRESTS_EXPECTED, "component");
    fit_everywhere(
        &x,
        |solver| Pca::new(4).standardize(true).solver(solver),
        |model| {
            check("sdev", model.standard_deviations(), sdev);
            check("proportion", &model.explained_variance_ratio(), proportion);
            check_components(model, &components);
        },
    );
    let unscaled = expected(USARRESTS_EXPECTED, "unscaled_component");
    fit_everywhere(
        &x,
        |solver| Pca::new(2).solver(solver),
        |model| {
            for (row, numbers) in model.components().rows().into_iter().zip(&unscaled) {
                check("unscaled", &row.mapv(f64::abs).to_vec(), numbers);
            }
        },
    );
}

#[test]
fn iris() {
    let x = table(IRIS, 0);
    assert_eq!(x.dim(), (150, 4));
    let variance = &expected(IRIS_EXPECTED, "variance")[0];
    let proportion = &expected(IRIS_EXPECTED, "proportion")[0];
    fit_everywhere(
        &x,
        |solver| Pca::new(4).solver(solver),
        |model| {
            check("variance", model.explained_variance(), variance);
            check("proportion", &model.explained_variance_ratio(), proportion);
        },
    );
}

/// The example in scikit-learn's documentation.
#[test]
fn six_points() {
    let x = array![[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]];
    fit_everywhere(
        &x,
        |solver| Pca::new(2).solver(solver),
        |model| {
            let ratios = model.explained_variance_ratio();
            check("ratio", &ratios, &[".99244", ".00756"].map(printed));
            check("s", &model.singular_values(), &["6.30061", ".54980"].map(printed));
        },
    );
}

/// Two points far from 0 in float32: a textbook formula for the covariance loses everything.
#[test]
fn cancellation_in_float32() {
    for c in [0.0, 1e3, 1e4, 1e5] {
        let x = array![[1.0, 0.0], [0.0, 1.0]] + c;
        for storage in STORAGES {
            let table = Table::<f32>::new(&x, storage);
            for solver in SOLVERS {
                if !feasible(storage, solver, 2, 2) {
                    continue;
                }
                let context = format!("{storage:?} {solver:?} {c}");
                let model = Pca::new(1).solver(solver).fit(table.dataset()).unwrap();
                let half = std::f64::consts::FRAC_1_SQRT_2;
                let u = model.components();
                // Our sign rule: of equal entries the first is positive.
                assert_close(&context, u[[0, 0]], half, 1e-6);
                assert_close(&context, u[[0, 1]], -half, 1e-6);
                assert_close(&context, model.explained_variance()[0], 1.0, 1e-6);
                assert_eq!(model.mean(), [c + 0.5, c + 0.5], "{context}");
            }
        }
    }
}

/// Läuchli's matrix: squaring it loses the small singular values, factorising it does not.
#[test]
fn laeuchli() {
    let e = 1e-9;
    let x = array![[1.0, 1.0, 1.0], [e, 0.0, 0.0], [0.0, e, 0.0], [0.0, 0.0, e]];
    for storage in STORAGES {
        let table = Table::<f64>::new(&x, storage);
        let data = table.dataset();
        let svd = Lsa::new(3).solver(Solver::Svd).fit(&data).unwrap();
        let s = svd.singular_values();
        assert_close("s₁", s[0], (3.0 + e * e).sqrt(), 1e-14);
        assert_close("s₂", s[1], e, 5e-7 * e);
        assert_close("s₃", s[2], e, 5e-7 * e);
        assert_eq!(svd.rank(), 3);
        // Auto sees that the squaring route cannot tell, and moves on.
        let auto = Lsa::new(3).fit(&data).unwrap();
        assert_close("auto", auto.singular_values()[2], e, 5e-7 * e);
        for solver in [Solver::Covariance, Solver::Dual, Solver::Iterative] {
            match Lsa::new(3).solver(solver).fit(&data) {
                Ok(squared) => {
                    assert_eq!(squared.rank(), 1, "{storage:?} {solver:?}");
                    assert_eq!(squared.certificate().rank, 1);
                    assert_eq!(squared.explained_variance()[1..], [0.0, 0.0]);
                }
                Err(error) => {
                    assert!(!feasible(storage, solver, 4, 3));
                    assert!(matches!(error, Error::Unsupported { .. }));
                }
            }
        }
    }
}

/// Jeffers' pitprops (1967): the spectrum of a correlation matrix given in place of data.
#[test]
fn pitprops() {
    let below = [
        vec![],
        vec![0.954],
        vec![0.364, 0.297],
        vec![0.342, 0.284, 0.882],
        vec![-0.129, -0.118, -0.148, 0.220],
        vec![0.313, 0.291, 0.153, 0.381, 0.364],
        vec![0.496, 0.503, -0.029, 0.174, 0.296, 0.813],
        vec![0.424, 0.419, -0.054, -0.059, 0.004, 0.090, 0.372],
        vec![0.592, 0.648, 0.125, 0.137, -0.039, 0.211, 0.465, 0.482],
        vec![0.545, 0.569, -0.081, -0.014, 0.037, 0.274, 0.679, 0.557, 0.526],
        vec![0.084, 0.076, 0.162, 0.097, -0.091, -0.036, -0.113, 0.061, 0.085, -0.319],
        vec![-0.019, -0.036, 0.220, 0.169, -0.145, 0.024, -0.232, -0.357, -0.127, -0.368, 0.029],
        vec![
            0.134, 0.144, 0.126, 0.015, -0.208, -0.329, -0.424, -0.202, -0.076, -0.291, 0.007,
            0.184,
        ],
    ];
    let mut matrix = Array2::eye(13);
    for (i, row) in below.iter().enumerate() {
        assert_eq!(row.len(), i);
        for (j, v) in row.iter().enumerate() {
            matrix[[i, j]] = *v;
            matrix[[j, i]] = *v;
        }
    }
    let model = Pca::new(13).fit_covariance(matrix.view(), Some(180.0)).unwrap();
    let numbers = [
        "4.2186", "2.3781", "1.8782", "1.1094", ".9100", ".8154", ".5763", ".4396", ".3527",
        ".1908", ".0506", ".0415", ".0387",
    ];
    check("pitprops", model.explained_variance(), &numbers.map(printed));
}
