//! Every pass over rows: the fixed grid they are cut into, statistics of columns, moments, products with
//! standardised data. Nothing is centred in place or copied only to be centred.

mod class_rows;
mod columns;
mod cross;
mod feature_permutation;
mod gram_apply;
mod integer_moments;
mod moments;
mod moments_bytes;
mod observed;
mod packed_rhs;
mod packing;
mod preprocessing;
mod resolved;
mod row_grid;
mod scaler;
mod score_moments;
mod sparse;
mod standardized;
mod statistics;
mod survey;
mod target_projection;

pub use moments::Moments;
pub use preprocessing::{Prepared, Preprocessing};
pub use resolved::Resolved;
pub use statistics::ColumnStatistics;

pub(crate) use class_rows::{ClassCentered, ClassMeans, lent_rows};
pub(crate) use columns::{Columns, two_sum};
pub(crate) use cross::Cross;
pub(crate) use gram_apply::has_gram_apply;
pub(crate) use observed::Observed;
pub(crate) use row_grid::{
    BLOCK, Block, RowBatch, RowGrid, batch_rows, reading_memory, reduction_block_rows,
};
pub(crate) use scaler::Scaler;
pub(crate) use score_moments::ScoreMoments;
pub(crate) use standardized::{Pass, Scores, Standardized};
pub(crate) use target_projection::LabelPass;
