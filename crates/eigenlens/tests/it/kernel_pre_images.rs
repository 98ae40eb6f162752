//! Pre-images: approximate by nature, exact where they can be.

use crate::kernel_pca::circles;
use crate::support::Random;
use eigenlens::{
    Approximation, Bandwidth, Dataset, Error, Kernel, KernelPca, KernelPcaModel, Landmarks, Pca,
    PreImage,
};
use ndarray::Array2;

fn gaussian(gamma: f64) -> Kernel {
    Kernel::Rbf { gamma: Bandwidth::Gamma(gamma) }
}

fn fit(kernel: Kernel, k: usize, x: &Array2<f64>) -> KernelPcaModel {
    KernelPca::new(k).kernel(kernel).fit(x).unwrap()
}

#[test]
fn of_a_linear_kernel_they_are_exact() {
    let x = Random::new(31).ordinary(60, 5);
    let model = fit(Kernel::Linear, 2, &x);
    let found = model.pre_images(&x, PreImage::Auto).unwrap();
    let pca = Pca::new(2).fit(&x).unwrap();
    let expected = pca.reconstruct(&x).unwrap();
    let off = (&found.rows - &expected).iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(off < 1e-8, "{off:e}");
    assert!(found.distances.iter().all(|d| *d < 1e-5), "{:?}", found.distances);
}

#[test]
fn distances_in_feature_space_are_those_of_the_formula() {
    let x = circles(80, 32);
    let model = fit(gaussian(0.2), 4, &x);
    let data = Dataset::from(&x);
    let scores = model.transform(&data).unwrap();
    let coefficients = model.dual_coefficients().unwrap().to_owned();
    let value = |a: &[f64], b: &[f64]| model.kernel().value(a, b);
    for way in [PreImage::FixedPoint, PreImage::Distances, PreImage::Ridge] {
        let found = model.pre_images(&data, way).unwrap();
        for i in (0..80).step_by(17) {
            // Pφ(x) = Σ w_j φ(x_j) with w = A z + 1/n, by plain loops.
            let w: Vec<f64> =
                (0..80).map(|j| coefficients.row(j).dot(&scores.row(i)) + 1.0 / 80.0).collect();
            let y = found.rows.row(i).to_vec();
            let mut square = value(&y, &y);
            for j in 0..80 {
                let p = x.row(j).to_vec();
                square -= 2.0 * w[j] * value(&y, &p);
                for l in 0..80 {
                    square += w[j] * w[l] * value(&p, &x.row(l).to_vec());
                }
            }
            let off = (found.distances[i].powi(2) - square).abs();
            assert!(off < 1e-9, "{way:?} {i}: {off:e}");
        }
    }
}

#[test]
fn every_way_takes_noise_away() {
    // Points of two circles, moved by noise; the fit has seen clean ones.
    let clean = circles(200, 33);
    let mut random = Random::new(34);
    let noise = Array2::from_shape_simple_fn((200, 2), || 0.35 * random.normal());
    let noisy = &clean + &noise;
    let distance = |a: &Array2<f64>| {
        // From the nearer circle.
        let radius = |i: usize| (a[[i, 0]].powi(2) + a[[i, 1]].powi(2)).sqrt();
        (0..200).map(|i| (radius(i) - 1.0).abs().min((radius(i) - 4.0).abs())).sum::<f64>() / 200.0
    };
    let exact = fit(gaussian(0.4), 12, &clean);
    let landmarks = KernelPca::new(12)
        .kernel(gaussian(0.4))
        .approximation(Approximation::Nystrom {
            landmarks: Some(60),
            selection: Landmarks::PivotedCholesky,
        })
        .fit(&clean)
        .unwrap();
    // The closed form looks at ten points, which of sixty landmarks lie too far apart.
    let ways = [PreImage::FixedPoint, PreImage::Ridge, PreImage::Distances];
    for (model, ways) in [(&exact, &ways[..]), (&landmarks, &ways[..2])] {
        for &way in ways {
            let found = model.pre_images(&noisy, way).unwrap();
            assert!(found.rows.iter().all(|v| v.is_finite()));
            let (before, after) = (distance(&noisy), distance(&found.rows));
            assert!(after < 0.75 * before, "{way:?}: {before} {after}");
        }
    }
}

#[test]
fn other_kernels_learn_theirs() {
    let x = circles(120, 35);
    for kernel in [Kernel::polynomial(2), Kernel::laplacian(), Kernel::Linear] {
        let model = fit(kernel, 5, &x);
        let found = model.pre_images(&x, PreImage::Ridge).unwrap();
        let error = (&found.rows - &x).mapv(|v| v * v).mean().unwrap();
        let spread = x.mapv(|v| v * v).mean().unwrap();
        assert!(error < 0.05 * spread, "{}: {error} of {spread}", model.kernel());
        let wrong = model.pre_images(&x, PreImage::FixedPoint).unwrap_err();
        assert!(matches!(wrong, Error::Unsupported { .. }), "{wrong}");
    }
    let features = Approximation::RandomFeatures { features: Some(20), orthogonal: false };
    let model = KernelPca::new(2).approximation(features).fit(&x).unwrap();
    let error = model.pre_images(&x, PreImage::Auto).unwrap_err();
    assert!(matches!(error, Error::NotDefined { .. }), "{error}");
}

/// Mika et al. 1999: eleven Gaussians in ten dimensions; the ratio of the squared distances that
/// linear and kernel PCA leave to the true centres rises with the number of components.
#[test]
fn denoising_follows_mika() {
    let (sigma, d, clouds) = (0.8, 10, 11);
    let mut random = Random::new(36);
    let centers = Array2::from_shape_simple_fn((clouds, d), || 2.0 * random.uniform() - 1.0);
    let mut draw = |each: usize| {
        let n = clouds * each;
        Array2::from_shape_fn((n, d), |(i, f)| centers[[i / each, f]] + sigma * random.normal())
    };
    let (training, test) = (draw(100), draw(33));
    let left = |rows: &Array2<f64>| -> f64 {
        (0..rows.nrows()).map(|i| (&rows.row(i) - &centers.row(i / 33)).mapv(|v| v * v).sum()).sum()
    };
    let gamma = 1.0 / (2.0 * sigma * sigma);
    let ratio = |k: usize| {
        let model = fit(gaussian(gamma), k, &training);
        let found = model.pre_images(&test, PreImage::FixedPoint).unwrap();
        let pca = Pca::new(k).fit(&training).unwrap();
        left(&pca.reconstruct(&test).unwrap()) / left(&found.rows)
    };
    let ratios = [1, 3, 6, 9].map(ratio);
    assert!(ratios.windows(2).all(|w| w[1] > w[0]), "{ratios:?}");
    assert!(ratios[3] > 1.5, "{ratios:?}");
}
