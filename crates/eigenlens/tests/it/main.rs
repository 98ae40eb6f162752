//! Integration tests of the library, in one binary.

mod golden;
mod identities;
mod solvers;
mod support;
