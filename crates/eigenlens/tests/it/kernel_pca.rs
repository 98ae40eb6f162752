//! Exact kernel PCA: the identities of the theory, against plain loops and Jacobi rotations.

use crate::support::{Random, jacobi, to_csr};
use crate::torture_support::InBlocks;
use eigenlens::{
    Approximation, Bandwidth, Dataset, Error, ErrorKind, Kernel, KernelAccuracy, KernelPca,
    KernelPcaModel, KernelStorage, NComponents, Options, Pca, ResolvedKernel, Route, Warning,
    center_kernel, center_new_kernel,
};
use ndarray::{Array1, Array2, Axis, s};

fn gaussian(gamma: f64) -> Kernel {
    Kernel::Rbf { gamma: Bandwidth::Gamma(gamma) }
}

/// Kernel values by the formula, one pair at a time.
fn plain(kernel: &ResolvedKernel, a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((a.nrows(), b.nrows()), |(i, j)| {
        kernel.value(&a.row(i).to_vec(), &b.row(j).to_vec())
    })
}

fn largest(x: &Array2<f64>) -> f64 {
    x.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// The same up to one sign per column.
fn same_up_to_signs(what: &str, found: &Array2<f64>, expected: &Array2<f64>, tolerance: f64) {
    assert_eq!(found.dim(), expected.dim(), "{what}");
    let size = largest(expected);
    for (j, (a, b)) in found.columns().into_iter().zip(expected.columns()).enumerate() {
        let sign = a.dot(&b).signum();
        let off = (&a * sign - b).iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(off <= tolerance * size, "{what}, column {j}: {off:e} of {size:e}");
    }
}

fn fit(kernel: Kernel, k: usize, x: &Array2<f64>) -> (KernelPcaModel, Array2<f64>) {
    KernelPca::new(k).kernel(kernel).fit_transform(x).unwrap()
}

/// Two circles: points 0, 2, 4 … on the inner one.
pub fn circles(n: usize, seed: u64) -> Array2<f64> {
    let mut random = Random::new(seed);
    Array2::from_shape_fn((n, 2), |(i, f)| {
        let angle = i as f64 * std::f64::consts::TAU / n as f64;
        let radius = if i % 2 == 0 { 1.0 } else { 4.0 };
        radius * if f == 0 { angle.cos() } else { angle.sin() } + 0.05 * random.normal()
    })
}

#[test]
fn scores_are_those_of_the_centred_kernel_matrix() {
    let mut random = Random::new(1);
    let (x, new) = (random.ordinary(60, 4), random.ordinary(9, 4));
    let kernels = [
        gaussian(0.02),
        Kernel::Laplacian { gamma: Bandwidth::Gamma(0.05) },
        Kernel::polynomial(2),
        Kernel::Cosine,
        Kernel::Linear,
    ];
    for kernel in kernels {
        let (model, scores) = fit(kernel, 3, &x);
        let what = model.kernel().to_string();
        let (centered, columns, mean) = center_kernel(plain(model.kernel(), &x, &x).view());
        let (values, vectors) = jacobi(&centered);
        let mut expected = vectors.slice(s![..3, ..]).t().to_owned();
        for (mut column, value) in expected.columns_mut().into_iter().zip(&values) {
            column *= value.sqrt();
        }
        same_up_to_signs(&what, &scores, &expected, 1e-8);
        for j in 0..3 {
            assert!((model.eigenvalues()[j] - values[j]).abs() < 1e-9 * values[0], "{what}");
            assert!((model.explained_variance()[j] - values[j] / 59.0).abs() < 1e-9 * values[0]);
            // Scores have mean 0 and the eigenvalue as their square.
            assert!(scores.column(j).sum().abs() < 1e-9 * values[0].sqrt(), "{what}");
            let square = scores.column(j).dot(&scores.column(j));
            assert!((square - values[j]).abs() < 1e-8 * values[0], "{what}");
        }
        // All eigenvalues sum to the trace, which is known without them.
        let trace: f64 = centered.diag().sum();
        assert!((model.total_variance() * 59.0 - trace).abs() < 1e-9 * trace, "{what}");
        assert!((values.iter().sum::<f64>() - trace).abs() < 1e-9 * trace, "{what}");
        // New samples by the formula, centred with the training kernel's means.
        let raw = plain(model.kernel(), &new, &x);
        let new_kernel = center_new_kernel(raw.view(), columns.as_slice().unwrap(), mean).unwrap();
        let mut inverse = expected.clone();
        for (mut column, value) in inverse.columns_mut().into_iter().zip(&values) {
            column /= *value;
        }
        let projected = model.transform(&new).unwrap();
        same_up_to_signs(&what, &projected, &new_kernel.dot(&inverse), 1e-8);
    }
}

#[test]
fn a_linear_kernel_is_pca() {
    let mut random = Random::new(2);
    for offset in [0.0, 1e6] {
        let x = random.ordinary(150, 6) + offset;
        let (model, scores) = fit(Kernel::Linear, 4, &x);
        let (pca, expected) = Pca::new(4).fit_transform(&x).unwrap();
        same_up_to_signs("linear", &scores, &expected, 1e-8);
        for (a, b) in model.explained_variance_ratio().iter().zip(pca.explained_variance_ratio()) {
            assert!((a - b).abs() < 1e-9, "{offset}: {a} {b}");
        }
    }
}

#[test]
fn a_polynomial_kernel_is_pca_of_weighted_monomials() {
    let x = Random::new(3).matrix(80, 3);
    // (1 + x·y)² = Σ of products of: 1, √2 x_i, x_i², √2 x_i x_j.
    let root = 2f64.sqrt();
    let monomials = Array2::from_shape_fn((80, 9), |(i, f)| {
        let v = x.row(i);
        match f {
            0..=2 => root * v[f],
            3..=5 => v[f - 3] * v[f - 3],
            6 => root * v[0] * v[1],
            7 => root * v[0] * v[2],
            _ => root * v[1] * v[2],
        }
    });
    let (_, scores) = fit(Kernel::polynomial(2), 5, &x);
    let (_, expected) = Pca::new(5).fit_transform(&monomials).unwrap();
    same_up_to_signs("polynomial", &scores, &expected, 1e-8);
}

#[test]
fn kernels_are_products_of_their_features() {
    let x = Random::new(4).matrix(70, 4);
    let mut unit = x.clone();
    for mut row in unit.rows_mut() {
        let norm = row.dot(&row).sqrt();
        row /= norm;
    }
    let (_, cosine) = fit(Kernel::Cosine, 3, &x);
    let (_, linear) = fit(Kernel::Linear, 3, &unit);
    same_up_to_signs("cosine", &cosine, &linear, 1e-8);
    // Labels: equal or not is the product of one-hot rows.
    let labels = Array2::from_shape_fn((90, 1), |(i, _)| [0, 1, 1, 2, 2, 2][i % 6] as f64);
    let hot =
        Array2::from_shape_fn((90, 3), |(i, c)| f64::from(u8::from(labels[[i, 0]] == c as f64)));
    let (_, delta) = fit(Kernel::Delta, 2, &labels);
    let (_, linear) = fit(Kernel::Linear, 2, &hot);
    same_up_to_signs("delta", &delta, &linear, 1e-8);
}

#[test]
fn every_way_to_the_matrix_gives_the_same_scores() {
    // Several panels, the last one ragged.
    let mut random = Random::new(5);
    let mut x = random.ordinary(420, 5);
    x.mapv_inplace(|v| if v.abs() < 0.4 { 0.0 } else { v });
    let kernel = gaussian(0.01);
    let base = KernelPca::new(4).kernel(kernel.clone());
    let (model, expected) = base.clone().storage(KernelStorage::Matrix).fit_transform(&x).unwrap();
    assert_eq!(model.plan().route, Route::KernelMatrix);
    assert!(model.certificate().relative_residual() < 1e-9, "{}", model.certificate());
    assert!(model.warnings().is_empty(), "{:?}", model.warnings());
    let (blocks, scores) = base.clone().storage(KernelStorage::Blocks).fit_transform(&x).unwrap();
    assert_eq!(blocks.plan().route, Route::KernelBlocks);
    same_up_to_signs("blocks", &scores, &expected, 1e-9);
    let csr = to_csr(&x);
    let sparse = base.fit_transform(&csr).unwrap().1;
    same_up_to_signs("sparse", &sparse, &expected, 1e-8);
    let rows = InBlocks { rows: x.clone(), sizes: vec![33, 5, 200], counted: true };
    let streamed = base.fit_transform(Dataset::streamed(&rows)).unwrap().1;
    assert_eq!(streamed, expected, "a stream is the same rows");
    let narrow = x.mapv(|v| v as f32);
    let (model, scores) = base.fit_transform(&narrow).unwrap();
    same_up_to_signs("f32", &scores.mapv(f64::from), &expected, 1e-4);
    assert!(model.certificate().relative_residual() < 1e-6, "{}", model.certificate());
    // Projecting the training rows as new samples returns the training scores.
    let (centered, _, _) = center_kernel(plain(model.kernel(), &x, &x).view());
    let products = expected.t().dot(&centered.dot(&expected));
    for j in 0..4 {
        let value = expected.column(j).dot(&expected.column(j));
        assert!((products[[j, j]] / value - value).abs() < 1e-8 * value, "component {j}");
    }
}

#[test]
fn threads_change_no_bit() {
    let x = Random::new(6).ordinary(500, 6);
    let narrow = x.mapv(|v| v as f32);
    for storage in [KernelStorage::Matrix, KernelStorage::Blocks] {
        let of = |threads| {
            let options = Options { threads: Some(threads), ..Options::default() };
            let fit = KernelPca::new(3).kernel(gaussian(0.01)).storage(storage).options(options);
            let (model, scores) = fit.fit_transform(&x).unwrap();
            let single = fit.fit_transform(&narrow).unwrap().1;
            (model.to_parts().unwrap().arrays, scores, single)
        };
        let one = of(1);
        for threads in [2, 5] {
            assert!(of(threads) == one, "{threads} threads");
        }
    }
}

#[test]
fn a_precomputed_kernel_gives_the_same() {
    let mut random = Random::new(7);
    let (x, new) = (random.ordinary(200, 3), random.ordinary(30, 3));
    let (model, scores) = fit(gaussian(0.05), 3, &x);
    let matrix = plain(model.kernel(), &x, &x);
    let (given, again) = fit(Kernel::Precomputed, 3, &matrix);
    same_up_to_signs("precomputed", &again, &scores, 1e-8);
    assert_eq!(given.n_features(), 200);
    let products = plain(model.kernel(), &new, &x);
    let projected = given.transform(&products).unwrap();
    let expected = model.transform(&new).unwrap();
    same_up_to_signs("new samples", &projected, &expected, 1e-8);
    let wrong = given.transform(&new).unwrap_err();
    assert!(matches!(wrong, Error::Shape { .. }), "{wrong}");
}

#[test]
fn circles_are_told_apart() {
    let x = circles(200, 8);
    let overlap = |scores: &Array2<f64>| {
        // Whether a threshold on any component separates even from odd rows.
        scores.columns().into_iter().all(|z| {
            let range = |odd: usize| {
                z.iter()
                    .skip(odd)
                    .step_by(2)
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |r, v| (r.0.min(*v), r.1.max(*v)))
            };
            let (inner, outer) = (range(0), range(1));
            inner.1 >= outer.0 && outer.1 >= inner.0
        })
    };
    let (_, scores) = fit(gaussian(0.3), 3, &x);
    assert!(!overlap(&scores), "the gaussian kernel separates them");
    let (_, linear) = fit(Kernel::Linear, 2, &x);
    assert!(overlap(&linear), "a line does not");
}

#[test]
fn an_indefinite_kernel_says_so() {
    let x = Random::new(9).matrix(100, 5) * 3.0;
    let kernel = Kernel::Sigmoid { gamma: Some(1.0), coef0: -1.0 };
    let (model, scores) = fit(kernel, 60, &x);
    let (centered, _, _) = center_kernel(plain(model.kernel(), &x, &x).view());
    let (values, _) = jacobi(&centered);
    let below: f64 = values.iter().filter(|v| **v < 0.0).map(|v| v.abs()).sum();
    let share = below / values.iter().map(|v| v.abs()).sum::<f64>();
    let negative = model.negative_part().unwrap();
    assert!(negative.complete && share > 0.01, "{share}");
    assert!((negative.share - share).abs() < 1e-8, "{} {share}", negative.share);
    let warned = |w: &Warning| matches!(w, Warning::IndefiniteKernel { .. });
    assert!(model.warnings().iter().any(warned), "{:?}", model.warnings());
    // By value, not by modulus; what is not positive is null, and never inverted.
    for (found, expected) in model.eigenvalues().iter().zip(&values) {
        assert!((found - expected.max(0.0)).abs() < 1e-8 * values[0], "{found} {expected}");
    }
    assert!(model.rank() < 60);
    assert!(scores.iter().all(|v| v.is_finite()));
    assert!(scores.slice(s![.., model.rank()..]).iter().all(|v| *v == 0.0));
    // A kernel that is positive has no such part.
    assert!(fit(gaussian(0.1), 2, &x).0.negative_part().is_none());
}

#[test]
fn bandwidths_are_found_and_bad_ones_refused() {
    let x = Random::new(10).ordinary(80, 4);
    let gamma = |gamma: Bandwidth| {
        let kernel = Kernel::Rbf { gamma }.resolve(&x, 0)?;
        Ok::<f64, Error>(kernel.gamma().unwrap())
    };
    let mut squares = Vec::new();
    for i in 0..80 {
        for j in 0..i {
            squares.push((&x.row(i) - &x.row(j)).mapv(|v| v * v).sum());
        }
    }
    squares.sort_by(f64::total_cmp);
    let median = squares[squares.len() / 2];
    assert!((gamma(Bandwidth::Median).unwrap() - 0.5 / median).abs() < 1e-12 / median);
    let variance = x.var(0.0);
    assert!((gamma(Bandwidth::Scale).unwrap() * 4.0 * variance - 1.0).abs() < 1e-10);
    assert_eq!(gamma(Bandwidth::PerFeature).unwrap(), 0.25);
    assert_eq!(gamma(Bandwidth::Sigma(2.0)).unwrap(), 0.125);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for bandwidth in [Bandwidth::Gamma(bad), Bandwidth::Sigma(bad)] {
            let error = gamma(bandwidth).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{bad}: {error}");
        }
    }
    // Absurd ones: every kernel value the same.
    for (width, value) in [(1e9, 0.0), (1e-15, 1.0)] {
        let (model, scores) = fit(gaussian(width), 2, &x);
        let said =
            |w: &Warning| matches!(w, Warning::DegenerateKernel { value: v, .. } if *v == value);
        assert!(model.warnings().iter().any(said), "{width}: {:?}", model.warnings());
        assert!(scores.iter().all(|v| v.is_finite()), "{width}");
    }
}

#[test]
fn bad_input_is_an_error_with_a_hint() {
    let x = Random::new(11).matrix(30, 3);
    let refused =
        |kernel: Kernel, x: &Array2<f64>| KernelPca::new(2).kernel(kernel).fit(x).unwrap_err();
    let mut matrix = x.dot(&x.t());
    let error = refused(Kernel::Precomputed, &x);
    assert!(matches!(error, Error::Shape { .. }), "{error}");
    matrix[[3, 7]] += 1.0;
    let error = refused(Kernel::Precomputed, &matrix);
    assert!(matches!(error, Error::NotSymmetric { row: 3, column: 7, .. }), "{error}");
    matrix[[3, 7]] = f64::NAN;
    let error = refused(Kernel::Precomputed, &matrix);
    assert!(matches!(error, Error::MissingValue { row: 3, column: 7, .. }), "{error}");
    let error = refused(Kernel::Polynomial { degree: 0, gamma: 1.0, coef0: 1.0 }, &x);
    assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    let error = KernelPca::new(31).fit(&x).unwrap_err();
    assert!(matches!(error, Error::TooManyComponents { limit: 30, .. }), "{error}");
    let weights = eigenlens::SampleWeights::frequency(vec![1.0; 30]);
    let error = KernelPca::new(2).fit(Dataset::from(&x).with_weights(weights)).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let huge = &x * 1e200;
    let error = refused(Kernel::Linear, &huge);
    assert_eq!(error.hint(), Some(eigenlens::Hint::Rescale), "{error}");
    let features = Approximation::RandomFeatures { features: None, orthogonal: false };
    let error =
        KernelPca::new(2).kernel(Kernel::Cosine).approximation(features).fit(&x).unwrap_err();
    assert!(error.hint().is_some(), "{error}");
    let tight = Options { memory: Some(1 << 20), ..Options::default() };
    let error = KernelPca::new(2).options(tight).fit(&x).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory, "{error}");
}

#[test]
fn duplicates_and_constant_rows_are_no_trouble() {
    let x = Random::new(12).matrix(40, 3);
    let twice = ndarray::concatenate(Axis(0), &[x.view(), x.view()]).unwrap();
    let (model, scores) = fit(gaussian(0.2), 3, &twice);
    for i in 0..40 {
        let apart = (&scores.row(i) - &scores.row(i + 40)).mapv(f64::abs).sum();
        assert!(apart < 1e-12, "row {i}: {apart:e}");
    }
    // Rank 39 at most: components past it are null.
    let (all, _) = fit(gaussian(0.2), 60, &twice);
    assert!(all.rank() <= 39, "{}", all.rank());
    assert_eq!(all.eigenvalues()[59], 0.0);
    assert!(model.eigenvalues()[0] > 0.0);
    let same = Array2::from_elem((25, 3), 7.5);
    let (flat, scores) = fit(Kernel::rbf(), 2, &same);
    assert!(flat.warnings().contains(&Warning::NoVariance), "{:?}", flat.warnings());
    assert!(scores.iter().all(|v| *v == 0.0));
}

#[test]
fn shares_choose_how_many() {
    let x = Random::new(13).ordinary(120, 5);
    let all = KernelPca::new(NComponents::All).kernel(gaussian(0.02));
    let all = all.fit(&x).unwrap();
    assert_eq!(all.n_components(), 120);
    let shares = all.explained_variance_ratio();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let some = KernelPca::new(NComponents::VarianceShare(0.8)).kernel(gaussian(0.02));
    let some = some.fit(&x).unwrap();
    let mut sum = 0.0;
    let expected = shares.iter().position(|s| {
        sum += s;
        sum >= 0.8
    });
    assert_eq!(Some(some.n_components() - 1), expected);
}

#[test]
fn a_kernel_of_ones_own_works_and_is_not_stored() {
    let x = Random::new(14).matrix(140, 3);
    let own = Kernel::custom("own gaussian", |a, b| {
        (-0.3 * a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp()
    });
    let (model, scores) = fit(own, 3, &x);
    same_up_to_signs("custom", &scores, &fit(gaussian(0.3), 3, &x).1, 1e-8);
    let error = model.to_parts().unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert_eq!(*model.accuracy(), KernelAccuracy::Exact);
}

#[test]
fn a_memory_budget_is_kept_by_not_keeping_the_matrix() {
    let x = Array2::<f64>::zeros((20_000, 10));
    let plan = |memory: Option<u64>| {
        let options = Options { memory, ..Options::default() };
        KernelPca::new(5).options(options).plan(&Dataset::from(&x)).unwrap()
    };
    assert_eq!(plan(None).route, Route::KernelMatrix);
    let blocks = plan(Some(600 << 20));
    assert_eq!(blocks.route, Route::KernelBlocks, "{blocks}");
    assert!(blocks.peak_memory <= 600 << 20);
    let landmarks = plan(Some(80 << 20));
    assert_eq!(landmarks.route, Route::Nystrom, "{landmarks}");
    assert!(landmarks.reason.contains("approximate"), "{landmarks}");
}

#[test]
fn means_of_the_kernel_are_kept() {
    let x = Random::new(15).matrix(50, 2);
    let (model, _) = fit(gaussian(0.5), 2, &x);
    let matrix = plain(model.kernel(), &x, &x);
    let (means, mean) = model.kernel_means().unwrap();
    let expected: Array1<f64> = matrix.mean_axis(Axis(0)).unwrap();
    for (a, b) in means.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-13);
    }
    assert!((mean - matrix.mean().unwrap()).abs() < 1e-13);
}

/// The values of scikit-learn's user guide (section "Chi-squared kernel").
#[test]
fn chi2_values_are_the_published_ones() {
    let x = ndarray::array![[0.0, 1.0], [1.0, 0.0], [0.2, 0.8], [0.7, 0.3]];
    let published = ndarray::array![
        [1.0, 0.36787944, 0.89483932, 0.58364548],
        [0.36787944, 1.0, 0.51341712, 0.83822343],
        [0.89483932, 0.51341712, 1.0, 0.7768366],
        [0.58364548, 0.83822343, 0.7768366, 1.0]
    ];
    let kernel = Kernel::Chi2 { gamma: Bandwidth::Gamma(0.5) }.resolve(&x, 0).unwrap();
    for values in [kernel.matrix(&x, &x), kernel.matrix(&to_csr(&x), &to_csr(&x))] {
        let off = values.unwrap() - &published;
        assert!(off.iter().all(|v| v.abs() < 5e-9), "{off}");
    }
}

#[test]
fn chi2_finds_its_width_and_refuses_entries_below_0() {
    // All three distances are 2: rows that share no feature and sum to 1.
    let x: Array2<f64> = Array2::eye(3);
    let median = Kernel::Chi2 { gamma: Bandwidth::Median };
    assert_eq!(median.resolve(&x, 0).unwrap().gamma(), Some(0.5));
    assert_eq!(median.resolve(&x, 0).unwrap().to_string(), "chi2 (gamma 5.0000e-1)");
    let mut random = Random::new(3);
    let mut x = random.ordinary(40, 3).mapv(f64::abs);
    let model = KernelPca::new(2).kernel(median.clone()).fit(&x).unwrap();
    let again = KernelPcaModel::from_parts(&model.to_parts().unwrap()).unwrap();
    assert_eq!(again.transform(&x).unwrap(), model.transform(&x).unwrap());
    // A row that is moved by the mean would have another kernel.
    let plain = plain(model.kernel(), &x, &x);
    let (values, _) = jacobi(&center_kernel(plain.view()).0);
    let largest = values.iter().fold(0.0f64, |m, v| m.max(*v));
    assert!((model.eigenvalues()[0] - largest).abs() < 1e-10 * largest);
    x[[7, 1]] = -0.5;
    for result in
        [KernelPca::new(2).kernel(median).fit(&x).map(drop), model.transform(&x).map(drop)]
    {
        let Err(Error::Negative { row: 7, column: 1, value, .. }) = result else { panic!() };
        assert_eq!(value, -0.5);
    }
}
