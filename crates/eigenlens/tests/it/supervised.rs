//! Supervised PCA against its definition, formed naively: `Xᵀ H K_y H X` from n × n matrices.

use crate::support::{
    Oracle, Random, STORAGES, Storage, Table, assert_all_close, assert_close, jacobi,
    orthogonality, outside, sine,
};
use eigenlens::{
    Dataset, Error, ErrorKind, LabelKernel, Model, NComponents, Options, Pca, Route, SampleWeights,
    Scalar, Solver, SupervisedPca, SupervisedPcaModel, Target, Warning,
};
use ndarray::{Array2, ArrayView1, Axis, s};

/// A label kernel, entry by entry.
fn kernel(n: usize, value: impl Fn(usize, usize) -> f64) -> Array2<f64> {
    Array2::from_shape_fn((n, n), |(i, j)| value(i, j))
}

/// `H K H`, by its definition.
fn centred(kernel: &Array2<f64>) -> Array2<f64> {
    let n = kernel.nrows() as f64;
    let rows = kernel.sum_axis(Axis(1)) / n;
    let columns = kernel.sum_axis(Axis(0)) / n;
    let mean = rows.sum() / n;
    Array2::from_shape_fn(kernel.dim(), |(i, j)| kernel[[i, j]] - rows[i] - columns[j] + mean)
}

/// `Xᵀ H K H X`.
fn operator(x: &Array2<f64>, label: &Array2<f64>) -> Array2<f64> {
    x.t().dot(&centred(label)).dot(x)
}

/// Three classes that differ in their means, and a number that depends on the rows.
struct Case {
    x: Array2<f64>,
    codes: Vec<usize>,
    y: Array2<f64>,
}

fn case(seed: u64, n: usize, d: usize) -> Case {
    let mut random = Random::new(seed);
    let mut x = random.ordinary(n, d);
    let codes: Vec<usize> = (0..n).map(|_| (random.uniform() * 3.0) as usize).collect();
    for (i, &c) in codes.iter().enumerate() {
        x[[i, c % d]] += 1.5;
        x[[i, (c + 1) % d]] -= 0.5 * c as f64;
    }
    let y = Array2::from_shape_fn((n, 2), |(i, j)| {
        (x[[i, j % d]] + 0.3 * x[[i, (j + 1) % d]]).tanh() + 0.2 * random.normal()
    });
    Case { x, codes, y }
}

fn classes(codes: &[usize]) -> Target {
    Target::classes(codes.iter().map(|c| ["red", "green", "blue", "grey"][*c]))
}

fn delta(codes: &[usize]) -> Array2<f64> {
    kernel(codes.len(), |i, j| f64::from(u8::from(codes[i] == codes[j])))
}

/// Whether a model is what the naive d × d eigenproblem says.
#[track_caller]
fn check(model: &SupervisedPcaModel, x: &Array2<f64>, label: &Array2<f64>, tolerance: f64) {
    let (n, d) = x.dim();
    let a = operator(x, label);
    let trace: f64 = a.diag().sum();
    let (values, vectors) = jacobi(&a);
    let k = model.n_components();
    assert!(orthogonality(model.components()) < 1e-13);
    for j in 0..k {
        let u = model.components().row(j).to_owned();
        let expected = values[j].max(0.0);
        assert_close("share", model.eigenvalues()[j], expected / trace, tolerance);
        assert_close("hsic share", model.hsic_ratio()[j], expected / trace, tolerance);
        let pairs = ((n - 1) * (n - 1)) as f64;
        assert_close("hsic", model.hsic()[j], expected / pairs, tolerance * trace / pairs);
        if model.eigenvalues()[j] > 0.0 {
            let residual = &a.dot(&u) - &(&u * expected);
            let size = residual.dot(&residual).sqrt();
            assert!(size <= tolerance * trace, "residual {size:e} of {trace:e}");
        }
        let gap = (0..d).filter(|i| *i != j).map(|i| (values[i] - values[j]).abs());
        if gap.fold(f64::INFINITY, f64::min) > 1e-3 * trace {
            assert!(sine(u.view(), vectors.row(j)) < 1e3 * tolerance);
        }
    }
    assert!(model.certificate().relative_residual() < 10.0 * tolerance);
    // Variances are those of the scores.
    let oracle = Oracle::new(x, true, false);
    for (j, u) in model.components().rows().into_iter().enumerate() {
        let variance = u.dot(&oracle.covariance.dot(&u));
        if model.eigenvalues()[j] > 0.0 {
            let found = model.explained_variance()[j];
            assert_close("variance", found, variance, tolerance * oracle.total());
        }
    }
    assert_close("total", model.total_variance(), oracle.total(), tolerance * oracle.total());
}

#[test]
fn the_thin_product_is_the_naive_eigenproblem() {
    for (seed, n, d) in [(1, 40, 6), (2, 25, 30), (3, 300, 9)] {
        let case = case(seed, n, d);
        let model = SupervisedPca::new(2).fit(&case.x, &classes(&case.codes)).unwrap();
        check(&model, &case.x, &delta(&case.codes), 1e-11);
        assert_eq!(model.target().rank, 2);
        assert_close("all of it", model.hsic_ratio().iter().sum(), 1.0, 1e-12);
        assert_eq!(model.plan().route, Route::Labels);

        let linear = SupervisedPca::new(2).label_kernel(LabelKernel::Linear);
        let model = linear.fit(&case.x, &Target::numbers(case.y.clone())).unwrap();
        check(&model, &case.x, &case.y.dot(&case.y.t()), 1e-11);

        let gaussian =
            SupervisedPca::new(3).label_kernel(LabelKernel::Gaussian { gamma: Some(0.7) });
        let model = gaussian.fit(&case.x, &Target::numbers(case.y.clone())).unwrap();
        let exact = kernel(n, |i, j| {
            let difference = &case.y.row(i) - &case.y.row(j);
            (-0.7 * difference.dot(&difference)).exp()
        });
        // The factor leaves out 1e-10 of the trace.
        check(&model, &case.x, &exact, 1e-7);
        assert!(model.target().trace_error <= 1e-10 && model.target().rank > 3);
    }
}

#[test]
fn one_kernel_in_four_forms_gives_the_same_directions() {
    let case = case(4, 60, 7);
    let data = Dataset::from(&case.x);
    let one_hot = Array2::from_shape_fn((60, 3), |(i, c)| f64::from(u8::from(case.codes[i] == c)));
    let fit = SupervisedPca::new(2);
    let found = fit.fit(&data, &classes(&case.codes)).unwrap();
    let linear = fit.clone().label_kernel(LabelKernel::Linear);
    for other in [
        linear.fit(&data, &Target::numbers(one_hot.clone())),
        fit.fit(&data, &Target::factor(one_hot).unwrap()),
        fit.fit(&data, &Target::kernel(delta(&case.codes).view()).unwrap()),
    ] {
        let other = other.unwrap();
        assert_all_close(
            "u",
            &other.components().to_owned(),
            &found.components().to_owned(),
            1e-11,
        );
        assert_close("hsic", other.total_hsic(), found.total_hsic(), 1e-12 * found.total_hsic());
        assert_eq!(other.target().rank, 2);
    }
}

#[test]
fn the_identity_as_label_kernel_is_pca() {
    let case = case(5, 50, 6);
    let data = Dataset::from(&case.x);
    let target = Target::kernel(Array2::eye(50).view()).unwrap();
    let (model, scores) = SupervisedPca::new(4).fit_transform(&data, &target).unwrap();
    let (pca, expected) = Pca::new(4).fit_transform(&data).unwrap();
    assert_all_close("u", &model.components().to_owned(), &pca.components().to_owned(), 1e-11);
    assert_all_close("z", &scores, &expected, 1e-10);
    for j in 0..4 {
        let share = pca.explained_variance_ratio()[j];
        assert_close("share", model.hsic_ratio()[j], share, 1e-12);
        assert_close("variance", model.explained_variance_ratio()[j], share, 1e-12);
    }
    assert_eq!(model.target().rank, 49);
}

#[test]
fn the_dial_goes_from_pca_to_supervised_pca() {
    let case = case(6, 80, 8);
    let data = Dataset::from(&case.x);
    let target = classes(&case.codes);
    let at = |share: f64| SupervisedPca::new(3).supervision(share);
    let (pca, scores) = Pca::new(3).fit_transform(&data).unwrap();
    let (zero, found) = at(0.0).fit_transform(&data, &target).unwrap();
    assert_eq!(zero.components(), pca.components());
    assert_eq!(zero.explained_variance(), pca.explained_variance());
    assert_eq!(found, scores);
    let full = SupervisedPca::new(3).fit(&data, &target).unwrap();
    assert_eq!(at(1.0).fit(&data, &target).unwrap().components(), full.components());

    let (scatter, dependent) =
        (operator(&case.x, &Array2::eye(80)), operator(&case.x, &delta(&case.codes)));
    for share in [0.2, 0.7] {
        let blend = &scatter * ((1.0 - share) / scatter.diag().sum())
            + &dependent * (share / dependent.diag().sum());
        let (values, vectors) = jacobi(&blend);
        for solver in [Solver::Auto, Solver::Covariance, Solver::Iterative] {
            let model = at(share).solver(solver).fit(&data, &target).unwrap();
            for j in 0..3 {
                assert_close("share", model.eigenvalues()[j], values[j], 1e-11);
                assert!(sine(model.components().row(j), vectors.row(j)) < 1e-8);
                let u = model.components().row(j).to_owned();
                let hsic = u.dot(&dependent.dot(&u)) / dependent.diag().sum();
                assert_close("hsic", model.hsic_ratio()[j], hsic, 1e-11);
            }
            assert!(model.certificate().relative_residual() < 1e-9, "{:?}", model.certificate());
        }
        // All directions vary, so all that were asked for are useful.
        let model = at(share).fit(&data, &target).unwrap();
        assert_eq!(model.rank(), 3);
        assert!(model.warnings().is_empty(), "{:?}", model.warnings());
        let model = SupervisedPca::new(NComponents::VarianceShare(0.9))
            .supervision(share)
            .fit(&data, &target)
            .unwrap();
        let sum: f64 = model.eigenvalues().iter().sum();
        let last = model.eigenvalues().last().unwrap();
        assert!(sum >= 0.9 && sum - last < 0.9);
    }
}

#[test]
fn a_blend_of_many_features_is_never_formed() {
    let mut random = Random::new(60);
    let (n, d) = (40, 900);
    let mut x = random.matrix(n, d);
    let codes: Vec<usize> = (0..n).map(|i| i % 3).collect();
    for i in 0..n {
        x[[i, codes[i]]] += 8.0;
        let far = 20.0 * random.normal();
        x[[i, 10]] += far;
    }
    let data = Dataset::from(&x);
    let blend = SupervisedPca::new(2).supervision(0.5);
    let iterative = blend.clone().solver(Solver::Iterative).fit(&data, &classes(&codes)).unwrap();
    let formed = blend.solver(Solver::Covariance).fit(&data, &classes(&codes)).unwrap();
    assert_eq!(iterative.plan().route, Route::Iterative);
    assert!(iterative.convergence().operator_applications > 0);
    assert!(outside(iterative.components(), formed.components()) < 1e-7);
    assert!(iterative.certificate().relative_residual() < 1e-9);
}

fn check_storages<T: Scalar>(tolerance: f64) {
    let mut case = case(7, 150, 11);
    case.x.mapv_inplace(|v| T::from_f64(v).to_f64());
    let y = Target::numbers(case.y.clone());
    let labels = [classes(&case.codes), y];
    for target in &labels {
        for share in [1.0, 0.4] {
            let fit = SupervisedPca::new(3).supervision(share);
            let exact = fit.fit(&case.x, target).unwrap();
            for storage in STORAGES {
                let table: Table<T> = Table::new(&case.x, storage);
                let (model, scores) = fit.fit_transform(table.dataset(), target).unwrap();
                let context = format!("{storage:?} {} {share}", T::NAME);
                for j in 0..exact.rank() {
                    let off = sine(model.components().row(j), exact.components().row(j));
                    assert!(off < 100.0 * tolerance, "{context}: {off:e}");
                    let (found, expected) = (model.hsic()[j], exact.hsic()[j]);
                    assert_close(&context, found, expected, tolerance * exact.total_hsic());
                }
                let again = model.transform(table.dataset()).unwrap();
                assert_eq!(scores, again, "{context}");
            }
        }
    }
}

#[test]
fn sparse_streamed_and_dense_agree() {
    check_storages::<f64>(1e-12);
    check_storages::<f32>(1e-6);
}

#[test]
fn a_large_product_goes_by_ranges_of_features() {
    // d · ℓ above a megabyte: rows go in order into ranges of features.
    let mut random = Random::new(8);
    let (n, d) = (90, 1700);
    let x = random.matrix(n, d);
    let y = random.matrix(n, 80);
    let linear = SupervisedPca::new(3).label_kernel(LabelKernel::Linear);
    let target = Target::numbers(y.clone());
    let model = linear.fit(&x, &target).unwrap();
    let product = {
        let mean = x.mean_axis(Axis(0)).unwrap();
        (&x - &mean).t().dot(&(&y - &y.mean_axis(Axis(0)).unwrap()))
    };
    let total: f64 = product.iter().map(|v| v * v).sum();
    for (j, u) in model.components().rows().into_iter().enumerate() {
        let carried = product.t().dot(&u);
        assert_close("share", model.hsic_ratio()[j], carried.dot(&carried) / total, 1e-12);
    }
    assert!(model.certificate().relative_residual() < 1e-11);
    let table: Table<f64> = Table::new(&x, Storage::Streamed(7, false));
    let streamed = linear.fit(table.dataset(), &target).unwrap();
    assert_eq!(streamed.components(), model.components());
    let codes: Vec<String> = (0..n).map(|i| format!("{}", i % 80)).collect();
    let target = Target::classes(&codes);
    let dense = SupervisedPca::new(2).fit(&x, &target).unwrap();
    let one_hot = Array2::from_shape_fn((n, 80), |(i, c)| f64::from(u8::from(i % 80 == c)));
    let same = linear.fit(&x, &Target::numbers(one_hot)).unwrap();
    assert!(outside(dense.components(), same.components()) < 1e-9);
}

#[test]
fn the_same_bits_for_any_threads_and_blocks() {
    let case = case(9, 5000, 20);
    let targets = [classes(&case.codes), Target::numbers(case.y.clone())];
    for target in &targets {
        for share in [1.0, 0.3] {
            let fit = |threads: usize, storage: Storage| {
                let options = Options { threads: Some(threads), ..Options::default() };
                let table: Table<f64> = Table::new(&case.x, storage);
                let fit = SupervisedPca::new(2).supervision(share).options(options);
                let (model, scores) = fit.fit_transform(table.dataset(), target).unwrap();
                (model.components().to_owned(), model.hsic(), scores, model.certificate().clone())
            };
            let first = fit(1, Storage::RowMajor);
            for (threads, storage) in [
                (2, Storage::RowMajor),
                (3, Storage::ColumnMajor),
                (64, Storage::Streamed(7, true)),
                (4, Storage::Streamed(999, false)),
            ] {
                assert_eq!(fit(threads, storage), first);
            }
        }
    }
}

#[test]
fn weights_count_rows() {
    let case = case(10, 30, 5);
    let counts: Vec<usize> = (0..30).map(|i| i % 4).collect();
    let repeated: Vec<usize> = (0..30).flat_map(|i| std::iter::repeat_n(i, counts[i])).collect();
    let x = case.x.select(Axis(0), &repeated);
    let weights = SampleWeights::frequency(counts.iter().map(|c| *c as f64).collect::<Vec<_>>());
    let weighted = Dataset::from(&case.x).with_weights(weights);
    for (target, kernel) in [
        (classes(&case.codes), LabelKernel::Auto),
        (Target::numbers(case.y.clone()), LabelKernel::Linear),
        (Target::numbers(case.y.clone()), LabelKernel::Gaussian { gamma: Some(1.0) }),
    ] {
        for share in [1.0, 0.5] {
            let fit = SupervisedPca::new(2).label_kernel(kernel).supervision(share);
            let expected = fit.fit(&x, &target.select(&repeated)).unwrap();
            let found = fit.fit(&weighted, &target).unwrap();
            assert!(outside(found.components(), expected.components()) < 1e-7);
            assert_close(
                "hsic",
                found.total_hsic(),
                expected.total_hsic(),
                1e-8 * expected.total_hsic(),
            );
            assert_eq!(found.n_samples(), repeated.len() as f64);
            for j in 0..2 {
                let (a, b) = (found.explained_variance()[j], expected.explained_variance()[j]);
                assert_close("variance", a, b, 1e-7 * expected.total_variance());
            }
        }
    }
}

#[test]
fn rows_without_labels_are_named_or_used_without() {
    let case = case(11, 40, 5);
    let data = Dataset::from(&case.x);
    let known: Vec<usize> = (0..40).filter(|i| i % 5 != 2).collect();
    let labels = case.codes.iter().enumerate();
    let partial =
        Target::classes_or_missing(labels.map(|(i, c)| (i % 5 != 2).then(|| c.to_string())));
    let mut y = case.y.clone();
    (0..40).filter(|i| i % 5 == 2).for_each(|i| y[[i, 1]] = f64::NAN);
    for target in [partial, Target::numbers(y)] {
        match SupervisedPca::new(1).fit(&data, &target) {
            Err(Error::MissingLabels { rows }) => {
                assert_eq!(rows, (0..8).map(|i| 5 * i + 2).collect::<Vec<_>>());
            }
            other => panic!("{other:?}"),
        }
        let fit = SupervisedPca::new(2).keep_unlabelled(true);
        let model = fit.fit(&data, &target).unwrap();
        assert!(model.warnings().contains(&Warning::Unlabelled { samples: 8 }));
        assert_eq!(model.target().labelled, 32);
        // The directions are those of the labelled rows; mean and variance those of all.
        let labelled = case.x.select(Axis(0), &known);
        let expected = fit.fit(&labelled, &target.select(&known)).unwrap();
        assert!(outside(model.components(), expected.components()) < 1e-9);
        assert_close("hsic", model.total_hsic(), expected.total_hsic(), 1e-10 * model.total_hsic());
        let oracle = Oracle::new(&case.x, true, false);
        assert_close("total", model.total_variance(), oracle.total(), 1e-12 * oracle.total());
        for (a, b) in model.mean().iter().zip(&oracle.mean) {
            assert_close("mean", *a, *b, 1e-13);
        }
    }
}

#[test]
fn the_uncentred_form_differs_by_a_constant() {
    let case = case(12, 40, 5);
    let data = Dataset::from(&case.x);
    let target = classes(&case.codes);
    let (centred, z) = SupervisedPca::new(2).fit_transform(&data, &target).unwrap();
    let (textbook, t) = SupervisedPca::new(2).center(false).fit_transform(&data, &target).unwrap();
    assert_eq!(centred.components(), textbook.components());
    let u = centred.components().to_owned();
    assert_all_close("Uᵀx", &t, &case.x.dot(&u.t()), 1e-12);
    let shift = &t - &z;
    for row in shift.rows() {
        assert!((&row - &shift.row(0)).iter().all(|v| v.abs() < 1e-12));
    }
    let kept = case.x.dot(&u.t()).dot(&u);
    assert_all_close("UUᵀx", &textbook.reconstruct(&data).unwrap(), &kept, 1e-12);
    let mean = case.x.mean_axis(Axis(0)).unwrap();
    let about = (&case.x - &mean).dot(&u.t()).dot(&u) + &mean;
    assert_all_close("x̂", &centred.reconstruct(&data).unwrap(), &about, 1e-12);
}

#[test]
fn far_and_large_data_change_nothing() {
    let mut case = case(13, 200, 6);
    // Numbers that stay exact when moved by 2³⁰ and scaled by a power of two.
    case.x.mapv_inplace(|v| (v * 1024.0).round() / 1024.0);
    let target = classes(&case.codes);
    let expected = SupervisedPca::new(2).fit(&case.x, &target).unwrap();
    let moved = case.x.mapv(|v| v + 2f64.powi(30));
    let model = SupervisedPca::new(2).fit(&moved, &target).unwrap();
    assert!(outside(model.components(), expected.components()) < 1e-12);
    assert_close("hsic", model.total_hsic(), expected.total_hsic(), 1e-12 * expected.total_hsic());
    for exponent in [-1000, 990] {
        let scaled = case.x.mapv(|v| v * 2f64.powi(exponent));
        let model = SupervisedPca::new(2).fit(&scaled, &target).unwrap();
        assert!(outside(model.components(), expected.components()) < 1e-12);
        assert_close("share", model.hsic_ratio()[0], expected.hsic_ratio()[0], 1e-12);
        let z = model.transform(&scaled).unwrap();
        let z = z.mapv(|v| v * 2f64.powi(-exponent));
        let expected = expected.transform(&case.x).unwrap();
        assert_all_close("z", &z, &expected, 1e-11);
    }
}

#[test]
fn standardised_columns_weigh_the_same() {
    let mut case = case(14, 60, 5);
    case.x.column_mut(3).fill(7.0);
    case.x.column_mut(1).mapv_inplace(|v| v * 1e6);
    let target = classes(&case.codes);
    let fit = SupervisedPca::new(2).standardize(true);
    let model = fit.fit(&case.x, &target).unwrap();
    let oracle = Oracle::new(&case.x, true, true);
    check_components(&model, &operator(&oracle.rows, &delta(&case.codes)));
    assert!(model.warnings().iter().any(|w| matches!(w, Warning::ConstantColumns { .. })));
    assert_eq!(model.components()[[0, 3]], 0.0);
}

fn check_components(model: &SupervisedPcaModel, a: &Array2<f64>) {
    let (_, vectors) = jacobi(a);
    for (j, u) in model.components().rows().into_iter().enumerate() {
        let v: ArrayView1<f64> = vectors.row(j);
        assert!(sine(u, v) < 1e-9);
    }
}

#[test]
fn null_components_are_exactly_null() {
    let case = case(15, 30, 6);
    let data = Dataset::from(&case.x);
    let (model, scores) =
        SupervisedPca::new(5).fit_transform(&data, &classes(&case.codes)).unwrap();
    assert_eq!(model.rank(), 2);
    assert!(model.warnings().contains(&Warning::LabelRank { rank: 2, requested: 5 }));
    assert!(orthogonality(model.components()) < 1e-13);
    for j in 2..5 {
        assert_eq!(model.eigenvalues()[j], 0.0);
        assert_eq!(model.hsic()[j], 0.0);
        assert_eq!(model.explained_variance()[j], 0.0);
    }
    assert!(scores.slice(s![.., 2..]).iter().all(|z| *z == 0.0 && z.is_sign_positive()));
    let all = SupervisedPca::new(NComponents::All).fit(&data, &classes(&case.codes)).unwrap();
    assert_eq!(all.n_components(), 2);
    let share = SupervisedPca::new(NComponents::VarianceShare(0.01));
    assert_eq!(share.fit(&data, &classes(&case.codes)).unwrap().n_components(), 1);
}

#[test]
fn bad_targets_are_refused_with_what_is_wrong() {
    let case = case(16, 20, 4);
    let data = Dataset::from(&case.x);
    let fit = |target: &Target| SupervisedPca::new(1).fit(&data, target).unwrap_err();
    assert!(matches!(fit(&Target::classes(["a"; 20])), Error::OneClass { label } if label == "a"));
    assert!(matches!(fit(&Target::column(&[2.5; 20])), Error::ConstantTarget { value: 2.5 }));
    let none: [Option<&str>; 20] = [None; 20];
    assert!(matches!(fit(&Target::classes_or_missing(none)), Error::NoLabels));
    let short = fit(&Target::column(&[1.0, 2.0]));
    assert!(short.to_string().contains("2 values"), "{short}");
    let mut y: Vec<f64> = (0..20).map(f64::from).collect();
    y[7] = f64::INFINITY;
    assert!(matches!(fit(&Target::column(&y)), Error::InfiniteTarget { row: 7, .. }));
    let named = Target::classes_or_missing((0..20).map(|i| (i != 3).then_some(["a", "b"][i % 2])));
    let missing = fit(&named);
    assert_eq!(missing.to_string(), "1 row has no label: 3");
    assert_eq!(missing.kind(), ErrorKind::Data);

    let numbers = Target::numbers(case.y.clone());
    let with = |kernel, target: &Target| {
        SupervisedPca::new(1).label_kernel(kernel).fit(&data, target).unwrap_err()
    };
    assert_eq!(with(LabelKernel::Delta, &numbers).kind(), ErrorKind::Usage);
    let gaussian = LabelKernel::Gaussian { gamma: None };
    assert_eq!(with(gaussian, &classes(&case.codes)).kind(), ErrorKind::Usage);
    for gamma in [0.0, -1.0, f64::NAN] {
        let kernel = LabelKernel::Gaussian { gamma: Some(gamma) };
        assert!(matches!(with(kernel, &numbers), Error::Parameter { name: "label_gamma", .. }));
    }
    let mut lopsided = Array2::<f64>::eye(20);
    lopsided[[2, 5]] = 0.5;
    assert!(matches!(Target::kernel(lopsided.view()), Err(Error::NotSymmetric { .. })));
    assert!(Target::kernel(Array2::zeros((3, 4)).view()).is_err());
    let mut indefinite = Array2::<f64>::eye(20);
    indefinite[[2, 5]] = 3.0;
    indefinite[[5, 2]] = 3.0;
    let target = Target::kernel(indefinite.view()).unwrap();
    assert!(matches!(fit(&target), Error::NotPositive { .. }));
    let constant = Target::kernel(Array2::ones((20, 20)).view()).unwrap();
    assert!(matches!(fit(&constant), Error::NotDefined { .. }));
}

#[test]
fn bad_wishes_are_refused() {
    let case = case(17, 20, 4);
    let data = Dataset::from(&case.x);
    let target = classes(&case.codes);
    let wrong = |fit: SupervisedPca| fit.fit(&data, &target).unwrap_err();
    let too_many = wrong(SupervisedPca::new(5));
    assert!(matches!(too_many, Error::TooManyComponents { requested: 5, limit: 4, .. }));
    for dial in [-0.1, 1.5, f64::NAN] {
        let error = wrong(SupervisedPca::new(1).supervision(dial));
        assert!(matches!(error, Error::Parameter { name: "supervision", .. }));
    }
    let solver = wrong(SupervisedPca::new(1).solver(Solver::Svd));
    assert_eq!(solver.kind(), ErrorKind::Usage);
    let blend = wrong(SupervisedPca::new(1).supervision(0.5).solver(Solver::Dual));
    assert_eq!(blend.kind(), ErrorKind::Usage);
    let rule = NComponents::Rule(eigenlens::Rule::Minka);
    assert_eq!(wrong(SupervisedPca::new(rule)).kind(), ErrorKind::Usage);
    let options = Options { memory: Some(1000), ..Options::default() };
    assert_eq!(wrong(SupervisedPca::new(1).options(options)).kind(), ErrorKind::Memory);
    let mut x = case.x.clone();
    x[[3, 2]] = f64::NAN;
    let error = SupervisedPca::new(1).fit(&x, &target).unwrap_err();
    assert!(matches!(error, Error::MissingValue { row: 3, column: 2, .. }));
}

#[test]
fn warnings_tell_what_the_target_is() {
    let case = case(18, 40, 4);
    let data = Dataset::from(&case.x);
    let identifiers = Target::classes((0..40).map(|i| format!("sample {i}")));
    let model = SupervisedPca::new(1).fit(&data, &identifiers).unwrap();
    assert!(model.warnings().contains(&Warning::IdentifierTarget { classes: 40, samples: 40 }));
    // Every class has the same mean: nothing depends on it.
    let x = Array2::from_shape_fn(
        (8, 2),
        |(i, f)| if f == 0 { (i % 4 / 2) as f64 } else { (i % 2) as f64 },
    );
    let target = Target::classes((0..8).map(|i| ["a", "b"][i / 4]));
    let model = SupervisedPca::new(1).fit(&x, &target).unwrap();
    assert!(model.warnings().contains(&Warning::NoDependence));
    assert_eq!(model.rank(), 0);
    assert_eq!(model.total_hsic(), 0.0);
    let flat = Array2::<f64>::ones((8, 3));
    let model = SupervisedPca::new(1).fit(&flat, &target).unwrap();
    assert!(model.warnings().contains(&Warning::NoVariance));
}

#[test]
fn a_model_survives_being_taken_apart() {
    let case = case(19, 50, 6);
    let names = ["a", "b", "c", "d", "e", "f"];
    let data = Dataset::from(&case.x).with_feature_names(names).unwrap();
    for (target, fit) in [
        (classes(&case.codes), SupervisedPca::new(4)),
        (Target::numbers(case.y.clone()), SupervisedPca::new(2).center(false).standardize(true)),
        (classes(&case.codes), SupervisedPca::new(2).supervision(0.25)),
    ] {
        let (model, scores) = fit.fit_transform(&data, &target).unwrap();
        let parts = model.to_parts();
        let again = eigenlens::from_parts(&parts).unwrap();
        assert_eq!(again.method(), "supervised-pca");
        assert_eq!(again.transform_f64(&data).unwrap(), scores);
        assert_eq!(again.summary(), Model::summary(&model));
        assert_eq!(again.to_parts().unwrap(), parts);
        assert_eq!(again.warnings(), model.warnings());
        let mut wrong = parts.clone();
        wrong.description.insert("supervision".into(), 2.0.into());
        assert!(SupervisedPcaModel::from_parts(&wrong).is_err());
        let mut wrong = parts.clone();
        wrong.arrays.remove("hsic");
        assert!(SupervisedPcaModel::from_parts(&wrong).is_err());
        let mut wrong = parts;
        wrong.method = "pca".into();
        assert!(SupervisedPcaModel::from_parts(&wrong).is_err());
    }
}
