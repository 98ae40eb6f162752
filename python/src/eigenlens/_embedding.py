"""What the spectral embeddings share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from eigenlens import _core
from eigenlens._data import Data
from eigenlens._estimator import Estimator
from eigenlens._results import variances



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
