"""What the spectral embeddings share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from eigenlens import _constraints, _core
from eigenlens._data import Data, for_estimator
from eigenlens._estimator import Estimator
from eigenlens._results import variances



@dataclass(frozen=True, eq=False)
class ImpliedKernel:
    """A kernel that an embedding learned from samples.

    Attributes
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
        Kernel PCA of it, with `kernel='precomputed'`, is the embedding up to the length of its axes.
    distances, graph, affinities, weights : ndarray of shape (n_samples, n_samples) or None
        What it is made of: distances between samples (along the graph, of Isomap), lengths of edges (0 where
        there is none), affinities, weights of neighbours.
    """

    kernel: np.ndarray
    distances: np.ndarray | None = None
    graph: np.ndarray | None = None
    affinities: np.ndarray | None = None
    weights: np.ndarray | None = None


class Embedding(Estimator):
    """An estimator whose answer is the coordinates of its samples."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fits the embedding to samples (n_samples × n_features), or to precomputed distances."""
        self._fit(X, None, scores=True)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fits the embedding and returns the coordinates (n_samples × n_components)."""
        self._fit(X, None, scores=True)
        return self.embedding_

    def implied_kernel(self, X: Any) -> ImpliedKernel:
        """The kernel that the embedding of X is the kernel PCA of, and what it is made of.

        Parameters
        ----------
        X : array-like, table or path
            Samples, or what `fit` takes in their place.
        """
        _constraints.check(self, self._constraints)
        other = type(self)(**self.get_params(deep=False))
        data = for_estimator(other, X, reset=True, ensure_all_finite=other._must_be_finite())
        options, given = other._method_options(data), other._seen(data, new=False).given
        kernel, parts = _core.implied_kernel(other._compiled(), options, given, other._shared())
        return ImpliedKernel(kernel, **parts)

    @property
    def inverse_transform(self) -> Any:
        """Not there: coordinates do not lead back to samples."""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute 'inverse_transform'")

    def _shared(self) -> dict[str, Any]:
        # `max_iter` counts the steps of another solver.
        return {**super()._shared(), "max_iterations": None}

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        found = model.values
        if scores is None:
            scores = _core.model_array(model, "coordinates")
        self.embedding_ = scores.astype(data.dtype, copy=False)
        self.eigenvalues_ = variances(found["eigenvalues"], data.dtype)
        self.quality_ = found["quality"]

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        """The share of the sum of positive eigenvalues that each component carries (n_components,)."""
        found = self._record("values")["explained_variance_ratio"]
        if found is None:
            raise AttributeError(
                f"{type(self).__name__!r} has no shares: its eigenvalues are the smallest ones"
            )
        return variances(found, self.embedding_.dtype)

    def _unit(self) -> float:
        """What lengths in the model are measured in: 1 but for absurdly large or small data."""
        return 2.0 ** _core.model_description(self._model)["map"]["exponent"]

    def _points(self) -> np.ndarray:
        """The training samples, where the model keeps them."""
        points = self._unit() * _core.model_array(self._model, "points")
        return points.astype(self.embedding_.dtype, copy=False)

    def _stored_attributes(self) -> dict[str, Any]:
        return {"dtype": str(self.embedding_.dtype)}


def search(samples: Any, **parameters: Any) -> Any:
    """scikit-learn's search for neighbours among samples, where it is installed."""
    try:
        from sklearn.neighbors import NearestNeighbors
    except ImportError as error:
        raise AttributeError("`nbrs_` is there only where scikit-learn is installed") from error
    return NearestNeighbors(**parameters).fit(samples)
