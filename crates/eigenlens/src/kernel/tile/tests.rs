//! Every kernel on every storage against its formula in plain loops.

use crate::data::Csr;
use crate::kernel::{Bandwidth, Kernel, ResolvedKernel};
use crate::linalg::random;
use ndarray::{Array2, s};

fn kernels() -> Vec<ResolvedKernel> {
    let data = Array2::<f64>::zeros((2, 7));
    [
        Kernel::Linear,
        Kernel::Rbf { gamma: Bandwidth::Gamma(0.07) },
        Kernel::Laplacian { gamma: Bandwidth::Gamma(0.1) },
        Kernel::Chi2 { gamma: Bandwidth::Gamma(0.2) },
        Kernel::polynomial(2),
        Kernel::Polynomial { degree: 3, gamma: 0.5, coef0: 2.0 },
        Kernel::Polynomial { degree: 5, gamma: 0.1, coef0: 1.0 },
        Kernel::sigmoid(),
        Kernel::Cosine,
        Kernel::Delta,
        Kernel::custom("min", |x, y| x.iter().zip(y).map(|(a, b)| a.min(*b)).sum()),
    ]
    .iter()
    .map(|k| k.resolve(&data, 0).unwrap())
    .collect()
}

/// Rows with zeros in them, a zero row and a row that comes twice.
fn rows(n: usize, seed: u64) -> Array2<f64> {
    let mut x = random::normal_matrix(&mut random::stream(seed, 0), n, 7);
    x.mapv_inplace(|v| if v.abs() < 0.5 { 0.0 } else { v });
    if n > 3 {
        x.row_mut(1).fill(0.0);
        let first = x.row(0).to_owned();
        x.row_mut(3).assign(&first);
    }
    x
}

/// Rows that the kernel takes.
fn suited(kernel: &ResolvedKernel, x: &Array2<f64>) -> Array2<f64> {
    if kernel.spec().non_negative { x.mapv(f64::abs) } else { x.clone() }
}

fn csr(x: &Array2<f64>) -> Csr<f64> {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.rows() {
        for (f, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(f as u32);
            values.push(v);
        }
        starts.push(values.len());
    }
    Csr::new(x.nrows(), x.ncols(), starts, columns, values).unwrap()
}

#[test]
fn every_kernel_is_its_formula() {
    for (m, n) in [(1, 2), (5, 130), (129, 257)] {
        let (a, mut b) = (rows(m, 1), rows(n, 2));
        b.row_mut(0).assign(&a.row(0));
        for kernel in kernels() {
            let (a, b) = (suited(&kernel, &a), suited(&kernel, &b));
            let (a_sparse, b_sparse) = (csr(&a), csr(&b));
            let (a32, b32) = (a.mapv(|v| v as f32), b.mapv(|v| v as f32));
            let dense = kernel.matrix(&a, &b).unwrap();
            let sparse = kernel.matrix(&a_sparse, &b_sparse).unwrap();
            let narrow = kernel.matrix(&a32, &b32).unwrap();
            for i in 0..m {
                for j in 0..n {
                    let expected = kernel.value(&a.row(i).to_vec(), &b.row(j).to_vec());
                    let size = expected.abs().max(1.0);
                    for (what, got) in [("dense", &dense), ("sparse", &sparse)] {
                        let off = (got[[i, j]] - expected).abs() / size;
                        assert!(off < 1e-13, "{kernel} {what} ({i}, {j}): {off:e}");
                    }
                    let off = (narrow[[i, j]] - expected).abs() / size;
                    assert!(off < 1e-4, "{kernel} f32 ({i}, {j}): {off:e}");
                }
            }
        }
    }
}

#[test]
fn equal_rows_have_the_kernel_of_no_distance() {
    // Far from the origin, so that a careless difference of squares would not vanish.
    let mut x = rows(140, 3);
    x += 1e5;
    let last = x.row(137).to_owned();
    x.row_mut(2).assign(&last);
    let sparse = csr(&x);
    let gamma = Bandwidth::Gamma(1e6);
    for kernel in [Kernel::Rbf { gamma }, Kernel::Laplacian { gamma }, Kernel::Chi2 { gamma }] {
        let kernel = kernel.resolve(&x, 0).unwrap();
        let dense = kernel.matrix(&x, &x).unwrap();
        let sparse = kernel.matrix(&sparse, &sparse).unwrap();
        for values in [&dense, &sparse] {
            assert!(values.diag().iter().all(|v| *v == 1.0), "{kernel}");
            assert_eq!((values[[2, 137]], values[[137, 2]]), (1.0, 1.0), "{kernel}");
        }
    }
}

#[test]
fn matrices_are_symmetric_to_the_bit() {
    let x = rows(200, 4);
    for kernel in kernels() {
        let x = suited(&kernel, &x);
        let values = kernel.matrix(&x, &x).unwrap();
        assert_eq!(values, values.t(), "{kernel}");
        // A value does not depend on the rows around it.
        let part = x.slice(s![130..150, ..]);
        let few = kernel.matrix(part, &x).unwrap();
        assert_eq!(few, values.slice(s![130..150, ..]), "{kernel}");
    }
}
