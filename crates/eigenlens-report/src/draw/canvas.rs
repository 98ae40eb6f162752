//! An SVG under construction. All text that enters is cleaned and escaped here, all numbers are
//! written with two decimals, so that the same picture is the same bytes.

use std::fmt::Write as _;

use crate::draw::color::Rgb;
use crate::draw::font::{self, Weight};
use crate::draw::number::px;
use crate::draw::theme;
use crate::names;
use crate::picture::Picture;

/// A point in pixels, y down.
pub(crate) type Point = [f64; 2];

/// A rectangle in pixels, y down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }

    pub fn center(&self) -> Point {
        [self.x + self.width / 2.0, self.y + self.height / 2.0]
    }

    pub fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.right()
            && other.x < self.right()
            && self.y < other.bottom()
            && other.y < self.bottom()
    }

    pub fn contains(&self, other: &Rect) -> bool {
        other.x >= self.x
            && other.y >= self.y
            && other.right() <= self.right()
            && other.bottom() <= self.bottom()
    }
}

/// How a shape is filled and outlined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    fill: Option<Rgb>,
    stroke: Option<Rgb>,
    stroke_width: f64,
    dash: &'static str,
    opacity: f64,
}

impl Style {
    pub fn fill(color: Rgb) -> Style {
        Style { fill: Some(color), stroke: None, stroke_width: 0.0, dash: "", opacity: 1.0 }
    }

    pub fn stroke(color: Rgb, width: f64) -> Style {
        Style { fill: None, stroke: Some(color), stroke_width: width, dash: "", opacity: 1.0 }
    }

    pub fn outlined(self, color: Rgb, width: f64) -> Style {
        Style { stroke: Some(color), stroke_width: width, ..self }
    }

    pub fn dash(self, dash: &'static str) -> Style {
        Style { dash, ..self }
    }

    pub fn opacity(self, opacity: f64) -> Style {
        Style { opacity, ..self }
    }

    fn write(&self, out: &mut String) {
        match self.fill {
            Some(color) => push(out, format_args!(" fill=\"{color}\"")),
            None => out.push_str(" fill=\"none\""),
        }
        if let Some(color) = self.stroke {
            let width = px(self.stroke_width);
            push(out, format_args!(" stroke=\"{color}\" stroke-width=\"{width}\""));
        }
        if !self.dash.is_empty() {
            push(out, format_args!(" stroke-dasharray=\"{}\"", self.dash));
        }
        if self.opacity < 1.0 {
            push(out, format_args!(" opacity=\"{}\"", px(self.opacity)));
        }
    }
}

/// Which end of a text is at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextStyle {
    pub size: f64,
    weight: Weight,
    color: Rgb,
    anchor: Anchor,
    halo: bool,
    upwards: bool,
}

impl TextStyle {
    pub fn new(size: f64) -> TextStyle {
        TextStyle {
            size,
            weight: Weight::Regular,
            color: theme::INK,
            anchor: Anchor::Start,
            halo: false,
            upwards: false,
        }
    }

    pub fn soft(self) -> TextStyle {
        self.color(theme::SOFT_INK)
    }

    pub fn color(self, color: Rgb) -> TextStyle {
        TextStyle { color, ..self }
    }

    pub fn bold(self) -> TextStyle {
        TextStyle { weight: Weight::SemiBold, ..self }
    }

    pub fn anchor(self, anchor: Anchor) -> TextStyle {
        TextStyle { anchor, ..self }
    }

    /// With a white rim, for text over marks.
    pub fn halo(self) -> TextStyle {
        TextStyle { halo: true, ..self }
    }

    /// Read from bottom to top.
    pub fn upwards(self) -> TextStyle {
        TextStyle { upwards: true, ..self }
    }

    pub fn width(&self, text: &str) -> f64 {
        font::width(&names::clean(text), self.size, self.weight)
    }

    pub fn shorten(&self, text: &str, limit: f64) -> String {
        names::shorten(text, limit, |text| font::width(text, self.size, self.weight))
    }

    /// How far below the middle of a line its baseline is.
    pub fn middle(&self) -> f64 {
        self.size * font::CAP_HEIGHT / 2.0
    }
}

/// An SVG under construction.
pub(crate) struct Canvas {
    pub width: f64,
    body: String,
}

impl Canvas {
    pub fn new(width: f64) -> Canvas {
        Canvas { width, body: String::new() }
    }

    pub fn rect(&mut self, rect: Rect, style: &Style) {
        let (x, y) = (px(rect.x), px(rect.y));
        let (w, h) = (px(rect.width.max(0.0)), px(rect.height.max(0.0)));
        self.element(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\""), style);
    }

    pub fn line(&mut self, from: Point, to: Point, style: &Style) {
        let [a, b, c, d] = [from[0], from[1], to[0], to[1]].map(px);
        self.element(format_args!("<line x1=\"{a}\" y1=\"{b}\" x2=\"{c}\" y2=\"{d}\""), style);
    }

    pub fn circle(&mut self, center: Point, radius: f64, style: &Style) {
        let [x, y, r] = [center[0], center[1], radius].map(px);
        self.element(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\""), style);
    }

    pub fn path(&mut self, data: &str, style: &Style) {
        self.element(format_args!("<path d=\"{data}\" stroke-linejoin=\"round\""), style);
    }

    /// A path with a tooltip.
    pub fn path_named(&mut self, data: &str, style: &Style, tooltip: &str) {
        push(&mut self.body, format_args!("<path d=\"{data}\" stroke-linejoin=\"round\""));
        style.write(&mut self.body);
        push(&mut self.body, format_args!("><title>{}</title></path>\n", names::escape(tooltip)));
    }

    pub fn polyline(&mut self, points: &[Point], style: &Style) {
        if !points.is_empty() {
            self.path(&polyline(points), style);
        }
    }

    /// A line of text with its baseline at a point.
    pub fn text(&mut self, at: Point, text: &str, style: &TextStyle) {
        self.text_element(at, text, None, style);
    }

    /// A name: shortened to `limit` pixels where it has to be, then with all of it as a tooltip.
    pub fn name(&mut self, at: Point, name: &str, limit: f64, style: &TextStyle) {
        let short = style.shorten(name, limit);
        let full = (short != name).then_some(name);
        self.text_element(at, &short, full, style);
    }

    /// An embedded image, given as a data URI. A crisp one shows its pixels as squares.
    pub fn image(&mut self, rect: Rect, uri: &str, crisp: bool) {
        let [x, y, w, h] = [rect.x, rect.y, rect.width, rect.height].map(px);
        let rendering = if crisp { " image-rendering=\"optimizeSpeed\"" } else { "" };
        push(
            &mut self.body,
            format_args!(
                "<image x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" \
                 preserveAspectRatio=\"none\"{rendering} href=\"{uri}\"/>\n"
            ),
        );
    }

    /// Draws only inside a rectangle. An inner `svg` needs no identifier, which could clash with
    /// that of another picture in the same page.
    pub fn clipped(&mut self, rect: Rect, draw: impl FnOnce(&mut Canvas)) {
        let [x, y, w, h] = [rect.x, rect.y, rect.width, rect.height].map(px);
        push(
            &mut self.body,
            format_args!(
                "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" \
                 viewBox=\"{x} {y} {w} {h}\">\n"
            ),
        );
        draw(self);
        self.body.push_str("</svg>\n");
    }

    /// Closes the picture. The description is what a screen reader says.
    pub fn finish(self, height: f64, title: &str, description: &str) -> Picture {
        let (w, h) = (self.width.ceil(), height.ceil());
        let label =
            names::escape(&names::shorten(&format!("{title}. {description}"), 1000.0, |text| {
                text.chars().count() as f64
            }));
        let mut svg = String::with_capacity(self.body.len() + 500);
        push(
            &mut svg,
            format_args!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
                 viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"{label}\" \
                 font-family=\"{}\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"{}\"/>\n",
                theme::FONT_FAMILY,
                theme::PAPER
            ),
        );
        svg.push_str(&self.body);
        svg.push_str("</svg>\n");
        Picture::new(svg, w, h, title, description)
    }

    fn text_element(&mut self, at: Point, text: &str, full: Option<&str>, style: &TextStyle) {
        let (x, y) = (px(at[0]), px(at[1]));
        let out = &mut self.body;
        push(out, format_args!("<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", px(style.size)));
        push(out, format_args!(" fill=\"{}\"", style.color));
        match style.anchor {
            Anchor::Start => {}
            Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
            Anchor::End => out.push_str(" text-anchor=\"end\""),
        }
        if style.weight == Weight::SemiBold {
            out.push_str(" font-weight=\"600\"");
        }
        if style.halo {
            push(
                out,
                format_args!(
                    " stroke=\"{}\" stroke-width=\"3\" stroke-linejoin=\"round\" \
                     paint-order=\"stroke\"",
                    theme::PAPER
                ),
            );
        }
        if style.upwards {
            push(out, format_args!(" transform=\"rotate(-90 {x} {y})\""));
        }
        push(out, format_args!(">{}", names::escape(text)));
        if let Some(full) = full {
            push(out, format_args!("<title>{}</title>", names::escape(full)));
        }
        out.push_str("</text>\n");
    }

    fn element(&mut self, head: std::fmt::Arguments<'_>, style: &Style) {
        push(&mut self.body, head);
        style.write(&mut self.body);
        self.body.push_str("/>\n");
    }
}

/// The path data of a line through points.
pub(crate) fn polyline(points: &[Point]) -> String {
    let mut data = String::with_capacity(points.len() * 12);
    for (index, point) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        push(&mut data, format_args!("{command}{} {}", px(point[0]), px(point[1])));
    }
    data
}

/// Appends formatted text; a `String` cannot refuse it.
pub(crate) fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}
