//! Linear discriminant analysis against its definition: scatter matrices formed entry by entry, Jacobi's
//! rotations, Bayes' rule on dense Gaussians, and published numbers.

use crate::support::{Random, STORAGES, Table, assert_all_close, assert_close, jacobi, sine};
use eigenlens::{
    AnyDataset, Dataset, Error, ErrorKind, LabelKernel, Lda, LdaModel, Model, NComponents, Options,
    Pooling, Result, Route, SampleWeights, Scalar, Shrinkage, SingularWithin, SupervisedPca,
    Target, Warning,
};
use ndarray::{Array1, Array2, Axis, array, s};

const IRIS: &str = include_str!("../../../../golden/iris/data.csv");

fn iris() -> (Array2<f64>, Vec<usize>) {
    let rows = IRIS.lines().skip(1).map(|line| line.split(',').map(|v| v.parse().unwrap()));
    let values: Vec<f64> = rows.flat_map(|row| row.collect::<Vec<f64>>()).collect();
    let x = Array2::from_shape_vec((150, 4), values).unwrap();
    (x, (0..150).map(|i| i / 50).collect())
}

fn target(codes: &[usize]) -> Target {
    Target::classes(codes.iter().map(|c| ["a", "b", "c", "d", "e", "f"][*c]))
}

/// Classes of unequal size whose means differ in some features, correlated within.
fn case(seed: u64, n: usize, d: usize, c: usize) -> (Array2<f64>, Vec<usize>) {
    let mut random = Random::new(seed);
    let mixing = random.matrix(d, d);
    let mut x = random.matrix(n, d).dot(&mixing);
    let codes: Vec<usize> = (0..n).map(|i| if i < 2 * c { i % c } else { (i * i) % c }).collect();
    let means = random.matrix(c, d) * 2.0;
    for (i, &class) in codes.iter().enumerate() {
        let mut row = x.row_mut(i);
        row += &means.row(class);
    }
    (x, codes)
}

/// Everything that the definition names, formed naively.
struct Oracle {
    means: Array2<f64>,
    sizes: Vec<f64>,
    /// Divisor n − c.
    within: Array2<f64>,
    /// Divisor c − 1.
    between: Array2<f64>,
}

impl Oracle {
    fn new(x: &Array2<f64>, codes: &[usize]) -> Oracle {
        let (n, d) = x.dim();
        let c = codes.iter().max().unwrap() + 1;
        let mut means = Array2::<f64>::zeros((c, d));
        let mut sizes = vec![0.0; c];
        for (i, &class) in codes.iter().enumerate() {
            sizes[class] += 1.0;
            let mut mean = means.row_mut(class);
            mean += &x.row(i);
        }
        for (mut mean, size) in means.rows_mut().into_iter().zip(&sizes) {
            mean /= *size;
        }
        let all = x.mean_axis(Axis(0)).unwrap();
        let (mut within, mut between) = (Array2::zeros((d, d)), Array2::zeros((d, d)));
        for (i, &class) in codes.iter().enumerate() {
            add_outer(&mut within, &(&x.row(i) - &means.row(class)), 1.0 / (n - c) as f64);
        }
        for (class, &size) in sizes.iter().enumerate() {
            add_outer(&mut between, &(&means.row(class) - &all), size / (c as f64 - 1.0));
        }
        Oracle { means, sizes, within, between }
    }

    /// Values and directions (rows) of unit variance within classes, largest first.
    fn discriminants(&self) -> (Vec<f64>, Array2<f64>) {
        let whitening = inverse_root(&self.within);
        let (values, vectors) = jacobi(&whitening.dot(&self.between).dot(&whitening));
        (values, vectors.dot(&whitening))
    }
}

fn add_outer(matrix: &mut Array2<f64>, v: &Array1<f64>, weight: f64) {
    for ((i, j), m) in matrix.indexed_iter_mut() {
        *m += weight * v[i] * v[j];
    }
}

fn inverse_root(matrix: &Array2<f64>) -> Array2<f64> {
    let (values, vectors) = jacobi(matrix);
    let scale = Array2::from_diag(&values.iter().map(|v| 1.0 / v.sqrt()).collect::<Array1<f64>>());
    vectors.t().dot(&scale).dot(&vectors)
}

fn inverse(matrix: &Array2<f64>) -> Array2<f64> {
    let root = inverse_root(matrix);
    root.dot(&root)
}

/// The columns of `found`, with the signs of those of `expected`.
fn signed(found: &Array2<f64>, expected: &Array2<f64>) -> Array2<f64> {
    let mut found = found.clone();
    for (mut column, other) in found.columns_mut().into_iter().zip(expected.columns()) {
        if column.dot(&other) < 0.0 {
            column.mapv_inplace(|v| -v);
        }
    }
    found
}

fn fit(x: &Array2<f64>, codes: &[usize]) -> LdaModel {
    Lda::new(NComponents::All).fit(x, &target(codes)).unwrap()
}

/// `MASS::lda(Species ~ ., iris)`, as its documentation and many texts print it.
#[test]
fn iris_is_that_of_mass() {
    let (x, codes) = iris();
    let model = fit(&x, &codes);
    let printed = array![
        [0.8293776, 0.02410215],
        [1.5344731, 2.16452123],
        [-2.2012117, -0.93192121],
        [-2.8104603, 2.83918785]
    ];
    let scalings = model.scalings();
    let found = signed(&scalings, &printed);
    for ((f, j), v) in printed.indexed_iter() {
        assert_close("scaling", found[[f, j]], *v, if j == 0 { 5e-8 } else { 5e-9 });
    }
    let shares = model.explained_variance_ratio();
    assert_close("proportion of trace", shares[0], 0.9912, 5e-5);
    assert_close("proportion of trace", shares[1], 0.0088, 5e-5);
    assert_eq!(model.class_names(), ["a", "b", "c"]);
    assert_eq!(model.priors(), [50.0 / 150.0; 3]);
    let means = array![[5.006, 3.428, 1.462, 0.246], [5.936, 2.77, 4.26, 1.326]];
    assert_all_close("means", &model.class_means().slice(s![..2, ..]).to_owned(), &means, 1e-12);
    // svd of MASS: roots of the ratios of variances between and within classes.
    assert_close("svd", model.eigenvalues()[0].sqrt(), 48.642644, 5e-7);
    assert_close("svd", model.eigenvalues()[1].sqrt(), 4.579983, 5e-7);
    // Three flowers are on the wrong side.
    let wrong = model.predict(&x).unwrap().iter().zip(&codes).filter(|(a, b)| a != b).count();
    assert_eq!(wrong, 3);
    assert!(model.warnings().is_empty(), "{:?}", model.warnings());
}

fn agrees_with_the_definition<T: Scalar>(tolerance: f64)
where
    for<'a> AnyDataset<'a>: From<Dataset<'a, T>>,
{
    for (seed, n, d, c) in [(1, 60, 5, 3), (2, 40, 3, 5), (3, 700, 12, 4), (4, 30, 1, 2)] {
        let (x, codes) = case(seed, n, d, c);
        for storage in STORAGES {
            let table = Table::<T>::new(&x, storage);
            let oracle = Oracle::new(&table.values(), &codes);
            let (values, directions) = oracle.discriminants();
            let lda = Lda::new(NComponents::All);
            let (model, scores) = lda.fit_transform(table.dataset(), &target(&codes)).unwrap();
            let k = (c - 1).min(d);
            assert_eq!((model.n_components(), model.rank(), model.within_rank()), (k, k, d));
            for j in 0..k {
                let off = (model.eigenvalues()[j] - values[j]).abs();
                assert!(off <= tolerance * values[0], "{storage:?}: {off:e}");
            }
            let centered = &table.values() - &table.values().mean_axis(Axis(0)).unwrap();
            let expected = centered.dot(&directions.slice(s![..k, ..]).t());
            let found = scores.mapv(|v| v.to_f64());
            let size = expected.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let what = format!("{storage:?}, {n} × {d}");
            assert_all_close(&what, &signed(&found, &expected), &expected, 10.0 * tolerance * size);
            let certificate = model.certificate();
            assert!(certificate.relative_residual() < 1e-9, "{}", certificate.relative_residual());
            assert!(certificate.orthogonality < 1e-9);
            let checked = model.verify(table.dataset(), &target(&codes)).unwrap();
            assert!(checked.passed(), "{what}: {:?}", checked.failures().collect::<Vec<_>>());
        }
    }
}

#[test]
fn discriminants_are_those_of_the_definition() {
    agrees_with_the_definition::<f64>(1e-10);
    agrees_with_the_definition::<f32>(1e-5);
}

#[test]
fn two_classes_are_separated_along_the_inverse_covariance_times_the_difference() {
    let (x, codes) = case(7, 80, 6, 2);
    let oracle = Oracle::new(&x, &codes);
    let expected = inverse(&oracle.within).dot(&(&oracle.means.row(1) - &oracle.means.row(0)));
    let found = fit(&x, &codes).scalings();
    let unit = |v: Array1<f64>| &v / v.dot(&v).sqrt();
    assert!(sine(unit(found.column(0).to_owned()).view(), unit(expected).view()) < 1e-10);
}

/// Rows whose spread within classes is a multiple of the identity: the deviations are orthonormal columns.
#[test]
fn with_equal_spread_it_is_supervised_pca_of_labels_divided_by_the_root_of_their_number() {
    let (d, sizes) = (4, [12, 7, 20]);
    let mut random = Random::new(5);
    let codes: Vec<usize> = (0..3).flat_map(|c| vec![c; sizes[c]]).collect();
    let means = random.matrix(3, d) * 3.0;
    let mut x = Array2::zeros((codes.len(), d));
    let mut first = 0;
    for (class, &size) in sizes.iter().enumerate() {
        // Of every class itself: each has the identity.
        let own = random.orthonormal(size, d, true) * ((size - 1) as f64).sqrt();
        x.slice_mut(s![first..first + size, ..]).assign(&(&own + &means.row(class)));
        first += size;
    }
    let model = fit(&x, &codes);
    let one_hot = Array2::from_shape_fn((codes.len(), 3), |(i, c)| {
        f64::from(u8::from(codes[i] == c)) / (sizes[c] as f64).sqrt()
    });
    let labels = Target::numbers(one_hot);
    let supervised = SupervisedPca::new(2).label_kernel(LabelKernel::Linear);
    let supervised = supervised.fit(&x, &labels).unwrap();
    let mut scalings = model.scalings();
    for (mut direction, component) in
        scalings.columns_mut().into_iter().zip(supervised.components().rows())
    {
        let norm = direction.dot(&direction).sqrt();
        direction /= norm;
        assert!(sine(direction.view(), component) < 1e-9);
    }
    let (ours, theirs) = (model.explained_variance_ratio(), supervised.hsic_ratio());
    assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-10), "{ours:?} {theirs:?}");
}

#[test]
fn no_invertible_map_of_the_features_changes_scores() {
    let (x, codes) = case(9, 90, 5, 4);
    let expected = fit(&x, &codes).transform(&x).unwrap();
    let mut random = Random::new(10);
    for scale in [1.0, 1e-6, 1e6] {
        let mut map = random.matrix(5, 5);
        map.column_mut(0).mapv_inplace(|v| v * scale);
        let mapped = x.dot(&map) + 3.0;
        let found = fit(&mapped, &codes).transform(&mapped).unwrap();
        assert_all_close("mapped", &signed(&found, &expected), &expected, 1e-7);
    }
    // Scaling alone loses nothing, to the ends of the range of numbers.
    let scales = [1e-200, 1e-5, 1.0, 1e7, 1e150];
    let scaled = Array2::from_shape_fn(x.dim(), |(i, f)| x[[i, f]] * scales[f]);
    let found = fit(&scaled, &codes).transform(&scaled).unwrap();
    assert_all_close("scaled", &signed(&found, &expected), &expected, 1e-9);
}

/// Covariance of scores about the means of their classes, divisor n − c.
fn within_of(scores: &Array2<f64>, codes: &[usize]) -> Array2<f64> {
    Oracle::new(scores, codes).within
}

#[test]
fn scores_have_the_identity_within_classes_however_far_these_and_the_data_are() {
    let (x, codes) = case(11, 120, 6, 3);
    let near = fit(&x, &codes);
    let scores = near.transform(&x).unwrap();
    assert_all_close("near", &within_of(&scores, &codes), &Array2::eye(2), 1e-11);
    assert_close("mean", scores.mean_axis(Axis(0)).unwrap()[0], 0.0, 1e-10);
    // Data a million from the origin.
    let far = x.mapv(|v| v + 1e6);
    let moved = fit(&far, &codes);
    assert_all_close("offset", &moved.transform(&far).unwrap(), &scores, 1e-7);
    assert!(moved.verify(&far, &target(&codes)).unwrap().passed());
    // Classes a million apart, where S_t − S_w would have four digits of S_w: exactly known, for deviations
    // are what they were.
    let mut apart = x.clone();
    for (i, &class) in codes.iter().enumerate() {
        apart[[i, 0]] += 1e6 * class as f64;
        apart[[i, 3]] -= 1e6 * f64::from(u8::from(class == 1));
    }
    let model = fit(&apart, &codes);
    let scores = model.transform(&apart).unwrap();
    let deviations: Array2<f64> = Array2::from_shape_fn((120, 2), |(i, j)| {
        scores[[i, j]] - model.parts_centroid(codes[i], j)
    });
    let mut spread = Array2::<f64>::zeros((2, 2));
    for row in deviations.rows() {
        add_outer(&mut spread, &row.to_owned(), 1.0 / 117.0);
    }
    assert_all_close("apart", &spread, &Array2::eye(2), 1e-7);
    assert!(model.certificate().relative_residual() < 1e-9);
}

/// The mean score of a class, from its mean.
trait Centroid {
    fn parts_centroid(&self, class: usize, j: usize) -> f64;
}

impl Centroid for LdaModel {
    fn parts_centroid(&self, class: usize, j: usize) -> f64 {
        let offset = &self.class_means().row(class) - &Array1::from(self.mean().to_vec());
        offset.dot(&self.scalings().column(j))
    }
}

/// `π_c N(x; μ_c, Σ)` over its sum, with Σ inverted naively.
fn posterior(
    x: &Array2<f64>,
    means: &Array2<f64>,
    covariance: &Array2<f64>,
    priors: &[f64],
) -> Array2<f64> {
    let precision = inverse(covariance);
    let mut found = Array2::zeros((x.nrows(), priors.len()));
    for (i, row) in x.rows().into_iter().enumerate() {
        let joint: Vec<f64> = (0..priors.len())
            .map(|c| {
                let off = &row - &means.row(c);
                priors[c] * (-0.5 * off.dot(&precision.dot(&off))).exp()
            })
            .collect();
        let sum: f64 = joint.iter().sum();
        (0..priors.len()).for_each(|c| found[[i, c]] = joint[c] / sum);
    }
    found
}

#[test]
fn probabilities_are_those_of_bayes() {
    let (x, codes) = case(13, 70, 4, 3);
    let oracle = Oracle::new(&x, &codes);
    let observed: Vec<f64> = oracle.sizes.iter().map(|size| size / 70.0).collect();
    for (lda, priors) in
        [(Lda::new(1), observed), (Lda::new(2).priors([0.7, 0.2, 0.1]), vec![0.7, 0.2, 0.1])]
    {
        let model = lda.fit(&x, &target(&codes)).unwrap();
        let expected = posterior(&x, &oracle.means, &oracle.within, &priors);
        let found = model.predict_proba(&x).unwrap();
        assert_all_close("posterior", &found, &expected, 1e-10);
        let (coefficients, constants) = model.coefficients();
        let linear = x.dot(&coefficients.t()) + &constants;
        let decision = model.decision_function(&x).unwrap();
        assert_all_close("decision", &decision, &linear, 1e-9);
    }
    // Samples so far from all classes that no density is a number.
    let model = fit(&x, &codes);
    let far = x.mapv(|v| v * 1e8);
    let found = model.predict_proba(&far).unwrap();
    assert!(found.iter().all(|p| p.is_finite()));
    assert!(found.sum_axis(Axis(1)).iter().all(|sum| (sum - 1.0).abs() < 1e-12));
}

#[test]
fn covariances_can_be_weighted_by_priors() {
    let (x, codes) = case(14, 70, 4, 3);
    let priors = [0.5, 0.3, 0.2];
    let lda = Lda::new(2).priors(priors).pooling(Pooling::Priors).store_covariance(true);
    let model = lda.fit(&x, &target(&codes)).unwrap();
    let oracle = Oracle::new(&x, &codes);
    let mut pooled = Array2::<f64>::zeros((4, 4));
    for (i, &class) in codes.iter().enumerate() {
        let off = &x.row(i) - &oracle.means.row(class);
        add_outer(&mut pooled, &off, priors[class] / oracle.sizes[class]);
    }
    assert_all_close("covariance", &model.covariance().unwrap().to_owned(), &pooled, 1e-12);
    let expected = posterior(&x, &oracle.means, &pooled, &priors);
    assert_all_close("posterior", &model.predict_proba(&x).unwrap(), &expected, 1e-10);
    let w = model.scalings();
    assert_all_close("identity", &w.t().dot(&pooled).dot(&w), &Array2::eye(2), 1e-11);
    let likely = Lda::new(2).pooling(Pooling::Likelihood).fit(&x, &target(&codes)).unwrap();
    let scores = likely.transform(&x).unwrap();
    let expected = Array2::<f64>::eye(2) * (70.0 / 67.0);
    assert_all_close("divisor n", &within_of(&scores, &codes), &expected, 1e-11);
    assert!(likely.verify(&x, &target(&codes)).unwrap().passed());
    // Scores are about the mean that the priors give.
    let xbar = Array1::from(priors.to_vec()).dot(&oracle.means);
    assert_all_close("scores", &model.transform(&x).unwrap(), &(&x - &xbar).dot(&w), 1e-10);
    assert!(model.verify(&x, &target(&codes)).unwrap().passed());
    let uncentered = lda.center(false).fit(&x, &target(&codes)).unwrap();
    assert_all_close("uncentred", &uncentered.transform(&x).unwrap(), &x.dot(&w), 1e-9);
}

/// Shrunk towards a multiple of the identity, many features or few: the same as with the matrix formed.
#[test]
fn shrinkage_is_that_of_the_matrix_formed() {
    for (n, d, route) in [(60, 5, Route::Covariance), (25, 40, Route::Dual)] {
        let (x, codes) = case(15, n, d, 3);
        let oracle = Oracle::new(&x, &codes);
        for alpha in [0.1, 0.9, 1.0] {
            let trace = oracle.within.diag().sum() / d as f64;
            let shrunk = &oracle.within * (1.0 - alpha) + Array2::<f64>::eye(d) * (alpha * trace);
            let lda = Lda::new(NComponents::All).shrinkage(Shrinkage::Fixed(alpha));
            let model = lda.fit(&x, &target(&codes)).unwrap();
            assert_eq!(model.plan().route, route);
            let w = model.scalings();
            assert_eq!(w.ncols(), 2);
            let what = format!("{n} × {d}, {alpha}");
            assert_all_close(&what, &w.t().dot(&shrunk).dot(&w), &Array2::eye(2), 1e-9);
            let with = Oracle { within: shrunk.clone(), ..Oracle::new(&x, &codes) };
            let (values, _) = with.discriminants();
            for j in 0..2 {
                let off = (model.eigenvalues()[j] - values[j]).abs() / values[0];
                assert!(off < 1e-9, "{what}: {off:e}");
            }
            let priors: Vec<f64> = oracle.sizes.iter().map(|size| size / n as f64).collect();
            let expected = posterior(&x, &oracle.means, &shrunk, &priors);
            assert_all_close(&what, &model.predict_proba(&x).unwrap(), &expected, 1e-8);
            let checked = model.verify(&x, &target(&codes)).unwrap();
            assert!(checked.passed(), "{what}: {:?}", checked.failures().collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_covariance_can_be_given() {
    let (x, codes) = case(25, 60, 4, 3);
    let oracle = Oracle::new(&x, &codes);
    let lda = Lda::new(2).covariance(oracle.within.clone()).store_covariance(true);
    let model = lda.fit(&x, &target(&codes)).unwrap();
    let expected = fit(&x, &codes);
    assert_all_close("scalings", &model.scalings(), &expected.scalings(), 1e-9);
    assert_all_close("kept", &model.covariance().unwrap().to_owned(), &oracle.within, 0.0);
    assert_eq!(LdaModel::from_parts(&model.to_parts()).unwrap().to_parts(), model.to_parts());
    let refused = |given: Array2<f64>| {
        Lda::new(2).covariance(given).fit(&x, &target(&codes)).unwrap_err().to_string()
    };
    assert!(refused(Array2::eye(3)).contains("3 × 3"));
    let mut uneven = oracle.within.clone();
    uneven[[0, 1]] += 1.0;
    assert!(refused(uneven).contains("not symmetric"));
    let mut negative = Array2::<f64>::eye(4);
    negative[[0, 1]] = 2.0;
    negative[[1, 0]] = 2.0;
    assert!(refused(negative).contains("not positive"));
}

/// Ledoit & Wolf (2004) for the standardised samples of each class, entry by entry.
#[test]
fn ledoit_and_wolf_shrink_each_class() {
    let (x, codes) = case(16, 50, 4, 3);
    let oracle = Oracle::new(&x, &codes);
    let mut expected = Array2::<f64>::zeros((4, 4));
    let mut intensities = Vec::new();
    for class in 0..3 {
        let rows: Vec<usize> = (0..50).filter(|&i| codes[i] == class).collect();
        let n = rows.len() as f64;
        let own = x.select(Axis(0), &rows) - oracle.means.row(class);
        let sd = own.mapv(|v| v * v).mean_axis(Axis(0)).unwrap().mapv(f64::sqrt);
        let z = &own / &sd;
        let r = z.t().dot(&z) / n;
        let mut about = 0.0;
        for row in z.rows() {
            for i in 0..4 {
                for j in 0..4 {
                    about += (row[i] * row[j] - r[[i, j]]).powi(2);
                }
            }
        }
        // b² and d² of the paper, with the norm divided by the number of features.
        let beta = about / (n * n) / 4.0;
        let delta = (&r - &Array2::<f64>::eye(4)).mapv(|v| v * v).sum() / 4.0;
        let alpha = (beta / delta).min(1.0);
        intensities.push(alpha);
        let shrunk = &r * (1.0 - alpha) + &(Array2::<f64>::eye(4) * alpha);
        let scaled = Array2::from_shape_fn((4, 4), |(i, j)| shrunk[[i, j]] * sd[i] * sd[j]);
        expected += &(scaled * (oracle.sizes[class] / 50.0));
    }
    let lda = Lda::new(2).shrinkage(Shrinkage::LedoitWolf).store_covariance(true);
    let model = lda.fit(&x, &target(&codes)).unwrap();
    let found = Array1::from(model.shrinkage().to_vec());
    assert!((&found - &Array1::from(intensities)).iter().all(|v| v.abs() < 1e-12), "{found}");
    assert_all_close("covariance", &model.covariance().unwrap().to_owned(), &expected, 1e-11);
    let w = model.scalings();
    assert_all_close("identity", &w.t().dot(&expected).dot(&w), &Array2::eye(2), 1e-10);
    assert!(model.certificate().relative_residual() < 1e-10);
}

/// d > n − c: principal components first, and within them the definition.
#[test]
fn fisherfaces_are_the_discriminants_of_principal_components() {
    for (n, d) in [(20, 60), (20, 18)] {
        let (x, codes) = case(17, n, d, 3);
        let (model, scores) =
            Lda::new(NComponents::All).fit_transform(&x, &target(&codes)).unwrap();
        assert_eq!((model.rank(), model.within_rank()), (2, n - 3), "{d}");
        // The leading n − c components, from the definition.
        let centered = &x - &x.mean_axis(Axis(0)).unwrap();
        let (_, vectors) = jacobi(&centered.t().dot(&centered));
        let projected = centered.dot(&vectors.slice(s![..n - 3, ..]).t());
        let (values, directions) = Oracle::new(&projected, &codes).discriminants();
        let expected = projected.dot(&directions.slice(s![..2, ..]).t());
        assert_all_close("scores", &signed(&scores, &expected), &expected, 1e-7);
        assert_close("value", model.eigenvalues()[0] / values[0], 1.0, 1e-8);
        assert_all_close("within", &within_of(&scores, &codes), &Array2::eye(2), 1e-8);
        assert!(model.plan().reason.contains("principal components first"));
        let facts = Model::summary(&model).facts;
        assert!(facts.iter().any(|(_, words)| words.contains("Fisherfaces")), "{facts:?}");
        assert!(model.verify(&x, &target(&codes)).unwrap().passed());
        // Its own range instead: other directions, that separate the training samples as well.
        let range = Lda::new(NComponents::All).singular(SingularWithin::Range);
        let range = range.fit(&x, &target(&codes)).unwrap();
        assert_eq!(range.within_rank(), n - 3);
        let scores = range.transform(&x).unwrap();
        assert_all_close("range", &within_of(&scores, &codes), &Array2::eye(2), 1e-8);
        assert!(range.verify(&x, &target(&codes)).unwrap().passed());
    }
}

/// The route does not change the answer: few samples by their Gram matrix, the same with a matrix formed.
#[test]
fn the_gram_matrix_of_the_samples_gives_the_same() {
    let (x, codes) = case(18, 30, 50, 4);
    let lda = |memory| {
        let options = Options { memory, ..Options::default() };
        Lda::new(NComponents::All).singular(SingularWithin::Range).options(options)
    };
    let dual = lda(None).fit(&x, &target(&codes)).unwrap();
    assert_eq!(dual.plan().route, Route::Dual);
    let stream = crate::torture_support::InBlocks::new(&x, 7);
    let covariance = lda(None).fit(Dataset::streamed(&stream), &target(&codes)).unwrap();
    assert_eq!(covariance.plan().route, Route::Covariance);
    assert_all_close("scalings", &dual.scalings(), &covariance.scalings(), 1e-8);
}

#[test]
fn weights_are_repetitions_in_every_form() {
    let (x, codes) = case(19, 40, 4, 3);
    let counts: Vec<usize> = (0..40).map(|i| [1, 0, 2, 3][i % 4]).collect();
    let rows: Vec<usize> = (0..40).flat_map(|i| vec![i; counts[i]]).collect();
    let weights = SampleWeights::frequency(counts.iter().map(|c| *c as f64).collect::<Vec<_>>());
    let repeated = x.select(Axis(0), &rows);
    let codes_of: Vec<usize> = rows.iter().map(|&i| codes[i]).collect();
    for lda in [
        Lda::new(2),
        Lda::new(2).pooling(Pooling::Priors).priors([0.2, 0.2, 0.6]),
        Lda::new(2).shrinkage(Shrinkage::Fixed(0.3)),
        Lda::new(2).shrinkage(Shrinkage::LedoitWolf),
    ] {
        let data = Dataset::from(&x).with_weights(weights.clone());
        let found = lda.fit(&data, &target(&codes)).unwrap();
        let expected = lda.fit(&repeated, &target(&codes_of)).unwrap();
        assert_all_close("scalings", &found.scalings(), &expected.scalings(), 1e-10);
        assert_eq!(found.class_weights(), expected.class_weights());
        assert_close("ratio", found.eigenvalues()[1], expected.eigenvalues()[1], 1e-9);
        let (a, b) = (found.shrinkage(), expected.shrinkage());
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12));
    }
    // A class all of whose samples weigh nothing is none.
    let without: Vec<f64> = codes.iter().map(|c| if *c == 1 { 0.0 } else { 1.0 }).collect();
    let data = Dataset::from(&x).with_weights(SampleWeights::frequency(without));
    let model = Lda::new(NComponents::All).fit(&data, &target(&codes)).unwrap();
    assert_eq!(model.class_names(), ["a", "c"]);
    let error = Lda::new(2).fit(&data, &target(&codes)).unwrap_err();
    assert!(matches!(error, Error::TooManyComponents { limit: 1, .. }), "{error:?}");
}

#[test]
fn samples_without_a_label_have_scores_and_teach_nothing() {
    let (x, codes) = case(24, 50, 4, 3);
    let names = |i: usize| (i % 5 != 2).then_some(["a", "b", "c"][codes[i]]);
    let some = Target::classes_or_missing((0..50).map(names));
    let labelled: Vec<usize> = (0..50).filter(|i| i % 5 != 2).collect();
    let lda = Lda::new(2).keep_unlabelled(true);
    let (model, scores) = lda.fit_transform(&x, &some).unwrap();
    let known: Vec<usize> = labelled.iter().map(|&i| codes[i]).collect();
    let expected = fit(&x.select(Axis(0), &labelled), &known);
    assert_all_close("scalings", &model.scalings(), &expected.scalings(), 1e-11);
    assert_all_close("scores", &scores, &expected.transform(&x).unwrap(), 1e-10);
    assert_eq!(model.n_samples(), 40.0);
}

fn refused(x: &Array2<f64>, lda: Lda, target: &Target) -> Error {
    match lda.fit(x, target) {
        Err(error) => error,
        Ok(model) => panic!("{:?}", model.summary().headline),
    }
}

#[test]
fn what_cannot_be_meant_is_refused_in_words() {
    let (x, codes) = case(20, 30, 4, 3);
    let all = || Lda::new(NComponents::All);
    let target_of = target(&codes);
    let error = refused(&x, Lda::new(3), &target_of);
    assert!(matches!(error, Error::TooManyComponents { requested: 3, limit: 2, .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.hint().is_some());
    let error = refused(&x, all(), &Target::classes(vec!["a"; 30]));
    assert!(matches!(error, Error::OneClass { .. }), "{error:?}");
    let error = refused(&x, all(), &Target::column(&x.column(0).to_vec()));
    assert!(error.to_string().contains("has no classes to separate"), "{error}");
    let some = (0..30).map(|i| (i != 4).then_some(["a", "b"][i % 2]));
    let error = refused(&x, all(), &Target::classes_or_missing(some));
    assert!(matches!(error, Error::MissingLabels { ref rows } if rows[..] == [4]), "{error:?}");
    let error = refused(&x, all(), &target(&codes[..29]));
    assert!(matches!(error, Error::Shape { .. }), "{error:?}");
    for priors in [vec![0.5, 0.5], vec![0.5, 0.5, 0.5], vec![0.5, 0.5, 0.0], vec![1.5, -0.5, 0.0]] {
        let error = refused(&x, all().priors(priors.clone()), &target_of);
        assert!(error.to_string().contains("priors"), "{error}");
    }
    for alpha in [-0.1, 1.1, f64::NAN] {
        let error = refused(&x, all().shrinkage(Shrinkage::Fixed(alpha)), &target_of);
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    }
    // As many samples as classes vary about nothing.
    let few = x.slice(s![..3, ..]).to_owned();
    let error = refused(&few, all(), &Target::classes(["a", "b", "c"]));
    assert!(matches!(error, Error::TooFewRows { found: 3, needed: 4 }), "{error:?}");
    // Nothing varies within a class.
    let steps = Array2::from_shape_fn((30, 2), |(i, f)| (codes[i] * (f + 1)) as f64 * 0.1);
    let error = refused(&steps, all(), &target_of);
    assert!(error.to_string().contains("no feature varies within a class"), "{error}");
}

#[test]
fn features_without_spread_are_left_out_and_named() {
    let (x, codes) = case(21, 60, 4, 3);
    let mut dull = Array2::zeros((60, 6));
    dull.slice_mut(s![.., ..4]).assign(&x);
    dull.column_mut(4).fill(0.1);
    (0..60).for_each(|i| dull[[i, 5]] = 0.1 + 0.7 * codes[i] as f64);
    let names = ["p", "q", "r", "s", "constant", "label"];
    let data = Dataset::from(&dull).with_feature_names(names).unwrap();
    let model = Lda::new(2).fit(&data, &target(&codes)).unwrap();
    let found = model.transform(&dull).unwrap();
    let expected = fit(&x, &codes).transform(&x).unwrap();
    assert_all_close("scores", &signed(&found, &expected), &expected, 1e-9);
    let named = |w: &Warning| match w {
        Warning::ConstantColumns { names, .. } => names[..] == ["`constant`"],
        Warning::ConstantWithinClasses { names, .. } => names[..] == ["`label`"],
        other => panic!("{other}"),
    };
    assert_eq!(model.warnings().len(), 2);
    assert!(model.warnings().iter().all(named), "{:?}", model.warnings());
}

#[test]
fn classes_in_one_place_are_not_told_apart() {
    // Every row twice, once in each class.
    let half = Random::new(22).matrix(30, 3);
    let x = ndarray::concatenate(Axis(0), &[half.view(), half.view()]).unwrap();
    let codes: Vec<usize> = (0..60).map(|i| i / 30).collect();
    let model = Lda::new(1).fit(&x, &target(&codes)).unwrap();
    assert_eq!((model.rank(), model.n_components()), (0, 1));
    assert_eq!(model.warnings(), [Warning::NoDependence]);
    assert!(model.transform(&x).unwrap().iter().all(|z| *z == 0.0));
    assert!(model.predict_proba(&x).unwrap().iter().all(|p| (p - 0.5).abs() < 1e-15));
    let back = LdaModel::from_parts(&model.to_parts()).unwrap();
    assert_eq!(back.to_parts(), model.to_parts());
    // Three means on a line: one direction, two asked for.
    let line: Vec<usize> = (0..60).map(|i| i % 3).collect();
    let mut x = Random::new(23).matrix(60, 3);
    let oracle = Oracle::new(&x, &line);
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        row -= &oracle.means.row(line[i]);
        row[1] += line[i] as f64;
    }
    let model = Lda::new(2).fit(&x, &target(&line)).unwrap();
    assert_eq!((model.rank(), model.n_components()), (1, 2));
    assert_eq!(model.warnings(), [Warning::LabelRank { rank: 1, requested: 2 }]);
    let scores = model.transform(&x).unwrap();
    assert!(scores.column(1).iter().all(|z| *z == 0.0));
    assert!((model.components().row(1).dot(&model.components().row(1)) - 1.0).abs() < 1e-12);
}

#[test]
fn shares_choose_components_and_rules_do_not() {
    let (x, codes) = iris();
    let k = |share| {
        let lda = Lda::new(NComponents::VarianceShare(share));
        lda.fit(&x, &target(&codes)).unwrap().n_components()
    };
    assert_eq!((k(0.5), k(0.99), k(0.995), k(1.0)), (1, 1, 2, 2));
    let rule = Lda::new(NComponents::Rule(eigenlens::Rule::Elbow));
    assert_eq!(refused(&x, rule, &target(&codes)).kind(), ErrorKind::Usage);
    // Fewer components for pictures; classes are told by all.
    let (one, two) = (Lda::new(1), Lda::new(2));
    let one = one.fit(&x, &target(&codes)).unwrap();
    let two = two.fit(&x, &target(&codes)).unwrap();
    assert_eq!(one.transform(&x).unwrap().dim(), (150, 1));
    assert_eq!(one.predict_proba(&x).unwrap(), two.predict_proba(&x).unwrap());
}

/// A wrong number in a model is seen by a check, or refused when it is loaded.
#[test]
fn models_that_are_wrong_are_seen() {
    let (x, codes) = iris();
    let model = fit(&x, &codes);
    let verify = |model: &LdaModel| model.verify(&x, &target(&codes)).unwrap();
    let found = verify(&model);
    assert!(found.passed(), "{:?}", found.failures().collect::<Vec<_>>());
    let spoilt = |name: &str, at: usize, factor: f64| -> Result<LdaModel> {
        let mut parts = model.to_parts();
        let array = parts.arrays.get_mut(name).unwrap();
        let eigenlens::model::parts::Numbers::F64(values) = &mut array.numbers else { panic!() };
        values[at] *= factor;
        LdaModel::from_parts(&parts)
    };
    for (name, at, factor) in
        [("values", 0, 1.001), ("scales", 1, 1.001), ("class_offsets", 2, 1.01), ("mean", 0, 1.001)]
    {
        assert!(!verify(&spoilt(name, at, factor).unwrap()).passed(), "{name}");
    }
    for (name, at, factor) in [
        ("components", 1, 1.1),
        ("values", 1, 1e6),
        ("priors", 0, 1.1),
        ("priors", 1, -1.0),
        ("class_weights", 0, 0.0),
        ("scales", 0, 0.0),
        ("scales", 0, f64::NAN),
    ] {
        let error = spoilt(name, at, factor).unwrap_err();
        assert!(matches!(error, Error::Model { .. }), "{name}: {error:?}");
    }
    let other = Target::classes((0..150).map(|i| ["a", "x", "c"][i / 50]));
    assert!(model.verify(&x, &other).unwrap_err().to_string().contains("class `x`"));
    let shuffled: Vec<usize> = (0..150).map(|i| i % 3).collect();
    assert!(!model.verify(&x, &target(&shuffled)).unwrap().passed());
}
