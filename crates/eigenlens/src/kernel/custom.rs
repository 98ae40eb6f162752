//! A kernel of one's own.

use super::functions::KernelSpec;
use std::fmt;
use std::sync::Arc;

/// What is known of a function of one's own: nothing but its values.
pub(super) const KERNEL: KernelSpec = KernelSpec {
    positive: |_| false,
    // Its values are the function's.
    ..KernelSpec::of_rows("custom", "a function of two rows", |_, _, _| f64::NAN)
};

/// A function of two rows.
type Function = dyn Fn(&[f64], &[f64]) -> f64 + Send + Sync;

/// A kernel of one's own, with the name it goes by.
#[derive(Clone)]
pub struct CustomKernel {
    name: String,
    function: Arc<Function>,
}

impl CustomKernel {
    pub(super) fn new(
        name: String,
        function: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
    ) -> CustomKernel {
        CustomKernel { name, function: Arc::new(function) }
    }

    /// The name it goes by.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        (self.function)(x, y)
    }
}

impl fmt::Debug for CustomKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CustomKernel({:?})", self.name)
    }
}

impl PartialEq for CustomKernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.function, &other.function)
    }
}
