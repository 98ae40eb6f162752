"""Truncated singular value decomposition: latent semantic analysis."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from eigenlens import _core
from eigenlens._capabilities import PrincipalComponents
from eigenlens._constraints import RANDOM_STATE, Number, Whole, Words
from eigenlens._data import Data
from eigenlens._estimator import SHARED


class TruncatedSVD(PrincipalComponents):
    """Latent semantic analysis, a drop-in for scikit-learn's `TruncatedSVD`.

    PCA without centring, for counts and other data where 0 means nothing. Sparse matrices stay
    sparse. Both algorithms of scikit-learn are accepted; the answer is exact to `tol` and certified
    with either.

    Parameters
    ----------
    n_components : int, default=2
    algorithm : {'randomized', 'arpack'}, default='randomized'
        `'arpack'` is a block Krylov iteration; `'randomized'` lets the cheapest exact route be taken.
    n_iter, n_oversamples, power_iteration_normalizer
        Accepted, and not needed.
    random_state : int, RandomState or None, default=None
        The seed of random numbers; None is 0.
    tol : float, default=0.0
        The residual wanted, relative to the largest squared singular value; 0: 1e-9, or 1e-6 for
        float32.
    memory, n_jobs
        As in :class:`PCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    singular_values_ : ndarray of shape (n_components,)
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        As in scikit-learn: the variance of the scores (divisor n), and its share of the variance of
        the data.
    certificate_ : Certificate
    plan_ : Plan
    warnings_ : list of str

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import TruncatedSVD
    >>> counts = np.array([[2.0, 1, 0, 0], [4, 2, 0, 0], [0, 0, 0, 3]])
    >>> svd = TruncatedSVD(n_components=2).fit(counts)
    >>> svd.singular_values_.round(6)
    array([5., 3.])
    """

    _method = "lsa"
    _ensure_min_features = 2
    _constraints = {
        "n_components": [Whole(1)],
        "algorithm": [Words("arpack", "randomized")],
        "n_iter": [Whole(0)],
        "n_oversamples": [Whole(1)],
        "power_iteration_normalizer": [Words("auto", "QR", "LU", "none")],
        "random_state": [RANDOM_STATE],
        "tol": [Number(0)],
        **SHARED,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: Literal["arpack", "randomized"] = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: Literal["auto", "QR", "LU", "none"] = "auto",
        random_state: Any = None,
        tol: float = 0.0,
        memory: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol
        self.memory = memory
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> TruncatedSVD:
        """Fits the model to data or a file (n_samples × n_features)."""
        self._fit(X, None, scores=True)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fits the model and returns the scores of the samples (n_samples × n_components)."""
        return self._fit(X, None, scores=True)

    def _method_options(self, data: Data) -> dict[str, Any]:
        k = int(self.n_components)
        if self.algorithm == "arpack":
            if data.limit is not None and k >= data.limit:
                raise ValueError(
                    "`k` must be an integer satisfying `0 < k < min(A.shape)`: "
                    f"n_components={k}, min(n_samples, n_features)={data.limit}"
                )
            return {"n_components": k, "solver": "iterative"}
        if k > data.n_features:
            raise ValueError(f"n_components({k}) must be <= n_features({data.n_features}).")
        return {"n_components": min(k, data.n_samples or k), "solver": "auto"}

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        self.components_ = model.components.astype(data.dtype, copy=False)
        self.singular_values_ = model.singular_values.astype(data.dtype, copy=False)
        if scores is not None:
            n, _, variances = _core.column_statistics(data.given, self._shared())
            total = variances.sum() * ((n - 1) / n)
            variance = np.var(scores, axis=0, dtype=np.float64)
            ratio = variance / total if total > 0.0 else np.zeros_like(variance)
            self.explained_variance_ = variance.astype(data.dtype)
            self.explained_variance_ratio_ = ratio.astype(data.dtype)

    def _stored_attributes(self) -> dict[str, Any]:
        return {
            "dtype": str(self.components_.dtype),
            "explained_variance_": self.explained_variance_.tolist(),
            "explained_variance_ratio_": self.explained_variance_ratio_.tolist(),
        }
