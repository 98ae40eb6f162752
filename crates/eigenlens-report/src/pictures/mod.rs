//! The pictures, one file each.

pub(crate) mod biplot;
pub(crate) mod choice_of_k;
pub(crate) mod component;
pub(crate) mod correlation_circle;
pub(crate) mod grouping;
pub(crate) mod image_grid;
pub(crate) mod line;
pub(crate) mod loadings;
pub(crate) mod loadings_heat_map;
pub(crate) mod monitoring;
pub(crate) mod scores;
pub(crate) mod scree;
