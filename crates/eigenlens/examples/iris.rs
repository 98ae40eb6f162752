//! PCA of Fisher's iris measurements, with its certificate: `cargo run --release --example iris`.

use eigenlens::{Dataset, Pca, Result};
use ndarray::Array2;

fn main() -> Result<()> {
    let table = include_str!("../../../golden/iris/data.csv");
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').take(4).collect();
    let values: Vec<f64> = lines
        .flat_map(|line| {
            line.split(',').take(4).filter_map(|field| field.parse().ok()).collect::<Vec<f64>>()
        })
        .collect();
    let rows = values.len() / 4;
    let x = Array2::from_shape_vec((rows, 4), values).expect("the bundled table is complete");

    let data = Dataset::from(&x).with_feature_names(names.clone())?;
    let (model, scores) = Pca::new(3).fit_transform(&data)?;

    println!("iris: {rows} samples, 4 features\n{}\n", model.plan());
    println!(
        "component   variance     ± error    share  {}",
        names.iter().map(|n| format!("{n:>14}")).collect::<String>()
    );
    let errors = model.sampling_errors().unwrap_or_default();
    for (j, share) in model.explained_variance_ratio().iter().enumerate() {
        let weights: String =
            model.components().row(j).iter().map(|u| format!("{u:>14.4}")).collect();
        println!(
            "{:>9} {:>10.5} {:>11.5} {:>7.2}%  {weights}",
            j + 1,
            model.explained_variance()[j],
            errors[j],
            100.0 * share
        );
    }
    println!("\n{}", model.certificate());
    for warning in model.warnings() {
        println!("warning: {warning}");
    }
    println!("\nfirst scores: {:.4}", scores.row(0));
    Ok(())
}
