//! Axes and arrows as pictures take them, from what the model says.

use eigenlens::{Axis, AxisShare, Model};
use eigenlens_report::{Arrow, Component, Share};

/// The components of a model as axes name them.
pub(crate) fn components(model: &dyn Model) -> Vec<Component> {
    let share = |AxisShare { value, of }| Share { value, of: of.into() };
    let component = |Axis { name, share: carried }| Component { name, share: carried.map(share) };
    model.axes().into_iter().map(component).collect()
}

/// Two of the components; the second axis of a model that has one component has no name.
pub(crate) fn plane(model: &dyn Model, axes: [usize; 2]) -> [Component; 2] {
    let all = components(model);
    axes.map(|axis| all.get(axis).cloned().unwrap_or_default())
}

/// An arrow for each feature.
pub(crate) fn arrows(model: &dyn Model, tip: impl Fn(usize) -> [f64; 2]) -> Vec<Arrow> {
    let names = model.feature_labels().into_iter().enumerate();
    names.map(|(f, name)| Arrow { name, tip: tip(f) }).collect()
}
