//! What a file is, by its first bytes: the one place that knows them.

/// A kind of file that begins with bytes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Parquet,
    /// A file or a stream.
    Arrow,
    Npy,
    /// A ZIP archive that begins with an array.
    Npz,
    /// The same, with the arrays of a sparse matrix.
    SparseNpz,
    Gzip,
    Zstd,
    Safetensors,
    MatrixMarket,
    /// Anything that is not read here.
    Foreign(Foreign),
}

/// A kind of file that is not read: what it is, and what to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    name: &'static str,
    advice: &'static str,
}

impl FileKind {
    /// So many bytes are enough to tell.
    pub(crate) const HEAD_BYTES: usize = 128;

    /// The kind of a file that begins with these bytes; `None` where they say nothing, as in text.
    pub(crate) fn of(head: &[u8]) -> Option<FileKind> {
        let begins = |magic: &[u8]| head.starts_with(magic);
        let has =
            |at: usize, bytes: &[u8]| head.get(at..).is_some_and(|rest| rest.starts_with(bytes));
        let foreign = |name, advice| Some(FileKind::Foreign(Foreign { name, advice }));
        match head {
            _ if begins(b"PAR1") || begins(b"PARE") => Some(FileKind::Parquet),
            _ if begins(b"ARROW1") || begins(&[0xff; 4]) => Some(FileKind::Arrow),
            _ if begins(b"\x93NUMPY") => Some(FileKind::Npy),
            _ if begins(b"PK\x03\x04") => Some(zip(head)),
            _ if begins(&[0x1f, 0x8b]) => Some(FileKind::Gzip),
            _ if begins(&[0x28, 0xb5, 0x2f, 0xfd]) => Some(FileKind::Zstd),
            _ if head.get(..14).is_some_and(|b| b.eq_ignore_ascii_case(b"%%MatrixMarket")) => {
                Some(FileKind::MatrixMarket)
            }
            // The length of a header, then the header, which is JSON.
            [_, _, _, _, 0, 0, 0, 0, b'{', ..] => Some(FileKind::Safetensors),
            _ if begins(b"\x89HDF\r\n\x1a\n") => foreign(
                "an HDF5 file (`.h5`, `.h5ad`, …)",
                "write its table as Parquet or CSV, in Python `adata.to_df().to_parquet(\"x.parquet\")`",
            ),
            _ if begins(b"\x89PNG\r\n\x1a\n") => foreign("a PNG image", IMAGE),
            _ if begins(b"\xff\xd8\xff") => foreign("a JPEG image", IMAGE),
            _ if begins(b"GIF87a") || begins(b"GIF89a") => foreign("a GIF image", IMAGE),
            _ if begins(b"II*\0") || begins(b"MM\0*") => foreign("a TIFF image", IMAGE),
            _ if begins(b"BM") && has(6, &[0; 4]) => foreign("a BMP image", IMAGE),
            _ if begins(b"RIFF") && has(8, b"WEBP") => foreign("a WebP image", IMAGE),
            _ if begins(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") => {
                foreign("a file of old Microsoft Office (`.xls`, …)", SHEET)
            }
            _ if begins(b"%PDF-") => foreign("a PDF document", TABLE),
            _ if begins(b"SQLite format 3\0") => foreign("an SQLite database", TABLE),
            _ if begins(b"MATLAB 5.0 MAT-file") => foreign("a MATLAB file (`.mat`)", TABLE),
            _ if begins(b"RDX2\n") || begins(b"RDX3\n") || begins(b"X\n\0\0") => {
                foreign("an R data file", TABLE)
            }
            [0x80, 2..=5, ..] => foreign("a Python pickle", TABLE),
            _ if begins(b"BZh") && has(4, b"1AY&SY") => foreign("a bzip2 file", UNPACK),
            _ if begins(b"\xfd7zXZ\0") => foreign("an xz file", UNPACK),
            _ if begins(b"7z\xbc\xaf\x27\x1c") => foreign("a 7z archive", UNPACK),
            _ => None,
        }
    }

    /// What it is, in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            FileKind::Parquet => "a Parquet file",
            FileKind::Arrow => "an Arrow file",
            FileKind::Npy => "a NumPy array (`.npy`)",
            FileKind::Npz => "an archive of NumPy arrays (`.npz`)",
            FileKind::SparseNpz => "a sparse matrix of SciPy's (`.npz`)",
            FileKind::Gzip => "a gzip file",
            FileKind::Zstd => "a Zstandard file",
            FileKind::Safetensors => "a safetensors file",
            FileKind::MatrixMarket => "a Matrix Market file",
            FileKind::Foreign(foreign) => foreign.name,
        }
    }

    /// Why it is no table and what would be one; `None` where it may be read.
    pub(crate) fn not_a_table(self) -> Option<String> {
        let advice = match self {
            FileKind::Foreign(foreign) => foreign.advice,
            FileKind::Safetensors => {
                "a model comes before the table: `eigenlens transform MODEL DATA`"
            }
            _ => return None,
        };
        Some(format!("this is {}, which is not read as a table; {advice}", self.name()))
    }

    /// Whether bytes from the start of a file can be text.
    pub(crate) fn is_text(head: &[u8]) -> bool {
        let is_utf8 = match std::str::from_utf8(head) {
            Ok(_) => true,
            // Half a character at the end.
            Err(error) => error.error_len().is_none(),
        };
        !head.is_empty() && is_utf8 && !head.contains(&0)
    }
}

const IMAGE: &str = "name the folder of the images";
const SHEET: &str = "save the sheet as CSV";
const TABLE: &str = "write its table as CSV or Parquet";
const UNPACK: &str = "unpack it first";

/// What a ZIP archive is, by the name of its first member.
fn zip(head: &[u8]) -> FileKind {
    let length = head.get(26..28).and_then(|two| Some(u16::from_le_bytes(*two.first_chunk()?)));
    let rest = head.get(30..).unwrap_or_default();
    let name = rest.get(..length.unwrap_or(0).into()).unwrap_or(rest);
    let foreign = |name, advice| FileKind::Foreign(Foreign { name, advice });
    let is_office = [&b"[Content_Types].xml"[..], b"_rels/", b"docProps/", b"xl/"]
        .iter()
        .any(|start| name.starts_with(start));
    match name {
        name if name.ends_with(b".npy") => FileKind::Npz,
        _ if is_office => foreign("a file of Microsoft Office (`.xlsx`, …)", SHEET),
        b"mimetype" => foreign("an OpenDocument file (`.ods`, …)", SHEET),
        _ => foreign("a ZIP archive", UNPACK),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_their_first_bytes() {
        let member = |name: &str| {
            let mut head = b"PK\x03\x04".to_vec();
            head.resize(26, 0);
            head.extend([name.len() as u8, 0, 0, 0]);
            head.extend(name.bytes());
            head.extend(b"content");
            head
        };
        let check = |head: &[u8], word: &str| {
            let kind = FileKind::of(head).unwrap_or_else(|| panic!("{word} is not recognised"));
            assert!(kind.name().contains(word), "{} is not {word}", kind.name());
        };
        check(&member("arr_0.npy"), ".npz");
        check(&member("[Content_Types].xml"), ".xlsx");
        check(&member("mimetype"), "OpenDocument");
        check(&member("notes.txt"), "ZIP");
        check(b"\x89HDF\r\n\x1a\n\0\0", "HDF5");
        check(b"\x89PNG\r\n\x1a\n", "PNG");
        check(b"\x10\0\0\0\0\0\0\0{\"a\":1}", "safetensors");
        for text in [&b"BMI,x\n1,2\n"[..], b"PK,x\n1,2\n", b"BZh,x\n1,2\n", b"X\n1\n2\n", b""] {
            assert_eq!(FileKind::of(text), None, "{text:?}");
        }
        assert!(FileKind::is_text("a,ü\n".as_bytes()) && FileKind::is_text(b"a,\xc3"));
        assert!(
            !FileKind::is_text(b"a\0b")
                && !FileKind::is_text(b"\xff\xfe")
                && !FileKind::is_text(b"")
        );
    }
}
