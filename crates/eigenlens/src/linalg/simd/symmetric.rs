//! The product of a symmetric matrix with a thin block, tile by tile: each tile is read once and
//! serves both halves, `Y_i += K_ij X_j` and `Y_j += K_ijᵀ X_i`.

use super::{Portable, Vector};

/// Columns of the thin block.
pub const WIDTH: usize = 8;

/// Rows of a tile that lie interleaved: entry (r, j) of a group is at `j·GROUP + r`, so that a group
/// is one stream of memory.
pub const GROUP: usize = 8;

/// Adds the products of one tile. `tile` has `groups` groups of [`GROUP`] rows and `columns`
/// columns; `x_rows` and `y_rows` are `groups·GROUP × WIDTH`, `x_columns` and `y_columns` (absent
/// for a tile on the diagonal, which holds both halves) `columns × WIDTH`.
pub fn symmetric_tile(
    tile: &[f64],
    columns: usize,
    x_rows: &[f64],
    x_columns: &[f64],
    y_rows: &mut [f64],
    y_columns: Option<&mut [f64]>,
) {
    let groups = tile.len() / (GROUP * columns.max(1));
    assert!(tile.len() == groups * GROUP * columns);
    assert!(x_rows.len() >= groups * GROUP * WIDTH && y_rows.len() >= groups * GROUP * WIDTH);
    assert!(x_columns.len() >= columns * WIDTH);
    let mut nothing = [];
    let both = y_columns.is_some();
    let y_columns = y_columns.unwrap_or(&mut nothing);
    assert!(!both || y_columns.len() >= columns * WIDTH);
    let job = Job {
        tile: tile.as_ptr(),
        groups,
        columns,
        x_rows: x_rows.as_ptr(),
        x_columns: x_columns.as_ptr(),
        y_rows: y_rows.as_mut_ptr(),
        y_columns: y_columns.as_mut_ptr(),
        both,
    };
    #[cfg(target_arch = "x86_64")]
    {
        if super::x86::has_avx512() {
            // SAFETY: the features were detected, the extents asserted.
            return unsafe { wide(&job) };
        }
        if super::x86::has_avx2() {
            // SAFETY: as above.
            return unsafe { narrow(&job) };
        }
    }
    // SAFETY: the extents are asserted.
    unsafe { drive::<Portable<f64>, 4>(&job) }
}

struct Job {
    tile: *const f64,
    groups: usize,
    columns: usize,
    x_rows: *const f64,
    x_columns: *const f64,
    y_rows: *mut f64,
    y_columns: *mut f64,
    both: bool,
}

/// SAFETY: the CPU has AVX-512, and the extents are as the job says.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn wide(job: &Job) {
    // SAFETY: vouched for by the caller.
    unsafe { drive::<std::arch::x86_64::__m512d, 8>(job) }
}

/// SAFETY: the CPU has AVX2 and FMA, and the extents are as the job says.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn narrow(job: &Job) {
    // SAFETY: vouched for by the caller.
    unsafe { drive::<std::arch::x86_64::__m256d, 4>(job) }
}

/// `R` rows at a time, whose vectors of X and sums of Y stay in registers.
#[inline(always)]
unsafe fn drive<V: Vector<f64>, const R: usize>(job: &Job) {
    for group in 0..job.groups {
        for part in (0..GROUP).step_by(R) {
            for lane in (0..WIDTH).step_by(V::LANES) {
                // SAFETY: vouched for by the caller.
                unsafe {
                    if job.both {
                        rows::<V, R, true>(job, group, part, lane);
                    } else {
                        rows::<V, R, false>(job, group, part, lane);
                    }
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn rows<V: Vector<f64>, const R: usize, const BOTH: bool>(
    job: &Job,
    group: usize,
    part: usize,
    lane: usize,
) {
    // SAFETY: vouched for by the caller.
    unsafe {
        let first = (group * GROUP + part) * WIDTH + lane;
        let mut x = [V::zero(); R];
        let mut y = [V::zero(); R];
        for r in 0..R {
            x[r] = V::load(job.x_rows.add(first + r * WIDTH));
        }
        let mut k = job.tile.add(group * GROUP * job.columns + part);
        for j in 0..job.columns {
            let x_j = V::load(job.x_columns.add(j * WIDTH + lane));
            // Two chains of sums: one would wait for itself.
            let (mut even, mut odd) = (V::zero(), V::zero());
            for r in 0..R {
                let value = V::splat(k.add(r));
                y[r] = value.mul_add(x_j, y[r]);
                if BOTH {
                    if r % 2 == 0 {
                        even = value.mul_add(x[r], even);
                    } else {
                        odd = value.mul_add(x[r], odd);
                    }
                }
            }
            if BOTH {
                let out = job.y_columns.add(j * WIDTH + lane);
                even.add_f64(out, false);
                odd.add_f64(out, false);
            }
            k = k.add(GROUP);
            fetch(k.wrapping_add(AHEAD));
        }
        for r in 0..R {
            y[r].add_f64(job.y_rows.add(first + r * WIDTH), false);
        }
    }
}

/// Elements ahead of their use that a stored tile is fetched: it comes from memory, and pages of it
/// need not lie side by side.
const AHEAD: usize = 512;

#[inline(always)]
fn fetch(element: *const f64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on the cache, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(element.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = element;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_are_those_of_plain_loops() {
        let whole = |at: usize| ((at * 7919) % 17) as f64 - 8.0;
        for (groups, columns) in [(1, 1), (2, 5), (16, 128), (3, 7)] {
            let rows = groups * GROUP;
            let tile: Vec<f64> = (0..rows * columns).map(whole).collect();
            let at =
                |i: usize, j: usize| tile[(i / GROUP) * GROUP * columns + j * GROUP + i % GROUP];
            let x_rows: Vec<f64> = (0..rows * WIDTH).map(|i| whole(i + 3)).collect();
            let x_columns: Vec<f64> = (0..columns * WIDTH).map(|i| whole(i + 5)).collect();
            for (both, kernel) in [(false, 0), (true, 0), (true, 1), (true, 2), (false, 1)] {
                let (mut y_rows, mut y_columns) =
                    (vec![1.0; rows * WIDTH], vec![2.0; columns * WIDTH]);
                let second = both.then_some(&mut y_columns[..]);
                match kernel {
                    0 => symmetric_tile(&tile, columns, &x_rows, &x_columns, &mut y_rows, second),
                    _ => {
                        let job = Job {
                            tile: tile.as_ptr(),
                            groups,
                            columns,
                            x_rows: x_rows.as_ptr(),
                            x_columns: x_columns.as_ptr(),
                            y_rows: y_rows.as_mut_ptr(),
                            y_columns: y_columns.as_mut_ptr(),
                            both,
                        };
                        #[cfg(target_arch = "x86_64")]
                        if kernel == 2 && super::super::x86::has_avx2() {
                            // SAFETY: the features were detected, the buffers are as large as said.
                            unsafe { narrow(&job) };
                        } else {
                            // SAFETY: the buffers are as large as said.
                            unsafe { drive::<Portable<f64>, 4>(&job) };
                        }
                        #[cfg(not(target_arch = "x86_64"))]
                        // SAFETY: the buffers are as large as said.
                        unsafe {
                            drive::<Portable<f64>, 4>(&job)
                        };
                    }
                }
                for b in 0..WIDTH {
                    for i in 0..rows {
                        let sum: f64 =
                            (0..columns).map(|j| at(i, j) * x_columns[j * WIDTH + b]).sum();
                        assert_eq!(y_rows[i * WIDTH + b], 1.0 + sum);
                    }
                    for j in 0..columns {
                        let sum: f64 = (0..rows).map(|i| at(i, j) * x_rows[i * WIDTH + b]).sum();
                        assert_eq!(y_columns[j * WIDTH + b], if both { 2.0 + sum } else { 2.0 });
                    }
                }
            }
        }
    }
}
