"""What the spectral embeddings share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from eigenlens import _core
from eigenlens._data import Data
from eigenlens._estimator import Estimator


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
        self.eigenvalues_ = found["eigenvalues"].astype(data.dtype)
        self.quality_ = found["quality"]

    def _stored_attributes(self) -> dict[str, Any]:
        return {"dtype": str(self.embedding_.dtype)}
