//! `eigenlens rotate`: loadings on axes with few large entries each.

use super::fit::write_named;
use crate::arguments::{Common, Rotate};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::output::TableOutput;
use crate::reporter::Reporter;
use eigenlens::model::number;
use eigenlens::model::rotation::VarimaxOptions;
use eigenlens_io::AnyArray;
use eigenlens_io::write::{check_distinct, commit_together};
use std::path::Path;

pub fn run(args: &Rotate, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    let paths = [Some(&args.output), args.rotation.as_ref()];
    check_distinct(&paths.into_iter().flatten().map(|p| p.as_path()).collect::<Vec<_>>())?;
    let inputs = std::slice::from_ref(&args.model);
    let output = TableOutput::create(&args.output, inputs)?;
    let rotation = args.rotation.as_ref().map(|path| TableOutput::create(path, inputs));
    let rotation = rotation.transpose()?;
    let stored = read_model(&args.model, common)?;
    let model = &*stored.model;
    let Some(pca) = model.pca() else {
        return Err(Failure::usage(
            format!("a model of the method `{}` is not rotated", model.method()),
            "rotate one of `pca`, `lsa`, `ppca` or `bayesian-pca`",
        ));
    };
    let options = VarimaxOptions { normalize: !args.no_normalize, ..VarimaxOptions::default() };
    let found = pca.varimax(options)?;
    if !found.converged {
        reporter.warn(format!("the rotation has not arrived after {} sweeps", found.iterations));
    }
    let (names, features) = (model.component_names(), model.feature_labels());
    let factors: Vec<String> = (1..=names.len()).map(|j| format!("RC{j}")).collect();
    let variances: Vec<String> =
        found.explained_variance().iter().map(|variance| number(*variance)).collect();
    reporter.info(format!("variance of the rotated factors: {}", variances.join(", ")));
    let loadings = AnyArray::F64(found.loadings);
    let mut complete = vec![write_named(output, "feature", &features, &factors, loadings)?];
    if let Some(table) = rotation {
        let matrix = AnyArray::F64(found.rotation);
        complete.push(write_named(table, "component", &names, &factors, matrix)?);
    }
    commit_together(complete)?;
    for (what, path) in [("loadings", Some(&args.output)), ("rotation", args.rotation.as_ref())] {
        if let Some(path) = path.filter(|path| *path != Path::new("-")) {
            reporter.info(format!("{what}: {}", path.display()));
        }
    }
    Ok(())
}
