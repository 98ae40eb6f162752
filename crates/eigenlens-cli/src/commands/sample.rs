//! `eigenlens sample`: new samples from a model.

use super::impute::need_density;
use crate::arguments::{Common, Sample};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::output::{TableOutput, view};
use crate::reporter::Reporter;
use eigenlens_io::{AnyArray, Labels};

/// Entries drawn at once: a megabyte of them.
const BLOCK_ENTRIES: usize = 1 << 17;

pub fn run(args: &Sample, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let mut table = TableOutput::create(&args.output, std::slice::from_ref(&args.model))?;
    let stored = read_model(&args.model, common)?;
    let features = stored.model.feature_labels();
    let (path, is_stdout) = (table.path.clone(), table.is_stdout());
    let mut sampler = need_density(&*stored.model, "sample")?.sampler(common.seed());
    let classifier = stored.model.classifier();
    let names: Vec<String> = classifier.iter().map(|c| c.class_name().to_string()).collect();
    let classes = classifier.map_or(Vec::new(), |classifier| classifier.classes());
    table.begin(&names, &features, false, Some(args.n))?;
    // Some at a time, so that memory stays small whatever their number.
    let at_once = (BLOCK_ENTRIES / features.len().max(1)).max(1);
    for first in (0..args.n).step_by(at_once) {
        let drawn = sampler.draw(at_once.min(args.n - first));
        let labels = drawn.classes.map(|from| {
            let mut labels = Labels::default();
            from.iter().for_each(|class| labels.push(&classes[*class]));
            labels
        });
        table.write(labels.as_slice(), view(&AnyArray::F64(drawn.rows)))?;
    }
    table.finish()?;
    if !is_stdout {
        reporter.info(format!("samples: {}", path.display()));
    }
    Ok(())
}
