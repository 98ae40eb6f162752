//! The library for Python: what Python hands over is converted, the library is called without the
//! interpreter's lock, and the answer is converted back. Nothing is decided here; scikit-learn's
//! conventions live in `python/eigenlens`.

mod arrow;
mod association;
mod choose;
mod command;
mod data;
mod dependence;
mod errors;
mod explore;
mod files;
mod inside;
mod interrupt;
mod kernels;
mod methods;
mod model;
mod moments;
mod options;
mod picture;
mod records;
mod target;
mod verify;

/// The program's: it keeps `--memory` for the command, and passes everything on to the system for all else.
#[global_allocator]
static ALLOCATOR: eigenlens_cli::Allocator = eigenlens_cli::Allocator;

/// The compiled part of `eigenlens`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::arrow::from_arrow;
    #[pymodule_export]
    use super::association::associations;
    #[pymodule_export]
    use super::choose::{choose_n_components, rule_names};
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::dependence::hsic;
    #[pymodule_export]
    use super::errors::NoRowsError;
    #[pymodule_export]
    use super::explore::explore;
    #[pymodule_export]
    use super::files::Files;
    #[pymodule_export]
    use super::inside::{model_array, model_description, pre_images};
    #[pymodule_export]
    use super::kernels::{kernel_matrix, kernels};
    #[pymodule_export]
    use super::methods::{fit, implied_kernel, method_names, operations, option_names, plan};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::moments::{Moments, column_statistics, fit_moments};
    #[pymodule_export]
    use super::picture::{Picture, draw, plots};
    #[pymodule_export]
    use super::verify::{verify_claim, verify_kernel_claim};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
