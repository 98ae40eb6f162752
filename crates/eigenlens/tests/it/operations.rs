//! The table of operations: true of every method, and as the pages show it.

use crate::support::Random;
use eigenlens::{
    AnyDataset, Dataset, FitContext, METHODS, Method, Model, OPERATIONS, Offer, Operation,
    PreImage, Target,
};
use std::path::Path;

/// Whether a model can do it, by asking it.
fn can(model: &dyn Model, operation: &str, data: &Dataset<f64>) -> Option<bool> {
    Some(match operation {
        "inverse_transform" => {
            let scores = model.transform_f64(data).unwrap();
            model.inverse_transform_f64(scores.view()).is_ok()
        }
        "pre_image" => {
            model.pre_images_f64(data, PreImage::Auto).is_some() && model.linear().is_none()
        }
        "components" | "loadings" => model.linear().is_some(),
        "shares" => model.component_shares().is_some(),
        "certificate" => model.certificate().is_some(),
        "log_likelihood" | "sample" | "impute" => model.density().is_some(),
        "predict" => model.classifier().is_some(),
        "standard_errors" => model.uncertain_scores().is_some(),
        "posterior_covariance" => model.latent().is_some(),
        "sampling_errors" => model.pca().is_some_and(|pca| pca.sampling_errors().is_some()),
        "varimax" => model.pca().is_some(),
        _ => return None,
    })
}

/// What the table says that a method has, its models have, and what it says that is missing is.
#[test]
fn operations_are_those_that_models_have() {
    let x = Random::new(3).matrix(40, 4);
    let target = Target::classes((0..40).map(|i| ["a", "b", "c"][i % 3]));
    let data = AnyDataset::from(Dataset::from(&x));
    for method in METHODS {
        let mut values = method.values();
        values.set_n_components(2);
        let mut context = FitContext::new().with_target(Some(&target));
        let model = values.fit(&data, &mut context).unwrap().model;
        for operation in OPERATIONS {
            let offered = operation.reason_against(method).is_none();
            if let Some(found) = can(&*model, operation.name, &Dataset::from(&x)) {
                assert_eq!(found, offered, "{} {}", method.name, operation.name);
            }
        }
        let estimator = method.build(&values, &data.shape()).unwrap();
        let kernel = Operation::named("implied_kernel").unwrap();
        let offered = kernel.reason_against(method).is_none();
        assert_eq!(estimator.implied_kernel(&data).is_ok(), offered, "{}", method.name);
        let input = method.options().any(|option| option.name == "input");
        let covariance = Operation::named("fit_covariance").unwrap();
        assert_eq!(input, covariance.reason_against(method).is_none(), "{}", method.name);
    }
}

/// The table of a page, between its marks.
fn page_table(method: &Method) -> String {
    let mut text =
        String::from("| operation | Rust | command line | Python |\n| --- | --- | --- | --- |\n");
    let cell = |offer: Offer| match offer {
        Offer::As(words) => format!("`{words}`"),
        Offer::Not(reason) => format!("not offered: {reason}"),
    };
    for of in OPERATIONS.iter().filter(|of| of.reason_against(method).is_none()) {
        let cells = [of.rust, of.command, of.python].map(cell).join(" | ");
        text.push_str(&format!("| {} | {cells} |\n", of.about));
    }
    text.push_str("\nNot offered, on any surface:\n\n| operation | why |\n| --- | --- |\n");
    for of in OPERATIONS {
        if let Some(reason) = of.reason_against(method) {
            text.push_str(&format!("| {} | {reason} |\n", of.about));
        }
    }
    text
}

/// Pages show the tables as they are; `cargo xtask pages` writes them anew.
#[test]
fn pages_show_the_operations() {
    const BEGIN: &str = "<!-- operations, written by `cargo xtask pages` -->\n";
    const END: &str = "<!-- end of operations -->\n";
    for method in METHODS {
        let page = format!("../../docs/methods/{}.md", method.name);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let text = std::fs::read_to_string(&path).unwrap();
        let (Some(begin), Some(end)) = (text.find(BEGIN), text.find(END)) else {
            panic!("{}: the marks of the operations are missing", path.display());
        };
        let (before, after) = (&text[..begin + BEGIN.len()], &text[end..]);
        let wanted = format!("{before}{}{after}", page_table(method));
        if std::env::var_os("EIGENLENS_WRITE_PAGES").is_some() {
            std::fs::write(&path, wanted).unwrap();
        } else {
            assert!(text == wanted, "{}: run `cargo xtask pages`", path.display());
        }
    }
}
