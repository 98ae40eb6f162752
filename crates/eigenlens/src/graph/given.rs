//! Matrices between samples that are given in place of features: distances or affinities.

use super::neighbors::{Neighborhood, Neighbors};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::passes::RowGrid;
use crate::scalar::Scalar;

/// Rows that are read together: bounds the memory of a dense block.
const TOGETHER: usize = 128;

/// Columns with their entries: all of a dense row, those stored of a sparse one.
pub(crate) type GivenRow = Vec<(u32, f64)>;

/// Hands over every row of numbers that are finite and at least 0.
pub(crate) fn for_each_given_row<T: Scalar>(
    data: &Dataset<T>,
    what: &'static str,
    mut take: impl FnMut(usize, &GivenRow) -> Result<()>,
) -> Result<()> {
    let mut entries = GivenRow::new();
    let mut check = |row: usize, entries: &GivenRow| {
        for &(column, value) in entries {
            let column = column as usize;
            if !value.is_finite() {
                return Err(data.bad_entry(row, column, value));
            }
            if value < 0.0 {
                return Err(Error::Negative { what, row, column, value });
            }
        }
        take(row, entries)
    };
    if data.is_sparse() {
        let rows = data.to_csr()?;
        for row in 0..rows.n_rows() {
            let (columns, values) = rows.row(row);
            entries.clear();
            entries.extend(columns.iter().copied().zip(values.iter().copied()));
            check(row, &entries)?;
        }
        return Ok(());
    }
    RowGrid::unweighted(data, None)?.for_each_batch(TOGETHER, |batch| {
        let mut scratch = Vec::new();
        let block = batch.block(0, batch.rows, &mut scratch);
        for i in 0..batch.rows {
            entries.clear();
            entries.extend((0u32..).zip(block.row(i).iter().map(|v| v.to_f64())));
            check(batch.first + i, &entries)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// The neighbours of every row by its distances; a sample is no neighbour of itself, whatever the
/// diagonal says.
pub(crate) fn given_neighbors<T: Scalar>(
    data: &Dataset<T>,
    which: Neighborhood,
) -> Result<Neighbors> {
    let mut all = Neighbors { starts: vec![0], ..Neighbors::default() };
    for_each_given_row(data, "the distance", |row, entries| {
        let own = |&(column, _): &(u32, f64)| column as usize != row;
        let found = nearest_given(entries.iter().copied().filter(own).collect(), which);
        if let Neighborhood::Nearest(needed) = which
            && found.len() < needed
        {
            let (by, found) = ("the graph", found.len());
            return Err(Error::TooFewNeighbors { by, row: Some(row), found, needed });
        }
        all.indices.extend(found.iter().map(|f| f.0));
        all.distances.extend(found.iter().map(|f| f.1));
        all.starts.push(all.indices.len());
        Ok(())
    })?;
    Ok(all)
}

/// The nearest of some columns with their distances, nearest first; equal ones in order.
pub(crate) fn nearest_given(mut row: GivenRow, which: Neighborhood) -> GivenRow {
    let nearer = |a: &(u32, f64), b: &(u32, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
    match which {
        Neighborhood::Radius(radius) => row.retain(|(_, distance)| *distance <= radius),
        Neighborhood::Nearest(k) if k < row.len() => {
            row.select_nth_unstable_by(k, nearer);
            row.truncate(k);
        }
        Neighborhood::Nearest(_) => {}
    }
    row.sort_unstable_by(nearer);
    row
}
