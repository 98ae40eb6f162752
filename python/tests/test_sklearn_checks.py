"""scikit-learn's own checks of estimators: every one of them, for every class."""

from __future__ import annotations

import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenlens import (
    PCA,
    BayesianPCA,
    IncrementalPCA,
    KernelSupervisedPCA,
    ProbabilisticPCA,
    ProbabilisticPCAMixture,
    SparsePCA,
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
    SupervisedPCA(n_components=1),
    SupervisedPCA(n_components=1, supervision=0.5, standardize=True, target="numbers"),
    KernelSupervisedPCA(n_components=1),
    BayesianPCA(n_components=1),
    ProbabilisticPCAMixture(),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
