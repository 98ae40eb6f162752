//! Bytes of an image file into gray pixels.

use super::ImageShape;
use image::imageops::{self, FilterType};
use image::metadata::Orientation;
use image::{DynamicImage, ImageBuffer, ImageDecoder, ImageReader, Limits, Luma};
use std::io::Cursor;

/// The size of an image when it lies right; only its header is read.
pub(super) fn shape(bytes: &[u8]) -> Result<ImageShape, String> {
    let mut decoder = decoder(bytes)?;
    let (width, height) = decoder.dimensions();
    let (width, height) = (width as usize, height as usize);
    Ok(match decoder.orientation().unwrap_or(Orientation::NoTransforms) {
        Orientation::Rotate90
        | Orientation::Rotate270
        | Orientation::Rotate90FlipH
        | Orientation::Rotate270FlipH => ImageShape { height: width, width: height },
        _ => ImageShape { height, width },
    })
}

/// The gray pixels of an image that lies right, from 0 to 1.
pub(super) fn gray(bytes: &[u8]) -> Result<(ImageShape, Vec<f32>), String> {
    let mut decoder = decoder(bytes)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(|error| error.to_string())?;
    image.apply_orientation(orientation);
    let shape = ImageShape { height: image.height() as usize, width: image.width() as usize };
    Ok((shape, to_gray(image)))
}

/// The pixels stretched to another size.
pub(super) fn resized(pixels: Vec<f32>, from: ImageShape, to: ImageShape) -> Vec<f32> {
    if from == to {
        return pixels;
    }
    let side = |n: usize| u32::try_from(n).unwrap_or(0);
    match ImageBuffer::<Luma<f32>, _>::from_raw(side(from.width), side(from.height), pixels) {
        Some(image) => {
            let (width, height) = (side(to.width), side(to.height));
            imageops::resize(&image, width, height, FilterType::Triangle).into_raw()
        }
        None => Vec::new(),
    }
}

/// The longest side, and the bytes that a decoder may take: a small file can claim to be huge.
const LONGEST_SIDE: u32 = 16_384;
const MOST_BYTES: u64 = 256 << 20;

fn decoder(bytes: &[u8]) -> Result<impl ImageDecoder + '_, String> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MOST_BYTES);
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let mut reader = reader.map_err(|error| error.to_string())?;
    if reader.format().is_none() {
        return Err("its content is not an image that is read here".into());
    }
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().map_err(|error| error.to_string())?;
    let (width, height) = decoder.dimensions();
    let wide = |_| format!("{width} × {height} pixels are more than a decoder may take");
    limits.check_dimensions(width, height).map_err(wide)?;
    limits.reserve(decoder.total_bytes()).map_err(wide)?;
    decoder.set_limits(limits).map_err(|error| error.to_string())?;
    Ok(decoder)
}

fn to_gray(image: DynamicImage) -> Vec<f32> {
    match image {
        DynamicImage::ImageLuma8(image) => image.iter().map(|&v| f32::from(v) / 255.0).collect(),
        DynamicImage::ImageLuma16(image) => {
            image.iter().map(|&v| f32::from(v) / 65_535.0).collect()
        }
        DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_) | DynamicImage::ImageLumaA8(_) => {
            let image = image.into_rgba8();
            image.pixels().map(|p| over_white(p.0.map(|v| f64::from(v) / 255.0))).collect()
        }
        DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_) => {
            image.into_rgba32f().pixels().map(|p| over_white(p.0.map(f64::from))).collect()
        }
        _ => {
            let image = image.into_rgba16();
            image.pixels().map(|p| over_white(p.0.map(|v| f64::from(v) / 65_535.0))).collect()
        }
    }
}

fn over_white([red, green, blue, alpha]: [f64; 4]) -> f32 {
    let gray = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    (gray * alpha + (1.0 - alpha)) as f32
}
