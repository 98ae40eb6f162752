//! Everything the library promises, tested from outside.

mod bad_input;
mod conformance;
mod determinism;
mod golden;
mod hsic;
mod identities;
mod kernel_approximations;
mod kernel_pca;
mod kernel_pre_images;
mod kernel_supervised;
mod layers;
mod missing;
mod no_panic;
mod numacc;
mod parts;
mod ppca;
mod solvers;
mod sparse_exact;
mod sparse_golden;
mod sparse_pca;
mod supervised;
mod support;
mod torture;
mod torture_scale;
mod torture_spectra;
mod torture_support;
