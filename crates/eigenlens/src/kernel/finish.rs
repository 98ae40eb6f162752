//! From inner products or distances to kernel values.

use super::ResolvedKernel;
use super::points::{Body, PanelRef, TILE};
use crate::linalg::simd::{Elementwise, elementwise, exp, exp_f32};

/// Turns a tile of products into kernel values.
pub(super) fn in_place(kernel: &ResolvedKernel, a: &PanelRef, b: &PanelRef, tile: &mut [f64]) {
    match *kernel {
        ResolvedKernel::Rbf { gamma } => {
            elementwise(Gaussian { a, b, gamma, tile });
        }
        ResolvedKernel::Laplacian { gamma } => {
            let overlap = matches!(a.body, Body::Sparse(_));
            elementwise(Exponential { a, b, gamma, overlap, tile });
        }
        ResolvedKernel::Polynomial { degree, gamma, coef0 } => {
            elementwise(Power { degree, gamma, coef0, tile: &mut tile[..a.rows * TILE] });
        }
        ResolvedKernel::Sigmoid { gamma, coef0 } => {
            tile[..a.rows * TILE].iter_mut().for_each(|v| *v = (gamma * *v + coef0).tanh());
        }
        // What was counted are differences.
        ResolvedKernel::Delta => {
            tile[..a.rows * TILE].iter_mut().for_each(|v| *v = f64::from(u8::from(*v == 0.0)));
        }
        ResolvedKernel::Linear
        | ResolvedKernel::Cosine
        | ResolvedKernel::Precomputed
        | ResolvedKernel::Custom(_) => {}
    }
}

/// The same, rounded to f32.
pub(super) fn narrow(
    kernel: &ResolvedKernel,
    a: &PanelRef,
    b: &PanelRef,
    products: &mut [f64],
    out: &mut [f32],
) {
    if let ResolvedKernel::Rbf { gamma } = *kernel {
        elementwise(NarrowGaussian { a, b, gamma, products, out });
        return;
    }
    in_place(kernel, a, b, products);
    let used = a.rows * TILE;
    out[..used].iter_mut().zip(&products[..used]).for_each(|(to, from)| *to = *from as f32);
}

/// `exp(−γ ‖x−y‖²)` with `‖x−y‖² = (x·x + y·y) − 2 x·y`: exactly 0 where x = y.
struct Gaussian<'a> {
    a: &'a PanelRef<'a>,
    b: &'a PanelRef<'a>,
    gamma: f64,
    tile: &'a mut [f64],
}

impl Elementwise for Gaussian<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let columns = self.b.norms.len().min(TILE);
        let right = &self.b.norms[..columns];
        for i in 0..self.a.rows {
            let left = self.a.norms[i];
            let line = &mut self.tile[i * TILE..i * TILE + columns];
            for (v, &right) in line.iter_mut().zip(right) {
                let square = ((left + right) - 2.0 * *v).max(0.0);
                *v = exp::<FUSED>(-self.gamma * square);
            }
        }
    }
}

struct NarrowGaussian<'a> {
    a: &'a PanelRef<'a>,
    b: &'a PanelRef<'a>,
    gamma: f64,
    products: &'a [f64],
    out: &'a mut [f32],
}

impl Elementwise for NarrowGaussian<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let columns = self.b.norms.len().min(TILE);
        let right = &self.b.norms[..columns];
        for i in 0..self.a.rows {
            let left = self.a.norms[i];
            let from = &self.products[i * TILE..i * TILE + columns];
            let to = &mut self.out[i * TILE..i * TILE + columns];
            for ((to, &v), &right) in to.iter_mut().zip(from).zip(right) {
                let square = ((left + right) - 2.0 * v).max(0.0);
                *to = exp_f32::<FUSED>((-self.gamma * square) as f32);
            }
        }
    }
}

/// `exp(−γ ‖x−y‖₁)`; of sparse rows the distance is the sum of moduli less the overlap.
struct Exponential<'a> {
    a: &'a PanelRef<'a>,
    b: &'a PanelRef<'a>,
    gamma: f64,
    overlap: bool,
    tile: &'a mut [f64],
}

impl Elementwise for Exponential<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let columns = self.b.norms.len().min(TILE);
        let right = &self.b.norms[..columns];
        for i in 0..self.a.rows {
            let left = self.a.norms[i];
            let line = &mut self.tile[i * TILE..i * TILE + columns];
            for (v, &right) in line.iter_mut().zip(right) {
                let length = if self.overlap { ((left + right) - *v).max(0.0) } else { *v };
                *v = exp::<FUSED>(-self.gamma * length);
            }
        }
    }
}

/// `(γ x·y + c)^p` by repeated multiplication.
struct Power<'a> {
    degree: u32,
    gamma: f64,
    coef0: f64,
    tile: &'a mut [f64],
}

impl Elementwise for Power<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Power { degree, gamma, coef0, tile } = self;
        match degree {
            2 => tile.iter_mut().for_each(|v| {
                let x = gamma * *v + coef0;
                *v = x * x;
            }),
            3 => tile.iter_mut().for_each(|v| {
                let x = gamma * *v + coef0;
                *v = x * x * x;
            }),
            _ => tile.iter_mut().for_each(|v| *v = (gamma * *v + coef0).powi(degree as i32)),
        }
    }
}
