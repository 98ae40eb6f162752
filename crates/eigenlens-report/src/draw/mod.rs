//! The drawing core: a canvas, axes, markers, legends and label placement.

pub(crate) mod arrow;
pub(crate) mod axis;
pub(crate) mod canvas;
pub(crate) mod cloud;
pub(crate) mod color;
pub(crate) mod font;
pub(crate) mod frame;
pub(crate) mod labels;
pub(crate) mod legend;
pub(crate) mod marker;
pub(crate) mod number;
pub(crate) mod pixels;
pub(crate) mod scale;
pub(crate) mod theme;
