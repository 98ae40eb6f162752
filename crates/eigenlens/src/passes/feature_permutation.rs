//! The order features are packed in for a large scatter matrix: those that mostly have one value (zero,
//! in images and counts) stand together, as what lies at it adds nothing.

use super::row_grid::{BLOCK, RowBatch, reduction_block_rows};
use crate::linalg::gemm::slice_mut;
use crate::linalg::simd::NonzeroRows;
use crate::scalar::Scalar;
use ndarray::Array2;
use rayon::prelude::*;
use std::ops::Range;

/// A place in the packed rows for every feature. It is chosen by the first rows alone: what is otherwise
/// later costs time, and nothing else.
pub(super) struct FeaturePermutation<T> {
    /// The feature at each place.
    features: Vec<usize>,
    /// The value that a feature has most of the time, if there is one.
    common: Vec<Option<T>>,
    /// The place of the first feature with a common value.
    first_common: usize,
    /// Neighbours that stay neighbours, by feature; each within one panel.
    runs: Vec<Run>,
}

/// Some features in a row.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub feature: usize,
    pub place: usize,
    pub length: usize,
}

/// What the first rows say of a feature.
#[derive(Clone, Copy, PartialEq)]
enum Kind<T> {
    Spread,
    /// At least half of them have one value.
    Mostly(T),
    Constant(T),
}

impl<T: Copy> Kind<T> {
    fn common(&self) -> Option<T> {
        match self {
            Kind::Spread => None,
            Kind::Mostly(value) | Kind::Constant(value) => Some(*value),
        }
    }
}

/// The share of multiplications that must be saved before features are treated apart.
const LEAST_SAVED: f64 = 0.1;

/// The common values of features by the first unit of a batch, where groups of neighbours have them together.
pub(super) fn common_in_groups<T: Scalar>(batch: &RowBatch<T>) -> Vec<Option<T>> {
    let kinds = kinds_of(batch);
    let features: Vec<usize> = (0..kinds.len()).collect();
    let mut common: Vec<Option<T>> = kinds.iter().map(Kind::common).collect();
    let groups: Vec<&[usize]> = features.chunks(NonzeroRows::GROUP).collect();
    let shares: Vec<f64> = groups.iter().map(|group| share_at(batch, group, &kinds)).collect();
    if shares.iter().sum::<f64>() < LEAST_SAVED * groups.len() as f64 {
        common.fill(None);
    }
    for (values, share) in common.chunks_mut(NonzeroRows::GROUP).zip(shares) {
        if share == 0.0 {
            values.fill(None);
        }
    }
    common
}

/// The share of the first rows in which all features of a group are at their common values.
fn share_at<T: Scalar>(batch: &RowBatch<T>, group: &[usize], kinds: &[Kind<T>]) -> f64 {
    let mut scratch = Vec::new();
    let some = batch.block(0, BLOCK.min(batch.rows), &mut scratch);
    let at = |i: &usize| group.iter().all(|&f| kinds[f].common() == Some(some.row(*i)[f]));
    (0..some.rows).filter(at).count() as f64 / some.rows as f64
}

/// By the first unit of a batch. Rows that weigh differently have no common values.
fn kinds_of<T: Scalar>(batch: &RowBatch<T>) -> Vec<Kind<T>> {
    let d = batch.n_features;
    let mut scratch = Vec::new();
    let some = batch.block(0, reduction_block_rows(d).min(batch.rows), &mut scratch);
    // The only value that more than half of the first rows may have (Boyer & Moore).
    let mut values = some.row(0).to_vec();
    let mut lead = vec![0i32; d];
    for i in 0..some.rows.min(BLOCK) {
        for ((value, lead), x) in values.iter_mut().zip(&mut lead).zip(some.row(i)) {
            if *lead == 0 {
                *value = *x;
            }
            *lead += if x == value { 1 } else { -1 };
        }
    }
    let mut equal = vec![0usize; d];
    for i in 0..some.rows {
        let rows = values.iter().zip(some.row(i));
        equal.iter_mut().zip(rows).for_each(|(equal, (v, x))| *equal += usize::from(v == x));
    }
    let kind = |(&value, &equal): (&T, &usize)| match equal {
        _ if equal == some.rows => Kind::Constant(value),
        _ if 2 * equal >= some.rows && some.counts.is_none() && NonzeroRows::help() => {
            Kind::Mostly(value)
        }
        _ => Kind::Spread,
    };
    values.iter().zip(&equal).map(kind).collect()
}

impl<T: Scalar> FeaturePermutation<T> {
    /// By the first unit of a batch: spread features, then those with a common value where that saves
    /// something, constant ones last.
    pub fn of(batch: &RowBatch<T>) -> FeaturePermutation<T> {
        let mut kinds = kinds_of(batch);
        let permutation = FeaturePermutation::new(&kinds, T::PANEL);
        let groups = permutation.features[permutation.first_common..].chunks(NonzeroRows::GROUP);
        let saved: f64 = groups.map(|group| share_at(batch, group, &kinds)).sum();
        if saved * (NonzeroRows::GROUP as f64) < LEAST_SAVED * kinds.len() as f64 {
            for kind in kinds.iter_mut().filter(|kind| matches!(kind, Kind::Mostly(_))) {
                *kind = Kind::Spread;
            }
            return FeaturePermutation::new(&kinds, T::PANEL);
        }
        permutation
    }

    fn new(kinds: &[Kind<T>], panel: usize) -> FeaturePermutation<T> {
        let d = kinds.len();
        let those = |wanted: fn(&Kind<T>) -> bool| (0..d).filter(move |&f| wanted(&kinds[f]));
        let spread = || those(|kind| matches!(kind, Kind::Spread));
        let features: Vec<usize> = spread()
            .chain(those(|kind| matches!(kind, Kind::Mostly(_))))
            .chain(those(|kind| matches!(kind, Kind::Constant(_))))
            .collect();
        let common = kinds.iter().map(Kind::common);
        let mut place_of = vec![0; d];
        features.iter().enumerate().for_each(|(place, &feature)| place_of[feature] = place);
        let mut runs: Vec<Run> = Vec::new();
        for (feature, &place) in place_of.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if run.place + run.length == place && place % panel != 0 => {
                    run.length += 1;
                }
                _ => runs.push(Run { feature, place, length: 1 }),
            }
        }
        FeaturePermutation {
            common: common.collect(),
            first_common: spread().count(),
            features,
            runs,
        }
    }

    /// The runs that have features of `range`, cut to it.
    pub fn runs_in(&self, range: Range<usize>) -> impl Iterator<Item = Run> + '_ {
        let from = self.runs.partition_point(|run| run.feature + run.length <= range.start);
        let some = self.runs[from..].iter();
        some.take_while(move |run| run.feature < range.end).map(move |run| {
            let before = range.start.saturating_sub(run.feature);
            let after = (run.feature + run.length).saturating_sub(range.end);
            Run {
                feature: run.feature + before,
                place: run.place + before,
                length: run.length - before - after,
            }
        })
    }

    /// The feature at each place.
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// The value that each feature has most of the time, if there is one.
    pub fn common(&self) -> &[Option<T>] {
        &self.common
    }

    /// The place of the first feature with a common value.
    pub fn first_common(&self) -> usize {
        self.first_common
    }

    /// Rows and columns of a matrix (d × d) back to the order of the features, in its own room.
    pub fn restore(&self, matrix: &mut Array2<f64>) {
        let d = self.features.len();
        if self.features.iter().enumerate().all(|(place, &feature)| place == feature) {
            return;
        }
        let entries = slice_mut(matrix);
        entries.par_chunks_mut(d).for_each_init(
            || vec![0.0; d],
            |line, row| {
                line.copy_from_slice(row);
                self.features.iter().zip(line).for_each(|(&f, v)| row[f] = *v);
            },
        );
        // Rows change places until each cycle closes.
        let mut at = self.features.clone();
        for place in 0..d {
            while at[place] != place {
                let feature = at[place];
                let (low, high) = (place.min(feature), place.max(feature));
                let (upper, lower) = entries.split_at_mut(high * d);
                upper[low * d..][..d].swap_with_slice(&mut lower[..d]);
                at.swap(place, feature);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::passes::RowGrid;

    /// Those listed are constant or mostly 7, by turns.
    fn kinds(d: usize, common: &[usize]) -> Vec<Kind<f64>> {
        let kind = |f: usize| match common.iter().position(|&c| c == f) {
            Some(at) if at % 2 == 0 => Kind::Constant(7.0),
            Some(_) => Kind::Mostly(7.0),
            None => Kind::Spread,
        };
        (0..d).map(kind).collect()
    }

    #[test]
    fn every_feature_has_a_place_and_runs_lead_there() {
        for common in [&[][..], &[0, 1, 2, 9, 17], &[3], &[5, 6, 7, 8, 20, 21, 22]] {
            let permutation = FeaturePermutation::new(&kinds(23, common), 4);
            let mut place_of = [usize::MAX; 23];
            for range in [0..10, 10..23] {
                for run in permutation.runs_in(range.clone()) {
                    assert!(run.length > 0 && range.contains(&run.feature));
                    assert!(run.feature + run.length <= range.end);
                    assert_eq!(run.place / 4, (run.place + run.length - 1) / 4, "one panel");
                    for i in 0..run.length {
                        place_of[run.feature + i] = run.place + i;
                    }
                }
            }
            for (f, &place) in place_of.iter().enumerate() {
                assert_eq!(permutation.features()[place], f);
                let is_common = common.contains(&f);
                assert_eq!(permutation.common()[f], is_common.then_some(7.0));
                assert_eq!(place >= permutation.first_common(), is_common);
            }
        }
    }

    #[test]
    fn constant_features_stand_last() {
        let permutation = FeaturePermutation::new(&kinds(10, &[0, 1, 4, 5]), 4);
        assert_eq!(permutation.features(), [2, 3, 6, 7, 8, 9, 1, 5, 0, 4]);
    }

    #[test]
    fn the_first_rows_say_what_is_common() {
        let x = Array2::from_shape_fn((300, 4), |(i, f)| match f {
            0 => i as f64,
            1 if i % 5 < 3 => -2.0,
            2 => 0.5,
            // Of no value as many as half.
            3 if i % 5 < 2 => -2.0,
            _ => (i % 7) as f64,
        });
        let data = Dataset::from(&x);
        let mut found = Vec::new();
        let look = |batch: RowBatch<f64>| {
            found.push(FeaturePermutation::of(&batch).common);
            Ok(())
        };
        RowGrid::new(&data).unwrap().for_each_batch(300, look).unwrap();
        assert_eq!(
            found,
            [vec![None, Some(-2.0).filter(|_| NonzeroRows::help()), Some(0.5), None]]
        );
    }

    /// Sixteen features, eight of them mostly 0: together in the same rows, or each in its own.
    #[test]
    fn values_count_as_common_where_that_saves_something() {
        for (together, saves) in [(true, NonzeroRows::help()), (false, false)] {
            let x = Array2::from_shape_fn((128, 16), |(i, f)| {
                let at = if together { i } else { i / (f + 1) };
                if f < 8 && (at * 7 + if together { 0 } else { f }) % 5 < 3 {
                    0.0
                } else {
                    (i + f + 1) as f64
                }
            });
            let data = Dataset::from(&x);
            let mut found = Vec::new();
            let look = |batch: RowBatch<f64>| {
                found.push((
                    FeaturePermutation::of(&batch).first_common < 16,
                    common_in_groups(&batch),
                ));
                Ok(())
            };
            RowGrid::new(&data).unwrap().for_each_batch(128, look).unwrap();
            let (ordered, groups) = &found[0];
            assert_eq!(*ordered, saves);
            assert_eq!(
                groups.iter().filter(|value| value.is_some()).count(),
                8 * usize::from(saves)
            );
        }
    }

    #[test]
    fn a_matrix_is_put_back() {
        let permutation = FeaturePermutation::new(&kinds(10, &[0, 4, 5, 8]), 4);
        let at = |f: usize, g: usize| (10 * f + g) as f64;
        let features = permutation.features().to_vec();
        let mut matrix = Array2::from_shape_fn((10, 10), |(i, j)| at(features[i], features[j]));
        permutation.restore(&mut matrix);
        assert_eq!(matrix, Array2::from_shape_fn((10, 10), |(i, j)| at(i, j)));
    }
}
