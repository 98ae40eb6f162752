//! Pixel images, embedded in the SVG as PNG data.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use png::{BitDepth, ColorType, Compression, Encoder};

use crate::draw::canvas::Point;
use crate::draw::color::Rgb;

/// An image in the making: colour and coverage per pixel, row by row.
pub(crate) struct Pixels {
    width: usize,
    height: usize,
    /// Red, green, blue (0 to 255) and coverage (0 to 1), not yet multiplied.
    data: Vec<[f32; 4]>,
}

impl Pixels {
    /// A transparent image.
    pub fn new(width: usize, height: usize) -> Pixels {
        Pixels { width, height, data: vec![[0.0; 4]; width * height] }
    }

    pub fn set(&mut self, x: usize, y: usize, color: Rgb) {
        if let Some(pixel) = self.data.get_mut(y * self.width + x) {
            *pixel = [f32::from(color.0), f32::from(color.1), f32::from(color.2), 1.0];
        }
    }

    /// Paints a disc with a soft rim over what is there.
    pub fn disc(&mut self, center: Point, radius: f64, color: Rgb, opacity: f64) {
        let range = |middle: f64, end: usize| {
            let from = (middle - radius - 1.0).floor().max(0.0) as usize;
            let to = (middle + radius + 2.0).max(0.0) as usize;
            from.min(end)..to.min(end)
        };
        for y in range(center[1], self.height) {
            for x in range(center[0], self.width) {
                let distance = (x as f64 + 0.5 - center[0]).hypot(y as f64 + 0.5 - center[1]);
                let cover = (radius + 0.5 - distance).clamp(0.0, 1.0) * opacity;
                if cover > 0.0 {
                    self.over(x, y, color, cover as f32);
                }
            }
        }
    }

    /// Rounds colour and coverage to 18 steps each. Among dots nobody sees it, and the file is half
    /// as large.
    pub fn round(&mut self) {
        const STEP: f32 = 15.0;
        for [r, g, b, a] in &mut self.data {
            for color in [r, g, b] {
                *color = (*color / STEP).round() * STEP;
            }
            *a = (*a * 255.0 / STEP).round() * STEP / 255.0;
        }
    }

    /// The image as a data URI; nothing for an image without pixels.
    pub fn data_uri(&self) -> Option<String> {
        if self.data.is_empty() {
            return None;
        }
        let bytes: Vec<u8> = self
            .data
            .iter()
            .flat_map(|[r, g, b, a]| [*r, *g, *b, a * 255.0])
            .map(|value| value.round() as u8)
            .collect();
        let mut png = Vec::new();
        let mut encoder = Encoder::new(&mut png, self.width as u32, self.height as u32);
        encoder.set_color(ColorType::Rgba);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(Compression::Balanced);
        encoder.write_header().ok()?.write_image_data(&bytes).ok()?;
        Some(format!("data:image/png;base64,{}", STANDARD.encode(png)))
    }

    fn over(&mut self, x: usize, y: usize, color: Rgb, cover: f32) {
        let [r, g, b, a] = &mut self.data[y * self.width + x];
        let total = cover + *a * (1.0 - cover);
        let share = cover / total;
        for (old, new) in [(r, color.0), (g, color.1), (b, color.2)] {
            *old += (f32::from(new) - *old) * share;
        }
        *a = total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discs_cover_and_mix() {
        let mut pixels = Pixels::new(9, 9);
        pixels.disc([4.5, 4.5], 2.0, Rgb(255, 0, 0), 0.5);
        assert_eq!(pixels.data[4 * 9 + 4], [255.0, 0.0, 0.0, 0.5]);
        assert_eq!(pixels.data[0][3], 0.0);
        pixels.disc([4.5, 4.5], 2.0, Rgb(0, 0, 255), 0.5);
        let [r, _, b, a] = pixels.data[4 * 9 + 4];
        assert!((a - 0.75).abs() < 1e-6 && b > r && r > 0.0);
        // A disc outside the image touches nothing and does not panic.
        pixels.disc([-1e6, 1e9], 2.0, Rgb(0, 0, 0), 1.0);
        assert!(
            pixels.data_uri().is_some_and(|uri| uri.starts_with("data:image/png;base64,iVBOR"))
        );
    }
}
