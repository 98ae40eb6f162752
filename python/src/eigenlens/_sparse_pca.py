"""Sparse principal component analysis."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, Self

import numpy as np

from eigenlens import _core, _options
from eigenlens._capabilities import FromMatrices
from eigenlens._compat import check_array, check_is_fitted
from eigenlens._constraints import JOBS, MEMORY, NOTHING, RANDOM_STATE, TRUTH, Number, Whole, Words
from eigenlens._data import Data, for_estimator
from eigenlens._moments import Moments


_DEFLATIONS = ("projection", "hotelling", "schur", "orthogonalized-projection")


class _Counts:
    """A whole number above 0, or a list of them."""

    def __contains__(self, value: Any) -> bool:
        several = isinstance(value, list | tuple | np.ndarray)
        return all(one in Whole(1) for one in (value if several else [value]))

    def __str__(self) -> str:
        return "an int in the range [1, inf), a list of them"


class _Array:
    def __contains__(self, value: Any) -> bool:
        return isinstance(value, np.ndarray)

    def __str__(self) -> str:
        return "an instance of 'numpy.ndarray'"


class SparsePCA(FromMatrices):
    """Sparse PCA, a drop-in for scikit-learn's `SparsePCA`: few features in each component.

    By default the problem is scikit-learn's: minimise `½‖X − U V‖² + alpha ‖V‖₁` with columns of U
    of length 1 at most; the components are the rows of V, scaled to unit length. It is solved from
    the covariance, so that a round does not depend on the number of samples. Two other formulations
    say directly how sparse a component is, one of them with a proof.

    Parameters
    ----------
    n_components : int or None, default=None
        None: n_features. Components beyond n_features are 0: they could not lower the objective.
    alpha : float, default=1
        The penalty; the larger, the sparser.
    ridge_alpha : float, default=0.01
        The ridge penalty of `transform`.
    max_iter : int, default=1000
        0: the components are the directions of V_init, or the plain ones.
    tol : float, default=1e-8
        The decrease of the objective, relative to it, at which the iteration ends; 0: 1e-8.
    method : {'lars', 'cd'}, default='lars'
        Accepted; every lasso is solved by coordinate descent.
    n_jobs : int or None, default=None
    U_init, V_init : ndarray or None, default=None
        Used where both are given, as in scikit-learn. The iteration starts from the directions of
        V_init; U follows from them.
    verbose : int or bool, default=False
        Accepted; nothing is printed.
    random_state : int, RandomState or None, default=None
        Starts of the search with `formulation='cardinality'`; the others draw nothing.
    formulation : {'dictionary', 'cardinality', 'regression'}, default='dictionary'
        `'cardinality'` maximises the variance with at most `non_zeros` features in a component, one
        component after the other. `'regression'` regresses plain components on the features under an
        elastic net (Zou, Hastie & Tibshirani 2006), all together, with `non_zeros` features or, where
        these are None, the penalty `alpha`. `tol` is then the change of an entry, and the default
        means 1e-6.
    non_zeros : int, list of int or None, default=None
        Features in each component; None: √n_features for `'cardinality'`.
    certify : bool, default=False
        Proves the optimum of `'cardinality'` by branch and bound, or how far from it it can be.
    time_limit : float, default=60.0
        Seconds for the proof of each component.
    ridge : float, 'infinite' or None, default=None
        λ₂ of `'regression'`; `'infinite'` for many more features than samples; None: 1e-6.
    deflation : {'projection', 'hotelling', 'schur', 'orthogonalized-projection'}, default='projection'
        What `'cardinality'` takes out of the covariance after each component.
    non_negative : bool, default=False
        Only components without negative entries, of `'cardinality'`.
    path : int or None, default=None
        Follows `'cardinality'` or `'regression'` from sparse to full in so many points.
    standardize : bool, default=False
        Divides every feature by its standard deviation.
    memory
        As in :class:`PCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unit rows, mostly zeros; neither orthogonal nor uncorrelated.
    error_ : ndarray of shape (n_iter,)
        The objective after each iteration; only with `formulation='dictionary'`.
    n_components_, n_iter_ : int
    mean_ : ndarray of shape (n_features,)
    non_zeros_ : ndarray of shape (n_components,)
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        The adjusted variance: what each component adds to those before it, and its share.
    total_variance_ : float
    optimality_ : list of dict
        With `certify`, for each component the variance found (`value`), what no other exceeds
        (`upper_bound`), `gap` and whether it is `proven`.
    path_ : list of dict
        With `path`, for each point `n_non_zeros`, `penalties` and `adjusted_variance_ratio` of each component.
    scale_ : ndarray of shape (n_features,) or None
        What every feature was divided by.
    certificate_ : None
        The components are no eigenvectors.
    plan_, warnings_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import SparsePCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> X[:, :2] += 2 * rng.normal(size=(200, 1))
    >>> pca = SparsePCA(n_components=1, alpha=10).fit(X)
    >>> np.flatnonzero(pca.components_[0])
    array([0, 1])
    >>> best = SparsePCA(1, formulation="cardinality", non_zeros=2, certify=True).fit(X)
    >>> best.optimality_[0]["proven"]
    True
    """

    _method = "sparse-pca"
    _constraints = {
        "n_components": [NOTHING, Whole(1)],
        "alpha": [Number(0)],
        "ridge_alpha": [Number(0)],
        "max_iter": [Whole(0)],
        "tol": [Number(0)],
        "method": [Words("lars", "cd")],
        "n_jobs": [JOBS, NOTHING],
        "U_init": [NOTHING, _Array()],
        "V_init": [NOTHING, _Array()],
        "verbose": [Whole(0), TRUTH],
        "random_state": [RANDOM_STATE],
        "formulation": [Words("dictionary", "cardinality", "regression")],
        "non_zeros": [_Counts(), NOTHING],
        "certify": [TRUTH],
        "time_limit": [Number(0, open_low=True)],
        "ridge": [Number(0), Words("infinite"), NOTHING],
        "deflation": [Words(*_DEFLATIONS)],
        "non_negative": [TRUTH],
        "path": [Whole(2), NOTHING],
        "standardize": [TRUTH],
        "memory": [MEMORY],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float = 1,
        ridge_alpha: float = 0.01,
        max_iter: int = 1000,
        tol: float = 1e-8,
        method: Literal["lars", "cd"] = "lars",
        n_jobs: int | None = None,
        U_init: np.ndarray | None = None,
        V_init: np.ndarray | None = None,
        verbose: int | bool = False,
        random_state: Any = None,
        formulation: Literal["dictionary", "cardinality", "regression"] = "dictionary",
        non_zeros: int | list[int] | None = None,
        certify: bool = False,
        time_limit: float = 60.0,
        ridge: float | Literal["infinite"] | None = None,
        deflation: str = "projection",
        non_negative: bool = False,
        path: int | None = None,
        standardize: bool = False,
        memory: int | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.ridge_alpha = ridge_alpha
        self.max_iter = max_iter
        self.tol = tol
        self.method = method
        self.n_jobs = n_jobs
        self.U_init = U_init
        self.V_init = V_init
        self.verbose = verbose
        self.random_state = random_state
        self.formulation = formulation
        self.non_zeros = non_zeros
        self.certify = certify
        self.time_limit = time_limit
        self.ridge = ridge
        self.deflation = deflation
        self.non_negative = non_negative
        self.path = path
        self.standardize = standardize
        self.memory = memory

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the model to data, a file or :class:`Moments`.

        Parameters
        ----------
        X : array-like, sparse matrix, table, path, :class:`Table` or :class:`Moments`
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
        """
        if isinstance(X, Moments):
            return self._fit_moments(X)
        self._fit(X, sample_weight, scores=False)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fits the model and returns the scores of the samples (n_samples × n_components)."""
        return self._shrunk(self._fit(X, sample_weight, scores=True))

    def transform(self, X: Any) -> np.ndarray:
        """Scores of training or new samples (n_samples × n_components), by ridge regression."""
        check_is_fitted(self)
        data = for_estimator(self, X, reset=False)
        return self._shrunk(self._model.transform(data.given, _options.n_bytes(self.memory)))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples (n_samples × n_features) from scores (n_samples × n_components)."""
        check_is_fitted(self)
        scores = check_array(X, dtype=[np.float64, np.float32], estimator=self)
        samples = scores @ self.components_
        return (samples if self._scale is None else samples * self._scale) + self.mean_

    def _shrunk(self, scores: np.ndarray) -> np.ndarray:
        """Least-squares scores z with the ridge penalty r: `(B Bᵀ + r I)⁻¹ B Bᵀ z`."""
        components = self._model.components
        if self.ridge_alpha > 0:
            products = components @ components.T
            ridge = products + self.ridge_alpha * np.eye(len(products))
            scores = (scores @ np.linalg.solve(ridge, products).T).astype(scores.dtype, copy=False)
        beyond = self.n_components_ - len(components)
        return np.pad(scores, ((0, 0), (0, beyond))) if beyond else scores

    def _method_options(self, data: Data) -> dict[str, Any]:
        k = self._k(data)
        if self.max_iter == 0 and self.formulation != "dictionary":
            raise ValueError("max_iter=0 needs formulation='dictionary', which has a start")
        if self.certify and self.formulation != "cardinality":
            raise ValueError("certify=True needs formulation='cardinality'")
        if self.formulation == "dictionary" and self.non_zeros is not None:
            raise ValueError("non_zeros needs formulation='cardinality' or 'regression'")
        if self.ridge is not None and self.formulation != "regression":
            raise ValueError("ridge needs formulation='regression'")
        if self.deflation != "projection" and self.formulation != "cardinality":
            raise ValueError("deflation needs formulation='cardinality'")
        if self.non_negative and self.formulation != "cardinality":
            raise ValueError("non_negative needs formulation='cardinality'")
        if self.path is not None and self.formulation == "dictionary":
            raise ValueError("path needs formulation='cardinality' or 'regression'")
        counts = self.non_zeros
        if self.formulation == "cardinality" and counts is None:
            counts = max(1, round(data.n_features**0.5))
        if isinstance(counts, Integral):
            counts = [counts]
        start = None
        if self.formulation == "dictionary" and self.U_init is not None and self.V_init is not None:
            start = np.ascontiguousarray(self.V_init, dtype=np.float64)
        return {
            "n_components": k,
            "start": start,
            "standardize": bool(self.standardize),
            "path": self.path,
            **self._formulation(counts),
            **self._proof(),
        }

    def _formulation(self, counts: Any) -> dict[str, Any]:
        if self.formulation == "dictionary":
            return {"dictionary": float(self.alpha), "learn": self.max_iter != 0}
        counted = None if counts is None else [int(count) for count in counts]
        if self.formulation == "cardinality":
            return {
                "cardinality": counted,
                "deflation": self.deflation,
                "non_negative": bool(self.non_negative),
            }
        ridge = self.ridge if self.ridge in (None, "infinite") else float(self.ridge)
        if counted is not None:
            return {"non_zeros": counted, "ridge": ridge}
        return {"penalty": [float(self.alpha)], "penalty_scale": "sum", "ridge": ridge}

    def _proof(self) -> dict[str, Any]:
        return {"exact": True, "time_limit": float(self.time_limit)} if self.certify else {}

    def _k(self, data: Data) -> int:
        """Components that are looked for."""
        return min(int(self.n_components or data.n_features), data.n_features)

    def _shared(self) -> dict[str, Any]:
        # Without iterations nothing is learned, whatever their number.
        return {**super()._shared(), "max_iterations": self._iterations() or None}

    def _iterations(self) -> int:
        return int(self.max_iter)

    def _tolerance(self) -> float | None:
        # scikit-learn's default is meant for its own objective.
        is_default = self.formulation != "dictionary" and self.tol == 1e-8
        return None if is_default else self.tol

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        values = model.values
        self.n_components_ = int(self.n_components or data.n_features)
        beyond = self.n_components_ - model.n_components

        def like_the_data(numbers: Any, *, pad: bool = True) -> np.ndarray:
            numbers = np.asarray(numbers, dtype=data.dtype)
            widths = ((0, beyond if pad else 0),) + ((0, 0),) * (numbers.ndim - 1)
            return np.pad(numbers, widths)

        self.components_ = like_the_data(model.components)
        self.mean_ = like_the_data(model.mean, pad=False)
        self._scale = values["scale"]
        self.scale_ = None if self._scale is None else like_the_data(self._scale, pad=False)
        self.__dict__.pop("path_", None)
        if values["path"] is not None:
            self.path_ = list(values["path"]["points"])
        self.non_zeros_ = np.count_nonzero(self.components_, axis=1)
        self.explained_variance_ = like_the_data(values["adjusted_variance"])
        self.explained_variance_ratio_ = like_the_data(values["adjusted_variance_ratio"])
        self.total_variance_ = values["total_variance"]
        self.n_iter_ = values["iterations"]
        self.__dict__.pop("error_", None)
        if len(values["objective"]):
            self.error_ = np.asarray(values["objective"], dtype=np.float64)
        self.optimality_ = list(values["optimality"])

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _stored_attributes(self) -> dict[str, Any]:
        return {"dtype": str(self.components_.dtype)}

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        values = model.values
        usual = super()._parameters_of(model)
        if values["penalties"] is None:
            return {**usual, "formulation": "cardinality"}
        formulation = "dictionary" if len(values["objective"]) else "regression"
        return {**usual, "formulation": formulation}
