//! `eigenlens demo`: the first steps, shown while they are taken.

use crate::arguments::{Cli, Common};
use crate::failure::Failure;
use crate::reporter::Reporter;
use clap::Parser;

const STEPS: [&str; 3] = [
    "eigenlens example iris",
    "eigenlens fit pca iris.csv",
    "eigenlens plot iris.model.safetensors iris.csv -o iris.svg",
];

pub fn run(common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    for step in STEPS {
        reporter.info(format!("$ {step}"));
        let cli = Cli::try_parse_from(step.split(' '))
            .map_err(|e| Failure::Internal(format!("`{step}` is not understood: {e}")))?;
        super::run(&Cli { common: common.clone(), ..cli }, reporter)?;
        reporter.info("");
    }
    reporter
        .info("next: `eigenlens report iris.model.safetensors iris.csv`, or a table of your own");
    Ok(())
}
