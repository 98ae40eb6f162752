"""Bayesian principal component analysis."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from eigenlens import _core
from eigenlens._constraints import NOTHING, Whole
from eigenlens._data import Data
from eigenlens._probabilistic_pca import ProbabilisticPCA


class BayesianPCA(ProbabilisticPCA):
    """Bayesian PCA (Bishop 1999): probabilistic PCA that finds its own number of components.

    A prior on every column of W switches off directions that the data do not support.

    Parameters
    ----------
    n_components : int or None, default=None
        The most there may be; None: 30, or n_features − 1 or n_samples where that is less.
    standardize, missing, tol, max_iter, random_state, memory, n_jobs, weight_kind
        As in :class:`ProbabilisticPCA`.

    Attributes
    ----------
    n_components_ : int
        The number found.
    relevance_ : ndarray of shape (n_components,)
        α of each component: the larger, the less it is needed.
    components_, weights_, explained_variance_, explained_variance_ratio_, noise_variance_, mean_, \
scale_, log_likelihood_, aic_, bic_, n_iter_, n_features_in_, feature_names_in_, certificate_, plan_, \
warnings_
        As in :class:`ProbabilisticPCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import BayesianPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) * 3 + rng.normal(size=(300, 6))
    >>> BayesianPCA().fit(X).n_components_
    2
    """

    _method = "bayesian-pca"
    _constraints = {
        **{name: what for name, what in ProbabilisticPCA._constraints.items() if name != "algorithm"},
        "n_components": [Whole(1), NOTHING],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        standardize: bool = False,
        missing: Literal["em", "mean", "error"] = "em",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: Any = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        weight_kind: Literal["frequency", "relative"] = "frequency",
    ) -> None:
        self.n_components = n_components
        self.standardize = standardize
        self.missing = missing
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.memory = memory
        self.n_jobs = n_jobs
        self.weight_kind = weight_kind

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the model to data or a file.

        Parameters
        ----------
        X : array-like, sparse matrix, table, path or :class:`Table`
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
        """
        self._fit(X, sample_weight, scores=False)
        return self

    def fit_covariance(self, covariance: Any, *, n_samples: float | None = None) -> Self:
        """Not defined: the iteration needs the samples."""
        raise NotImplementedError(
            "BayesianPCA needs the samples; use ProbabilisticPCA, which has fit_covariance"
        )

    def _method_options(self, data: Data) -> dict[str, Any]:
        most = self.n_components
        if most is None:
            most = max(1, min(30, data.n_features - 1, data.n_counted or data.n_features))
        return {"n_components": int(most), "standardize": bool(self.standardize)}

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        super()._describe(model, data, scores)
        self.relevance_ = np.asarray(model.values["relevance"], dtype=data.dtype)
