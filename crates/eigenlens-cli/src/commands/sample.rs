//! `eigenlens sample`: new samples from a model.

use super::impute::need_density;
use crate::arguments::{Common, Sample};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::output::TableOutput;
use crate::reporter::Reporter;
use eigenlens_io::{AnyArray, Labels};

pub fn run(args: &Sample, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let table = TableOutput::create(&args.output, std::slice::from_ref(&args.model))?;
    let stored = read_model(&args.model, common.threads)?;
    let features = stored.model.feature_labels();
    let (path, is_stdout) = (table.path.clone(), table.is_stdout());
    match stored.model.as_mixture() {
        Some(mixture) => {
            let (rows, from) = mixture.sample(args.n, common.seed);
            let mut parts = Labels::default();
            from.iter().for_each(|c| parts.push(&format!("part{}", c + 1)));
            table.write_all(&["part".to_string()], &[parts], &features, &AnyArray::F64(rows))?;
        }
        None => {
            let model = need_density(&*stored.model, "sample")?;
            let rows = model.sample(args.n, common.seed);
            table.write_all(&[], &[], &features, &AnyArray::F64(rows))?;
        }
    }
    if !is_stdout {
        reporter.info(format!("samples: {}", path.display()));
    }
    Ok(())
}
