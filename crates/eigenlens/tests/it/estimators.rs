//! Every method, ready to fit: whoever loops over [`METHODS`] gets its estimators here.

use eigenlens::{
    BayesianPca, Estimator, Isomap, KernelPca, KernelSupervisedPca, LaplacianEigenmaps, Lle, Lsa,
    Mds, Method, NComponents, Options, Pca, Ppca, PpcaMixture, SparsePca, SupervisedPca, Target,
};
use ndarray::ArrayView1;

/// The method with so many components and otherwise sensible settings. `None`: its type has no way to
/// ask for them so.
pub fn estimator(
    method: &Method,
    n_components: &NComponents,
    options: &Options,
) -> Option<Box<dyn Estimator>> {
    let (k, options) = (n_components.clone(), options.clone());
    let number = match n_components {
        NComponents::Fixed(k) => Some(*k),
        _ => None,
    };
    Some(match method.name {
        "pca" => Box::new(Pca::new(k).options(options)),
        "lsa" => Box::new(Lsa::new(k).options(options)),
        "ppca" => Box::new(Ppca::new(k).options(options)),
        "bayesian-pca" => Box::new(BayesianPca::new(k).options(options)),
        // Its components are its parts: scores say how much of a sample belongs to each.
        "ppca-mixture" => Box::new(PpcaMixture::new(number?, 1).options(options)),
        "sparse-pca" => Box::new(SparsePca::cardinality(number?, 3).options(options)),
        "kernel-pca" => Box::new(KernelPca::new(k).options(options)),
        "supervised-pca" => Box::new(SupervisedPca::new(k).options(options)),
        "kernel-supervised-pca" => Box::new(KernelSupervisedPca::new(k).options(options)),
        "mds" => Box::new(Mds::new(k).options(options)),
        "isomap" => Box::new(Isomap::new(k).bridges(true).options(options)),
        "laplacian" => Box::new(LaplacianEigenmaps::new(k).bridges(true).options(options)),
        "lle" => Box::new(Lle::new(k).bridges(true).options(options)),
        other => panic!("`{other}` has no estimator here: add one, and every suite looks at it"),
    })
}

/// Classes by the size of a feature: the same for a row wherever it stands.
pub fn classes(feature: ArrayView1<f64>) -> Target {
    let class = |v: f64| ["a", "b", "c", "d", "e"][((v / 6.0 + 2.5).clamp(0.0, 4.0)) as usize];
    Target::classes(feature.iter().map(|v| class(*v)))
}
