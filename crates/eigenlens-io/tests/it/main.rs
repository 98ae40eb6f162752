//! Everything that goes in and out, tested from outside.

mod model_file;
