//! What a user can say about a text table.

use super::chunks::Sizes;

/// What is known about a text table; the rest is found out from its first megabyte.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvOptions {
    /// The delimiter. With a blank, any run of blanks and tabs is one delimiter.
    pub delimiter: Option<u8>,
    /// Whether the first row holds the names of the columns.
    pub header: Option<bool>,
    /// The decimal mark, `.` or `,`.
    pub decimal: Option<u8>,
    /// Further spellings of a missing value, beside [`MISSING_MARKS`].
    pub missing: Vec<String>,
    /// Columns that are text whatever they look like, by name.
    pub text_columns: Vec<String>,
    /// Rows that do not fit (too many or too few fields, text among numbers) are left out and
    /// counted, instead of being an error.
    pub skip_bad_rows: bool,
    /// Cells that are no numbers in a column of numbers are taken for missing values and counted,
    /// instead of being an error. Where bad rows are left out, so is theirs.
    pub bad_cells_are_missing: bool,
    /// About the bytes of one piece that a thread parses.
    pub chunk_bytes: usize,
    /// The longest field in quotes, in bytes.
    pub max_field_bytes: usize,
    /// The longest row, in bytes.
    pub max_row_bytes: usize,
    /// Bytes of memory that reading may take: longer rows than it has room for are refused.
    pub memory: Option<u64>,
}

/// The spellings of a missing value in a column of numbers. An empty field is one, too.
pub const MISSING_MARKS: [&str; 19] = [
    "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-nan", "NULL", "null",
    "Null", "None", "-", "?", ".", "*",
];

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            header: None,
            decimal: None,
            missing: Vec::new(),
            text_columns: Vec::new(),
            skip_bad_rows: false,
            bad_cells_are_missing: false,
            chunk_bytes: 1 << 20,
            max_field_bytes: 16 << 20,
            max_row_bytes: 64 << 20,
            memory: None,
        }
    }
}

/// Pieces that are not worth being made smaller.
const SMALL_CHUNK: u64 = 64 << 10;

impl CsvOptions {
    pub(super) fn sizes(&self) -> Sizes {
        // Each thread has two pieces, whose numbers take up to four times the text.
        let pieces = 10 * rayon::current_num_threads() as u64;
        let room = self.memory.map_or(u64::MAX, |memory| (memory / 2 / pieces).max(SMALL_CHUNK));
        let chunk = self.chunk_bytes.min(usize::try_from(room).unwrap_or(usize::MAX));
        Sizes {
            chunk: chunk.max(1),
            max_field: self.max_field_bytes,
            max_record: self.max_row_bytes.max(self.max_field_bytes),
            memory: self.memory,
        }
    }
}
