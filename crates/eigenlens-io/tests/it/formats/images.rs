//! Folders of images.

use super::{Content, fixture};
use eigenlens_io::images::{ImageOptions, ImageShape, open};
use eigenlens_io::{Error, Source};
use std::path::Path;

/// The gray value of a pixel of the fixtures, 6 wide and 4 high.
fn gray(pixel: usize) -> f64 {
    (10 * (pixel / 6) + 3 * (pixel % 6)) as f64
}

#[test]
fn every_format_gives_the_same_pixels() {
    let folder = open(&fixture("images"), &ImageOptions::default()).unwrap();
    assert_eq!(folder.shape(), ImageShape { height: 4, width: 6 });
    let content = Content::of(&folder).unwrap();
    let files = [
        "first/clear.png",
        "first/colour.bmp",
        "first/gray.png",
        "first/gray16.png",
        "second/cmyk.jpg",
        "second/gray.gif",
        "second/large.webp",
        "second/turned.tif",
    ];
    assert_eq!(content.labels[0], files);
    assert_eq!(content.labels[1][3..5], ["first", "second"]);
    assert_eq!(content.names.len(), 24);
    let row = |file: &str| {
        let row = files.iter().position(|f| f.ends_with(file)).unwrap();
        content.numbers.row(row).to_vec()
    };
    let close = |file: &str, expected: &dyn Fn(usize) -> f64, tolerance: f64| {
        for (pixel, x) in row(file).into_iter().enumerate() {
            let y = expected(pixel);
            assert!((x - y).abs() <= tolerance, "{file}, pixel {pixel}: {x}, not {y}");
        }
    };
    for file in ["gray.png", "gray16.png", "gray.gif", "turned.tif"] {
        close(file, &|pixel| gray(pixel) / 255.0, 1e-7);
    }
    close("clear.png", &|pixel| 0.2 * gray(pixel) / 255.0 + 0.8, 1e-7);
    let colour = |pixel: usize| {
        let v = gray(pixel);
        (0.2126 * v + 0.7152 * (v / 2.0).floor() + 0.0722 * (v / 3.0).floor()) / 255.0
    };
    close("colour.bmp", &colour, 1e-7);
    // Lossy, and resized: near.
    close("cmyk.jpg", &|pixel| gray(pixel) / 255.0, 0.03);
    close("large.webp", &|pixel| gray(pixel) / 255.0, 0.03);
    let notes: Vec<String> =
        folder.notes().iter().map(|note| format!("{}: {}", note.what, note.found)).collect();
    assert!(
        notes.iter().any(|note| note.contains("6 × 4") && note.contains("1 of 8")),
        "{notes:?}"
    );
    assert!(notes.iter().any(|note| note.starts_with("other files: 1 ")), "{notes:?}");
}

#[test]
fn a_size_asked_for_is_kept() {
    let shape = ImageShape { height: 1, width: 1 };
    let options = ImageOptions { size: Some(shape), ..Default::default() };
    let folder = open(&fixture("images/first"), &options).unwrap();
    let content = Content::of(&folder).unwrap();
    assert_eq!(content.numbers.dim(), (4, 1));
    assert_eq!(content.labels.len(), 1, "no classes without subfolders");
    let mean = (0..24).map(gray).sum::<f64>() / 24.0 / 255.0;
    assert!((content.numbers[(2, 0)] - mean).abs() < 0.01);
    let huge = ImageShape { height: 1 << 20, width: 1 << 20 };
    let refused =
        open(&fixture("images"), &ImageOptions { size: Some(huge), ..Default::default() });
    assert!(matches!(refused, Err(Error::Usage { hint: Some(_), .. })));
}

#[test]
fn broken_files_are_listed_or_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let good = std::fs::read(fixture("images/first/gray.png")).unwrap();
    put("good.png", &good);
    put("page.png", b"<html><body>not found</body></html>");
    put("empty.jpg", b"");
    // 65500 × 65500 gray pixels in a few bytes.
    put("huge.pgm", b"P5 65500 65500 255\n\0");
    let error = open(folder.path(), &ImageOptions::default()).err().unwrap().to_string();
    for name in ["page.png", "empty.jpg", "huge.pgm"] {
        assert!(error.contains(name), "{error}");
    }
    assert!(!error.contains("good.png"), "{error}");
    // Its header is whole: found when it is decoded, or at once where broken files are left out.
    put("short.png", &good[..good.len() - 20]);
    let options = ImageOptions { skip_broken: true, ..Default::default() };
    let left = open(folder.path(), &options).unwrap();
    assert_eq!(Content::of(&left).unwrap().labels[0], ["good.png"]);
    assert!(left.notes()[0].found.contains("short.png"), "{:?}", left.notes());
    for name in ["page.png", "empty.jpg", "huge.pgm"] {
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    let unread = open(folder.path(), &ImageOptions::default()).unwrap();
    let error = Content::of(&unread).unwrap_err();
    assert!(
        matches!(&error, Error::Content { file, .. } if file.ends_with("short.png")),
        "{error}"
    );
}

#[test]
fn a_folder_without_images_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = open(folder.path(), &ImageOptions::default()).err().unwrap();
    assert!(error.to_string().contains("no images"), "{error}");
    let missing = open(Path::new("/nowhere/at/all"), &ImageOptions::default());
    assert!(matches!(missing, Err(Error::Open { .. })));
}
