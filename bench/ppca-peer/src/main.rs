//! The `ppca` crate on a table of doubles, NaN where an entry is missing: one line of JSON.
//!
//! usage: ppca-peer FILE ROWS COLUMNS K TARGET MOST
//!
//! It iterates until the log-likelihood reaches TARGET (to one part in a million) or MOST steps are
//! made. The likelihood is looked at outside the time that is counted, every fifth step.

use nalgebra::DVector;
use ppca::{Dataset, MaskedSample, PPCAModel};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, rows, columns, k, target, most] = &arguments[..] else {
        return Err("usage: ppca-peer FILE ROWS COLUMNS K TARGET MOST".into());
    };
    let (rows, columns): (usize, usize) = (rows.parse()?, columns.parse()?);
    let (k, target, most): (usize, f64, usize) = (k.parse()?, target.parse()?, most.parse()?);
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global()?;
    let bytes = std::fs::read(file)?;
    let values: Vec<f64> = bytes
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default()))
        .collect();
    if values.len() != rows * columns {
        return Err("the file has another size".into());
    }
    let sample = |row: &[f64]| MaskedSample::mask_non_finite(DVector::from_row_slice(row));
    let data = Dataset::from(values.chunks_exact(columns).map(sample).collect::<Vec<_>>());
    let mut model = PPCAModel::init(k, &data);
    let (mut seconds, mut steps, mut reached) = (0.0, 0, f64::NEG_INFINITY);
    while steps < most {
        let start = Instant::now();
        model = model.iterate(&data);
        seconds += start.elapsed().as_secs_f64();
        steps += 1;
        if steps % 5 == 0 || steps == most {
            reached = model.llk(&data);
            if reached >= target - 1e-6 * target.abs() {
                break;
            }
        }
    }
    println!(
        r#"{{"seconds": {seconds}, "iterations": {steps}, "log_likelihood": {reached}, "noise": {}}}"#,
        model.isotropic_noise()
    );
    Ok(())
}
