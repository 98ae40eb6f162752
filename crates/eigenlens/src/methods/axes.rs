//! What the components and features of a model are called, in tables and on the axes of pictures.

use super::estimator::Method;
use crate::model::Model;

/// An axis of a picture: a component as the model calls it, and what it carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name, such as `PC1`.
    pub name: String,
    /// What it carries of a total, where anything is shared out.
    pub share: Option<AxisShare>,
}

/// A part of a total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisShare {
    /// The part, 0 to 1.
    pub value: f64,
    /// What it is a part of, such as `the variance`.
    pub of: &'static str,
}

impl dyn Model + '_ {
    /// The names of the components (k), such as `PC1`.
    pub fn component_names(&self) -> Vec<String> {
        let axis = Method::named(self.method()).map_or("PC", |method| method.axis);
        (1..=self.n_components()).map(|j| format!("{axis}{j}")).collect()
    }

    /// The names of the features (d), or their numbers.
    pub fn feature_labels(&self) -> Vec<String> {
        match self.feature_names() {
            Some(names) => names.to_vec(),
            None => (1..=self.n_features()).map(|f| format!("column {f}")).collect(),
        }
    }

    /// The axes of the components (k).
    pub fn axes(&self) -> Vec<Axis> {
        let shares = self.component_shares();
        let axis = |(j, name): (usize, String)| Axis {
            name: match self.scores_are_probabilities() {
                true => format!("Probability of {name}"),
                false => name,
            },
            share: shares.as_ref().and_then(|shares| {
                let value = shares.values.get(j).copied()?;
                Some(AxisShare { value, of: shares.of })
            }),
        };
        self.component_names().into_iter().enumerate().map(axis).collect()
    }
}
