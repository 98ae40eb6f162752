//! The PNG is the SVG, in pixels.

use std::io::Cursor;

use eigenlens_report::{Error, Image, ImageGrid, ImageRow, Picture, Tone};
use png::{ColorType, Decoder};

use crate::samples::{self, ORDINARY};

/// Width, height and RGBA bytes.
fn decode(png: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = Decoder::new(Cursor::new(png)).read_info().expect("a PNG header");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!(info.color_type, ColorType::Rgba);
    pixels.truncate(info.buffer_size());
    (info.width, info.height, pixels)
}

#[test]
fn every_picture_decodes_at_its_size() {
    for (kind, picture) in samples::all(&ORDINARY).expect("drawn") {
        for scale in [0.5, Picture::SCALE] {
            let (width, height, pixels) = decode(&picture.png(scale).expect(kind));
            assert_eq!(f64::from(width), (picture.width() * scale).round(), "{kind}");
            assert_eq!(f64::from(height), (picture.height() * scale).round(), "{kind}");
            assert!(pixels.chunks(4).all(|pixel| pixel[3] == 255), "{kind} is transparent");
            let dark = pixels.chunks(4).filter(|pixel| pixel[0] < 100).count();
            assert!(dark > 100, "{kind} has only {dark} dark pixels: no text?");
        }
    }
}

/// A pixel of an image comes out where and as it went in.
#[test]
fn images_keep_their_pixels() {
    let grid = ImageGrid {
        rows: vec![ImageRow {
            title: String::new(),
            images: vec![Image {
                caption: String::new(),
                width: 2,
                height: 2,
                pixels: vec![0.0, 1.0, 1.0, 0.0],
                tone: Tone::Stretch,
            }],
        }],
        ..ImageGrid::default()
    };
    let picture = grid.draw().expect("drawn");
    let document = roxmltree::Document::parse(picture.svg()).expect("well formed");
    let image = document.descendants().find(|node| node.has_tag_name("image")).expect("an image");
    let number = |name: &str| -> f64 {
        image.attribute(name).and_then(|text| text.parse().ok()).expect("a number")
    };
    let (x, y, side) = (number("x"), number("y"), number("width"));
    let (width, _, pixels) = decode(&picture.png(1.0).expect("a PNG"));
    let at = |fx: f64, fy: f64| {
        let (px, py) = ((x + fx * side) as usize, (y + fy * side) as usize);
        pixels[(py * width as usize + px) * 4]
    };
    // Just beside the middle too: the pixels are squares, not a blur.
    for (fx, fy, value) in
        [(0.25, 0.25, 0), (0.75, 0.25, 255), (0.25, 0.75, 255), (0.47, 0.47, 0), (0.53, 0.47, 255)]
    {
        assert_eq!(at(fx, fy), value, "at {fx} {fy}");
    }
}

#[test]
fn absurd_scales_are_refused() {
    let picture = samples::scree(&ORDINARY).draw().expect("drawn");
    for scale in [0.0, -1.0, 1e-9, 1e9, f64::NAN, f64::INFINITY] {
        assert!(matches!(picture.png(scale), Err(Error::TooManyPixels { .. })), "{scale}");
    }
}
