"""Kernel supervised principal component analysis."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from eigenlens import _core, _kernels
from eigenlens._compat import check_is_fitted
from eigenlens._constraints import (
    CALLABLE,
    NOTHING,
    RANDOM_STATE,
    TRUTH,
    Number,
    Whole,
    Words,
)
from eigenlens._data import Data, in_memory, of_array
from eigenlens._supervised import SUPERVISED, Supervised


class KernelSupervisedPCA(Supervised):
    """Kernel supervised PCA (Barshan et al. 2011): supervised PCA in a kernel's feature space.

    Parameters
    ----------
    n_components : int, float or None, default=None
        A number, or a share of the dependence; None: as many as the target can tell apart.
    kernel : {'rbf', 'linear', 'laplacian', 'chi2', 'poly', 'sigmoid', 'cosine', 'precomputed'} or \
callable, default='rbf'
        The kernel between samples. `'precomputed'`: X is the kernel with the training samples. A
        function of two samples is asked for every pair; its model is pickled, not saved.
    gamma : float or None, default=None
        None: by the median distance for rbf, laplacian and chi2, 1 for poly, 1/n_features for sigmoid.
    degree : int, default=3
    coef0 : float, default=1
    target, label_kernel, label_gamma, tol
        As in :class:`SupervisedPCA`.
    unlabelled : {'error', 'keep'}, default='error'
        Whether samples whose y is None or NaN take part in the mean.
    center : bool, default=True
        Scores about the training mean; without, they are the textbook's uncentred ones.
    random_state : int, RandomState or None, default=None
        Chooses the samples whose median distance is taken, where there are more than 1,000.
    memory, n_jobs
        As in :class:`PCA`.

    Attributes
    ----------
    eigenvalues_, hsic_, hsic_ratio_ : ndarray of shape (n_components,)
        Of the operator; what each component carries of the dependence, and its share.
    total_hsic_ : float
        HSIC between samples and target.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        The variance of the training scores, and its share of that in feature space.
    gamma_ : float or None
        γ, given or found, of a kernel that has one.
    classes_ : ndarray
        The classes, where y holds classes; as text after :func:`load`.
    target_rank_, n_components_, n_features_in_, feature_names_in_, certificate_, plan_, warnings_

    Examples
    --------
    Two rings, whose classes differ in the distance from the middle only:

    >>> import numpy as np
    >>> from eigenlens import KernelSupervisedPCA
    >>> angle, ring = np.arange(80) * 0.37, np.arange(80) % 2
    >>> X = (1 + 2 * ring)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> scores = KernelSupervisedPCA(1).fit_transform(X, ring)
    >>> side = scores[:, 0] > 0
    >>> bool((side == (ring == 0)).all() or (side == (ring == 1)).all())
    True
    """

    _method = "kernel-supervised-pca"
    _constraints = {
        **SUPERVISED,
        "kernel": [
            Words(*(name for name in _kernels.COMPILED if name != "delta")),
            CALLABLE,
        ],
        "gamma": [Number(0, open_low=True), NOTHING],
        "degree": [Whole(1)],
        "coef0": [Number(-np.inf)],
        "random_state": [RANDOM_STATE],
        "center": [TRUTH],
    }

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
        target: Literal["auto", "classes", "numbers"] = "auto",
        label_kernel: Literal["auto", "delta", "linear", "rbf", "precomputed"] = "auto",
        label_gamma: float | None = None,
        unlabelled: Literal["error", "keep"] = "error",
        tol: float = 0.0,
        random_state: Any = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        center: bool = True,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.target = target
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.unlabelled = unlabelled
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.n_jobs = n_jobs
        self.center = center

    def fit(self, X: Any, y: Any = None) -> KernelSupervisedPCA:
        """Fits the model.

        Parameters
        ----------
        X : array-like, sparse matrix, table, path or :class:`Table`
            n_samples × n_features; n_samples × n_samples for a precomputed kernel.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Classes or numbers; required.
        """
        self._fit_to(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fits the model and returns the scores of the samples (n_samples × n_components)."""
        return self._fit_to(X, y, scores=True)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Not defined: most points of the feature space belong to no sample."""
        raise NotImplementedError(
            "KernelSupervisedPCA has no inverse_transform; use SupervisedPCA, which has one"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command line and :func:`load` read too."""
        check_is_fitted(self)
        if callable(self.kernel):
            raise NotImplementedError(
                "a kernel that is computed in Python cannot be written to a model file; pickle "
                "the estimator"
            )
        super().save(path)

    def _must_be_finite(self) -> bool:
        return callable(self.kernel) or self.kernel == "precomputed"

    def _seen(self, data: Data, *, new: bool) -> Data:
        if not callable(self.kernel):
            return data
        X = in_memory(data, self)
        if not new:
            self._fit_X = X.copy()
        return of_array(_kernels.of_pairs(X, self._fit_X if new else X, self.kernel, {}))

    def _method_options(self, data: Data) -> dict[str, Any]:
        name = "precomputed" if callable(self.kernel) else self.kernel
        gamma = None if self.gamma is None else float(self.gamma)
        kernel = _kernels.options(name, gamma, int(self.degree), float(self.coef0))
        return {**self._supervision_method_options(), **kernel, "center": bool(self.center)}

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        super()._describe(model, data, scores)
        self.gamma_ = model.values["kernel"].get("gamma")

    def _stored_attributes(self) -> dict[str, Any]:
        return {"dtype": str(self.hsic_.dtype)}

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        kernel = dict(model.values["kernel"])
        name = kernel.pop("name")
        known = {k: v for k, v in kernel.items() if k in ("gamma", "degree", "coef0")}
        name = "poly" if name == "polynomial" else name
        return {**super()._parameters_of(model), "kernel": name, **known}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
