"""Random Fourier features of the Gaussian kernel."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from eigenlens import _constraints
from eigenlens._compat import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    check_is_fitted,
)
from eigenlens._constraints import RANDOM_STATE, Number, Whole, Words
from eigenlens._data import for_estimator, in_memory
from eigenlens._options import generator
from eigenlens._standalone import is_sparse


class RBFSampler(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random Fourier features of the rbf kernel, a drop-in for scikit-learn's `RBFSampler`.

    Parameters
    ----------
    gamma : float or 'scale', default=1.0
        Of exp(−γ ‖x − y‖²); `'scale'`: 1 / (n_features · variance of all entries).
    n_components : int, default=100
        Features.
    random_state : int, RandomState or None, default=None
        The seed; None is 0, so that equal data give equal answers. An int draws the frequencies
        that scikit-learn draws.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
    random_offset_ : ndarray of shape (n_components,)
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import RBFSampler
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> Z = RBFSampler(gamma=0.1, n_components=4000).fit_transform(X)
    >>> exact = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    >>> bool(np.abs(Z @ Z.T - exact).max() < 0.1)
    True
    """

    _constraints = {
        "gamma": [Words("scale"), Number(0)],
        "n_components": [Whole(1)],
        "random_state": [RANDOM_STATE],
    }

    def __init__(
        self,
        *,
        gamma: float | Literal["scale"] = 1.0,
        n_components: int = 100,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draws the frequencies for samples (n_samples × n_features)."""
        _constraints.check(self, self._constraints)
        data = for_estimator(self, X, reset=True, ensure_all_finite=True)
        self._gamma = self._bandwidth(in_memory(data, self))
        random, m = generator(self.random_state), int(self.n_components)
        weights = random.normal(size=(data.n_features, m))
        offsets = random.uniform(0, 2 * np.pi, size=m)
        self.random_weights_ = (np.sqrt(2.0 * self._gamma) * weights).astype(data.dtype, copy=False)
        self.random_offset_ = offsets.astype(data.dtype, copy=False)
        self._n_features_out = m
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Features of samples (n_samples × n_components): inner products approximate the kernel."""
        check_is_fitted(self)
        data = for_estimator(self, X, reset=False, ensure_all_finite=True)
        features = in_memory(data, self) @ self.random_weights_
        features += self.random_offset_
        np.cos(features, out=features)
        features *= np.sqrt(2.0 / len(self.random_offset_)).astype(features.dtype)
        return features

    def _bandwidth(self, X: Any) -> float:
        if self.gamma != "scale":
            return float(self.gamma)
        if is_sparse(X):
            # Entries that are not stored are 0.
            size, stored = X.shape[0] * X.shape[1], np.asarray(X.data, dtype=np.float64)
            mean = stored.sum() / size
            variance = (np.sum((stored - mean) ** 2) + (size - stored.size) * mean**2) / size
        else:
            variance = float(np.var(X, dtype=np.float64))
        return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
