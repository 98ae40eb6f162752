"""Models checked against data, by code that shares nothing with the solvers."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenlens import _core
from eigenlens._classifier import Classifier
from eigenlens._compat import check_is_fitted
from eigenlens._data import alone, for_estimator
from eigenlens._estimator import Estimator
from eigenlens._results import Verification, verification


def verify(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    tolerance: float | None = None,
) -> Verification:
    """Checks a fitted PCA, or a classifier of ours, against the data it was made from.

    Parameters
    ----------
    estimator : an estimator of ours, or a fitted `PCA` or `IncrementalPCA` of scikit-learn
        Anything with `components_`, `explained_variance_`, `explained_variance_ratio_` and `mean_`.
    X : array-like, sparse matrix, table or path
        The training data.
    y : array-like of shape (n_samples,), optional
        Their classes, for a classifier.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the training.
    tolerance : float, optional
        What errors may be, relative to the largest variance, for an estimator that is not ours;
        1e-9, or 1e-6 for float32.

    Returns
    -------
    Verification
        True in a condition if it passed.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import PCA, verify
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> verify(PCA(2).fit(X), X).passed
    True
    >>> verify(PCA(2).fit(X), X + 1).passed
    False
    """
    check_is_fitted(estimator)
    if isinstance(estimator, Estimator):
        data = for_estimator(estimator, X, reset=False, sample_weight=sample_weight)
        target = estimator._as_target(X, y) if isinstance(estimator, Classifier) else None
        return verification(estimator._model.verify(data.given, target))
    data = alone(X, sample_weight)
    ratio = np.asarray(estimator.explained_variance_ratio_, dtype=np.float64)
    values = np.asarray(estimator.explained_variance_, dtype=np.float64)
    usual = 1e-6 if data.dtype == np.float32 else 1e-9
    claimed = {
        "components": np.ascontiguousarray(estimator.components_, dtype=np.float64),
        "explained_variance": values,
        "total_variance": float(values[0] / ratio[0]) if ratio[0] > 0.0 else 0.0,
        "mean": np.asarray(estimator.mean_, dtype=np.float64),
        "tolerance": usual if tolerance is None else float(tolerance),
    }
    return verification(_core.verify_claim(claimed, data.given))
