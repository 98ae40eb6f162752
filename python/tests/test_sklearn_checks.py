"""scikit-learn's own checks of estimators: every one of them, for every class."""

from __future__ import annotations

import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenlens
from eigenlens import (
    PCA,
    BayesianPCA,
    ClassicalMDS,
    IncrementalPCA,
    Isomap,
    KernelPCA,
    KernelSupervisedPCA,
    LinearDiscriminantAnalysis,
    LocallyLinearEmbedding,
    MiniBatchSparsePCA,
    Nystroem,
    ProbabilisticPCA,
    ProbabilisticPCAMixture,
    RBFSampler,
    SparsePCA,
    SpectralEmbedding,
    SupervisedPCA,
    TruncatedSVD,
)

ESTIMATORS = [
    PCA(),
    PCA(n_components=1, whiten=True, standardize=True),
    PCA(svd_solver="covariance_eigh"),
    IncrementalPCA(),
    IncrementalPCA(n_components=1, whiten=True),
    TruncatedSVD(n_components=1),
    PCA(missing="em"),
    ProbabilisticPCA(n_components=1),
    ProbabilisticPCA(n_components=1, missing="error", standardize=True),
    SparsePCA(),
    SparsePCA(n_components=1, formulation="cardinality"),
    SparsePCA(n_components=1, formulation="regression", non_zeros=1),
    MiniBatchSparsePCA(),
    SupervisedPCA(n_components=1),
    SupervisedPCA(n_components=1, supervision=0.5, standardize=True, target="numbers"),
    KernelSupervisedPCA(n_components=1),
    KernelSupervisedPCA(n_components=1, kernel="precomputed"),
    BayesianPCA(n_components=1),
    ProbabilisticPCAMixture(),
    KernelPCA(),
    KernelPCA(n_components=1, kernel="rbf"),
    KernelPCA(n_components=2, kernel="precomputed"),
    ClassicalMDS(n_components=1),
    ClassicalMDS(n_components=2, metric="precomputed"),
    Isomap(n_components=1),
    Isomap(n_components=2, metric="manhattan"),
    Isomap(n_components=1, metric="precomputed"),
    SpectralEmbedding(n_components=1),
    SpectralEmbedding(n_components=1, affinity="rbf"),
    SpectralEmbedding(n_components=2, affinity="precomputed"),
    LocallyLinearEmbedding(n_components=1),
    LocallyLinearEmbedding(n_components=1, method="ltsa"),
    LocallyLinearEmbedding(n_components=1, method="modified"),
    LocallyLinearEmbedding(n_components=1, method="hessian"),
    Nystroem(n_components=1),
    Nystroem(n_components=5, landmarks="pivoted_cholesky"),
    RBFSampler(n_components=1),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.5),
]
# Whatever else is exported, as it is made.
LISTED = {type(estimator) for estimator in ESTIMATORS}
EXPORTED = [getattr(eigenlens, name) for name in eigenlens.__all__]
ESTIMATORS += [
    kind()
    for kind in EXPORTED
    if isinstance(kind, type) and issubclass(kind, BaseEstimator) and kind not in LISTED
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
