//! The `eigenlens` program.

fn main() {}
