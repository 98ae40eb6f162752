//! What embeddings are: kernel PCA of the kernel that they imply (Ham et al. 2004).

use crate::embedding_support::{distances, double_centered, nearest_edges, swiss_roll};
use crate::support::*;
use eigenlens::{
    Estimator, Isomap, Kernel, KernelPca, LaplacianEigenmaps, Lle, LleVariant, Mds, Metric,
    Normalization, Pca, Scaling,
};
use ndarray::{Array2, Axis};

/// Scores of kernel PCA of a given kernel.
fn kernel_pca(kernel: &Array2<f64>, k: usize) -> Array2<f64> {
    KernelPca::new(k).kernel(Kernel::Precomputed).fit_transform(kernel).unwrap().1
}

/// The same but for the sign of each column.
#[track_caller]
fn same_up_to_signs(what: &str, found: &Array2<f64>, wanted: &Array2<f64>, tolerance: f64) {
    assert_eq!(found.dim(), wanted.dim(), "{what}");
    for (a, b) in found.columns().into_iter().zip(wanted.columns()) {
        let sign = a.dot(&b).signum();
        for (a, b) in a.iter().zip(b) {
            assert_close(what, a * sign, *b, tolerance);
        }
    }
}

/// Distances along a graph by Floyd and Warshall.
fn all_paths(edges: &Array2<f64>) -> Array2<f64> {
    let mut d = edges.clone();
    d.diag_mut().fill(0.0);
    for via in 0..d.nrows() {
        for i in 0..d.nrows() {
            for j in 0..d.nrows() {
                d[[i, j]] = d[[i, j]].min(d[[i, via]] + d[[via, j]]);
            }
        }
    }
    d
}

#[test]
fn mds_is_kernel_pca_of_its_centred_squared_distances() {
    let x = Random::new(4).ordinary(40, 5);
    let mds = Mds::new(3);
    let found = mds.implied_kernel(&x).unwrap();
    assert_all_close("kernel", &found.kernel, &double_centered(&distances(&x)), 1e-10);
    assert_all_close(
        "distances",
        &found.part("distances").unwrap().to_owned(),
        &distances(&x),
        1e-10,
    );
    let (model, coordinates) = mds.fit_transform(&x).unwrap();
    same_up_to_signs("mds", &kernel_pca(&found.kernel, 3), &coordinates, 1e-8);
    same_up_to_signs("pca", &Pca::new(3).fit_transform(&x).unwrap().1, &coordinates, 1e-10);
    assert_eq!(model.n_components(), 3);
    // Given distances, and another metric, whose kernel has a negative part.
    let given = Mds::new(3).distances(true);
    let kernel = given.implied_kernel(&distances(&x)).unwrap().kernel;
    assert_all_close("given", &kernel, &found.kernel, 1e-9);
    let manhattan = Mds::new(3).metric(Metric::Manhattan);
    let kernel = manhattan.implied_kernel(&x).unwrap().kernel;
    let coordinates = manhattan.fit_transform(&x).unwrap().1;
    same_up_to_signs("manhattan", &kernel_pca(&kernel, 3), &coordinates, 1e-7);
}

#[test]
fn isomap_is_kernel_pca_of_its_geodesics() {
    let (x, _) = swiss_roll(120, 3);
    let isomap = Isomap::new(2).neighbors(7);
    let found = isomap.implied_kernel(&x).unwrap();
    let edges = nearest_edges(&x, 7);
    let paths = all_paths(&edges);
    assert_all_close("geodesics", &found.part("distances").unwrap().to_owned(), &paths, 1e-9);
    let graph = edges.mapv(|length| if length.is_finite() { length } else { 0.0 });
    assert_all_close("graph", &found.part("graph").unwrap().to_owned(), &graph, 1e-9);
    assert_all_close("kernel", &found.kernel, &double_centered(&paths), 1e-8);
    let coordinates = isomap.fit_transform(&x).unwrap().1;
    same_up_to_signs("isomap", &kernel_pca(&found.kernel, 2), &coordinates, 1e-6);
}

#[test]
fn laplacian_eigenmaps_are_kernel_pca_of_the_pseudo_inverse() {
    let (x, _) = swiss_roll(90, 5);
    let maps = LaplacianEigenmaps::new(2)
        .neighbors(6)
        .normalization(Normalization::Unnormalized)
        .scaling(Scaling::Kernel);
    let found = maps.implied_kernel(&x).unwrap();
    let affinities = found.part("affinities").unwrap().to_owned();
    let wanted = nearest_edges(&x, 6).mapv(|l| if l.is_finite() { 1.0 } else { 0.0 });
    assert_all_close("affinities", &affinities, &wanted, 0.0);
    // L L⁺ L = L, with L made here.
    let degrees = affinities.sum_axis(Axis(1));
    let laplacian = Array2::from_diag(&degrees) - &affinities;
    let product = laplacian.dot(&found.kernel).dot(&laplacian);
    assert_all_close("pseudo-inverse", &product, &laplacian, 1e-8);
    let coordinates = maps.fit_transform(&x).unwrap().1;
    same_up_to_signs("laplacian", &kernel_pca(&found.kernel, 2), &coordinates, 1e-6);
    // Squared distances in all dimensions are commute times divided by the volume: of two neighbours at the end of
    // a line they are 1 (one edge of resistance 1).
    let line = Array2::from_shape_fn((6, 1), |(i, _)| (i * i) as f64);
    let kernel = maps.clone().neighbors(1).implied_kernel(&line).unwrap().kernel;
    let resistance = kernel[[4, 4]] + kernel[[5, 5]] - 2.0 * kernel[[4, 5]];
    assert_close("resistance", resistance, 1.0, 1e-10);
}

#[test]
fn lle_is_kernel_pca_of_what_its_weights_leave() {
    let (x, _) = swiss_roll(100, 6);
    for variant in [LleVariant::Standard, LleVariant::Ltsa, LleVariant::Modified] {
        let lle = Lle::new(2).neighbors(9).variant(variant).scaling(Scaling::Kernel);
        let found = lle.implied_kernel(&x).unwrap();
        let coordinates = lle.fit_transform(&x).unwrap().1;
        same_up_to_signs("lle", &kernel_pca(&found.kernel, 2), &coordinates, 1e-5);
        let Some(weights) = found.part("weights") else {
            assert_ne!(variant, LleVariant::Standard);
            continue;
        };
        // Rows that sum to 1, and M = (I − W)ᵀ(I − W) behind the kernel.
        assert!(weights.sum_axis(Axis(1)).iter().all(|sum| (sum - 1.0).abs() < 1e-10));
        let rest = Array2::eye(100) - weights;
        let m = rest.t().dot(&rest);
        let sum = &found.kernel + &m;
        let largest = sum[[0, 0]];
        assert_all_close("kernel", &sum, &(Array2::eye(100) * largest), 1e-9);
        let (values, _) = jacobi(&m);
        let top = values.iter().fold(0.0f64, |a, b| a.max(*b));
        assert_close("largest", largest, top, 1e-9);
    }
}

#[test]
fn only_embeddings_imply_a_kernel() {
    let x = Random::new(9).matrix(12, 3);
    let pca: Box<dyn Estimator> = Box::new(Pca::new(2));
    let data = eigenlens::AnyDataset::from(eigenlens::Dataset::from(&x));
    let error = pca.implied_kernel(&data).unwrap_err().to_string();
    assert!(error.contains("`pca` is no embedding"), "{error}");
    let mut holes = x.clone();
    holes[[2, 1]] = f64::NAN;
    assert!(Mds::new(2).implied_kernel(&holes).unwrap_err().to_string().contains("is missing"));
    let budget = eigenlens::Options { memory: Some(1 << 20), ..Default::default() };
    let large = Array2::<f64>::zeros((2000, 2));
    let error = Mds::new(2).options(budget).implied_kernel(&large).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
}
