//! Nyström, random features and subsets: convergence to exact kernel PCA, and what they say of it.

use crate::support::{Random, to_csr};
use crate::torture_support::InBlocks;
use eigenlens::from_parts;
use eigenlens::{
    Approximation, Bandwidth, Dataset, Kernel, KernelAccuracy, KernelPca, KernelPcaModel,
    Landmarks, Model, Options, Route,
};
use ndarray::Array2;

const N: usize = 300;

fn table() -> Array2<f64> {
    let mut random = Random::new(21);
    // Four clouds: a few landmarks go a long way.
    Array2::from_shape_fn((N, 3), |(i, f)| [0.0, 4.0, -3.0, 2.0][(i + f) % 4] + random.normal())
}

fn kernel() -> Kernel {
    Kernel::Rbf { gamma: Bandwidth::Gamma(0.05) }
}

fn fit(approximation: Approximation, x: &Array2<f64>) -> (KernelPcaModel, Array2<f64>) {
    let fit = KernelPca::new(3).kernel(kernel()).approximation(approximation);
    fit.fit_transform(x).unwrap()
}

fn nystrom(landmarks: usize, selection: Landmarks) -> Approximation {
    Approximation::Nystrom { landmarks: Some(landmarks), selection }
}

fn random_features(features: usize, orthogonal: bool) -> Approximation {
    Approximation::RandomFeatures { features: Some(features), orthogonal }
}

/// The largest difference of scores, up to one sign per component, relative to the largest score.
fn apart(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let size = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let columns = a.columns().into_iter().zip(b.columns());
    columns.fold(0.0, |worst, (a, b)| {
        let sign = a.dot(&b).signum();
        (&a * sign - b).iter().fold(worst, |m: f64, v| m.max(v.abs() / size))
    })
}

fn trace_error(model: &KernelPcaModel) -> f64 {
    match *model.accuracy() {
        KernelAccuracy::Nystrom { trace_error, .. } => trace_error,
        ref other => panic!("{other}"),
    }
}

#[test]
fn landmarks_converge_to_exact() {
    let x = table();
    let (exact, scores) = fit(Approximation::Exact, &x);
    for selection in [Landmarks::PivotedCholesky, Landmarks::Uniform] {
        let mut before = f64::INFINITY;
        for m in [5, 20, 80, N] {
            let (model, found) = fit(nystrom(m, selection), &x);
            assert_eq!(model.plan().route, Route::Nystrom);
            let error = trace_error(&model);
            assert!(error < before || error < 1e-8, "{selection:?} {m}: {error} after {before}");
            before = error;
            if m == 80 {
                assert!(apart(&found, &scores) < 0.05, "{m}: {}", apart(&found, &scores));
            }
            if m == N {
                assert!(apart(&found, &scores) < 1e-6, "{}", apart(&found, &scores));
                assert!(error < 1e-6 * N as f64, "{error}");
                for (a, b) in model.eigenvalues().iter().zip(exact.eigenvalues()) {
                    assert!((a - b).abs() < 1e-6 * b, "{a} {b}");
                }
            }
            // Shares are of the whole trace, and never overstated.
            for (a, b) in
                model.explained_variance_ratio().iter().zip(exact.explained_variance_ratio())
            {
                assert!(*a <= b * (1.0 + 1e-6), "{a} {b}");
            }
        }
    }
    // Pivoting beats chance on average at the same number: here, at this seed.
    let (chosen, _) = fit(nystrom(12, Landmarks::PivotedCholesky), &x);
    let (drawn, _) = fit(nystrom(12, Landmarks::Uniform), &x);
    assert!(trace_error(&chosen) < trace_error(&drawn));
}

#[test]
fn the_trace_error_is_exact() {
    let x = table();
    for kernel in [kernel(), Kernel::polynomial(2)] {
        let fit =
            KernelPca::new(2).kernel(kernel).approximation(nystrom(7, Landmarks::PivotedCholesky));
        let model = fit.fit(&x).unwrap();
        // The landmarks are the points of the model: tr(K − C W⁻¹ Cᵀ) by plain loops.
        let parts = model.to_parts().unwrap();
        let rows = &parts.arrays["points"];
        let eigenlens::model::parts::Numbers::F64(values) = &rows.numbers else { panic!() };
        let shift = match parts.arrays.get("shift").map(|a| &a.numbers) {
            Some(eigenlens::model::parts::Numbers::F64(shift)) => shift.clone(),
            _ => vec![0.0; 3],
        };
        let landmarks =
            Array2::from_shape_fn((rows.shape[0], 3), |(i, f)| values[i * 3 + f] + shift[f]);
        let value = |a: &Array2<f64>, i: usize, b: &Array2<f64>, j: usize| {
            model.kernel().value(&a.row(i).to_vec(), &b.row(j).to_vec())
        };
        let m = landmarks.nrows();
        // Cholesky of W, row by row.
        let mut l = Array2::<f64>::zeros((m, m));
        for i in 0..m {
            for j in 0..=i {
                let inside: f64 = (0..j).map(|p| l[[i, p]] * l[[j, p]]).sum();
                let rest = value(&landmarks, i, &landmarks, j) - inside;
                l[[i, j]] = if i == j { rest.sqrt() } else { rest / l[[j, j]] };
            }
        }
        let mut error = 0.0;
        for i in 0..N {
            let mut row = vec![0.0; m];
            for j in 0..m {
                let inside: f64 = (0..j).map(|p| row[p] * l[[j, p]]).sum();
                row[j] = (value(&x, i, &landmarks, j) - inside) / l[[j, j]];
            }
            error += value(&x, i, &x, i) - row.iter().map(|v| v * v).sum::<f64>();
        }
        let found = trace_error(&model);
        assert!((found - error).abs() < 1e-8 * error.max(1.0), "{found} {error}");
    }
}

#[test]
fn random_features_converge_to_exact() {
    let x = table();
    let (exact, scores) = fit(Approximation::Exact, &x);
    for orthogonal in [false, true] {
        let error = |m: usize| match *fit(random_features(m, orthogonal), &x).0.accuracy() {
            KernelAccuracy::RandomFeatures { kernel_error, .. } => kernel_error,
            ref other => panic!("{other}"),
        };
        let (few, many) = (error(50), error(3200));
        // Of 64 times as many features the error is an eighth.
        assert!(many < few / 4.0, "{orthogonal}: {few} {many}");
        let (model, found) = fit(random_features(3200, orthogonal), &x);
        assert!(apart(&found, &scores) < 0.2, "{}", apart(&found, &scores));
        let off = (model.eigenvalues()[0] / exact.eigenvalues()[0] - 1.0).abs();
        assert!(off < 0.1, "{off}");
        assert!((model.total_variance() / exact.total_variance() - 1.0).abs() < 0.1);
    }
}

#[test]
fn orthogonal_features_are_less_noisy() {
    let x = table();
    let squares = |orthogonal: bool| -> f64 {
        (0..12)
            .map(|seed| {
                let options = Options { seed, ..Options::default() };
                let fit = KernelPca::new(2)
                    .kernel(kernel())
                    .approximation(random_features(30, orthogonal))
                    .options(options);
                match *fit.fit(&x).unwrap().accuracy() {
                    KernelAccuracy::RandomFeatures { kernel_error, .. } => kernel_error.powi(2),
                    ref other => panic!("{other}"),
                }
            })
            .sum()
    };
    assert!(squares(true) < squares(false), "{} {}", squares(true), squares(false));
}

#[test]
fn a_subset_is_exact_on_some() {
    let x = table();
    let (model, scores) = fit(Approximation::Subset { samples: 100 }, &x);
    assert_eq!(*model.accuracy(), KernelAccuracy::Subset { samples: 100, of: N });
    assert_eq!((model.n_samples(), scores.nrows()), (100, N));
    assert_eq!(model.plan().route, Route::Subset);
    let (_, all) = fit(Approximation::Subset { samples: N }, &x);
    assert!(apart(&all, &fit(Approximation::Exact, &x).1) < 1e-8);
}

#[test]
fn streamed_sparse_and_dense_rows_agree() {
    let x = table();
    let csr = to_csr(&x);
    let rows = InBlocks { rows: x.clone(), sizes: vec![7, 90], counted: false };
    for approximation in [nystrom(40, Landmarks::PivotedCholesky), random_features(64, true)] {
        let fit = KernelPca::new(3).kernel(kernel()).approximation(approximation);
        let (_, dense) = fit.fit_transform(&x).unwrap();
        let (_, streamed) = fit.fit_transform(Dataset::streamed(&rows)).unwrap();
        assert!(apart(&streamed, &dense) < 1e-9, "{}", apart(&streamed, &dense));
        let (_, sparse) = fit.fit_transform(&csr).unwrap();
        assert!(apart(&sparse, &dense) < 1e-6, "{}", apart(&sparse, &dense));
        let narrow = x.mapv(|v| v as f32);
        let (_, single) = fit.fit_transform(&narrow).unwrap();
        assert!(apart(&single.mapv(f64::from), &dense) < 1e-3);
        for threads in [1, 3] {
            let options = Options { threads: Some(threads), ..Options::default() };
            let again = fit.clone().options(options).fit_transform(&x).unwrap().1;
            assert_eq!(again, dense, "{threads} threads");
        }
    }
}

#[test]
fn every_body_is_stored_whole() {
    let x = table();
    let csr = to_csr(&x.mapv(|v| if v.abs() < 1.0 { 0.0 } else { v }));
    let sparse = KernelPca::new(3).kernel(Kernel::Laplacian { gamma: Bandwidth::Gamma(0.1) });
    let sparse = sparse.fit(&csr).unwrap();
    let gram = x.dot(&x.t());
    let given = KernelPca::new(3).kernel(Kernel::Precomputed).fit(&gram).unwrap();
    let narrow = x.mapv(|v| v as f32);
    let single = KernelPca::new(3).kernel(kernel()).fit(&narrow).unwrap();
    let models = [
        (fit(nystrom(30, Landmarks::Uniform), &x).0, &x),
        (fit(random_features(40, true), &x).0, &x),
        (fit(Approximation::Subset { samples: 50 }, &x).0, &x),
        (sparse, &x),
        (given, &gram),
        (single, &x),
    ];
    for (model, data) in models {
        let parts = Model::to_parts(&model).unwrap();
        let back = from_parts(&parts).unwrap();
        assert_eq!(back.to_parts().unwrap(), parts, "{model:?}");
        assert_eq!(back.summary(), model.summary());
        let (a, b) = (model.transform(data), back.transform_f64(&Dataset::from(data)));
        assert_eq!(a.unwrap(), b.unwrap(), "{model:?}");
        // What a file could be damaged to.
        for name in parts.arrays.keys() {
            let mut less = parts.clone();
            less.arrays.remove(name);
            if let Ok(other) = from_parts(&less) {
                assert_ne!(other.to_parts().unwrap(), parts, "without `{name}`");
            }
        }
    }
}
