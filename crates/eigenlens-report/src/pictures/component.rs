//! A component as axes name it.

use crate::draw::number::percent;

/// A component: its name and, where known, what it carries of a total.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Component {
    /// Name, such as `PC1`.
    pub name: String,
    /// What it carries.
    pub share: Option<Share>,
}

/// A part of a total.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// The part, 0 to 1.
    pub value: f64,
    /// What the total is, such as `the variance`.
    pub of: String,
}

impl Component {
    /// `PC1 (72.8 % of the variance)`, or the name alone.
    pub(crate) fn label(&self) -> String {
        match &self.share {
            Some(Share { value, of }) => format!("{} ({} of {of})", self.name, percent(*value)),
            None => self.name.clone(),
        }
    }

    /// `PC1 · 72.8 %`, for headings over narrow things.
    pub(crate) fn short_label(&self) -> String {
        match &self.share {
            Some(share) => format!("{} · {}", self.name, percent(share.value)),
            None => self.name.clone(),
        }
    }
}
