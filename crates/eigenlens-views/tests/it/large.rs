//! Data whose variances are beyond the range of numbers.

use crate::{numbers, svg};
use eigenlens::{Dataset, Mds, Model, Pca, SparsePca, SupervisedPca, Target};

/// Components, shares and scores are right there: every picture of them is drawn, and looks like that of the same
/// data in another unit but for the numbers on its axes.
#[test]
fn data_whose_squares_overflow_are_drawn() {
    let (small, large) = (numbers(40), numbers(40) * 2f64.powi(540));
    let classes: Vec<&str> = (0..40).map(|i| ["a", "b", "c"][i % 3]).collect();
    let target = Target::classes(classes);
    let fitted = |x| -> Vec<Box<dyn Model>> {
        let data = Dataset::from(x);
        let supervised = SupervisedPca::new(2).fit(&data, &target);
        vec![
            Box::new(Pca::new(2).fit(&data).unwrap()),
            Box::new(SparsePca::cardinality(2, 2).fit(&data).unwrap()),
            Box::new(supervised.unwrap()),
            Box::new(Mds::new(2).fit(&data).unwrap()),
        ]
    };
    for (model, same) in fitted(&large).iter().zip(&fitted(&small)) {
        let drawn = |kind| svg(kind, &**model, &large).unwrap();
        let method = model.method();
        let scree = drawn("scree");
        let share = |svg: &str| svg.split("components kept, ").nth(1).unwrap()[..6].to_owned();
        assert_eq!(share(&scree), share(&svg("scree", &**same, &small).unwrap()), "{method}");
        let count = |svg: &str| (svg.matches("<ellipse").count(), svg.matches("<path").count());
        let scores = drawn("scores");
        assert_eq!(count(&scores), count(&svg("scores", &**same, &small).unwrap()), "{method}");
        if model.linear().is_some() {
            drawn("loadings");
            drawn("heat-map");
            drawn("biplot");
        }
    }
}
