//! `eigenlens sample`: new samples from a model.

use super::impute::need_density;
use crate::arguments::{Common, Sample};
use crate::describe::{feature_names, read_model};
use crate::failure::Failure;
use crate::output::TableOutput;
use crate::talk::Talk;
use eigenlens_io::{AnyArray, Labels};

pub fn run(asked: &Sample, common: &Common, talk: &Talk) -> Result<(), Failure> {
    let table = TableOutput::create(&asked.output, std::slice::from_ref(&asked.model))?;
    let stored = read_model(&asked.model, common.threads)?;
    let features = feature_names(&*stored.model);
    let (path, is_stdout) = (table.path.clone(), table.is_stdout());
    match stored.model.as_mixture() {
        Some(mixture) => {
            let (rows, from) = mixture.sample(asked.n, common.seed);
            let mut parts = Labels::default();
            from.iter().for_each(|c| parts.push(&format!("part{}", c + 1)));
            table.write_all(&["part".to_string()], &[parts], &features, &AnyArray::F64(rows))?;
        }
        None => {
            let model = need_density(&*stored.model, "sample")?;
            let rows = model.sample(asked.n, common.seed);
            table.write_all(&[], &[], &features, &AnyArray::F64(rows))?;
        }
    }
    if !is_stdout {
        talk.say(format!("samples: {}", path.display()));
    }
    Ok(())
}
