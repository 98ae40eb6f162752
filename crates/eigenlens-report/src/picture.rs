//! A finished picture, as SVG and as PNG.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::draw::font;
use crate::error::Error;

/// Most pixels of a PNG: a quarter of a gigabyte of memory.
const MOST_PIXELS: f64 = 64e6;

/// A finished picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    svg: String,
    width: f64,
    height: f64,
    title: String,
    description: String,
}

impl Picture {
    pub(crate) fn new(
        svg: String,
        width: f64,
        height: f64,
        title: &str,
        description: &str,
    ) -> Picture {
        Picture { svg, width, height, title: title.to_owned(), description: description.to_owned() }
    }

    /// The picture as a complete SVG file, in UTF-8. It loads nothing and has no identifiers, so
    /// that it may be pasted into a page as it is.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Width in pixels at scale 1.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Height in pixels at scale 1.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// The title in the picture.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What is shown, in words: for screen readers.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The picture as a PNG file, drawn with the bundled fonts alone: the same bytes on every
    /// machine. Scripts that these fonts lack (Chinese, Devanagari, …) show as boxes; the SVG shows
    /// them in the fonts of its reader.
    ///
    /// `scale` is the number of pixels per pixel of the SVG; [`Picture::SCALE`] is sharp on screens
    /// and in print.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, Error> {
        let (width, height) = ((self.width * scale).round(), (self.height * scale).round());
        if !(width >= 1.0 && height >= 1.0 && width * height <= MOST_PIXELS) {
            return Err(Error::TooManyPixels { width, height });
        }
        let options = Options { fontdb: fonts(), ..Options::default() };
        let tree = Tree::from_str(&self.svg, &options)
            .map_err(|error| Error::Png { reason: error.to_string() })?;
        let mut pixmap = Pixmap::new(width as u32, height as u32)
            .ok_or(Error::TooManyPixels { width, height })?;
        // Where the scale leaves half a pixel at the rim, it is paper too.
        pixmap.fill(Color::WHITE);
        let transform = Transform::from_scale(scale as f32, scale as f32);
        resvg::render(&tree, transform, &mut pixmap.as_mut());
        pixmap.encode_png().map_err(|error| Error::Png { reason: error.to_string() })
    }

    /// The scale at which pictures are usually written as PNG.
    pub const SCALE: f64 = 2.0;
}

fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut database = fontdb::Database::new();
        for file in font::FILES {
            database.load_font_data(file.to_vec());
        }
        database.set_sans_serif_family("Inter");
        // The last resort of the renderer, where no family of a text is known.
        database.set_serif_family("Inter");
        Arc::new(database)
    });
    Arc::clone(fonts)
}
