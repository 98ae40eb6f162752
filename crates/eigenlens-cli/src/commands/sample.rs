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
    let drawn = need_density(&*stored.model, "sample")?.sample(args.n, common.seed());
    let (names, labels) = match (&drawn.classes, stored.model.classifier()) {
        (Some(from), Some(classifier)) => {
            let classes = classifier.classes();
            let mut labels = Labels::default();
            from.iter().for_each(|class| labels.push(&classes[*class]));
            (vec![classifier.class_name().to_string()], vec![labels])
        }
        _ => (Vec::new(), Vec::new()),
    };
    table.write_all(&names, &labels, &features, &AnyArray::F64(drawn.rows))?.commit()?;
    if !is_stdout {
        reporter.info(format!("samples: {}", path.display()));
    }
    Ok(())
}
