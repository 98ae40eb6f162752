//! Files in and out, as a user of the crate meets them.

mod bad_cells;
mod common;
mod compressed;
mod csv_bad;
mod csv_good;
mod forgery;
#[cfg(unix)]
mod fork;
mod formats;
mod fuzz;
mod model_file;
mod output;
mod pipes;
mod round_trip;
mod table;
