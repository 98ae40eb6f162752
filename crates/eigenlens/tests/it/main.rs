//! Everything the library promises, tested from outside.

mod bad_input;
mod conformance;
mod determinism;
mod embedding_new_samples;
mod embedding_support;
mod embeddings;
mod golden;
mod identities;
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
mod support;
mod torture;
mod torture_scale;
mod torture_spectra;
mod torture_support;
