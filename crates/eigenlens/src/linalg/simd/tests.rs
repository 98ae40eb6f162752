//! Every kernel the CPU can run, against plain loops, on ragged shapes.

use super::*;

type Product<T> = unsafe fn(Left<T>, &[T], usize, usize, &mut [f64], usize, GemmFlags<'_>);

/// Whole numbers: their products and sums are exact, so every kernel must give the same.
fn whole(seed: usize, at: usize) -> f64 {
    ((at * 7919 + seed * 104_729) % 17) as f64 - 8.0
}

macro_rules! kernels {
    ($t:ty, $wide:ident, $narrow:ident) => {{
        let mut kernels: Vec<(&str, Product<$t>)> =
            vec![("portable", drive::<$t, Portable<$t>, 4, 2, 4>)];
        #[cfg(target_arch = "x86_64")]
        {
            if x86::has_avx512() {
                kernels.push(("avx512", x86::$wide));
            }
            if x86::has_avx2() {
                kernels.push(("avx2", x86::$narrow));
            }
        }
        kernels
    }};
}

macro_rules! check_products {
    ($t:ty, $kernels:expr) => {
        for (name, kernel) in $kernels {
            for (rows, depth, columns) in [
                (1, 1, 1usize),
                (3, 5, 2),
                (8, 7, 24),
                (9, 64, 25),
                (13, 10, 49),
                (25, 128, 104),
                (8, 9, 12),
                (12, 6, 20),
                (61, 5, 60),
            ] {
                for padded in [false, true] {
                    let stride = columns.next_multiple_of(<$t as Tile>::PAD);
                    let a: Vec<$t> = (0..2 * rows * depth).map(|i| whole(1, i) as $t).collect();
                    // Entries past the last column must never reach the result.
                    let mut b: Vec<$t> = vec![0.0; depth * stride];
                    for p in 0..depth {
                        for q in 0..columns {
                            b[p * stride + q] = whole(2, p * columns + q) as $t;
                        }
                    }
                    for (rs, ds) in [(depth, 1), (1, rows), (2 * depth, 2)] {
                        for (overwrite, below) in [(true, None), (false, None), (false, Some(0))] {
                            let mut c = vec![3.0; rows * columns];
                            let left = Left::new(&a, rows, depth, rs, ds);
                            let below_diagonal = below;
                            let flags = GemmFlags {
                                overwrite,
                                padded,
                                below_diagonal,
                                ..GemmFlags::default()
                            };
                            // SAFETY: the kernel was detected, the operands are as large as said.
                            unsafe { kernel(left, &b, stride, columns, &mut c, columns, flags) };
                            for i in 0..rows {
                                for j in 0..columns {
                                    if below.is_some() && j > i {
                                        continue;
                                    }
                                    let sum: f64 = (0..depth)
                                        .map(|p| f64::from(a[i * rs + p * ds] * b[p * stride + j]))
                                        .sum();
                                    let expected = if overwrite { sum } else { 3.0 + sum };
                                    let got = c[i * columns + j];
                                    assert_eq!(got, expected, "{name} {rows} {depth} {columns}");
                                }
                            }
                        }
                    }
                }
            }
        }
    };
}

#[test]
fn products_are_those_of_plain_loops() {
    check_products!(f64, kernels!(f64, product_f64_avx512, product_f64_avx2));
    check_products!(f32, kernels!(f32, product_f32_avx512, product_f32_avx2));
}

/// A panel with zeros in many places times another one, with their steps listed and without.
macro_rules! check_steps {
    ($t:ty) => {
        for (depth, rows, columns) in [(1, 8, 24), (7, 24, 24), (128, 21, 24), (33, 24, 13)] {
            let stride = <$t as Tile>::PANEL;
            let number = |seed: usize, i: usize| whole(seed, i) as $t;
            let b: Vec<$t> = (0..depth * stride).map(|i| number(3, i)).collect();
            // The third eight have nothing at all, the second everything.
            let zero = |p: usize, j: usize| match j / 8 {
                0 => p % 3 != 0 || j % 2 == 0,
                1 => false,
                _ => true,
            };
            let entry =
                |i: usize| if zero(i / stride, i % stride) { 0.0 } else { number(4, i) + 99.0 };
            let a: Vec<$t> = (0..depth * stride).map(entry).collect();
            let mut nonzero_rows = NonzeroRows::new(depth, stride);
            nonzero_rows.push_columns(&a, 0);
            nonzero_rows.push(true);
            nonzero_rows.push_columns(&a, 16);
            assert!(nonzero_rows.any(0..1) && nonzero_rows.any(1..3) && !nonzero_rows.any(2..3));
            let left = Left::new(&a, rows, depth, 1, stride);
            let product = |nonzero_rows: Option<(&NonzeroRows, usize)>| {
                let mut c = vec![0.5; rows * columns];
                let flags = GemmFlags { padded: true, nonzero_rows, ..GemmFlags::default() };
                <$t>::product(left, &b, stride, columns, &mut c, columns, flags);
                c
            };
            let found = product(Some((&nonzero_rows, 0)));
            assert_eq!(found, product(None));
            for (i, row) in found.chunks(columns).enumerate() {
                for (j, v) in row.iter().enumerate() {
                    let terms =
                        (0..depth).map(|p| f64::from(a[p * stride + i] * b[p * stride + j]));
                    assert_eq!(*v, 0.5 + terms.sum::<f64>());
                }
            }
        }
    };
}

#[test]
fn steps_of_zeros_are_passed_over() {
    check_steps!(f64);
    check_steps!(f32);
}
