//! The inner product: kernel PCA with it is PCA.

use super::{KernelSpec, dot};

pub(super) const KERNEL: KernelSpec =
    KernelSpec::of_products("linear", "x·y: plain PCA", |_, x, y| dot(x, y));
