//! Images: the mean, the components, reconstructions.

use crate::draw::canvas::{Anchor, Canvas, Rect, Style, TextStyle};
use crate::draw::color::{diverging, grey};
use crate::draw::number::count;
use crate::draw::pixels::Pixels;
use crate::draw::{frame, theme};
use crate::error::{Error, finite, length, not_empty};
use crate::picture::Picture;

/// Rows of small images with captions, embedded as PNG.
#[derive(Clone, Debug, Default)]
pub struct ImageGrid {
    /// Title; a default if empty.
    pub title: String,
    /// The rows, from top to bottom.
    pub rows: Vec<ImageRow>,
    /// Text below the picture.
    pub caption: String,
}

/// Images that belong together; as many as fit stand side by side.
#[derive(Clone, Debug, Default)]
pub struct ImageRow {
    /// Heading over the images, or empty.
    pub title: String,
    /// The images.
    pub images: Vec<Image>,
}

/// One image.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// A few words below the image.
    pub caption: String,
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// Brightness of the pixels, row by row (height × width).
    pub pixels: Vec<f64>,
    /// How numbers become colours.
    pub tone: Tone,
}

/// How numbers become colours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Tone {
    /// From black at the image's smallest number to white at its largest.
    #[default]
    Stretch,
    /// From black at one number to white at the other, the same for all images that say so.
    Grey {
        /// Number shown black.
        black: f64,
        /// Number shown white.
        white: f64,
    },
    /// Orange below zero, white at zero, blue above, as strong as the largest number of the image:
    /// for components, whose sign has a meaning.
    Diverging,
}

const GAP: f64 = 12.0;
const SMALLEST: f64 = 84.0;
const LARGEST: f64 = 132.0;
/// Finer images than this are averaged to it: more would not be seen, only stored.
const FINEST: usize = 512;

impl ImageGrid {
    /// Draws the picture.
    pub fn draw(&self) -> Result<Picture, Error> {
        self.check()?;
        let title = frame::or(&self.title, "Images");
        let mut canvas = Canvas::new(theme::WIDTH);
        let mut y = frame::header(&mut canvas, title, "");
        let all = theme::WIDTH - 2.0 * theme::MARGIN;
        let longest = self.rows.iter().map(|row| row.images.len()).max().unwrap_or(1);
        let fit = |size: f64| ((all + GAP) / (size + GAP)).floor() as usize;
        let columns = longest.clamp(fit(LARGEST), fit(SMALLEST));
        let size = ((all + GAP) / columns as f64 - GAP).min(LARGEST);
        for row in &self.rows {
            y = self.row(&mut canvas, row, y, columns, size);
        }
        let height = frame::caption(&mut canvas, y - 10.0, &self.caption);
        Ok(canvas.finish(height, title, &self.description()))
    }

    fn check(&self) -> Result<(), Error> {
        not_empty("rows", self.rows.len())?;
        for image in self.rows.iter().flat_map(|row| &row.images) {
            not_empty("width", image.width)?;
            not_empty("height", image.height)?;
            length("pixels", image.pixels.len(), image.width.saturating_mul(image.height))?;
            finite("pixels", image.pixels.iter().copied())?;
            if let Tone::Grey { black, white } = image.tone {
                finite("tone", [black, white])?;
            }
        }
        Ok(())
    }

    fn row(&self, canvas: &mut Canvas, row: &ImageRow, y: f64, columns: usize, size: f64) -> f64 {
        let mut y = y;
        if !row.title.is_empty() {
            let style = TextStyle::new(theme::LABEL_SIZE).bold();
            let width = theme::WIDTH - 2.0 * theme::MARGIN;
            canvas.name([theme::MARGIN, y + theme::LABEL_SIZE], &row.title, width, &style);
            y += theme::LABEL_SIZE + 10.0;
        }
        for images in row.images.chunks(columns) {
            let tallest = images
                .iter()
                .map(|image| (image.height as f64 / image.width as f64).clamp(0.2, 2.0))
                .fold(0.2, f64::max)
                * size;
            for (column, image) in images.iter().enumerate() {
                let x = theme::MARGIN + column as f64 * (size + GAP);
                tile(canvas, image, [x, y], size, tallest);
            }
            y += tallest + theme::CAPTION_SIZE + 16.0;
        }
        y + 10.0
    }

    fn description(&self) -> String {
        let rows: Vec<String> = self
            .rows
            .iter()
            .map(|row| {
                format!("{} ({} images)", frame::or(&row.title, "row"), count(row.images.len()))
            })
            .collect();
        format!("Rows of images: {}.", rows.join(", "))
    }
}

/// An image in a field `size` wide and `tall` high, its caption below.
fn tile(canvas: &mut Canvas, image: &Image, at: [f64; 2], size: f64, tall: f64) {
    let aspect = (image.height as f64 / image.width as f64).clamp(0.2, 2.0);
    let (width, height) = (size, size * aspect);
    let rect = Rect { x: at[0], y: at[1] + (tall - height) / 2.0, width, height };
    let pixels = shrunk(image);
    if let Some(uri) = paint(image, &pixels).data_uri() {
        // Pixels that will be larger than those of the screen are shown as what they are.
        let crisp = (pixels.width as f64) < size;
        canvas.image(rect, &uri, crisp);
    }
    canvas.rect(rect, &Style::stroke(theme::MUTED, 0.75));
    let style = TextStyle::new(theme::CAPTION_SIZE).soft().anchor(Anchor::Middle);
    let caption = [at[0] + size / 2.0, at[1] + tall + theme::CAPTION_SIZE + 4.0];
    canvas.name(caption, &image.caption, size + GAP - 4.0, &style);
}

/// Numbers of an image, perhaps fewer than it came with.
struct Grid {
    width: usize,
    height: usize,
    values: Vec<f64>,
}

/// The image at no more than `FINEST` pixels a side, by means over blocks.
fn shrunk(image: &Image) -> Grid {
    let (width, height) = (image.width.min(FINEST), image.height.min(FINEST));
    let mut values = Vec::with_capacity(width * height);
    for row in 0..height {
        let rows = row * image.height / height..(row + 1) * image.height / height;
        for column in 0..width {
            let columns = column * image.width / width..(column + 1) * image.width / width;
            let n = (rows.len() * columns.len()) as f64;
            // Divided before the sum, which might not be a number otherwise.
            let block = rows.clone().flat_map(|r| columns.clone().map(move |c| (r, c)));
            values.push(block.map(|(r, c)| image.pixels[r * image.width + c] / n).sum());
        }
    }
    Grid { width, height, values }
}

fn paint(image: &Image, grid: &Grid) -> Pixels {
    let fold =
        |start: f64, pick: fn(f64, f64) -> f64| image.pixels.iter().copied().fold(start, pick);
    let (low, high) = (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max));
    let largest = low.abs().max(high.abs());
    // Halves, because the range of the largest numbers is no number. A flat image is mid-grey.
    let between = |value: f64, black: f64, white: f64| {
        let range = white / 2.0 - black / 2.0;
        if range == 0.0 { 0.5 } else { (value / 2.0 - black / 2.0) / range }
    };
    let mut pixels = Pixels::new(grid.width, grid.height);
    for (index, value) in grid.values.iter().enumerate() {
        let color = match image.tone {
            Tone::Stretch => grey(between(*value, low, high)),
            Tone::Grey { black, white } => grey(between(*value, black, white)),
            Tone::Diverging if largest == 0.0 => diverging(0.0),
            Tone::Diverging => diverging(value / largest),
        };
        pixels.set(index % grid.width, index / grid.width, color);
    }
    pixels
}
