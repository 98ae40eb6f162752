"""scikit-learn's own checks of estimators: every one of them, for every class."""

from __future__ import annotations

import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenlens import PCA, IncrementalPCA, ProbabilisticPCA, TruncatedSVD

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
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
