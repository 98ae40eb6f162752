"""Supervised principal component analysis."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from eigenlens import _core
from eigenlens._compat import check_array, check_is_fitted
from eigenlens._constraints import TRUTH, Number, Words
from eigenlens._data import Data
from eigenlens._supervised import SUPERVISED, Supervised


class SupervisedPCA(Supervised):
    """Supervised PCA (Barshan et al. 2011): orthonormal directions that depend most on a target.

    They maximise `tr(Uᵀ Xᵀ H K_y H X U)`, the dependence between projected data and target as HSIC
    measures it. New samples need no target.

    Parameters
    ----------
    n_components : int, float or None, default=None
        A number, or a share of the dependence; None: as many as the target can tell apart (one less
        than there are classes).
    supervision : float, default=1.0
        The dial from PCA (0) to supervised PCA (1).
    standardize : bool, default=False
        Divides every feature by its standard deviation.
    center : bool, default=True
        Scores and reconstruction about the training mean. Without, they are the textbook's `Uᵀx` and `UUᵀx`;
        the directions are the same.
    target : {'auto', 'classes', 'numbers'}, default='auto'
        What y holds. `'auto'`: text and truth values are classes, and so is one column of few whole
        numbers, each several times; everything else is numbers.
    label_kernel : {'auto', 'delta', 'linear', 'rbf', 'precomputed'}, default='auto'
        The kernel between targets; `'auto'`: delta for classes, rbf for numbers. `'precomputed'`: y is
        the kernel (n_samples × n_samples).
    label_gamma : float or None, default=None
        γ of `label_kernel='rbf'`; None: by the median distance.
    unlabelled : {'error', 'keep'}, default='error'
        Whether samples whose y is None or NaN take part in means and variances.
    tol : float, default=0.0
        The residual wanted; 0: 1e-9, or 1e-6 for float32.
    memory, n_jobs, weight_kind
        As in :class:`PCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    mean_, scale_ : ndarray of shape (n_features,)
    hsic_, hsic_ratio_ : ndarray of shape (n_components,)
        What each component carries of the dependence, and its share.
    total_hsic_ : float
    eigenvalues_ : ndarray of shape (n_components,)
        Shares of the operator's trace.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        The variance of the scores; not descending in general.
    classes_ : ndarray
        The classes, where y holds classes; as text after :func:`load`.
    target_rank_ : int
        How many directions the target can tell apart.
    n_components_, n_features_in_, feature_names_in_, certificate_, plan_, warnings_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import SupervisedPCA
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["a", "b"], 50)
    >>> X = rng.normal(size=(100, 3)) * [10, 1, 1]
    >>> X[y == "b", 1] += 5
    >>> spca = SupervisedPCA().fit(X, y)
    >>> spca.classes_
    array(['a', 'b'], dtype='<U1')
    >>> int(np.abs(spca.components_[0]).argmax())
    1
    """

    _method = "supervised-pca"
    _constraints = {
        **SUPERVISED,
        "supervision": [Number(0)],
        "standardize": [TRUTH],
        "center": [TRUTH],
        "weight_kind": [Words("frequency", "relative")],
    }

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        supervision: float = 1.0,
        standardize: bool = False,
        target: Literal["auto", "classes", "numbers"] = "auto",
        label_kernel: Literal["auto", "delta", "linear", "rbf", "precomputed"] = "auto",
        label_gamma: float | None = None,
        unlabelled: Literal["error", "keep"] = "error",
        tol: float = 0.0,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        weight_kind: Literal["frequency", "relative"] = "frequency",
        center: bool = True,
    ) -> None:
        self.n_components = n_components
        self.supervision = supervision
        self.standardize = standardize
        self.target = target
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.unlabelled = unlabelled
        self.tol = tol
        self.memory = memory
        self.n_jobs = n_jobs
        self.weight_kind = weight_kind
        self.center = center

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SupervisedPCA:
        """Fits the model.

        Parameters
        ----------
        X : array-like, sparse matrix, table, path or :class:`Table`
            n_samples × n_features.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Classes or numbers; required.
        sample_weight : array-like of shape (n_samples,), optional
            Weight w means that the sample counts w times.
        """
        self._fit_to(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fits the model and returns the scores of the samples (n_samples × n_components)."""
        return self._fit_to(X, y, sample_weight, scores=True)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples (n_samples × n_features) from scores (n_samples × n_components)."""
        check_is_fitted(self)
        scores = check_array(X, dtype=[np.float64, np.float32], estimator=self)
        samples = scores @ self.components_
        return (samples if self.scale_ is None else samples * self.scale_) + self.mean_

    def _method_options(self, data: Data) -> dict[str, Any]:
        return {
            **self._supervision_method_options(),
            "supervision": float(self.supervision),
            "standardize": bool(self.standardize),
            "center": bool(self.center),
        }

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        super()._describe(model, data, scores)
        scale = model.values["scale"]
        self.components_ = model.components.astype(data.dtype, copy=False)
        self.mean_ = model.mean.astype(data.dtype, copy=False)
        self.scale_ = None if scale is None else scale.astype(data.dtype, copy=False)

    def _stored_attributes(self) -> dict[str, Any]:
        return {"dtype": str(self.components_.dtype)}

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        values = model.values
        return {
            **super()._parameters_of(model),
            "supervision": values["supervision"],
            "standardize": values["scale"] is not None,
        }
