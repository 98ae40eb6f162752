"""Linear discriminant analysis."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np

from eigenlens import _core
from eigenlens._classifier import Classifier
from eigenlens._constraints import FITS, NOTHING, SEQUENCE, TRUTH, Number, Whole, Words
from eigenlens._data import Data, in_memory
from eigenlens._estimator import SHARED
from eigenlens._results import variances


class LinearDiscriminantAnalysis(Classifier):
    """Linear discriminant analysis (Fisher): directions that separate classes most, and a classifier.

    scikit-learn's parameters, attributes and numbers. The spread within classes is never a difference of two
    larger matrices, so that neither large means nor classes far apart cost digits.

    Parameters
    ----------
    solver : {'svd', 'lsqr', 'eigen'}, default='svd'
        What is computed: `'svd'` pools samples (divisor n_samples) and looks only along
        directions in which samples of a class differ; `'lsqr'` and `'eigen'` weigh the covariances of the
        classes by their priors, and shrink them if asked to. `'lsqr'` has no `transform`.
    shrinkage : 'auto' or float, default=None
        How far the covariance gives way to a multiple of the identity; `'auto'`: as far as Ledoit and Wolf
        find for each class. Not with `'svd'`.
    priors : array-like of shape (n_classes,), default=None
        The probabilities of the classes; None: as observed.
    n_components : int, default=None
        At most min(n_classes − 1, n_features), which is what None stands for.
    store_covariance : bool, default=False
        Whether `'svd'` computes `covariance_`; the others do anyway.
    tol : float, default=1e-4
        Directions of no larger standard deviation within classes, of standardised features, are left out
        by `'svd'`.
    covariance_estimator : estimator with `fit` and `covariance_`, default=None
        Estimates the covariance of each class, in place of what is computed here. Not with `'svd'`.
    memory, n_jobs
        As in :class:`PCA`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
    intercept_ : ndarray of shape (n_classes,) or (1,)
        The functions that `decision_function` evaluates.
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance within classes.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Shares of the variance between classes; not of `'lsqr'`.
    means_ : ndarray of shape (n_classes, n_features)
    priors_ : ndarray of shape (n_classes,)
    scalings_ : ndarray of shape (n_features, rank)
        The coefficients of scores, which have variance 1 within classes; not of `'lsqr'`.
    xbar_ : ndarray of shape (n_features,)
        The mean of the classes, weighted by their priors; of `'svd'` only.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_, feature_names_in_, certificate_, plan_, warnings_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import LinearDiscriminantAnalysis
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> y = np.array([1, 1, 1, 2, 2, 2])
    >>> lda = LinearDiscriminantAnalysis().fit(X, y)
    >>> lda.predict([[-0.8, -1]])
    array([1])
    >>> lda.certificate_.relative_residual < 1e-12
    True
    """

    _method = "lda"
    _constraints = {
        "solver": [Words("svd", "lsqr", "eigen")],
        "shrinkage": [Words("auto"), Number(0, 1, closed_high=True), NOTHING],
        "priors": [SEQUENCE, NOTHING],
        "n_components": [Whole(1), NOTHING],
        "store_covariance": [TRUTH],
        "tol": [Number(0)],
        "covariance_estimator": [FITS, NOTHING],
        **SHARED,
    }

    def __init__(
        self,
        solver: Literal["svd", "lsqr", "eigen"] = "svd",
        shrinkage: Literal["auto"] | float | None = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        memory: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.memory = memory
        self.n_jobs = n_jobs

    @property
    def components_(self) -> np.ndarray:
        """The discriminants as unit rows (n_components × n_features)."""
        return self._record("components")

    def transform(self, X: Any) -> np.ndarray:
        """Scores of training or new samples (n_samples × n_components)."""
        self._check_transforms()
        return self._scores(X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fits the model and returns the scores of the samples (n_samples × n_components)."""
        self._check_transforms()
        return self._fit_to(X, y, sample_weight, scores=True)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Not defined: what separates classes does not say where a sample is."""
        raise NotImplementedError(
            "LinearDiscriminantAnalysis has no inverse_transform; use PCA, which has one"
        )

    def _check_transforms(self) -> None:
        if self.solver == "lsqr":
            raise NotImplementedError(
                "transform not implemented for 'lsqr' solver (use 'svd' or 'eigen')."
            )

    def _tolerance(self) -> float | None:
        return None

    def _method_options(self, data: Data) -> dict[str, Any]:
        svd = self.solver == "svd"
        self._check_shrinkage()
        n_classes = len(self._classes)
        if n_classes == data.n_samples:
            raise ValueError("The number of samples must be more than the number of classes.")
        if self.n_components is not None and self.n_components > min(n_classes - 1, data.n_features):
            raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
        shrinkage = self.shrinkage
        return {
            "n_components": self.n_components,
            "shrinkage": shrinkage if shrinkage is None or shrinkage == "auto" else float(shrinkage),
            "singular": "range" if shrinkage is None else None,
            "priors": self._given_priors(),
            "pooling": "likelihood" if svd else "priors",
            "rank_tolerance": float(self.tol) if svd else 0.0,
            "center": svd,
            "store_covariance": bool(self.store_covariance) or not svd,
            "covariance": self._given_covariance(data),
        }

    def _given_covariance(self, data: Data) -> np.ndarray | None:
        """The covariances of the classes as the estimator has them, weighted by their priors."""
        estimator = self.covariance_estimator
        if estimator is None:
            return None
        X, codes = in_memory(data, self), np.asarray(self._target["coded"][0])
        priors = self._given_priors() or np.bincount(codes) / len(codes)
        pooled = np.zeros((data.n_features, data.n_features))
        for code, prior in enumerate(priors):
            estimator.fit(X[codes == code])
            if not hasattr(estimator, "covariance_"):
                raise ValueError(
                    f"{type(estimator).__name__} does not have a covariance_ attribute"
                )
            pooled += prior * np.atleast_2d(estimator.covariance_)
        return pooled

    def _check_shrinkage(self) -> None:
        if self.solver == "svd":
            if self.shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver.")
            if self.covariance_estimator is not None:
                raise ValueError(
                    "covariance estimator is not supported with svd solver. Try another solver"
                )
        elif self.covariance_estimator is not None:
            if self.shrinkage is not None:
                raise ValueError(
                    "covariance_estimator and shrinkage parameters are not None. "
                    "Only one of the two can be set."
                )

    def _given_priors(self) -> list[float] | None:
        if self.priors is None:
            return None
        priors = np.asarray(self.priors, dtype=np.float64)
        if (priors < 0).any():
            raise ValueError("priors must be non-negative")
        if abs(priors.sum() - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=5)
        return (priors / priors.sum()).tolist()

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        super()._describe(model, data, scores)
        values = model.values
        for name in ("xbar_", "scalings_", "explained_variance_ratio_", "covariance_"):
            self.__dict__.pop(name, None)
        coefficients, constants = values["coefficients"], values["constants"]
        if len(self.classes_) == 2:
            coefficients, constants = np.diff(coefficients, axis=0), np.diff(constants)
        self.coef_ = coefficients.astype(data.dtype)
        self.intercept_ = constants.astype(data.dtype)
        self.means_ = values["class_means"].astype(data.dtype)
        self.priors_ = values["priors"].astype(data.dtype)
        if self.solver == "svd":
            self.xbar_ = model.mean.astype(data.dtype)
        if self.solver != "lsqr":
            self.scalings_ = values["scalings"].astype(data.dtype).reshape(model.n_features, -1)
            ratio = variances(values["explained_variance_ratio"], data.dtype)
            self.explained_variance_ratio_ = ratio
        covariance = _core.model_array(model, "covariance")
        if covariance is not None:
            self.covariance_ = covariance.astype(data.dtype)

    def _stored_attributes(self) -> dict[str, Any]:
        return {**super()._stored_attributes(), "dtype": str(self.coef_.dtype)}
