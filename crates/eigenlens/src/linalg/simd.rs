//! The one micro-kernel: a register tile of `C += A·B`, chosen for the CPU at run time.
//!
//! Every product in the crate goes through it, but for those of rows with a few columns (`narrow.rs`,
//! `thin.rs`), so each entry of a result is one chain of fused multiply-adds over the depth, in order: its bits do
//! not depend on how the work was tiled. This file and its modules are the reviewed corner of `unsafe`.

mod exp;
mod gemm_small_n;
mod gram_apply;
mod nonzero_rows;
mod rows;
mod symmetric;
mod transpose_8x8;
mod u8x4;

pub use exp::{cos, exp, exp_f32};
pub use gemm_small_n::{Columns, SMALL_N, add_gemm_small_n_transposed, gemm_small_n};
pub use gram_apply::{GRAM_APPLY_COLUMNS, GramApply, Next, Room};
pub use nonzero_rows::NonzeroRows;
pub use rows::{Lines, Row, add_deviations, center, scale, standardize};
pub use symmetric::{GROUP, WIDTH, symmetric_tile};
pub use transpose_8x8::{Lane, from_lanes, into_lanes, transpose_8x8};
pub use u8x4::{U8X4_SHIFT, U8x4, has_u8x4, pack_u8x4};

use std::cell::Cell;

/// A left operand seen as `rows × depth` with any strides, in elements.
#[derive(Clone, Copy)]
pub struct Left<'a, T> {
    data: &'a [T],
    rows: usize,
    depth: usize,
    row_stride: usize,
    depth_stride: usize,
}

impl<'a, T> Left<'a, T> {
    /// `rows × depth` entries, entry (i, p) at `i·row_stride + p·depth_stride`.
    #[inline]
    pub fn new(
        data: &'a [T],
        rows: usize,
        depth: usize,
        row_stride: usize,
        depth_stride: usize,
    ) -> Self {
        if rows > 0 && depth > 0 {
            let last = (rows - 1) * row_stride + (depth - 1) * depth_stride;
            assert!(last < data.len(), "left operand outside its slice");
        }
        Left { data, rows, depth, row_stride, depth_stride }
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Length of the sums.
    #[inline]
    pub fn depth(&self) -> usize {
        self.depth
    }
}

/// Memory that will be read soon, fetched into the cache a line at a time inside the loops of a
/// product, so that computing hides the loading of the next rows. Evenly: a core has about a dozen
/// fetches in flight, and a burst of more would make it wait.
pub struct Ahead {
    next: Cell<*const u8>,
    end: *const u8,
    stride: usize,
}

impl Ahead {
    /// Fetches `rows` over about `steps` steps of sums.
    pub fn new<T>(rows: &[T], steps: usize) -> Ahead {
        let range = rows.as_ptr_range();
        let stride = std::mem::size_of_val(rows).div_ceil(steps.max(1)).min(64);
        Ahead { next: Cell::new(range.start.cast()), end: range.end.cast(), stride }
    }
}

/// What one register tile fetches: a line at every step, this many bytes after the last one.
#[derive(Clone, Copy)]
struct Fetch {
    next: *const u8,
    stride: usize,
}

impl Fetch {
    /// The share of a tile whose sums have `depth` steps; `resting` is fetched when there is none.
    #[inline(always)]
    fn share(ahead: Option<&Ahead>, depth: usize, resting: *const u8) -> Fetch {
        match ahead {
            Some(ahead) if ahead.next.get() < ahead.end => {
                let next = ahead.next.get();
                ahead.next.set(next.wrapping_add(ahead.stride * depth));
                Fetch { next, stride: ahead.stride }
            }
            _ => Fetch { next: resting, stride: 0 },
        }
    }

    #[inline(always)]
    fn step(&mut self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch has no effect but on the cache, whatever the address.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T1>(self.next.cast());
        }
        self.next = self.next.wrapping_add(self.stride);
    }
}

/// Asks for the cache line of one element, to be used soon.
#[inline(always)]
pub fn fetch_line<T>(element: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on the cache.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = element;
}

/// Asks for the cache lines of some elements, to be used soon. In a loop of its own: a loop with a
/// fetch among its arithmetic is not vectorised.
#[inline(always)]
pub fn fetch_lines<T>(elements: &[T]) {
    elements.iter().step_by(64 / size_of::<T>()).for_each(fetch_line);
}

/// Whether the CPU has 32 registers of eight doubles each.
#[inline]
pub fn has_wide_registers() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::has_avx512();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Runs `work` compiled for wide registers where the CPU has them. For plain element-wise loops:
/// nothing is reassociated, so the bits are the same either way.
#[inline]
pub fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        if x86::has_avx512() {
            // SAFETY: the feature was detected.
            return unsafe { x86::with_avx512(work) };
        }
        if x86::has_avx2() {
            // SAFETY: the feature was detected.
            return unsafe { x86::with_avx2(work) };
        }
    }
    work()
}

/// A loop over elements, compiled for the widest registers the CPU has.
pub trait Elementwise {
    /// What the loop returns.
    type Output;

    /// The loop, `#[inline(always)]`; where `FUSED`, `mul_add` is one instruction.
    fn run<const FUSED: bool>(self) -> Self::Output;
}

/// Runs an element-wise loop. Its bits are the same on one CPU, whoever calls.
#[inline]
pub fn elementwise<E: Elementwise>(work: E) -> E::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if x86::has_avx512() {
            // SAFETY: the features were detected.
            return unsafe { x86::with_avx512(|| work.run::<true>()) };
        }
        if x86::has_avx2() {
            // SAFETY: the features were detected.
            return unsafe { x86::with_fma(|| work.run::<true>()) };
        }
    }
    work.run::<false>()
}

/// Element types the micro-kernel knows.
pub trait Tile: Sized {
    /// The widest vector, in elements: what "padded" operands are padded to.
    const PAD: usize;
    /// Columns of a packed panel: a multiple of every register tile's rows and columns.
    const PANEL: usize;

    /// Adds `A·B` to `C`, which is `a.rows() × columns`, row-major with row stride `c_stride`, in
    /// f64. `B` is `a.depth() × columns`, row-major with row stride `b_stride`. Where `overwrite` is
    /// set `C` is overwritten. `lower` keeps to tiles that touch row ≥ column + `lower`.
    fn product(
        a: Left<Self>,
        b: &[Self],
        b_stride: usize,
        columns: usize,
        c: &mut [f64],
        c_stride: usize,
        flags: GemmFlags<'_>,
    );
}

/// How a product is computed and stored.
#[derive(Clone, Copy, Default)]
pub struct GemmFlags<'a> {
    /// Overwrite instead of add.
    pub overwrite: bool,
    /// B's rows may be read up to the next multiple of half a [`Tile::PAD`] (and hold zeros there).
    pub padded: bool,
    /// Skip vectors that lie wholly above the diagonal `column = row + offset`.
    pub below_diagonal: Option<isize>,
    /// What to fetch on the way.
    pub ahead: Option<&'a Ahead>,
    /// Rows of packed panels that are not all zeros, and the first group of eight columns of A. Skipping the
    /// others changes no bit of the sums.
    pub nonzero_rows: Option<(&'a NonzeroRows, usize)>,
}

macro_rules! tile {
    ($t:ty, $pad:literal, $panel:literal, $($has:ident => $product:ident),*) => {
        impl Tile for $t {
            const PAD: usize = $pad;
            const PANEL: usize = $panel;

            fn product(
                a: Left<$t>,
                b: &[$t],
                b_stride: usize,
                columns: usize,
                c: &mut [f64],
                c_stride: usize,
                flags: GemmFlags<'_>,
            ) {
                if a.rows == 0 || columns == 0 {
                    return;
                }
                assert!(c_stride >= columns && (a.rows - 1) * c_stride + columns <= c.len());
                let read =
                    if flags.padded { columns.next_multiple_of(Self::PAD / 2) } else { columns };
                assert!(a.depth == 0 || (a.depth - 1) * b_stride + read <= b.len());
                #[cfg(target_arch = "x86_64")]
                {$(
                    if x86::$has() {
                        // SAFETY: the features were detected; the operands' extents are asserted
                        // above and in `Left::new`, and `drive` stays within them.
                        return unsafe { x86::$product(a, b, b_stride, columns, c, c_stride, flags) };
                    }
                )*}
                // SAFETY: the operands' extents are asserted above and in `Left::new`.
                unsafe {
                    drive::<$t, Portable<$t>, 4, 2, 4>(a, b, b_stride, columns, c, c_stride, flags)
                }
            }
        }
    };
}

tile!(f64, 8, 24, has_avx512 => product_f64_avx512, has_avx2 => product_f64_avx2);
tile!(f32, 16, 48, has_avx512 => product_f32_avx512, has_avx2 => product_f32_avx2);
tile!(U8x4, 16, 48, has_vnni => product_fours_vnni);

/// A vector of `LANES` elements.
trait Vector<T>: Copy {
    const LANES: usize;
    /// Half of it, for columns that would fill no more; itself where a half gains nothing.
    type Half: Vector<T>;
    const HALVED: bool = Self::LANES > Self::Half::LANES;
    unsafe fn low(self) -> Self::Half;
    unsafe fn zero() -> Self;
    unsafe fn load(p: *const T) -> Self;
    unsafe fn splat(p: *const T) -> Self;
    unsafe fn mul_add(self, b: Self, c: Self) -> Self;
    /// Adds the lanes to numbers in f64, or to 0 where they are `overwrite`.
    unsafe fn add_f64(self, p: *mut f64, overwrite: bool);
    /// One register tile, as a function of its own: inlined among others its sums would not stay in
    /// registers.
    /// `NV` vectors and `NH` (0 or 1) halves wide, together at most `NR` columns.
    unsafe fn tile<const MR: usize, const NV: usize, const NH: usize, const NR: usize>(
        job: &Job<T>,
    );
}

/// Walks C in register tiles of `MR` rows and `NV` vectors; `MAX` ≥ `NV·LANES` bounds the tile.
///
/// Ragged edges: rows left over go through smaller tiles; missing columns of B come from a
/// zero-padded copy of its last columns, made once per product.
#[inline(always)]
unsafe fn drive<
    T: Copy + Default,
    V: Vector<T>,
    const MR: usize,
    const NV: usize,
    const NR: usize,
>(
    a: Left<T>,
    b: &[T],
    b_stride: usize,
    columns: usize,
    c: &mut [f64],
    c_stride: usize,
    flags: GemmFlags<'_>,
) {
    let lanes = V::LANES;
    let half = if V::HALVED { lanes / 2 } else { 0 };
    let depth = a.depth;
    let whole = if flags.padded { columns } else { columns / lanes * lanes };
    let mut edge: Vec<T> = Vec::new();
    if whole < columns {
        edge.resize(depth * lanes, T::default());
        for p in 0..depth {
            for (slot, q) in (whole..columns).enumerate() {
                edge[p * lanes + slot] = b[p * b_stride + q];
            }
        }
    }
    let mut column = 0;
    while column < columns {
        // As many vectors as are left, up to the tile's width; a ragged last vector stands alone.
        let (b_ptr, stride, valid) = if column < whole {
            (&b[column.min(b.len())..], b_stride, (NV * lanes).min(whole - column))
        } else {
            (&edge[..], lanes, columns - column)
        };
        let mut row = 0;
        while row < a.rows {
            let rows = match a.rows - row {
                left if left >= MR => MR,
                left if left >= 4 => 4,
                left if left >= 2 => 2,
                _ => 1,
            };
            // Columns up to the diagonal of the tile's last row, in whole vectors or halves.
            let needed = flags.below_diagonal.map_or(valid, |offset| {
                let up_to = (row + rows).saturating_add_signed(offset).saturating_sub(column);
                up_to.next_multiple_of(V::Half::LANES).min(valid)
            });
            // Lists are made for the largest tile.
            let listed = match flags.nonzero_rows {
                Some((steps, first)) if MR == NonzeroRows::GROUP && !flags.overwrite => {
                    let strides = [a.depth_stride, stride];
                    Some(steps.of(first + row / MR, depth, strides)).filter(|l| l.len() < depth)
                }
                _ => None,
            };
            let depth = listed.map_or(depth, <[u16]>::len);
            if needed > 0 && (depth > 0 || flags.overwrite) {
                // SAFETY: rows `row..row+rows` and the tile's columns lie inside the operands.
                unsafe {
                    let start = a.data.as_ptr().add(row * a.row_stride);
                    let out = c.as_mut_ptr().add(row * c_stride + column);
                    let job = Job {
                        a: start,
                        row_stride: a.row_stride,
                        depth_stride: a.depth_stride,
                        b: b_ptr.as_ptr(),
                        b_stride: stride,
                        depth,
                        c: out,
                        c_stride,
                        valid: needed,
                        overwrite: flags.overwrite,
                        listed: listed.map(<[u16]>::as_ptr),
                        ahead: Fetch::share(flags.ahead, depth, start.cast()),
                    };
                    macro_rules! tile {
                        ($rows:expr) => {
                            match (needed / lanes, needed % lanes) {
                                (0, 1..) if needed <= half => V::tile::<$rows, 0, 1, NR>(&job),
                                (1, rest @ 1..) if rest <= half => V::tile::<$rows, 1, 1, NR>(&job),
                                (2, rest @ 1..) if rest <= half => V::tile::<$rows, 2, 1, NR>(&job),
                                (0, _) | (1, 0) => V::tile::<$rows, 1, 0, NR>(&job),
                                (1, _) | (2, 0) if NV >= 2 => V::tile::<$rows, 2, 0, NR>(&job),
                                _ => V::tile::<$rows, NV, 0, NR>(&job),
                            }
                        };
                    }
                    match rows {
                        1 => tile!(1),
                        2 => tile!(2),
                        4 if MR != 4 => tile!(4),
                        _ => tile!(MR),
                    }
                }
            }
            row += rows;
        }
        column += valid;
    }
}

/// One register tile: rows of A, columns of B, and where their products go.
struct Job<T> {
    a: *const T,
    row_stride: usize,
    depth_stride: usize,
    b: *const T,
    b_stride: usize,
    depth: usize,
    c: *mut f64,
    c_stride: usize,
    /// Columns that count.
    valid: usize,
    overwrite: bool,
    /// Where each step is, in elements of both operands, if not one after the other.
    listed: Option<*const u16>,
    ahead: Fetch,
}

/// How the left operand of a register tile is laid out in memory. What is known when compiling is an
/// addition less for every row in the innermost loop, which the decoder would be busy with.
struct LhsLayout;

impl LhsLayout {
    /// Rows of the tile are neighbours.
    const ROWS: u8 = 0;
    /// Steps of the sums are neighbours.
    const STEPS: u8 = 1;
    const STRIDED: u8 = 2;
    /// Rows are neighbours, and steps where a list says.
    const LISTED: u8 = 3;

    #[inline(always)]
    fn of<T>(job: &Job<T>) -> u8 {
        match (job.row_stride, job.depth_stride) {
            (1, _) if job.listed.is_some() => LhsLayout::LISTED,
            (1, _) => LhsLayout::ROWS,
            (_, 1) => LhsLayout::STEPS,
            _ => LhsLayout::STRIDED,
        }
    }
}

#[inline(always)]
unsafe fn tile<
    T,
    V: Vector<T>,
    const MR: usize,
    const NV: usize,
    const NH: usize,
    const NR: usize,
    const LIE: u8,
>(
    job: &Job<T>,
) {
    let &Job { c, c_stride, .. } = job;
    // SAFETY: the caller vouches for MR rows of A and NV vectors of B over the depth.
    unsafe {
        // Unrolled as far as registers reach for the addresses of rows.
        let sums: Sums<V, V::Half, MR, NV, NH> = match LIE {
            LhsLayout::ROWS => sums::<T, V, MR, NV, NH, 4>(job, 1, job.depth_stride),
            LhsLayout::LISTED => listed_sums::<T, V, MR, NV, NH>(job),
            LhsLayout::STEPS if NV + NH < 3 => sums::<T, V, MR, NV, NH, 2>(job, job.row_stride, 1),
            LhsLayout::STEPS => sums::<T, V, MR, NV, NH, 1>(job, job.row_stride, 1),
            _ => sums::<T, V, MR, NV, NH, 1>(job, job.row_stride, job.depth_stride),
        };
        if job.valid == NV * V::LANES + NH * V::Half::LANES {
            if job.overwrite {
                add_sums(&sums, c, c_stride, true);
            } else {
                add_sums(&sums, c, c_stride, false);
            }
            return;
        }
        let mut lines = [[0.0; NR]; MR];
        add_sums(&sums, lines.as_mut_ptr().cast(), NR, true);
        for (r, line) in lines.iter().enumerate() {
            let out = std::slice::from_raw_parts_mut(c.add(r * c_stride), job.valid);
            for (o, &v) in out.iter_mut().zip(line) {
                *o = if job.overwrite { v } else { *o + v };
            }
        }
    }
}

/// The sums of a tile in registers: whole vectors, and a half where there is one.
struct Sums<V, H, const MR: usize, const NV: usize, const NH: usize> {
    whole: [[V; NV]; MR],
    half: [[H; NH]; MR],
}

/// SAFETY: `c` has room for MR rows of NV vectors and NH halves.
#[inline(always)]
unsafe fn add_sums<T, V: Vector<T>, const MR: usize, const NV: usize, const NH: usize>(
    sums: &Sums<V, V::Half, MR, NV, NH>,
    c: *mut f64,
    c_stride: usize,
    overwrite: bool,
) {
    // Loops over constant ranges with small bodies: they unroll, and the sums stay in registers.
    for r in 0..MR {
        for q in 0..NV {
            // SAFETY: vouched for by the caller.
            unsafe { sums.whole[r][q].add_f64(c.add(r * c_stride + q * V::LANES), overwrite) };
        }
        for q in 0..NH {
            // SAFETY: vouched for by the caller.
            unsafe { sums.half[r][q].add_f64(c.add(r * c_stride + NV * V::LANES), overwrite) };
        }
    }
}

/// The sums of a tile, `UNROLLED` steps at a time.
///
/// SAFETY: there are MR rows of A and NV vectors and NH halves of B over the job's depth.
#[inline(always)]
unsafe fn sums<
    T,
    V: Vector<T>,
    const MR: usize,
    const NV: usize,
    const NH: usize,
    const UNROLLED: usize,
>(
    job: &Job<T>,
    row_stride: usize,
    depth_stride: usize,
) -> Sums<V, V::Half, MR, NV, NH> {
    let &Job { mut a, mut b, b_stride, depth, mut ahead, .. } = job;
    // SAFETY: vouched for by the caller.
    unsafe {
        let mut sums = Sums { whole: [[V::zero(); NV]; MR], half: [[V::Half::zero(); NH]; MR] };
        for _ in 0..depth / UNROLLED {
            for _ in 0..UNROLLED {
                step(&mut sums, a, row_stride, b);
                ahead.step();
                a = a.wrapping_add(depth_stride);
                b = b.wrapping_add(b_stride);
            }
        }
        for _ in 0..depth % UNROLLED {
            step(&mut sums, a, row_stride, b);
            ahead.step();
            a = a.wrapping_add(depth_stride);
            b = b.wrapping_add(b_stride);
        }
        sums
    }
}

/// The same over the steps of a list.
///
/// SAFETY: there are MR neighbouring rows of A and NV vectors and NH halves of B at each of them.
#[inline(always)]
unsafe fn listed_sums<T, V: Vector<T>, const MR: usize, const NV: usize, const NH: usize>(
    job: &Job<T>,
) -> Sums<V, V::Half, MR, NV, NH> {
    let &Job { a, b, depth, listed, mut ahead, .. } = job;
    // SAFETY: vouched for by the caller.
    unsafe {
        let mut sums = Sums { whole: [[V::zero(); NV]; MR], half: [[V::Half::zero(); NH]; MR] };
        let list = listed.map_or(&[][..], |list| std::slice::from_raw_parts(list, depth));
        for &offset in list {
            step(&mut sums, a.add(usize::from(offset)), 1, b.add(usize::from(offset)));
            ahead.step();
        }
        sums
    }
}

/// One step of the sums.
///
/// SAFETY: there are MR entries of A and NV vectors and NH halves of B.
#[inline(always)]
unsafe fn step<T, V: Vector<T>, const MR: usize, const NV: usize, const NH: usize>(
    sums: &mut Sums<V, V::Half, MR, NV, NH>,
    a: *const T,
    row_stride: usize,
    b: *const T,
) {
    // SAFETY: vouched for by the caller.
    unsafe {
        let mut right = [V::zero(); NV];
        for q in 0..NV {
            right[q] = V::load(b.add(q * V::LANES));
        }
        let mut right_half = [V::Half::zero(); NH];
        for q in 0..NH {
            right_half[q] = V::Half::load(b.add(NV * V::LANES));
        }
        for r in 0..MR {
            let left = V::splat(a.wrapping_add(r * row_stride));
            for q in 0..NV {
                sums.whole[r][q] = left.mul_add(right[q], sums.whole[r][q]);
            }
            for q in 0..NH {
                sums.half[r][q] = left.low().mul_add(right_half[q], sums.half[r][q]);
            }
        }
    }
}

/// Two elements as a "vector", for CPUs without the wide instructions, and as the tests' oracle.
#[derive(Clone, Copy)]
struct Portable<T>([T; 2]);

macro_rules! portable {
    ($t:ty) => {
        impl Vector<$t> for Portable<$t> {
            const LANES: usize = 2;
            type Half = Self;
            #[inline(always)]
            unsafe fn low(self) -> Self {
                self
            }
            #[inline(always)]
            unsafe fn zero() -> Self {
                Portable([0.0; 2])
            }
            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self {
                // SAFETY: the caller vouches for two elements.
                unsafe { Portable([*p, *p.add(1)]) }
            }
            #[inline(always)]
            unsafe fn splat(p: *const $t) -> Self {
                // SAFETY: the caller vouches for one element.
                unsafe { Portable([*p; 2]) }
            }
            #[inline(always)]
            unsafe fn mul_add(self, b: Self, c: Self) -> Self {
                Portable([self.0[0] * b.0[0] + c.0[0], self.0[1] * b.0[1] + c.0[1]])
            }
            #[inline(always)]
            unsafe fn add_f64(self, p: *mut f64, overwrite: bool) {
                for (lane, &v) in self.0.iter().enumerate() {
                    // SAFETY: the caller vouches for two elements.
                    let out = unsafe { &mut *p.add(lane) };
                    *out = f64::from(v) + if overwrite { 0.0 } else { *out };
                }
            }
            unsafe fn tile<const MR: usize, const NV: usize, const NH: usize, const NR: usize>(
                job: &Job<$t>,
            ) {
                // SAFETY: vouched for by the caller.
                unsafe { tile::<$t, Self, MR, NV, NH, NR, { LhsLayout::STRIDED }>(job) }
            }
        }
    };
}
portable!(f64);
portable!(f32);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::u8x4::{U8x4, wide as u8x4};
    use super::{GemmFlags, Job, Left, LhsLayout, Vector, drive, tile};
    use std::arch::x86_64::*;

    #[inline]
    pub(super) fn has_avx512() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw")
    }

    /// AVX-512 and its products of bytes.
    #[inline]
    pub(super) fn has_vnni() -> bool {
        has_avx512() && is_x86_feature_detected!("avx512vnni")
    }

    #[inline]
    pub(super) fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
    }

    /// SAFETY: the CPU has AVX-512.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub(super) unsafe fn with_avx512<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    /// SAFETY: the CPU has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    /// SAFETY: the CPU has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn with_fma<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    /// SAFETY: nothing to vouch for; it stands where others convert.
    #[inline(always)]
    unsafe fn itself<V>(v: V) -> V {
        v
    }

    macro_rules! vector {
        ($v:ty, $t:ty, $features:literal, $lanes:expr, $half:ty, $low:expr, $zero:path, $load:path, $splat:path, $fma:path, $add:path) => {
            impl Vector<$t> for $v {
                const LANES: usize = $lanes;
                type Half = $half;
                #[inline(always)]
                unsafe fn low(self) -> $half {
                    // SAFETY: only reached from a function with the feature enabled.
                    unsafe { $low(self) }
                }
                #[inline(always)]
                unsafe fn zero() -> Self {
                    // SAFETY: only reached from a function with the feature enabled.
                    unsafe { $zero() }
                }
                #[inline(always)]
                unsafe fn load(p: *const $t) -> Self {
                    // SAFETY: as above; the caller vouches for the elements.
                    unsafe { $load(p) }
                }
                #[inline(always)]
                unsafe fn splat(p: *const $t) -> Self {
                    // SAFETY: as above; the caller vouches for the element.
                    unsafe { $splat(*p) }
                }
                #[inline(always)]
                unsafe fn mul_add(self, b: Self, c: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $fma(self, b, c) }
                }
                #[inline(always)]
                unsafe fn add_f64(self, p: *mut f64, overwrite: bool) {
                    // SAFETY: as above; the caller vouches for the room.
                    unsafe { $add(self, p, overwrite) }
                }
                #[inline(always)]
                unsafe fn tile<
                    const MR: usize,
                    const NV: usize,
                    const NH: usize,
                    const NR: usize,
                >(
                    job: &Job<$t>,
                ) {
                    #[target_feature(enable = $features)]
                    #[inline(never)]
                    unsafe fn alone<
                        const MR: usize,
                        const NV: usize,
                        const NH: usize,
                        const NR: usize,
                        const LIE: u8,
                    >(
                        job: &Job<$t>,
                    ) {
                        // SAFETY: vouched for by the caller.
                        unsafe { tile::<$t, $v, MR, NV, NH, NR, LIE>(job) }
                    }
                    // SAFETY: vouched for by the caller.
                    unsafe {
                        match LhsLayout::of(job) {
                            LhsLayout::ROWS => alone::<MR, NV, NH, NR, { LhsLayout::ROWS }>(job),
                            LhsLayout::LISTED => {
                                alone::<MR, NV, NH, NR, { LhsLayout::LISTED }>(job)
                            }
                            LhsLayout::STEPS => alone::<MR, NV, NH, NR, { LhsLayout::STEPS }>(job),
                            _ => alone::<MR, NV, NH, NR, { LhsLayout::STRIDED }>(job),
                        }
                    }
                }
            }
        };
    }
    vector!(
        __m512d,
        f64,
        "avx512f,avx512vl,avx512dq,avx512bw",
        8,
        __m256d,
        _mm512_castpd512_pd256,
        _mm512_setzero_pd,
        _mm512_loadu_pd,
        _mm512_set1_pd,
        _mm512_fmadd_pd,
        add_512d
    );
    vector!(
        __m512,
        f32,
        "avx512f,avx512vl,avx512dq,avx512bw",
        16,
        __m256,
        _mm512_castps512_ps256,
        _mm512_setzero_ps,
        _mm512_loadu_ps,
        _mm512_set1_ps,
        _mm512_fmadd_ps,
        add_512
    );
    vector!(
        __m256d,
        f64,
        "avx2,fma",
        4,
        __m256d,
        itself,
        _mm256_setzero_pd,
        _mm256_loadu_pd,
        _mm256_set1_pd,
        _mm256_fmadd_pd,
        add_256d
    );
    vector!(
        __m256,
        f32,
        "avx2,fma",
        8,
        __m256,
        itself,
        _mm256_setzero_ps,
        _mm256_loadu_ps,
        _mm256_set1_ps,
        _mm256_fmadd_ps,
        add_256
    );
    vector!(
        __m512i,
        U8x4,
        "avx512f,avx512vl,avx512dq,avx512bw,avx512vnni",
        16,
        __m256i,
        _mm512_castsi512_si256,
        _mm512_setzero_si512,
        u8x4::load_512,
        u8x4::splat_512,
        u8x4::dot_512,
        u8x4::add_512
    );
    vector!(
        __m256i,
        U8x4,
        "avx512f,avx512vl,avx512dq,avx512bw,avx512vnni",
        8,
        __m256i,
        itself,
        _mm256_setzero_si256,
        u8x4::load_256,
        u8x4::splat_256,
        u8x4::dot_256,
        u8x4::add_256
    );

    /// SAFETY: the CPU has AVX-512; `p` has room for eight.
    #[inline(always)]
    unsafe fn add_512d(v: __m512d, p: *mut f64, overwrite: bool) {
        // SAFETY: vouched for by the caller.
        unsafe {
            let old = if overwrite { _mm512_setzero_pd() } else { _mm512_loadu_pd(p) };
            _mm512_storeu_pd(p, _mm512_add_pd(old, v));
        }
    }

    /// SAFETY: the CPU has AVX-512; `p` has room for sixteen.
    #[inline(always)]
    unsafe fn add_512(v: __m512, p: *mut f64, overwrite: bool) {
        // SAFETY: vouched for by the caller.
        unsafe {
            let bits = _mm512_castps_pd(v);
            let low = _mm256_castpd_ps(_mm512_castpd512_pd256(bits));
            let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(bits));
            add_512d(_mm512_cvtps_pd(low), p, overwrite);
            add_512d(_mm512_cvtps_pd(high), p.add(8), overwrite);
        }
    }

    /// SAFETY: the CPU has AVX; `p` has room for four.
    #[inline(always)]
    unsafe fn add_256d(v: __m256d, p: *mut f64, overwrite: bool) {
        // SAFETY: vouched for by the caller.
        unsafe {
            let old = if overwrite { _mm256_setzero_pd() } else { _mm256_loadu_pd(p) };
            _mm256_storeu_pd(p, _mm256_add_pd(old, v));
        }
    }

    /// SAFETY: the CPU has AVX; `p` has room for eight.
    #[inline(always)]
    unsafe fn add_256(v: __m256, p: *mut f64, overwrite: bool) {
        // SAFETY: vouched for by the caller.
        unsafe {
            add_256d(_mm256_cvtps_pd(_mm256_castps256_ps128(v)), p, overwrite);
            add_256d(_mm256_cvtps_pd(_mm256_extractf128_ps::<1>(v)), p.add(4), overwrite);
        }
    }

    macro_rules! product {
        ($name:ident, $features:literal, $t:ty, $v:ty, $rows:literal, $vectors:literal) => {
            /// SAFETY: the CPU has the features, and the operands are as large as they claim.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name(
                a: Left<$t>,
                b: &[$t],
                b_stride: usize,
                columns: usize,
                c: &mut [f64],
                c_stride: usize,
                flags: GemmFlags<'_>,
            ) {
                // SAFETY: vouched for by the caller.
                unsafe {
                    drive::<$t, $v, $rows, $vectors, { $vectors * <$v as Vector<$t>>::LANES }>(
                        a, b, b_stride, columns, c, c_stride, flags,
                    )
                }
            }
        };
    }
    // 24 of 32 registers hold sums with AVX-512, 12 of 16 with AVX2 (a 4 × 3 tile spills there).
    product!(product_f64_avx512, "avx512f,avx512vl,avx512dq,avx512bw", f64, __m512d, 8, 3);
    product!(product_f32_avx512, "avx512f,avx512vl,avx512dq,avx512bw", f32, __m512, 8, 3);
    product!(
        product_fours_vnni,
        "avx512f,avx512vl,avx512dq,avx512bw,avx512vnni",
        U8x4,
        __m512i,
        8,
        3
    );
    product!(product_f64_avx2, "avx2,fma", f64, __m256d, 6, 2);
    product!(product_f32_avx2, "avx2,fma", f32, __m256, 6, 2);
}

#[cfg(test)]
mod tests;
