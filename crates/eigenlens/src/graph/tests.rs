//! The graph layer against plain loops: every pair compared, Floyd and Warshall, Kruskal.

use super::dijkstra::Dijkstra;
use super::elimination::{Elimination, LANES};
use super::neighbors::{Neighborhood, Neighbors, Search};
use super::network::Network;
use super::points::{Points, squared_distance};
use super::{Geodesics, Seeds};
use crate::error::Error;
use crate::linalg::random;
use ndarray::Array2;

fn points(n: usize, d: usize, seed: u64) -> Points {
    Points::from_stored(random::normal_matrix(&mut random::stream(seed, 0), n, d), 0)
}

/// Every distance, sorted by distance and number.
fn brute(points: &Points, query: &[f64], own: Option<usize>) -> Vec<(f64, u32)> {
    let mut all: Vec<(f64, u32)> = (0..points.n_samples())
        .filter(|&i| Some(i) != own)
        .map(|i| (squared_distance(query, points.row(i)).sqrt(), i as u32))
        .collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    all
}

fn check_nearest(points: &Points, k: usize) {
    let found = Search::new(points).among_themselves(Neighborhood::Nearest(k)).unwrap();
    for i in 0..points.n_samples() {
        let expected = brute(points, points.row(i), Some(i));
        let (indices, distances) = found.of(i);
        let got: Vec<(f64, u32)> = distances.iter().copied().zip(indices.iter().copied()).collect();
        assert_eq!(got, expected[..k], "sample {i}");
    }
}

#[test]
fn tree_and_tiles_find_what_comparing_every_pair_finds() {
    // A tree for few features and many samples, tiles for the others.
    for (n, d) in [(700, 1), (900, 3), (600, 8), (300, 2), (300, 17), (513, 40), (20, 5)] {
        check_nearest(&points(n, d, 7 + d as u64), 9.min(n - 1));
    }
}

#[test]
fn equal_distances_come_in_the_order_of_rows() {
    // A grid has many ties, and some rows come twice.
    for d in [2, 20] {
        let grid = Array2::from_shape_fn((640, d), |(i, f)| {
            let i = i % 600;
            if f == 0 {
                (i % 25) as f64
            } else if f == 1 {
                (i / 25) as f64
            } else {
                1.0
            }
        });
        check_nearest(&Points::from_stored(grid, 0), 6);
    }
}

#[test]
fn neighbours_far_from_the_origin_are_not_lost_to_cancellation() {
    for d in [3, 30] {
        let mut rows = random::normal_matrix(&mut random::stream(3, 0), 600, d);
        // Two clouds, each tiny beside its distance from the mean.
        for (i, mut row) in rows.rows_mut().into_iter().enumerate() {
            row.mapv_inplace(|v| v + if i % 2 == 0 { 1e9 } else { -1e9 });
        }
        check_nearest(&Points::from_stored(rows, 0), 5);
    }
}

#[test]
fn a_radius_finds_all_within_it_and_no_other() {
    for d in [3, 24] {
        let points = points(600, d, 5);
        let radius = (0.4 * (2.0 * d as f64)).sqrt();
        let found = Search::new(&points).among_themselves(Neighborhood::Radius(radius)).unwrap();
        for i in 0..600 {
            let within = |(distance, _): &(f64, u32)| *distance <= radius;
            let expected: Vec<u32> = brute(&points, points.row(i), Some(i))
                .into_iter()
                .filter(within)
                .map(|f| f.1)
                .collect();
            assert_eq!(found.of(i).0, expected, "d {d}, sample {i}");
        }
        assert!(found.indices.len() > 600);
    }
}

#[test]
fn new_points_find_their_neighbours_and_thresholds_of_their_own() {
    for d in [4, 16] {
        let (known, new) = (points(550, d, 1), points(90, d, 2));
        let search = Search::new(&known);
        let found = search.of(&new, Neighborhood::Nearest(7)).unwrap();
        let thresholds: Vec<f64> = (0..90).map(|q| 0.01 * (q * d) as f64).collect();
        let closer = search.closer_than(&new, &thresholds).unwrap();
        for q in 0..90 {
            let all = brute(&known, new.row(q), None);
            let expected: Vec<u32> = all[..7].iter().map(|f| f.1).collect();
            assert_eq!(found.of(q).0, expected);
            let squared = |i: u32| squared_distance(new.row(q), known.row(i as usize));
            let count = all.iter().filter(|f| squared(f.1) <= thresholds[q]).count();
            assert_eq!(closer.of(q).0.len(), count);
        }
    }
}

fn floyd_warshall(network: &Network) -> Array2<f64> {
    let n = network.n_nodes();
    let mut all = Array2::from_elem((n, n), f64::INFINITY);
    for i in 0..n {
        all[[i, i]] = 0.0;
        let (nodes, lengths) = network.of(i);
        for (&j, &length) in nodes.iter().zip(lengths) {
            all[[i, j as usize]] = length;
        }
    }
    for through in 0..n {
        for i in 0..n {
            for j in 0..n {
                let way = all[[i, through]] + all[[through, j]];
                if way < all[[i, j]] {
                    all[[i, j]] = way;
                }
            }
        }
    }
    all
}

fn same_distances(a: &Array2<f64>, b: &Array2<f64>) {
    for (x, y) in a.iter().zip(b) {
        assert!(x == y || (x - y).abs() <= 1e-12 * y.abs(), "{x} and {y}");
    }
}

fn nearest_network(points: &Points, k: usize) -> Network {
    Network::new(&Search::new(points).among_themselves(Neighborhood::Nearest(k)).unwrap())
}

#[test]
fn both_ways_to_geodesics_agree_with_floyd_and_warshall() {
    // Two parts at k = 2: what cannot be reached is infinitely far.
    for (d, k) in [(1, 2), (2, 2), (2, 6), (10, 5)] {
        let network = nearest_network(&points(220, d, 11), k);
        let expected = floyd_warshall(&network);
        let mut search = Dijkstra::new(&network);
        let mut by_search = Array2::zeros((220, 220));
        for (i, mut row) in by_search.rows_mut().into_iter().enumerate() {
            search.run(&[(i as u32, 0.0)], row.as_slice_mut().unwrap());
        }
        same_distances(&by_search, &expected);
        let elimination = Elimination::forced(&network).unwrap();
        let mut room = elimination.room();
        let mut by_sweep = Array2::zeros((220, 220));
        for (first, mut rows) in
            (0..220).step_by(LANES).zip(by_sweep.axis_chunks_iter_mut(ndarray::Axis(0), LANES))
        {
            let seeds: Vec<Seeds> =
                (first..220.min(first + LANES)).map(|i| vec![(i as u32, 0.0)]).collect();
            let seeds: Vec<&[(u32, f64)]> = seeds.iter().map(Vec::as_slice).collect();
            let mut rows: Vec<&mut [f64]> = rows.as_slice_mut().unwrap().chunks_mut(220).collect();
            elimination.run(&seeds, &mut room, &mut rows);
        }
        same_distances(&by_sweep, &expected);
        same_distances(&Geodesics::new(&network, 220).unwrap().all().unwrap(), &expected);
    }
}

#[test]
fn seeds_begin_at_their_own_distance() {
    let network = nearest_network(&points(150, 2, 4), 6);
    let all = floyd_warshall(&network);
    let seeds: Vec<Seeds> =
        (0..40u32).map(|q| vec![(q, 0.3), (q + 50, 0.1), (3 * q, 0.7)]).collect();
    let rows = Geodesics::new(&network, 40).unwrap().rows(&seeds).unwrap();
    for (q, seeds) in seeds.iter().enumerate() {
        for j in 0..150 {
            let expected = seeds
                .iter()
                .map(|&(node, start)| start + all[[node as usize, j]])
                .fold(f64::INFINITY, f64::min);
            assert!((rows[[q, j]] - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn surfaces_are_swept_and_clouds_are_searched() {
    let surface = nearest_network(&points(1000, 2, 1), 8);
    assert!(Elimination::new(&surface, 1000).unwrap().is_some());
    let cloud = nearest_network(&points(1500, 40, 1), 30);
    assert!(Elimination::new(&cloud, 1500).unwrap().is_none());
}

/// Four clusters on a line, 10 apart, and the gaps between them.
fn clusters() -> Points {
    let mut rng = random::stream(9, 0);
    let mut rows = random::normal_matrix(&mut rng, 120, 2) * 0.1;
    for (i, mut row) in rows.rows_mut().into_iter().enumerate() {
        row[0] += 10.0 * [0.0, 1.0, 2.0, 5.0][i % 4];
    }
    Points::from_stored(rows, 0)
}

#[test]
fn parts_are_named_or_joined_by_the_shortest_bridges() {
    let points = clusters();
    let which = Neighborhood::Nearest(5);
    let neighbors: Neighbors = Search::new(&points).among_themselves(which).unwrap();
    match Network::connected(&neighbors, &points, which, false) {
        Err(Error::Disconnected { sizes, .. }) => assert_eq!(sizes, [30, 30, 30, 30]),
        other => panic!("{other:?}"),
    }
    let (network, bridges) = Network::connected(&neighbors, &points, which, true).unwrap();
    assert_eq!((bridges, network.parts().sizes.len()), (3, 1));
    // The bridges are those of the minimum spanning tree: along the line, the nearest pairs.
    let plain = Network::new(&neighbors);
    let (before, after) = (plain.lengths.iter().sum::<f64>(), network.lengths.iter().sum::<f64>());
    let nearest = |a: usize, b: usize| {
        let ends = |c: usize| (0..120).filter(move |i| i % 4 == c);
        ends(a)
            .flat_map(|i| ends(b).map(move |j| (i, j)))
            .map(|(i, j)| squared_distance(points.row(i), points.row(j)).sqrt())
            .fold(f64::INFINITY, f64::min)
    };
    let expected = 2.0 * (nearest(0, 1) + nearest(1, 2) + nearest(2, 3));
    assert!((after - before - expected).abs() < 1e-9);
}

#[test]
fn coinciding_samples_are_neighbours_at_distance_0() {
    let rows = Array2::from_shape_fn((40, 3), |(i, f)| ((i / 4) * (f + 1)) as f64);
    let network = nearest_network(&Points::from_stored(rows, 0), 4);
    assert_eq!(network.parts().sizes.len(), 1);
    let all = Geodesics::new(&network, 40).unwrap().all().unwrap();
    assert_eq!(all[[0, 3]], 0.0);
    assert!((all[[0, 39]] - 9.0 * 14f64.sqrt()).abs() < 1e-12);
}
