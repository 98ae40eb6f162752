//! Kinds of data and requests, each a generator with parameters drawn from a seed.

mod columns;
mod kernels;
mod large;
mod matrices;
mod rounding;
mod spectra;

use crate::problem::Judged;
use crate::random::Random;
use eigenlens::Result;

/// One kind of fits.
#[derive(Debug)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What is special about it.
    pub about: &'static str,
    /// How many of its fits go with those of the others.
    pub share: usize,
    /// Draws a problem, fits it and compares with the truth.
    pub judge: fn(&mut Random) -> Result<Judged>,
}

const fn family(
    name: &'static str,
    share: usize,
    judge: fn(&mut Random) -> Result<Judged>,
    about: &'static str,
) -> Family {
    Family { name, about, share, judge }
}

/// All of them.
pub const FAMILIES: &[Family] = &[
    family("plain", 12, columns::plain, "f64 at rounding level, every route"),
    family("clusters", 12, spectra::clusters, "values with gaps from 1e-2 down to 1e-14"),
    family("graded", 12, spectra::graded, "values that fall by powers of ten"),
    family("low-rank", 6, spectra::low_rank, "fewer directions than are asked for"),
    family("offsets", 12, columns::offsets, "f64 with means of 1e3 to 1e12 standard deviations"),
    family(
        "standardized",
        8,
        columns::standardized,
        "columns of very different size, standardised",
    ),
    family("single", 12, columns::single, "float32, standardised or not"),
    family(
        "single-offsets",
        14,
        columns::single_offsets,
        "float32 with means of up to 1e5 deviations",
    ),
    family("scales", 6, columns::scales, "entries of 1e-250 to 1e250"),
    family("wide", 10, columns::wide, "fewer samples than features"),
    family("sparse", 10, columns::sparse, "mostly zeros, as a sparse matrix"),
    family("weights", 8, columns::weights, "samples that count differently"),
    family("streamed", 6, columns::streamed, "rows in blocks"),
    family("uncentred", 10, columns::uncentred, "LSA: about the origin"),
    family("many", 10, columns::many, "so many components that probes stand for the data"),
    family("covariance", 10, matrices::covariance, "a covariance matrix in place of data"),
    family("supervised", 8, matrices::supervised, "supervised PCA of classes"),
    family("full-rank", 10, large::full_rank, "as many directions as features, 32 to 192 of them"),
    family("krylov", 10, large::krylov, "block Krylov iteration on slowly falling values"),
    family("krylov-clusters", 10, large::krylov_clusters, "block Krylov iteration on clusters"),
    family("krylov-single", 8, large::krylov_single, "large float32 data"),
    family("inertia", 4, large::inertia, "leading pairs of a large covariance, counted by inertia"),
    family("sparse-blocks", 8, large::sparse_blocks, "block Krylov iteration on sparse blocks"),
    family("randomized", 8, large::randomized, "the randomised range finder"),
    family("probes", 6, large::probes, "24 to 70 components of large data"),
    family("dual", 8, large::dual, "hundreds of features, few samples"),
    family(
        "against-the-seed",
        1,
        large::against_the_seed,
        "a direction that the default draws do not see",
    ),
    family("equal-terms", 6, rounding::equal, "squares that are all equal, up to a million"),
    family("lost-terms", 6, rounding::lost, "rows that are lost beside a few large ones"),
    family("drift", 6, rounding::drift, "sorted rows: partial sums far above the sum"),
    family("fractions", 4, rounding::fractions, "float32 of a few decimal fractions"),
    family("one-row", 6, rounding::one_row, "multiples of one row: every score rounds alike"),
    family("kernel-rbf", 10, kernels::rbf, "Gaussian kernels, gamma from 1e-12 to 10"),
    family("kernel-sigmoid", 10, kernels::sigmoid, "sigmoid kernels, gamma from 1e-10"),
    family("kernel-products", 8, kernels::products, "linear and polynomial kernels"),
    family("kernel-large", 4, kernels::large, "kernels of more samples than are decomposed whole"),
    family("kernel-single", 10, kernels::single, "kernels of float32 points, with offsets"),
];

/// The family with this name.
pub fn find(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}
