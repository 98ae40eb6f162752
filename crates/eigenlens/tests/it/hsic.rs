//! HSIC against its n × n definition, and its tests against what they promise.

use crate::support::{Random, Storage, Table, assert_close};
use eigenlens::{Bandwidth, Dataset, Error, Hsic, Kernel, Options};
use ndarray::Array2;

fn matrix(kernel: &Kernel, x: &Array2<f64>) -> Array2<f64> {
    let data = Dataset::from(x);
    let resolved = kernel.resolve(&data, 0).unwrap();
    let n = x.nrows();
    Array2::from_shape_fn((n, n), |(i, j)| resolved.value(&x.row(i).to_vec(), &x.row(j).to_vec()))
}

/// `tr(K H L H) / (n − 1)²`, with H written out.
fn biased(k: &Array2<f64>, l: &Array2<f64>) -> f64 {
    let n = k.nrows();
    let h = Array2::from_shape_fn((n, n), |(i, j)| f64::from(u8::from(i == j)) - 1.0 / n as f64);
    k.dot(&h).dot(l).dot(&h).diag().sum() / ((n - 1) * (n - 1)) as f64
}

/// Song et al. 2012, equation 5, with zero diagonals.
fn unbiased(k: &Array2<f64>, l: &Array2<f64>) -> f64 {
    let n = k.nrows();
    let without = |m: &Array2<f64>| {
        Array2::from_shape_fn((n, n), |(i, j)| if i == j { 0.0 } else { m[[i, j]] })
    };
    let (k, l) = (without(k), without(l));
    let m = n as f64;
    let product = k.dot(&l);
    let sums = k.sum() * l.sum() / ((m - 1.0) * (m - 2.0));
    (product.diag().sum() + sums - 2.0 / (m - 2.0) * product.sum()) / (m * (m - 3.0))
}

fn kernels() -> Vec<Kernel> {
    vec![
        Kernel::Linear,
        Kernel::Delta,
        Kernel::rbf(),
        Kernel::laplacian(),
        Kernel::polynomial(2),
        Kernel::Cosine,
        Kernel::custom("minimum", |x, y| x[0].min(y[0])),
    ]
}

fn columns(random: &mut Random, n: usize, d: usize) -> Array2<f64> {
    // Few values, so that the delta kernel has something to compare.
    random.matrix(n, d).mapv(|v| (v * 2.0).round() / 2.0 + 1.0)
}

#[test]
fn both_estimates_are_their_definitions() {
    let mut random = Random::new(1);
    for n in [4, 5, 40, 150] {
        let x = columns(&mut random, n, 2);
        let mut y = columns(&mut random, n, 1);
        y.column_mut(0).scaled_add(1.0, &x.column(0));
        for a in kernels() {
            for b in kernels() {
                let (k, l) = (matrix(&a, &x), matrix(&b, &y));
                let hsic = Hsic::new(a.clone(), b.clone());
                let found = hsic.estimate(&x, &y).unwrap();
                let size = (k.iter().map(|v| v * v).sum::<f64>()
                    * l.iter().map(|v| v * v).sum::<f64>())
                .sqrt()
                    / (n * n) as f64;
                let what = format!("{a:?} {b:?} {n}");
                assert_close(&what, found.biased, biased(&k, &l), 1e-12 * size);
                assert_close(&what, found.unbiased.unwrap(), unbiased(&k, &l), 1e-11 * size);
                assert!((0.0..=1.0).contains(&found.alignment));
            }
        }
    }
    let same = Hsic::new(Kernel::rbf(), Kernel::rbf());
    let x = columns(&mut random, 30, 2);
    let found = same.estimate(&x, &x).unwrap();
    assert_close("alignment with itself", found.alignment, 1.0, 1e-12);
    let three = columns(&mut random, 3, 1);
    let found = same.estimate(&three, &three).unwrap();
    assert_eq!(found.unbiased, None);
}

#[test]
fn more_columns_than_samples_are_as_good() {
    let mut random = Random::new(2);
    let (x, y) = (random.matrix(20, 90), random.matrix(20, 3));
    let found = Hsic::new(Kernel::Linear, Kernel::Linear).estimate(&x, &y).unwrap();
    let expected = biased(&x.dot(&x.t()), &y.dot(&y.t()));
    assert_close("wide", found.biased, expected, 1e-12 * expected);
}

#[test]
fn offsets_do_not_cancel() {
    let mut random = Random::new(3);
    let x = random.matrix(60, 2).mapv(|v| (v * 64.0).round() / 64.0);
    let y = random.matrix(60, 1);
    let estimate = |x: &Array2<f64>| {
        let hsic = Hsic::new(Kernel::Linear, Kernel::rbf());
        hsic.estimate(x, &y).unwrap()
    };
    let (near, far) = (estimate(&x), estimate(&x.mapv(|v| v + 1e9)));
    assert_close("biased", far.biased, near.biased, 1e-12 * near.biased);
    let size = near.biased;
    assert_close("unbiased", far.unbiased.unwrap(), near.unbiased.unwrap(), 1e-11 * size);
}

fn pairs() -> Vec<(Kernel, Kernel)> {
    vec![
        (Kernel::Linear, Kernel::Linear),
        (Kernel::Linear, Kernel::Delta),
        (Kernel::Delta, Kernel::Delta),
        (Kernel::rbf(), Kernel::Linear),
        (Kernel::Delta, Kernel::rbf()),
        (Kernel::rbf(), Kernel::rbf()),
    ]
}

#[test]
fn permutations_are_uniform_under_independence_and_rare_under_dependence() {
    const DRAWS: usize = 200;
    for (at, (a, b)) in pairs().into_iter().enumerate() {
        let hsic = Hsic::new(a.clone(), b.clone());
        let mut below = [0usize; 3];
        let mut gamma_below = [0usize; 3];
        let levels = [0.05, 0.25, 0.5];
        for draw in 0..DRAWS {
            let mut random = Random::new((1000 * at + draw) as u64);
            let (x, y) = (columns(&mut random, 30, 2), columns(&mut random, 30, 1));
            let (x, y) = (Dataset::from(&x), Dataset::from(&y));
            let p = hsic.permutation_test(&x, &y, 99).unwrap().p_value;
            let gamma = hsic.gamma_test(&x, &y).unwrap().p_value;
            for (level, (count, other)) in levels.iter().zip(below.iter_mut().zip(&mut gamma_below))
            {
                *count += usize::from(p <= *level);
                *other += usize::from(gamma <= *level);
            }
        }
        // Five standard deviations of a count of DRAWS at each level; the approximation has two
        // hundredths more.
        for (level, (count, other)) in levels.iter().zip(below.iter().zip(&gamma_below)) {
            let margin = 5.0 * (level * (1.0 - level) / DRAWS as f64).sqrt();
            let share = *count as f64 / DRAWS as f64;
            assert!((share - level).abs() < margin, "{a:?} {b:?}: {share} at {level}");
            let share = *other as f64 / DRAWS as f64;
            assert!((share - level).abs() < margin + 0.02, "gamma {a:?} {b:?}: {share} at {level}");
        }
        let mut random = Random::new(77);
        let x = columns(&mut random, 60, 1);
        let y = x.mapv(|v| v + 0.1 * random.normal()).mapv(|v| (v * 2.0).round());
        let (x, y) = (Dataset::from(&x), Dataset::from(&y));
        assert_eq!(hsic.permutation_test(&x, &y, 199).unwrap().p_value, 0.005, "{a:?} {b:?}");
        assert!(hsic.gamma_test(&x, &y).unwrap().p_value < 1e-4, "{a:?} {b:?}");
    }
}

#[test]
fn only_the_seed_decides() {
    let mut random = Random::new(4);
    let (x, y) = (columns(&mut random, 300, 2), columns(&mut random, 300, 1));
    for (a, b) in pairs() {
        let test = |threads: usize, seed: u64, storage: Storage| {
            let options = Options { threads: Some(threads), seed, ..Options::default() };
            let hsic = Hsic::new(a.clone(), b.clone()).options(options);
            let table: Table<f64> = Table::new(&x, storage);
            hsic.permutation_test(table.dataset(), &y, 60).unwrap()
        };
        let first = test(1, 5, Storage::RowMajor);
        assert_eq!(test(3, 5, Storage::RowMajor), first);
        assert_eq!(test(2, 5, Storage::Streamed(7, false)), first);
        assert_eq!(test(2, 6, Storage::RowMajor).estimate, first.estimate);
    }
}

#[test]
fn constant_columns_depend_on_nothing() {
    let (x, y) = (Array2::<f64>::ones((20, 2)), Random::new(5).matrix(20, 1));
    for (a, b) in pairs() {
        let hsic = Hsic::new(a, b);
        let (x, y) = (Dataset::from(&x), Dataset::from(&y));
        let found = hsic.permutation_test(&x, &y, 20).unwrap();
        assert_close("hsic", found.estimate.biased, 0.0, 1e-15);
        assert_eq!(found.p_value, 1.0);
        assert!(hsic.gamma_test(&x, &y).unwrap().p_value > 0.5);
    }
}

#[test]
fn bad_input_is_refused() {
    let mut random = Random::new(6);
    let (x, y) = (random.matrix(20, 2), random.matrix(19, 1));
    let hsic = Hsic::new(Kernel::Linear, Kernel::rbf());
    let (x, short) = (Dataset::from(&x), Dataset::from(&y));
    assert!(matches!(hsic.estimate(&x, &short), Err(Error::Shape { .. })));
    assert!(matches!(hsic.permutation_test(&x, &x, 0), Err(Error::Parameter { .. })));
    let five = random.matrix(5, 1);
    let five = Dataset::from(&five);
    assert!(matches!(hsic.gamma_test(&five, &five), Err(Error::NotDefined { .. })));
    let bad = Hsic::new(Kernel::Rbf { gamma: Bandwidth::Gamma(-1.0) }, Kernel::Linear);
    assert!(matches!(bad.estimate(&x, &x), Err(Error::Parameter { .. })));
    let mut missing_counts = random.matrix(20, 2);
    missing_counts[[4, 1]] = f64::NAN;
    for kernel in [Kernel::Linear, Kernel::Delta, Kernel::rbf()] {
        let found = Hsic::new(Kernel::Linear, kernel).estimate(&x, &missing_counts);
        assert!(matches!(found, Err(Error::MissingValue { row: 4, column: 1, .. })));
    }
    let tight = Options { memory: Some(1000), ..Options::default() };
    let both = Hsic::new(Kernel::rbf(), Kernel::rbf()).options(tight);
    assert!(matches!(both.permutation_test(&x, &x, 5), Err(Error::Memory { .. })));
}
