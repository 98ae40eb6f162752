//! Every size and colour of the pictures.

use crate::draw::color::Rgb;

/// Width of a picture, in pixels of the SVG.
pub(crate) const WIDTH: f64 = 720.0;
/// Height of the area between the axes of an ordinary picture.
pub(crate) const PLOT_HEIGHT: f64 = 360.0;
/// Free space around everything.
pub(crate) const MARGIN: f64 = 24.0;

pub(crate) const TITLE_SIZE: f64 = 17.0;
pub(crate) const SUBTITLE_SIZE: f64 = 12.5;
pub(crate) const LABEL_SIZE: f64 = 12.5;
pub(crate) const TICK_SIZE: f64 = 11.5;
pub(crate) const LEGEND_SIZE: f64 = 12.0;
pub(crate) const POINT_LABEL_SIZE: f64 = 11.0;
pub(crate) const CAPTION_SIZE: f64 = 11.0;

/// The families a viewer tries; the first is bundled and is what PNG pictures use.
pub(crate) const FONT_FAMILY: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

pub(crate) const PAPER: Rgb = Rgb(0xff, 0xff, 0xff);
pub(crate) const INK: Rgb = Rgb(0x1f, 0x24, 0x2b);
pub(crate) const SOFT_INK: Rgb = Rgb(0x55, 0x5d, 0x68);
pub(crate) const AXIS: Rgb = Rgb(0x8a, 0x92, 0x9c);
pub(crate) const GRID: Rgb = Rgb(0xe8, 0xeb, 0xef);
/// Bars and points that are there but not meant.
pub(crate) const MUTED: Rgb = Rgb(0xc3, 0xcb, 0xd4);
/// Groups beyond the legend, and points without a value.
pub(crate) const OTHER: Rgb = Rgb(0x9a, 0xa3, 0xad);

pub(crate) const BLUE: Rgb = Rgb(0x00, 0x72, 0xb2);
pub(crate) const VERMILLION: Rgb = Rgb(0xd5, 0x5e, 0x00);
pub(crate) const GREEN: Rgb = Rgb(0x00, 0x9e, 0x73);
pub(crate) const PURPLE: Rgb = Rgb(0xcc, 0x79, 0xa7);
pub(crate) const ORANGE: Rgb = Rgb(0xe6, 0x9f, 0x00);
pub(crate) const SKY: Rgb = Rgb(0x56, 0xb4, 0xe9);

/// Okabe and Ito's colours, without yellow, which is too pale for small marks on white.
/// Their number (7) and that of the marker shapes (8) have no common factor, so that pairs repeat
/// only after 56 groups.
pub(crate) const GROUPS: [Rgb; 7] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INK];

/// Dash patterns of lines, in the order of the groups.
pub(crate) const DASHES: [&str; 6] = ["", "7 3", "2 3", "9 3 2 3", "4 2", "9 3 2 3 2 3"];

/// Groups named in a legend; the rest is drawn as one grey group.
pub(crate) const LEGEND_GROUPS: usize = 14;
/// Up to so many points are drawn one by one, with their shapes; more are painted as an image.
pub(crate) const VECTOR_POINTS: usize = 2_000;
/// Up to so many points carry their name as a tooltip.
pub(crate) const TOOLTIP_POINTS: usize = 1_000;
