//! What can be said on the command line.

use crate::methods::FitMethod;
use crate::options::{Bytes, parse_missing};
use crate::pictures::{parse_shape, plot_parser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use eigenlens::{Missing, NComponents};
use eigenlens_io::ImageShape;
use std::path::PathBuf;

/// PCA and its family on files: certified answers, in bounded memory.
#[derive(Parser)]
#[command(name = "eigenlens", version, max_term_width = 100, propagate_version = false)]
#[command(after_help = "Begin with:\n  eigenlens demo\n\n\
                        Exit codes: 0 done, 1 failed check or computation, 64 usage, 65 bad data, \
                        66 no input, 70 internal, 71 memory, 73/74 cannot write, 130 interrupted.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// Options of every command.
#[derive(Args, Clone)]
pub struct Common {
    /// The most memory to use, such as 512MiB or 2GiB: kept by streaming, or refused.
    #[arg(long, global = true, value_name = "SIZE", help_heading = "Common options")]
    pub memory: Option<Bytes>,
    /// Threads to use [default: one for each core]; the answer does not depend on it.
    #[arg(long, global = true, value_name = "N", help_heading = "Common options",
          value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Seed of every random number [default: 0; for `verify` another one each time].
    #[arg(long, global = true, value_name = "N", help_heading = "Common options")]
    pub seed: Option<u64>,
    /// Take warnings for errors: exit 1 and write nothing.
    #[arg(long, global = true, help_heading = "Common options")]
    pub strict: bool,
    /// Print results as JSON.
    #[arg(long, global = true, help_heading = "Common options")]
    pub json: bool,
    /// Say nothing on stderr but warnings and errors.
    #[arg(long, short, global = true, help_heading = "Common options")]
    pub quiet: bool,
}

impl Common {
    /// The seed of what is to be the same each time.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Fit a model to a table; `fit METHOD --help` lists a method's options.
    #[command(
        subcommand,
        subcommand_value_name = "METHOD",
        subcommand_help_heading = "Methods",
        disable_help_subcommand = true
    )]
    Fit(Box<FitMethod>),
    /// Scores of a table under a model.
    Transform(Transform),
    /// What a model keeps of a table, and what it loses.
    Reconstruct(Reconstruct),
    /// Loadings of principal components, rotated to few large entries each (varimax).
    Rotate(Rotate),
    /// Fill the missing entries of a table under a model, with standard errors.
    Impute(Impute),
    /// The most probable class of every sample, with the probability of each.
    Predict(Predict),
    /// How likely samples are under a model, and which are unusual.
    Score(Score),
    /// Draw new samples from a model.
    Sample(Sample),
    /// T², Q and contributions of samples; how components go with labels and metadata.
    Diagnose(Diagnose),
    /// What is in a model file.
    Inspect(Inspect),
    /// How many components: every rule side by side.
    Choose(Choose),
    /// Draw a picture of a model.
    Plot(Plot),
    /// Write everything about a model as one HTML page.
    Report(Report),
    /// Write an interactive page: the report to click through, in one offline file.
    Explore(Explore),
    /// Check a model against its data with independent code; exit 1 if it fails.
    Verify(Verify),
    /// How much two sets of columns depend on each other, and a test of it.
    Hsic(Box<crate::commands::hsic::Asked>),
    /// List the methods.
    Methods,
    /// Write a small bundled table to try things on.
    Example(Example),
    /// The first steps with a bundled table: fit, summary, picture.
    Demo,
    /// Print completions for a shell.
    Completions(Completions),
}

/// What can be said about every fit.
#[derive(Args)]
pub struct Fit {
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub metadata: Metadata,
    #[command(flatten)]
    pub options: FitOptionArgs,
    /// Print what would be done and stop before reading.
    #[arg(long)]
    pub plan: bool,
    /// Where the model goes [default: NAME.model.safetensors in this directory, or
    /// NAME.METHOD.safetensors where that is another method's].
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Write the scores of the samples to a file (- for standard output).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub scores: Option<PathBuf>,
    /// Write the components (one row each) to a file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub components_file: Option<PathBuf>,
    /// Write the loadings (one row for each feature) to a file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub loadings_file: Option<PathBuf>,
    /// Write the kernel that an embedding is the kernel PCA of (a row and a column for each sample) to a file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub kernel_file: Option<PathBuf>,
    /// What it holds in place of the kernel: what that is made of.
    #[arg(long, value_name = "PART", requires = "kernel_file", help_heading = "Output",
          value_parser = ["distances", "graph", "affinities", "weights"])]
    pub kernel_part: Option<String>,
}

/// The table.
#[derive(Args, Clone)]
pub struct Data {
    /// Files of one kind that are one table; - for standard input.
    #[arg(value_name = "DATA", required = true)]
    pub data: Vec<PathBuf>,
}

/// How a table is read.
#[derive(Args, Clone, Default)]
pub struct Reading {
    /// Columns to use: names, ranges (a..c, 2..5), patterns (gene_*), without (!id); comma-separated.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Reading")]
    pub columns: Vec<String>,
    /// Columns to carry along as labels beside those of text, comma-separated.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Reading")]
    pub labels: Vec<String>,
    /// Column with the weight of each sample.
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub weights: Option<String>,
    /// What weights mean: counts, or ratios only.
    #[arg(
        long,
        value_name = "KIND",
        default_value = "frequency",
        requires = "weights",
        help_heading = "Reading"
    )]
    pub weight_kind: WeightKind,
    /// What to do with missing values, and cells that are no numbers: error, drop-rows, drop-columns,
    /// mean or em.
    #[arg(long, value_name = "POLICY", help_heading = "Reading", value_parser = parse_missing)]
    pub missing: Option<Missing>,
    /// The largest share of missing values that is worked with [default: 0.9].
    #[arg(long, value_name = "SHARE", help_heading = "Reading")]
    pub most_missing: Option<f64>,
    /// Delimiter of a text table (one character, or `tab`).
    #[arg(long, value_name = "CHARACTER", help_heading = "Reading")]
    pub delimiter: Option<String>,
    /// The first row holds no names.
    #[arg(long, conflicts_with = "header", help_heading = "Reading")]
    pub no_header: bool,
    /// The first row holds names.
    #[arg(long, help_heading = "Reading")]
    pub header: bool,
    /// Decimal mark of a text table: `.` or `,`.
    #[arg(long, value_name = "MARK", value_parser = [".", ","], help_heading = "Reading")]
    pub decimal: Option<String>,
    /// A further spelling of a missing value (repeatable).
    #[arg(long, value_name = "TEXT", help_heading = "Reading")]
    pub missing_mark: Vec<String>,
    /// Leave out rows (or images) that do not fit, and count them: text among numbers, too.
    #[arg(long, help_heading = "Reading")]
    pub skip_bad_rows: bool,
    /// Size that all images of a folder get [default: the most frequent one].
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_shape, help_heading = "Reading")]
    pub size: Option<ImageShape>,
    /// Array to take from an .npz file.
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    pub array: Option<String>,
    /// Where the samples of a Matrix Market or sparse .npz file are.
    #[arg(long, value_name = "SIDE", help_heading = "Reading")]
    pub samples: Option<Side>,
    /// Names of the rows of such a file, one per line [default: found beside it].
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub row_names: Option<PathBuf>,
    /// Names of the columns of such a file, one per line [default: found beside it].
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub column_names: Option<PathBuf>,
}

/// A table about the samples beside the data.
#[derive(Args, Clone, Default)]
pub struct Metadata {
    /// A table about the samples: its columns become labels.
    #[arg(long, value_name = "FILE", help_heading = "Metadata")]
    pub metadata: Option<PathBuf>,
    /// The column by which samples are found in it [default: the one that both tables have].
    #[arg(long, value_name = "COLUMN", requires = "metadata", help_heading = "Metadata")]
    pub by: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Side {
    /// Each row is a sample.
    Rows,
    /// Each column is a sample.
    Columns,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum WeightKind {
    /// This row counted so many times.
    #[default]
    Frequency,
    /// Only ratios matter.
    Relative,
}

/// What is asked of every method.
#[derive(Args, Clone)]
pub struct FitOptionArgs {
    /// How many components: a number, a share of the variance (95%), a rule (rule:minka) or all.
    #[arg(long, short = 'k', value_name = "K|P%|rule:NAME|all", help_heading = "Method")]
    pub components: Option<NComponents>,
    /// Residual wanted, relative to the largest variance.
    #[arg(long, value_name = "NUMBER", help_heading = "Method")]
    pub tolerance: Option<f64>,
    /// The most operator applications of an iteration.
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub max_iterations: Option<usize>,
}

#[derive(Args)]
pub struct Transform {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub metadata: Metadata,
    /// Where the scores go, by extension [default: standard output, as CSV].
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Add the standard error and the certainty of every score, which missing entries lower.
    #[arg(long)]
    pub standard_errors: bool,
}

#[derive(Args)]
pub struct Reconstruct {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub reading: Reading,
    /// Write the reconstructed table to a file.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the error of every sample to a file.
    #[arg(long, value_name = "FILE")]
    pub errors: Option<PathBuf>,
    /// The table holds scores, as `transform` writes them: give the samples back.
    #[arg(long, conflicts_with_all = ["errors", "pre_image"])]
    pub from_scores: bool,
    /// How a kernel model finds its approximate pre-images: auto, fixed-point, distances, ridge.
    #[arg(long, value_name = "WAY", value_parser = crate::options::parse_pre_image)]
    pub pre_image: Option<eigenlens::PreImage>,
}

#[derive(Args)]
pub struct Rotate {
    /// The model file.
    pub model: PathBuf,
    /// Where the rotated loadings go, by extension [default: standard output, as CSV].
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Write the rotation (a row for each component) to a file.
    #[arg(long, value_name = "FILE")]
    pub rotation: Option<PathBuf>,
    /// Let features count by the square of their communality, not alike.
    #[arg(long)]
    pub no_normalize: bool,
}

#[derive(Args)]
pub struct Impute {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub reading: Reading,
    /// Where the filled table goes, with all its columns, by extension [default: standard output, as
    /// CSV].
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Write the standard error of every entry to a file: 0 where it was observed.
    #[arg(long, value_name = "FILE")]
    pub standard_errors: Option<PathBuf>,
    /// Write this many tables with random draws in place of one with means.
    #[arg(long, value_name = "N")]
    pub draws: Option<usize>,
}

#[derive(Args)]
pub struct Predict {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub metadata: Metadata,
    /// Where classes and probabilities go, by extension [default: standard output, as CSV].
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

#[derive(Args)]
pub struct Score {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub reading: Reading,
    /// Write likelihood, distance and p-value of every sample to a file.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct Diagnose {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub metadata: Metadata,
    /// The share of ordinary samples that the limits of T² and Q let pass.
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share)]
    pub confidence: f64,
    /// The samples are new ones, not those of the fit: the limit of T² is wider for them.
    #[arg(long)]
    pub new: bool,
    /// Write T², Q, leverage, squared cosines and contributions of every sample to a file.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Write what every feature adds to T² and Q of every sample to a file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub contributions_file: Option<PathBuf>,
    /// Write loadings, correlations, squared cosines and contributions of every feature to a file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub features_file: Option<PathBuf>,
    /// Write how every component goes with every label and metadata column to a file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub associations_file: Option<PathBuf>,
    /// Write where every group of samples lies on every component to a file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub groups_file: Option<PathBuf>,
}

#[derive(Args)]
pub struct Sample {
    /// The model file.
    pub model: PathBuf,
    /// How many samples.
    #[arg(short, value_name = "N", default_value_t = 100)]
    pub n: usize,
    /// Where they go, by extension [default: standard output, as CSV].
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

#[derive(Args)]
pub struct Inspect {
    /// The model file.
    pub model: PathBuf,
    /// The table, for a plot of its scores.
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

#[derive(Args)]
pub struct Choose {
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub reading: Reading,
    /// Divide every feature by its standard deviation.
    #[arg(long)]
    pub scale: bool,
    /// Do not subtract the mean.
    #[arg(long)]
    pub no_center: bool,
    /// Draw the rules side by side (.svg or .png).
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct Plot {
    /// The model file.
    pub model: PathBuf,
    /// The table, for pictures of samples.
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub metadata: Metadata,
    /// Which picture [default: scores with a table, scree without].
    #[arg(long, value_name = "KIND", value_parser = plot_parser())]
    pub kind: Option<&'static eigenlens_views::Plot>,
    /// Where the picture goes (.svg or .png) [default: NAME.KIND.svg in this directory].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The two components shown by pictures of a plane [default: 1,2].
    #[arg(long, value_name = "X,Y", value_delimiter = ',', num_args = 1, action = ArgAction::Set)]
    pub axes: Option<Vec<usize>>,
    /// Column that colours the samples [default: the first label column].
    #[arg(long, value_name = "COLUMN")]
    pub color: Option<String>,
    /// Column that names the samples.
    #[arg(long, value_name = "COLUMN")]
    pub names: Option<String>,
    /// Size of images whose pixels are the features, row by row.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_shape)]
    pub image_size: Option<ImageShape>,
}

#[derive(Args)]
pub struct Report {
    /// The model file.
    pub model: PathBuf,
    /// The table, for everything about samples.
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub metadata: Metadata,
    /// Where the page goes [default: NAME.report.html in this directory, NAME.explorer.html of `explore`].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Column that colours the samples [default: the first label column].
    #[arg(long, value_name = "COLUMN")]
    pub color: Option<String>,
    /// Column that names the samples.
    #[arg(long, value_name = "COLUMN")]
    pub names: Option<String>,
    /// Size of images whose pixels are the features, row by row.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_shape)]
    pub image_size: Option<ImageShape>,
}

#[derive(Args)]
pub struct Explore {
    #[command(flatten)]
    pub shown: Report,
    /// Put at most so many samples into the page, evenly spaced [default: all].
    #[arg(long, value_name = "NUMBER", value_parser = at_least_one)]
    pub max_samples: Option<usize>,
    /// Whether the values of the features go into the page [default: if they are at most 8 million].
    #[arg(long, value_name = "WHAT")]
    pub include: Option<Include>,
}

/// What goes into a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Include {
    /// The values of the features, to colour, compare and export by.
    Features,
    /// Scores and labels alone.
    NoFeatures,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("it must be a whole number above 0".into()),
    }
}

#[derive(Args)]
pub struct Verify {
    /// The model file.
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub reading: Reading,
    /// What residuals may be, relative to the largest eigenvalue; never what the model says of itself.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-6, value_parser = share)]
    pub tolerance: f64,
}

/// A number between 0 and 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if number > 0.0 && number < 1.0 => Ok(number),
        _ => Err("it must be a number between 0 and 1".into()),
    }
}

#[derive(Args)]
pub struct Example {
    /// Which table.
    #[arg(value_parser = crate::commands::example::names())]
    pub name: String,
    /// Where it goes [default: NAME.csv in this directory].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}
