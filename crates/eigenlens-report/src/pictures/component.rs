//! A component as axes name it.

use crate::draw::number::percent;

/// A component: its name and, where known, its share of the variance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Component {
    /// Name, such as `PC1`.
    pub name: String,
    /// Share of the total variance, 0 to 1.
    pub share: Option<f64>,
}

impl Component {
    /// `PC1 (72.8 % of the variance)`, or the name alone.
    pub(crate) fn label(&self) -> String {
        match self.share {
            Some(share) => format!("{} ({} of the variance)", self.name, percent(share)),
            None => self.name.clone(),
        }
    }

    /// `PC1 · 72.8 %`, for headings over narrow things.
    pub(crate) fn short_label(&self) -> String {
        match self.share {
            Some(share) => format!("{} · {}", self.name, percent(share)),
            None => self.name.clone(),
        }
    }
}
