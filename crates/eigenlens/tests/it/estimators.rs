//! Every method, ready to fit: whoever loops over [`METHODS`] gets its estimators here.

use eigenlens::{
    DataShape, ErrorKind, Estimator, Method, NComponents, OptionValue, OptionValues, Options,
    Result, Target,
};
use ndarray::ArrayView1;

/// The method with so many components and otherwise what is usual, for data that may fall apart; a usage
/// error where it cannot be asked for them so.
pub fn estimator(
    method: &'static Method,
    n_components: &NComponents,
    options: &Options,
    shape: &DataShape,
) -> Result<Box<dyn Estimator>> {
    let built = method.build(&values(method, n_components, options)?, shape);
    built.inspect_err(|e| assert_eq!(e.kind(), ErrorKind::Usage, "{}: {e}", method.name))
}

/// The options of that estimator.
pub fn values(
    method: &'static Method,
    n_components: &NComponents,
    options: &Options,
) -> Result<OptionValues> {
    let mut values = method.values().with_options(options.clone());
    values.set_n_components(n_components.clone());
    for option in method.options() {
        match (option.name, n_components) {
            ("bridges", _) => values.set("bridges", OptionValue::Flag(true))?,
            // Its components are its parts: scores say how much of a sample belongs to each.
            ("n_parts", NComponents::Fixed(k)) => {
                values.set("n_parts", OptionValue::Count(*k))?;
                values.set_n_components(1);
            }
            _ => {}
        }
    }
    Ok(values)
}

/// Classes by the size of a feature: the same for a row wherever it stands.
pub fn classes(feature: ArrayView1<f64>) -> Target {
    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let class = |v: f64| NAMES[((v / 3.0 + 4.0).clamp(0.0, 7.0)) as usize];
    Target::classes(feature.iter().map(|v| class(*v)))
}
