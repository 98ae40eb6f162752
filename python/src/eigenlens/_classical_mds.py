"""Classical multidimensional scaling."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from eigenlens import _core, _distances
from eigenlens._compat import check_is_fitted
from eigenlens._constraints import CALLABLE, MAPPING, NOTHING, RANDOM_STATE, TEXT, Number, Whole
from eigenlens._data import Data, in_memory, of_array
from eigenlens._embedding import Embedding
from eigenlens._estimator import SHARED


class ClassicalMDS(Embedding):
    """Classical MDS, a drop-in for scikit-learn's `ClassicalMDS`.

    The leading eigenvectors of −½ H D∘D H, scaled so that inner products of coordinates are its
    best approximation. Of Euclidean distances it is PCA and is computed as such: no
    n_samples × n_samples matrix is formed. New samples are placed by `transform`.

    Parameters
    ----------
    n_components : int, default=2
    metric : str or callable, default='euclidean'
        Euclidean, Manhattan, Chebyshev and cosine distances are compiled. `'precomputed'`: the data
        are distances, n_samples × n_samples.
    metric_params : dict or None, default=None
    tol : float, default=0.0
        The residual wanted, relative to the largest eigenvalue; 0: 1e-9, or 1e-6 for float32.
    random_state : int, RandomState or None, default=None
        The seed of random numbers; None is 0.
    memory, n_jobs
        As in :class:`PCA`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Of every component the largest entry is positive; components without extent are 0.
    eigenvalues_ : ndarray of shape (n_components,)
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        Computed when it is first asked for, unless the data are distances.
    quality_ : dict
        Trustworthiness, continuity, stress and residual variance of the embedding.
    certificate_, plan_, warnings_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from eigenlens import ClassicalMDS
    >>> towns = [[0.0, 3.0, 5.0], [3.0, 0.0, 2.0], [5.0, 2.0, 0.0]]
    >>> road = ClassicalMDS(n_components=1, metric="precomputed").fit_transform(towns)
    >>> (road - road.min()).round(6).ravel()
    array([5., 2., 0.])
    """

    _method = "mds"
    _constraints = {
        "n_components": [Whole(1)],
        "metric": [TEXT, CALLABLE],
        "metric_params": [MAPPING, NOTHING],
        "tol": [Number(0)],
        "random_state": [RANDOM_STATE],
        **SHARED,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        tol: float = 0.0,
        random_state: Any = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.n_jobs = n_jobs

    @property
    def dissimilarity_matrix_(self) -> np.ndarray:
        """Distances between the training samples (n_samples × n_samples)."""
        check_is_fitted(self)
        if self._fit_X is None:
            raise AttributeError("a model from a file keeps no distances; fit it again")
        return self._distances(self._fit_X, self._fit_X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command line and :func:`load` read too."""
        check_is_fitted(self)
        if self._compiled_metric() is None and self.metric != "precomputed":
            raise NotImplementedError(
                f"a model with metric={self.metric!r} cannot be written to a model file; pickle "
                "the estimator"
            )
        super().save(path)

    def _compiled_metric(self) -> str | None:
        if callable(self.metric) or self.metric_params:
            return None
        return _distances.COMPILED.get(self.metric)

    def _distances(self, X: Any, Y: Any) -> np.ndarray:
        return _distances.matrix(X, Y, self.metric, self.metric_params or {})

    def _must_be_finite(self) -> bool:
        return self._compiled_metric() is None

    def _seen(self, data: Data, *, new: bool) -> Data:
        if self._compiled_metric() is not None:
            return data
        X = in_memory(data, self)
        if self.metric == "precomputed":
            _distances.refuse_negative(X)
            if not new:
                _distances.refuse_asymmetric(X)
            return data
        return of_array(self._distances(X, self._fit_X if new else X))

    def _method_options(self, data: Data) -> dict[str, Any]:
        k, n = int(self.n_components), data.n_samples
        metric = self._compiled_metric()
        return {
            "n_components": k if n is None else min(k, n),
            "metric": metric,
            "distances": metric is None,
        }

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        super()._describe(model, data, scores)
        self._fit_X = data.X

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        found = _core.model_description(model)["map"]
        metric = {"linear": "euclidean", "given": "precomputed"}.get(found["kind"])
        return {**super()._parameters_of(model), "metric": metric or found["metric"]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        return tags
