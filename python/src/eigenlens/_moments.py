"""Count, mean and scatter, for data that are nowhere together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from eigenlens import _core, _options
from eigenlens._data import alone


class Moments:
    """Count, mean and scatter of samples: all that PCA needs to know of data in parts.

    Moments of parts merge to the moments of the whole, in any order, on any machine; the bytes are
    small (d² / 2 numbers) and the same everywhere. `merge` and `subtract`, also written `+` and `-`,
    make new moments and leave both operands as they are; `update` adds in place. Moments of no samples
    change nothing.

    The names of features are kept (of tables and files). Parts with names are matched by name: features
    in another order are put in that of the first part, other features are an error. Parts without names
    are taken in the order of their features.

    Parameters
    ----------
    X : array-like, sparse matrix, table or path, optional
        Samples to begin with; there may be none.
    sample_weight : array-like of shape (n_samples,), optional
        How often each counts.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import PCA, Moments
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) * [3, 2, 1, 1]
    >>> parts = [Moments(part).to_bytes() for part in np.array_split(X, 3)]  # on three machines
    >>> whole = sum(Moments.from_bytes(part) for part in parts)
    >>> whole.n_samples
    300.0
    >>> bool(np.allclose(whole.covariance, np.cov(X.T)))
    True
    >>> bool(np.allclose(PCA(2).fit(whole).components_, PCA(2).fit(X).components_))
    True

    Samples that come one after the other:

    >>> seen = Moments()
    >>> for batch in np.array_split(X, 10):
    ...     _ = seen.update(batch)
    >>> seen.n_samples
    300.0
    """

    def __init__(self, X: Any = None, sample_weight: Any = None) -> None:
        self._found: _core.Moments | None = None
        if X is not None:
            self.update(X, sample_weight)

    def update(self, X: Any, sample_weight: Any = None) -> Self:
        """Adds samples, or those of other moments, to these moments: in place."""
        if isinstance(X, Moments):
            if sample_weight is not None:
                raise ValueError("`sample_weight` does not fit moments; leave it out")
            found = X._found
        else:
            found = _of_samples(X, sample_weight)
        self._found = _merged(self._found, found)
        return self

    def merge(self, other: Moments) -> Moments:
        """The moments of the samples of both, as new ones."""
        return self._of(_merged(self._found, _of_moments(other)))

    def subtract(self, other: Moments) -> Moments:
        """The moments of these samples without those of the other, as new ones; they must be among them."""
        taken = _of_moments(other)
        return self._of(self._found if taken is None else self._core.subtracted(taken))

    def __add__(self, other: Any) -> Moments:
        return self.merge(other) if isinstance(other, Moments) else NotImplemented

    def __radd__(self, other: Any) -> Moments:
        # `sum` begins with 0.
        return self._of(self._found) if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Any) -> Moments:
        return self.subtract(other) if isinstance(other, Moments) else NotImplemented

    @property
    def n_samples(self) -> float:
        """The number of samples, or the sum of their weights."""
        return 0.0 if self._found is None else self._found.n_samples

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self._core.n_features

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features, where the data had any."""
        return None if self._found is None else self._found.feature_names

    @property
    def mean(self) -> np.ndarray:
        """The mean (n_features,); NaN of no samples."""
        return self._core.mean

    @property
    def covariance(self) -> np.ndarray:
        """The covariance (n_features × n_features), divisor n − 1; NaN where n is not above 1."""
        return self._core.covariance

    def to_bytes(self) -> bytes:
        """A versioned, checked form that any machine can read."""
        return self._core.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Moments from bytes, checked."""
        return cls._of(_core.Moments.from_bytes(data))

    @classmethod
    def _of(cls, found: _core.Moments | None) -> Self:
        # What is found is never written to, so that several moments may share it.
        moments = cls()
        moments._found = found
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


def _of_samples(X: Any, sample_weight: Any) -> _core.Moments | None:
    try:
        data = alone(X, sample_weight, ensure_min_samples=0)
        return _core.Moments.of(data.given, _options.options())
    except _core.NoRowsError:
        if np.size(sample_weight if sample_weight is not None else []):
            raise
        return None  # of a file without rows not even the columns of numbers are known


def _of_moments(other: Moments) -> _core.Moments | None:
    if not isinstance(other, Moments):
        raise TypeError(f"`other` is a {type(other).__name__}, but it must be Moments")
    return other._found


def _merged(first: _core.Moments | None, second: _core.Moments | None) -> _core.Moments | None:
    if first is None or second is None:
        return second if first is None else first
    return first.merged(second)
