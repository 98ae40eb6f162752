//! The order features are packed in for a large scatter matrix: constant ones stand together, in panels
//! that add nothing to it.

use super::prepared::{Slab, unit_rows};
use crate::linalg::gemm::slice_mut;
use crate::scalar::Scalar;
use ndarray::Array2;
use rayon::prelude::*;
use std::ops::Range;

/// A place in the packed rows for every feature. It is chosen by the first rows alone: a feature that
/// varies later stands in a panel with others like it, and costs as much as any other.
pub(super) struct Order {
    /// The feature at each place.
    features: Vec<usize>,
    /// Neighbours that stay neighbours, by feature; each within one panel.
    runs: Vec<Run>,
    panel: usize,
}

/// Some features in a row.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub feature: usize,
    pub place: usize,
    pub length: usize,
}

impl Order {
    /// Those that vary in the first unit of a slab come first, where that saves a panel.
    pub fn of<T: Scalar>(slab: &Slab<T>) -> Order {
        let d = slab.n_features;
        let mut scratch = Vec::new();
        let mut varies = vec![false; d];
        let some = slab.block(0, unit_rows(d).min(slab.rows), &mut scratch);
        for i in 1..some.rows {
            let rows = some.row(0).iter().zip(some.row(i));
            varies.iter_mut().zip(rows).for_each(|(varies, (a, b))| *varies |= a != b);
        }
        Order::new(&varies, T::PANEL)
    }

    fn new(varies: &[bool], panel: usize) -> Order {
        let d = varies.len();
        let varying = varies.iter().filter(|varies| **varies).count();
        let features: Vec<usize> = if varying.div_ceil(panel) < d.div_ceil(panel) {
            let those = |wanted: bool| (0..d).filter(move |&f| varies[f] == wanted);
            those(true).chain(those(false)).collect()
        } else {
            (0..d).collect()
        };
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
        Order { features, runs, panel }
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

    /// Whether any feature of each panel is marked.
    pub fn panels_with(&self, marked: &[bool]) -> Vec<bool> {
        let panels = self.features.chunks(self.panel);
        panels.map(|features| features.iter().any(|&f| marked[f])).collect()
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

    fn varying(d: usize, constant: &[usize]) -> Vec<bool> {
        (0..d).map(|f| !constant.contains(&f)).collect()
    }

    #[test]
    fn every_feature_has_a_place_and_runs_lead_there() {
        for constant in [&[][..], &[0, 1, 2, 9, 17], &[3], &[5, 6, 7, 8, 20, 21, 22]] {
            let order = Order::new(&varying(23, constant), 4);
            let mut place_of = [usize::MAX; 23];
            for range in [0..10, 10..23] {
                for run in order.runs_in(range.clone()) {
                    assert!(run.length > 0 && range.contains(&run.feature));
                    assert!(run.feature + run.length <= range.end);
                    assert_eq!(run.place / 4, (run.place + run.length - 1) / 4, "one panel");
                    for i in 0..run.length {
                        place_of[run.feature + i] = run.place + i;
                    }
                }
            }
            for (f, &place) in place_of.iter().enumerate() {
                assert_eq!(order.features()[place], f);
            }
        }
    }

    #[test]
    fn constant_features_stand_last_where_that_saves_a_panel() {
        let order = Order::new(&varying(10, &[0, 4, 5]), 4);
        assert_eq!(order.features(), [1, 2, 3, 6, 7, 8, 9, 0, 4, 5]);
        assert_eq!(order.panels_with(&varying(10, &[0, 4, 5])), [true, true, false]);
        let order = Order::new(&varying(10, &[4]), 4);
        assert_eq!(order.features(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_matrix_is_put_back() {
        let order = Order::new(&varying(10, &[0, 4, 5, 8]), 4);
        let at = |f: usize, g: usize| (10 * f + g) as f64;
        let features = order.features().to_vec();
        let mut matrix = Array2::from_shape_fn((10, 10), |(i, j)| at(features[i], features[j]));
        order.restore(&mut matrix);
        assert_eq!(matrix, Array2::from_shape_fn((10, 10), |(i, j)| at(i, j)));
    }
}
