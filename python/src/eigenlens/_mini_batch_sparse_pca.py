"""Sparse principal component analysis under the name of its minibatch kin."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from eigenlens._constraints import CALLABLE, MEMORY, NOTHING, TRUTH, Number, Whole
from eigenlens._data import Data
from eigenlens._sparse_pca import SparsePCA

_SHARED = ("n_components", "alpha", "ridge_alpha", "max_iter", "verbose", "n_jobs", "method")


class MiniBatchSparsePCA(SparsePCA):
    """Sparse PCA, a drop-in for scikit-learn's `MiniBatchSparsePCA`, without its minibatches.

    The problem is that of :class:`SparsePCA`, and it is solved in the same way: a step over all
    features, made from the covariance, costs less than scikit-learn's over a few of them. The
    iteration only ends sooner, when a step lowers the objective by less than 1e-5 of it.

    Parameters
    ----------
    n_components, alpha, ridge_alpha, verbose, n_jobs, method, memory
        As in :class:`SparsePCA`.
    max_iter : int, default=1000
        The most passes of n_features / batch_size steps each.
    batch_size : int, default=3
        Only limits the steps, as in scikit-learn: every step is over all features.
    callback : None
        A function is refused: there are no minibatches after which it could be called.
    shuffle, random_state, tol, max_no_improvement
        Accepted, and not needed: nothing is drawn, and when to end is said above.

    Attributes
    ----------
    components_, error_, n_components_, n_iter_, mean_, non_zeros_, explained_variance_, \
explained_variance_ratio_, total_variance_, plan_, warnings_, n_features_in_, feature_names_in_
        As in :class:`SparsePCA`; `n_iter_` counts steps.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import MiniBatchSparsePCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> X[:, :2] += 2 * rng.normal(size=(200, 1))
    >>> pca = MiniBatchSparsePCA(n_components=1, alpha=10, batch_size=50).fit(X)
    >>> np.flatnonzero(pca.components_[0])
    array([0, 1])
    """

    _is_usual = False
    _constraints = {
        **{name: SparsePCA._constraints[name] for name in _SHARED},
        "callback": [NOTHING, CALLABLE],
        "batch_size": [Whole(1)],
        "shuffle": [TRUTH],
        "random_state": SparsePCA._constraints["random_state"],
        "tol": [Number(0)],
        "max_no_improvement": [Whole(0), NOTHING],
        "memory": [MEMORY],
    }

    # What only `SparsePCA` lets users choose.
    formulation = "dictionary"
    certify = False
    non_zeros = U_init = V_init = ridge = path = None
    deflation = "projection"
    standardize = non_negative = False

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float = 1,
        ridge_alpha: float = 0.01,
        max_iter: int = 1000,
        callback: Callable[..., Any] | None = None,
        batch_size: int = 3,
        verbose: int | bool = False,
        shuffle: bool = True,
        n_jobs: int | None = None,
        method: Literal["lars", "cd"] = "lars",
        random_state: Any = None,
        tol: float = 1e-3,
        max_no_improvement: int | None = 10,
        memory: int | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.ridge_alpha = ridge_alpha
        self.max_iter = max_iter
        self.callback = callback
        self.batch_size = batch_size
        self.verbose = verbose
        self.shuffle = shuffle
        self.n_jobs = n_jobs
        self.method = method
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.memory = memory

    def _method_options(self, data: Data) -> dict[str, Any]:
        if self.callback is not None:
            raise ValueError(
                "callback is not called, as there are no minibatches; leave it out, and see "
                "`error_` for the objective after each step"
            )
        return super()._method_options(data)

    def _tolerance(self) -> float | None:
        # `tol` is a change of the dictionary between minibatches; its default stands for 1e-5 of the objective.
        return min(0.01 * self.tol, 0.5)

    def _iterations(self) -> int:
        return int(self.max_iter) * math.ceil(self.n_features_in_ / self.batch_size)
