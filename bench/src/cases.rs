//! The benchmark's cases: what the data look like and how many components are asked for.

/// Goes into every [`Case::spec`]: raise it when a generator changes, and stale data are made anew.
const DATA_VERSION: u32 = 1;

/// One row of the benchmark.
pub struct Case {
    /// Its name on the command line.
    pub name: &'static str,
    /// The case whose data it uses: its own, but for a case that reads another's file.
    pub data: &'static str,
    /// What the data look like.
    pub content: Content,
    /// The element type of the stored data.
    pub scalar: Scalar,
    /// Whether the rows are read from the file as they are needed.
    pub streamed: bool,
    /// The size that counts.
    pub full: Size,
    /// The size for a smoke test.
    pub quick: Size,
}

/// The element type of stored data.
#[derive(Clone, Copy, PartialEq)]
pub enum Scalar {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

/// What the data look like.
#[derive(Clone, Copy)]
pub enum Content {
    /// Normal data: the j-th direction of a random basis has variance `(amplitude / j)² + noise²`.
    Spectrum {
        /// Standard deviation of the first direction, without the noise.
        amplitude: f64,
        /// Standard deviation of the noise in every direction.
        noise: f64,
        /// The means of the columns are normal around this number …
        mean: f64,
        /// … with this standard deviation.
        mean_spread: f64,
    },
    /// Grey images of pen strokes, 28 × 28 pixels from 0 to 255, some of them always 0.
    Images,
    /// Word counts of documents on a few topics: a sparse matrix, 1 % of it filled.
    Topics,
}

/// Rows, columns and components.
#[derive(Clone, Copy)]
pub struct Size {
    /// Samples.
    pub rows: usize,
    /// Features.
    pub columns: usize,
    /// Components asked for.
    pub k: usize,
}

/// Every case, in the order of the report.
pub const CASES: &[Case] = &[
    Case {
        name: "tall-f64",
        data: "tall-f64",
        content: Content::Spectrum { amplitude: 20.0, noise: 1.0, mean: 0.0, mean_spread: 5.0 },
        scalar: Scalar::F64,
        streamed: false,
        full: Size { rows: 1_000_000, columns: 100, k: 10 },
        quick: Size { rows: 50_000, columns: 100, k: 10 },
    },
    Case {
        name: "tall-f32",
        data: "tall-f32",
        content: Content::Spectrum { amplitude: 20.0, noise: 1.0, mean: 0.0, mean_spread: 5.0 },
        scalar: Scalar::F32,
        streamed: false,
        full: Size { rows: 1_000_000, columns: 100, k: 10 },
        quick: Size { rows: 50_000, columns: 100, k: 10 },
    },
    Case {
        name: "square-f64",
        data: "square-f64",
        content: Content::Spectrum { amplitude: 100.0, noise: 1.0, mean: 0.0, mean_spread: 5.0 },
        scalar: Scalar::F64,
        streamed: false,
        full: Size { rows: 10_000, columns: 2_000, k: 50 },
        quick: Size { rows: 2_000, columns: 520, k: 50 },
    },
    Case {
        name: "wide-f64",
        data: "wide-f64",
        content: Content::Spectrum { amplitude: 100.0, noise: 0.2, mean: 0.0, mean_spread: 5.0 },
        scalar: Scalar::F64,
        streamed: false,
        full: Size { rows: 500, columns: 50_000, k: 50 },
        quick: Size { rows: 120, columns: 10_000, k: 20 },
    },
    Case {
        name: "mnist-f64",
        data: "mnist-f64",
        content: Content::Images,
        scalar: Scalar::F64,
        streamed: false,
        full: Size { rows: 60_000, columns: 784, k: 50 },
        quick: Size { rows: 8_000, columns: 784, k: 50 },
    },
    Case {
        name: "mnist-f32",
        data: "mnist-f32",
        content: Content::Images,
        scalar: Scalar::F32,
        streamed: false,
        full: Size { rows: 60_000, columns: 784, k: 50 },
        quick: Size { rows: 8_000, columns: 784, k: 50 },
    },
    Case {
        name: "sparse-f64",
        data: "sparse-f64",
        content: Content::Topics,
        scalar: Scalar::F64,
        streamed: false,
        full: Size { rows: 100_000, columns: 20_000, k: 50 },
        quick: Size { rows: 20_000, columns: 5_000, k: 20 },
    },
    Case {
        name: "streamed-f64",
        data: "tall-f64",
        content: Content::Spectrum { amplitude: 20.0, noise: 1.0, mean: 0.0, mean_spread: 5.0 },
        scalar: Scalar::F64,
        streamed: true,
        full: Size { rows: 1_000_000, columns: 100, k: 10 },
        quick: Size { rows: 50_000, columns: 100, k: 10 },
    },
    Case {
        name: "flat-f64",
        data: "flat-f64",
        content: Content::Spectrum { amplitude: 0.0, noise: 1.0, mean: 0.0, mean_spread: 5.0 },
        scalar: Scalar::F64,
        streamed: false,
        full: Size { rows: 10_000, columns: 2_000, k: 50 },
        quick: Size { rows: 2_000, columns: 520, k: 50 },
    },
    Case {
        name: "flat-f32",
        data: "flat-f32",
        content: Content::Spectrum { amplitude: 0.0, noise: 1.0, mean: 0.0, mean_spread: 5.0 },
        scalar: Scalar::F32,
        streamed: false,
        full: Size { rows: 10_000, columns: 2_000, k: 50 },
        quick: Size { rows: 2_000, columns: 520, k: 50 },
    },
    // The variances average 1, around a mean where neighbouring float32 numbers are 1/128 apart.
    Case {
        name: "offset-f32",
        data: "offset-f32",
        content: Content::Spectrum { amplitude: 6.0, noise: 0.64, mean: 1e5, mean_spread: 1.0 },
        scalar: Scalar::F32,
        streamed: false,
        full: Size { rows: 200_000, columns: 100, k: 10 },
        quick: Size { rows: 10_000, columns: 100, k: 10 },
    },
];

impl Case {
    /// The case of this name.
    pub fn find(name: &str) -> Option<&'static Case> {
        CASES.iter().find(|case| case.name == name)
    }

    /// The size asked for.
    pub fn size(&self, quick: bool) -> Size {
        if quick { self.quick } else { self.full }
    }

    /// Seed of the data: a case that reads another's file, and the two precisions of the same data,
    /// share theirs.
    pub fn seed(&self) -> u64 {
        let family = self.data.split('-').next().unwrap_or(self.data);
        family.bytes().fold(0, |seed, byte| seed * 31 + u64::from(byte))
    }

    /// How the data are stored.
    fn storage(&self) -> &'static str {
        match self.content {
            Content::Topics => "csr",
            Content::Spectrum { .. } | Content::Images => "dense",
        }
    }

    /// All that determines the data, as one line of JSON: the key of every cache.
    pub fn spec(&self, quick: bool) -> String {
        let Size { rows, columns, .. } = self.size(quick);
        let content = match self.content {
            Content::Spectrum { amplitude, noise, mean, mean_spread } => {
                format!("spectrum {amplitude} {noise} {mean} {mean_spread}")
            }
            Content::Images => "images".into(),
            Content::Topics => "topics".into(),
        };
        let scalar = match self.scalar {
            Scalar::F32 => "float32",
            Scalar::F64 => "float64",
        };
        format!(
            r#"{{"version": {DATA_VERSION}, "seed": {}, "content": "{content}", "storage": "{}", "scalar": "{scalar}", "rows": {rows}, "columns": {columns}}}"#,
            self.seed(),
            self.storage(),
        )
    }

    /// The case as one line of JSON, for the script that runs the comparison.
    pub fn json(&self, quick: bool) -> String {
        format!(
            r#"{{"name": "{}", "data": "{}", "k": {}, "streamed": {}, "spec": {}}}"#,
            self.name,
            self.data,
            self.size(quick).k,
            self.streamed,
            self.spec(quick),
        )
    }
}
