//! The program as users meet it: run as a process, judged by its output, files and exit code.

mod bad_cells;
mod budgets;
mod diagnose;
mod embeddings;
mod errors;
mod file_kinds;
mod formats;
mod kernel_pca;
mod lda;
mod missing;
mod models;
mod models_v1;
mod outputs;
mod pages;
mod parity;
mod pictures;
mod process;
mod results;
mod snapshots;
mod sparse_pca;
mod supervised;
mod support;
mod surfaces;
