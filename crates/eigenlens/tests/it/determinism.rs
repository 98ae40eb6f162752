//! Lines 50–52: the same data give the same bits, however they lie in memory, are cut into blocks,
//! and whatever the number of threads.

use crate::torture_support::*;
use eigenlens::{Dataset, NComponents, Options, Pca, Rule, SampleWeights, Scalar, Solver};
use ndarray::{Array2, ShapeBuilder, s};

/// Sizes on both sides of every switch between kernels: (rows, features, components).
const SIZES: [(usize, usize, usize); 5] = [
    // A scatter for each unit of rows.
    (1100, 20, 4),
    // Tiles of one scatter.
    (700, 350, 4),
    // The iteration instead of all eigenpairs.
    (650, 430, 5),
    // The dual side; products of features in ranges (d · k · 8 > 1 MiB).
    (60, 3000, 40),
    // The same, tall enough for several slabs.
    (560, 1100, 120),
];

fn possible(solver: Solver, n: usize, d: usize, streamed_or_sparse: bool) -> bool {
    match solver {
        // Enough is tested elsewhere; all eigenpairs of these would take long.
        Solver::Covariance => d <= 500,
        Solver::Svd => d <= 350 && (n >= d || !streamed_or_sparse),
        _ => true,
    }
}

fn fit_bits<T: Scalar>(pca: &Pca, data: &Dataset<T>) -> (Vec<u64>, Vec<u64>) {
    let (model, scores) = pca.fit_transform(data).unwrap();
    (bits(&model), score_bits(&scores))
}

fn threads_agree<T: Scalar>(x: &Array2<T>, k: usize) {
    let (n, d) = x.dim();
    let csr = compressed(&x.mapv(|v| if v.to_f64().abs() < 1.0 { T::from_f64(0.0) } else { v }));
    let streamed = InBlocks { rows: x.clone(), sizes: vec![5, 130, 700], counted: true };
    let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 5) as f64).collect();
    for solver in ROUTES {
        // Where many components are asked for, the iteration tells most; the rest takes long.
        if k > 100 && matches!(solver, Solver::Dual | Solver::Randomized { .. }) {
            continue;
        }
        let pca = |threads| {
            let options = Options { threads: Some(threads), ..Options::default() };
            Pca::new(k).solver(solver).options(options)
        };
        let mut forms = Vec::new();
        if possible(solver, n, d, false) {
            forms.push(("dense", Dataset::from(x)));
            if k < 30 {
                forms.push((
                    "weighted",
                    Dataset::from(x).with_weights(SampleWeights::frequency(weights.clone())),
                ));
            }
        }
        if possible(solver, n, d, true) {
            forms.push(("sparse", Dataset::sparse(&csr)));
            if solver != Solver::Dual {
                forms.push(("streamed", Dataset::streamed(&streamed)));
            }
        }
        for (form, data) in forms {
            let alone = fit_bits(&pca(1), &data);
            for threads in [2, 3, 8] {
                let together = fit_bits(&pca(threads), &data);
                assert!(
                    alone == together,
                    "{solver:?} {form} {} {n} × {d}: {threads} threads",
                    T::NAME
                );
            }
        }
    }
}

#[test]
fn line_52_threads_small_d() {
    let (n, d, k) = SIZES[0];
    threads_agree(&distinct(52, n, d), k);
    threads_agree(&to_f32(&distinct(52, n, d)), k);
}

#[test]
fn line_52_threads_tiles() {
    let (n, d, k) = SIZES[1];
    threads_agree(&distinct(52, n, d), k);
    threads_agree(&to_f32(&distinct(52, n, d)), k);
}

#[test]
fn line_52_threads_krylov() {
    let (n, d, k) = SIZES[2];
    threads_agree(&distinct(52, n, d), k);
    threads_agree(&to_f32(&distinct(52, n, d)), k);
}

#[test]
fn line_52_threads_wide() {
    let (n, d, k) = SIZES[3];
    threads_agree(&to_f32(&distinct(52, n, d)), k);
    threads_agree(&distinct(52, n, 1300), 4);
}

#[test]
fn line_52_threads_many_components() {
    let (n, d, k) = SIZES[4];
    threads_agree(&distinct(52, n, d), k);
}

#[test]
fn line_52_threads_of_rules_and_diagnostics() {
    let x = distinct(5, 300, 12);
    let data = Dataset::from(&x);
    for rule in [Rule::ParallelAnalysis, Rule::CrossValidation, Rule::Minka] {
        let fit = |threads| {
            let options = Options { threads: Some(threads), ..Options::default() };
            Pca::new(NComponents::Rule(rule)).options(options).fit(&data).unwrap()
        };
        let alone = fit(1);
        for threads in [2, 3, 8] {
            let together = fit(threads);
            assert_eq!(bits(&alone), bits(&together), "{rule:?}");
            assert_eq!(
                alone.sample_diagnostics(&data).unwrap(),
                together.sample_diagnostics(&data).unwrap()
            );
            assert_eq!(alone.verify(&data).unwrap(), together.verify(&data).unwrap());
        }
    }
}

/// Features that are mostly zero are summed about it, and zeros passed over.
#[test]
fn lines_51_52_mostly_zeros() {
    let (n, d, k) = SIZES[1];
    let mut x = distinct(53, n, d);
    // Eight neighbours at a time, in three of five rows: what may be passed over.
    for ((i, f), v) in x.indexed_iter_mut() {
        if (3 * i + f / 8) % 5 < 3 {
            *v = 0.0;
        }
    }
    threads_agree(&x, k);
    blocks_agree(&x, k);
    // float32 passes over zeros only among whole numbers.
    let whole = to_f32(&x.mapv(|v| (30.0 * v).round()));
    threads_agree(&whole, k);
    blocks_agree(&whole, k);
}

fn layouts_agree<T: Scalar>(x: &Array2<T>, k: usize) {
    let (n, d) = x.dim();
    let fill = T::from_f64(99.0);
    let mut fortran = Array2::from_elem((n, d).f(), fill);
    fortran.assign(x);
    let mut upside_down = Array2::from_elem((n, d), fill);
    upside_down.slice_mut(s![..;-1, ..]).assign(x);
    let mut reversed = Array2::from_elem((n, d), fill);
    reversed.slice_mut(s![..;-1, ..;-1]).assign(x);
    let mut mirrored_columns = Array2::from_elem((n, d), fill);
    mirrored_columns.slice_mut(s![.., ..;-1]).assign(x);
    let mut apart = Array2::from_elem((2 * n, d + 3), fill);
    apart.slice_mut(s![..;2, 1..d + 1]).assign(x);
    let mut scattered = Array2::from_elem((n, 3 * d), fill);
    scattered.slice_mut(s![.., ..;3]).assign(x);
    let mut misaligned = Array2::from_elem((n, d + 1), fill);
    misaligned.slice_mut(s![.., 1..]).assign(x);
    let mut turned = Array2::from_elem((n, d).f(), fill);
    turned.slice_mut(s![..;-1, ..;-1]).assign(x);
    let forms = [
        ("fortran", fortran.view()),
        ("upside down", upside_down.slice(s![..;-1, ..])),
        ("reversed", reversed.slice(s![..;-1, ..;-1])),
        ("mirrored", mirrored_columns.slice(s![.., ..;-1])),
        ("apart", apart.slice(s![..;2, 1..d + 1])),
        ("scattered", scattered.slice(s![.., ..;3])),
        ("misaligned", misaligned.slice(s![.., 1..])),
        ("turned", turned.slice(s![..;-1, ..;-1])),
    ];
    for solver in ROUTES {
        if !possible(solver, n, d, false) {
            continue;
        }
        let pca = Pca::new(k).solver(solver);
        let plain = fit_bits(&pca, &Dataset::from(x));
        for (form, view) in &forms {
            let other = fit_bits(&pca, &Dataset::dense(*view));
            assert!(plain == other, "{solver:?} {form} {} {n} × {d}", T::NAME);
        }
    }
}

#[test]
fn line_50_layouts() {
    for (n, d, k) in [(1100, 1, 1), (2, 9, 1), SIZES[0], SIZES[1], (60, 1500, 4)] {
        let x = distinct(50, n, d);
        layouts_agree(&x, k);
        layouts_agree(&to_f32(&x), k);
    }
    // One row repeated by a stride of 0 is the row written out.
    let row = distinct(3, 1, 5);
    let view = row.broadcast((40, 5)).unwrap();
    let (model, scores) = Pca::new(2).fit_transform(view).unwrap();
    assert_eq!(model.rank(), 0);
    assert!(scores.iter().all(|z| *z == 0.0));
}

fn blocks_agree<T: Scalar>(x: &Array2<T>, k: usize) {
    let (n, d) = x.dim();
    let mut cuts =
        vec![vec![7], vec![k.max(2) - 1], vec![n], vec![n + 5], vec![n - 1, 1], vec![513, 1, 127]];
    if n * d < 100_000 {
        cuts.push(vec![1]);
    } else {
        cuts.truncate(5);
    }
    let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
    for solver in ROUTES {
        if solver == Solver::Dual || !possible(solver, n, d, true) {
            continue;
        }
        let pca = Pca::new(k).solver(solver);
        // The plan may differ from the one for a matrix in memory; the bits of a route do not.
        if solver != Solver::Auto {
            let dense = fit_bits(&pca, &Dataset::from(x));
            let rows = InBlocks::new(x, 33);
            assert!(
                dense == fit_bits(&pca, &Dataset::streamed(&rows)),
                "{solver:?} {n} × {d}: dense"
            );
        }
        let reference = InBlocks::new(x, 64);
        let weighted_bits = |rows: &InBlocks<T>| {
            let weights = SampleWeights::frequency(weights.clone());
            fit_bits(&pca, &Dataset::streamed(rows).with_weights(weights))
        };
        let expected = fit_bits(&pca, &Dataset::streamed(&reference));
        let expected_weighted = weighted_bits(&reference);
        for sizes in &cuts {
            let rows = InBlocks { rows: x.clone(), sizes: sizes.clone(), counted: true };
            let what = format!("{solver:?} {} {n} × {d}: {sizes:?}", T::NAME);
            assert!(expected == fit_bits(&pca, &Dataset::streamed(&rows)), "{what}");
            assert!(expected_weighted == weighted_bits(&rows), "{what}, weighted");
            // Scores of new rows, too.
            let model = pca.fit(Dataset::streamed(&rows)).unwrap();
            let scores = model.transform(Dataset::streamed(&rows)).unwrap();
            assert!(score_bits(&scores) == expected.1, "{what}: transform");
        }
    }
}

#[test]
fn line_51_blocks_of_the_reader() {
    for (n, d, k) in [SIZES[0], (600, 350, 4), (1025, 3, 2), (150, 1100, 3)] {
        let x = distinct(51, n, d);
        blocks_agree(&x, k);
        blocks_agree(&to_f32(&x), k);
    }
}

/// More units of rows than threads, and sums in ranges of features that end within a slab.
#[test]
fn lines_51_52_many_units() {
    for (n, d, k, solver) in [
        (5 * 2048 + 77, 3, 2, Solver::Covariance),
        (5 * 2048 + 77, 40, 3, Solver::Iterative),
        (700, 1100, 120, Solver::Randomized { oversampling: 10, power_iterations: 2 }),
    ] {
        let x = distinct(54, n, d);
        let pca = |threads| {
            let options = Options { threads: Some(threads), ..Options::default() };
            Pca::new(k).solver(solver).options(options)
        };
        let expected = fit_bits(&pca(1), &Dataset::from(&x));
        for threads in [2, 3, 8] {
            let found = fit_bits(&pca(threads), &Dataset::from(&x));
            assert!(found == expected, "{n} × {d}: {threads} threads");
        }
        for sizes in [vec![33], vec![n], vec![3000, 1]] {
            let what = format!("{n} × {d}: {sizes:?}");
            let rows = InBlocks { rows: x.clone(), sizes, counted: true };
            assert!(fit_bits(&pca(2), &Dataset::streamed(&rows)) == expected, "{what}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let x = distinct(60, 500, 420);
    for solver in ROUTES {
        if solver == Solver::Svd {
            continue;
        }
        let fit = |seed| {
            let options = Options { seed, ..Options::default() };
            Pca::new(6).solver(solver).options(options).fit_transform(&x).unwrap()
        };
        let (a, za) = fit(7);
        let (b, zb) = fit(7);
        assert_eq!((bits(&a), score_bits(&za)), (bits(&b), score_bits(&zb)), "{solver:?}");
        assert_eq!(a.convergence(), b.convergence());
        // Another seed, the same answer to the tolerance.
        let (c, _) = fit(8);
        if !matches!(solver, Solver::Randomized { .. }) {
            for (p, q) in a.explained_variance().iter().zip(c.explained_variance()) {
                relatively_close(*p, *q, 1e-9);
            }
        }
    }
}

#[test]
fn row_blocks_of_scores_are_the_scores() {
    let x = distinct(61, 2100, 6);
    let (model, scores) = Pca::new(3).fit_transform(&x).unwrap();
    let mut gathered = Vec::new();
    let mut sink = |z: ndarray::ArrayView2<f64>| {
        gathered.extend(z.iter().map(|v| v.to_bits()));
        Ok(())
    };
    let rows = InBlocks::new(&x, 100);
    assert_eq!(model.transform_blocks(Dataset::streamed(&rows), &mut sink).unwrap(), 2100);
    assert_eq!(gathered, score_bits(&scores));
}
