"""Count, mean and scatter, for data that are nowhere together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from eigenlens import _core, _options
from eigenlens._data import alone


class Moments:
    """Count, mean and scatter of samples: all that PCA needs to know of data in parts.

    Moments of parts merge to the moments of the whole, in any order, on any machine; the bytes are
    small (d² / 2 numbers) and the same everywhere.

    Parameters
    ----------
    X : array-like, sparse matrix, table or path, optional
        Samples to begin with.
    sample_weight : array-like of shape (n_samples,), optional
        How often each counts.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import PCA, Moments
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) * [3, 2, 1, 1]
    >>> parts = [Moments(part).to_bytes() for part in np.array_split(X, 3)]  # on three machines
    >>> whole = Moments()
    >>> for part in parts:
    ...     whole = whole.merge(Moments.from_bytes(part))
    >>> whole.n_samples
    300.0
    >>> bool(np.allclose(whole.covariance, np.cov(X.T)))
    True
    >>> bool(np.allclose(PCA(2).fit(whole).components_, PCA(2).fit(X).components_))
    True
    """

    def __init__(self, X: Any = None, sample_weight: Any = None) -> None:
        self._found: _core.Moments | None = None
        if X is not None:
            self.update(X, sample_weight)

    def update(self, X: Any, sample_weight: Any = None) -> Self:
        """Adds samples."""
        found = _core.Moments.of(alone(X, sample_weight).given, _options.options())
        self._found = found if self._found is None else self._found.merged(found)
        return self

    def merge(self, other: Moments) -> Self:
        """Adds the samples of other moments."""
        if other._found is not None:
            found = self._found
            self._found = other._found if found is None else found.merged(other._found)
        return self

    def subtract(self, other: Moments) -> Self:
        """Takes the samples of other moments out again; they must have been in."""
        if other._found is not None:
            self._found = self._core.subtracted(other._found)
        return self

    @property
    def n_samples(self) -> float:
        """The number of samples, or the sum of their weights."""
        return 0.0 if self._found is None else self._found.n_samples

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self._core.n_features

    @property
    def mean(self) -> np.ndarray:
        """The mean (n_features,)."""
        return self._core.mean

    @property
    def covariance(self) -> np.ndarray:
        """The covariance (n_features × n_features), divisor n − 1."""
        return self._core.covariance

    def to_bytes(self) -> bytes:
        """A versioned, checked form that any machine can read."""
        return self._core.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Moments from bytes, checked."""
        moments = cls()
        moments._found = _core.Moments.from_bytes(data)
        return moments

    @property
    def _core(self) -> _core.Moments:
        if self._found is None:
            raise ValueError("the moments are of no samples yet; use `update`")
        return self._found

    def __repr__(self) -> str:
        if self._found is None:
            return "Moments()"
        return f"<Moments of {self.n_samples:g} samples, {self.n_features} features>"
