//! Dense and sparse kernels: the only place that sees faer and SIMD.

pub(crate) mod aligned;
pub(crate) mod buffer_pool;
pub(crate) mod cancel;
pub(crate) mod dense;
pub(crate) mod digest;
pub(crate) mod gemm;
pub(crate) mod ordered_reduce;
pub(crate) mod pages;
pub(crate) mod pivoted_cholesky;
pub(crate) mod pool;
pub(crate) mod random;
pub(crate) mod scatter;
pub(crate) mod simd;
pub(crate) mod small;
pub(crate) mod sparse;
pub(crate) mod transpose;
