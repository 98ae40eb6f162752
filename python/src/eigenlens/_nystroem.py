"""The Nyström method: features whose inner products approximate a kernel."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np

from eigenlens import _constraints, _kernels
from eigenlens._compat import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    check_is_fitted,
)
from eigenlens._constraints import (
    CALLABLE,
    JOBS,
    MAPPING,
    NOTHING,
    RANDOM_STATE,
    Number,
    Whole,
    Words,
)
from eigenlens._data import for_estimator, in_memory
from eigenlens._options import generator


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features that approximate a kernel, a drop-in for scikit-learn's `Nystroem`.

    Parameters
    ----------
    kernel : str or callable, default='rbf'
        A kernel of :class:`KernelPCA`, `'precomputed'` (any `n_components`) or a function of two
        samples.
    gamma, coef0, degree : float or None, default=None
        Of the kernel; None: 1 / n_features (1 for `'chi2'`), 1, 3.
    kernel_params : dict or None, default=None
        More of them, and those of a callable.
    n_components : int, default=100
        Landmarks: as many features come out.
    random_state : int, RandomState or None, default=None
        The seed of the landmarks; None is 0, so that equal data give equal answers. An int draws
        the landmarks that scikit-learn draws.
    n_jobs : int or None, default=None
        Accepted; all cores are used.
    landmarks : {'uniform', 'pivoted_cholesky'}, default='uniform'
        How they are chosen. Randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber 2025) prefers
        samples that those before do not explain: a smaller error for the same number.

    Attributes
    ----------
    components_ : ndarray or sparse matrix of shape (n_components, n_features)
        The landmarks.
    component_indices_ : ndarray of shape (n_components,)
        Their row numbers.
    normalization_ : ndarray of shape (n_components, n_components)
        The inverse root of the kernel between them.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import Nystroem
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> Z = Nystroem(gamma=0.2, n_components=60).fit_transform(X)
    >>> exact = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    >>> bool(np.abs(Z @ Z.T - exact).mean() < 0.001)
    True
    """

    _constraints = {
        "kernel": [Words(*_kernels.NAMES, "polynomial", "precomputed"), CALLABLE],
        "gamma": [Number(0), NOTHING],
        "coef0": [Number(-np.inf, open_low=True), NOTHING],
        "degree": [Number(1), NOTHING],
        "kernel_params": [MAPPING, NOTHING],
        "n_components": [Whole(1)],
        "random_state": [RANDOM_STATE],
        "n_jobs": [JOBS, NOTHING],
        "landmarks": [Words("uniform", "pivoted_cholesky")],
    }

    def __init__(
        self,
        kernel: str | Callable[..., float] = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        landmarks: Literal["uniform", "pivoted_cholesky"] = "uniform",
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.landmarks = landmarks

    def fit(self, X: Any, y: Any = None) -> Self:
        """Chooses the landmarks among the samples (n_samples × n_features)."""
        _constraints.check(self, self._constraints)
        self._refuse_parameters()
        data = for_estimator(self, X, reset=True, ensure_all_finite=True)
        X = in_memory(data, self)
        n, m = X.shape[0], int(self.n_components)
        if m > n:
            warnings.warn(
                "n_components > n_samples. This is not possible.\n"
                "n_components was set to n_samples, which results in inefficient evaluation of "
                "the full kernel.",
                stacklevel=2,
            )
            m = n
        random = generator(self.random_state)
        if self.landmarks == "uniform":
            chosen = random.permutation(n)[:m]
        else:
            chosen = self._pivots(X, m, random)
        self.component_indices_ = chosen
        self.components_ = X[chosen]
        left, values, right = np.linalg.svd(self._values(self.components_))
        normalization = (left / np.sqrt(np.maximum(values, 1e-12))) @ right
        self.normalization_ = normalization.astype(data.dtype, copy=False)
        self._n_features_out = len(chosen)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Features of samples (n_samples × n_components): inner products approximate the kernel."""
        check_is_fitted(self)
        data = for_estimator(self, X, reset=False, ensure_all_finite=True)
        features = self._values(in_memory(data, self)) @ self.normalization_.T
        return features.astype(data.dtype, copy=False)

    def _refuse_parameters(self) -> None:
        given = any(value is not None for value in (self.gamma, self.coef0, self.degree))
        if given and (callable(self.kernel) or self.kernel == "precomputed"):
            raise ValueError(
                "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed "
                "kernel"
            )

    def _values(self, X: Any) -> np.ndarray:
        """Kernel values with the landmarks."""
        if self._name() == "precomputed":
            return np.asarray(X[:, self.component_indices_], dtype=np.float64)
        return self._kernel(X, self.components_)

    def _name(self) -> Any:
        return "poly" if self.kernel == "polynomial" else self.kernel

    def _kernel(self, X: Any, Y: Any) -> np.ndarray:
        name = self._name()
        if callable(name):
            return _kernels.matrix(X, Y, name, params=self.kernel_params)
        usual = {
            "gamma": 1.0 if name == "chi2" else 1.0 / self.n_features_in_,
            "coef0": 1,
            "degree": 3,
        }
        given = {**usual, **(self.kernel_params or {})}
        own = {key: getattr(self, key) for key in usual if getattr(self, key) is not None}
        given.update(own)
        return _kernels.matrix(X, Y, name, **{key: given[key] for key in usual})

    def _pivots(self, X: Any, m: int, random: np.random.RandomState) -> np.ndarray:
        """Landmarks by randomly pivoted Cholesky: each with a chance as large as its residual."""
        given = self._name() == "precomputed"

        def column(row: int) -> np.ndarray:
            if given:
                found = X[:, [row]]
                return np.asarray(found.toarray() if hasattr(found, "toarray") else found)[:, 0]
            return self._kernel(X, X[[row]])[:, 0]

        left = self._diagonal(X)
        start, chosen = left.max(initial=0.0), []
        factor = np.zeros((X.shape[0], m))
        for step in range(m):
            total = left.sum()
            if not total > 1e-14 * start * len(left):
                break
            pivot = int(random.choice(len(left), p=left / total))
            new = column(pivot) - factor[:, :step] @ factor[pivot, :step]
            if not new[pivot] > 0.0:
                break
            factor[:, step] = new / np.sqrt(new[pivot])
            left = np.maximum(left - factor[:, step] ** 2, 0.0)
            left[pivot] = 0.0
            chosen.append(pivot)
        # Where nothing is left to explain, any others will do.
        others = np.setdiff1d(np.arange(X.shape[0]), chosen)[: m - len(chosen)]
        return np.concatenate([np.asarray(chosen, dtype=np.int64), others])

    def _diagonal(self, X: Any) -> np.ndarray:
        if self._name() == "precomputed":
            return np.array(X.diagonal(), dtype=np.float64)
        # A function is asked no more than once for each sample; others are computed in blocks.
        n, step = X.shape[0], 1 if callable(self.kernel) else 256
        blocks = [X[first : first + step] for first in range(0, n, step)]
        return np.concatenate([self._kernel(block, block).diagonal() for block in blocks])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
