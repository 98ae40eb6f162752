//! Every plot of the table, for models of many kinds.

use crate::{numbers, svg};
use eigenlens::{Dataset, Isomap, KernelPca, Lsa, Model, Pca, Ppca, SparsePca};
use eigenlens_views::{DataUse, Error, PLOTS, Plot, PlotOption, Request, Section};
use std::collections::BTreeSet;

fn models() -> Vec<Box<dyn Model>> {
    let x = numbers(40);
    let data = Dataset::from(&x);
    vec![
        Box::new(Pca::new(2).fit(&data).unwrap()),
        Box::new(Pca::new(1).whiten(true).fit(&data).unwrap()),
        Box::new(Lsa::new(2).fit(&data).unwrap()),
        Box::new(Ppca::new(2).fit(&data).unwrap()),
        Box::new(SparsePca::cardinality(2, 2).fit(&data).unwrap()),
        Box::new(KernelPca::new(2).fit(&data).unwrap()),
        Box::new(Isomap::new(2).neighbors(8).fit(&data).unwrap()),
    ]
}

#[test]
fn names_are_words_with_hyphens_and_no_two_are_alike() {
    let names: BTreeSet<&str> = PLOTS.iter().map(|plot| plot.name).collect();
    assert_eq!(names.len(), PLOTS.len());
    for plot in PLOTS {
        assert!(plot.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", plot.name);
        assert!(!plot.about.is_empty() && !plot.about.ends_with('.'), "{}", plot.name);
        assert!(Plot::named(plot.name).is_some_and(|found| found.name == plot.name));
    }
}

/// What the table says of a plot is what happens: it is drawn, or a typed error says what is missing.
#[test]
fn every_plot_is_drawn_or_says_why_not() {
    let x = numbers(40);
    for model in models() {
        for plot in PLOTS {
            let fits = plot.needs.is_had_by(&*model);
            match svg(plot.name, &*model, &x) {
                Ok(svg) => assert!(fits && svg.starts_with("<svg"), "{}", plot.name),
                Err(Error::DoesNotFit { method, .. }) => assert!(!fits && method == model.method()),
                Err(Error::NoImageShape) => assert!(plot.takes(PlotOption::ImageSize)),
                Err(error) => panic!("{} of {}: {error}", plot.name, model.method()),
            }
            let alone = plot.draw(&Request::new(&*model));
            let needs_data = matches!(alone, Err(Error::NeedsData { .. }));
            assert_eq!(needs_data, plot.data == DataUse::Required, "{}", plot.name);
        }
    }
}

#[test]
fn sections_of_a_report_come_from_the_table() {
    let model = &models()[0];
    let request = Request::new(&**model);
    let shown = |section: Section| -> Vec<&str> {
        let plots = PLOTS.iter().filter(|plot| plot.is_in_report(section, &request));
        plots.map(|plot| plot.name).collect()
    };
    assert_eq!(shown(Section::Components), ["scree"]);
    assert_eq!(shown(Section::Samples), [""; 0]);
    assert_eq!(shown(Section::Features), ["loadings", "heat-map", "circle"]);
}

#[test]
fn axes_and_sizes_are_checked() {
    let model = &models()[0];
    let request = || Request::new(&**model);
    for axes in [[0, 0], [0, 2], [5, 1]] {
        assert!(matches!(request().with_axes(axes), Err(Error::Axes { n_components: 2 })));
    }
    assert!(request().with_axes([1, 0]).is_ok());
    for (width, height, right) in
        [(2, 2, true), (4, 1, true), (3, 2, false), (usize::MAX, 2, false)]
    {
        let shape = eigenlens_views::ImageShape { width, height };
        assert_eq!(request().with_image_shape(Some(shape), None).is_ok(), right);
        // Images that were read and lost pixels since are no images any more, which is no mistake of the user.
        let images = Plot::named("images").unwrap();
        let read = request().with_image_shape(None, Some(shape)).unwrap();
        assert_eq!(images.draw(&read).is_ok(), right);
    }
}
