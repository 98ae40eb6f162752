//! Tests of the pictures, tables and pages as their users call them.

mod degenerate;
mod determinism;
mod errors;
mod explorer;
mod html;
mod names;
mod png;
mod samples;
mod svg;
mod terminal;
