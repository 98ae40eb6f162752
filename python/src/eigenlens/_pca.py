"""Principal component analysis."""

from __future__ import annotations

import math
import os
from typing import Any, Literal, Self

import numpy as np

from eigenlens import _core
from eigenlens._capabilities import FromMatrices, PrincipalComponents
from eigenlens._compat import check_is_fitted
from eigenlens._constraints import NOTHING, RANDOM_STATE, TRUTH, Number, Whole, Words
from eigenlens._data import Data, for_estimator
from eigenlens._estimator import SHARED
from eigenlens._implied_gaussian import ImpliedGaussian
from eigenlens._moments import Moments

_SOLVERS = {
    "auto": "auto",
    "full": "svd",
    "covariance_eigh": "covariance",
    "arpack": "iterative",
    "dual": "dual",
}
# What ARPACK's `tol=0` asks for: vectors to the precision of the numbers, but for their gaps.
_ARPACK_TOLERANCE = 1e-12


class PCA(ImpliedGaussian, FromMatrices, PrincipalComponents):
    """Principal component analysis, a drop-in for scikit-learn's `PCA`.

    Every fit carries a certificate measured against the data. Large means, extreme scales and
    missing rank do not spoil it, for float32 as for float64.

    Parameters
    ----------
    n_components : int, float, 'mle', name of a rule or None, default=None
        How many components: a number; a share in (0, 1), the fewest whose shares together are
        greater; `'mle'` (Minka's evidence) or another rule of :func:`choose_n_components`; None:
        all; 0: none, so that all variance is noise.
    copy : bool, default=True
        Without effect: data are never written to.
    whiten : bool, default=False
        Scores of variance 1.
    svd_solver : {'auto', 'full', 'covariance_eigh', 'arpack', 'randomized', 'dual'}
        The route. `'auto'` picks the cheapest that is accurate enough; `'arpack'` is a block Krylov
        iteration; `'randomized'` is approximate, and its certificate says how far off.
    tol : float, default=0.0
        The residual wanted, relative to the largest variance; 0: 1e-9, or 1e-6 for float32; with
        `svd_solver='arpack'` and float64, 1e-12 where that can be had.
    iterated_power : int or 'auto', default='auto'
        Power iterations of `'randomized'`.
    n_oversamples : int, default=10
        Extra directions of `'randomized'`.
    power_iteration_normalizer : {'auto', 'QR', 'LU', 'none'}, default='auto'
        Accepted; the iterations are always kept orthonormal.
    random_state : int, RandomState or None, default=None
        The seed of random numbers; None is 0, so that equal data give equal answers.
    standardize : bool, default=False
        Divides every feature by its standard deviation.
    memory : int, str or None, default=None
        A budget such as `'512MiB'`: kept by streaming files, or refused before anything is read.
    n_jobs : int or None, default=None
        Threads; None and -1: one for each core; -2: one less. The answer does not depend on it.
    weight_kind : {'frequency', 'relative'}, default='frequency'
        What `sample_weight` means: counts, or only ratios.
    missing : {'error', 'em', 'mean'}, default='error'
        What NaN means: an error; entries that are integrated out by expectation maximisation; the
        mean of their feature (simple, and biased towards too little variance).
    ddof : {0, 1}, default=1
        Variances are sums of squares divided by n − ddof; 0 does not go with `standardize`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, largest variance first; the largest entry of each is positive.
    explained_variance_, explained_variance_ratio_, singular_values_ : (n_components,)
        Divisor n − 1; shares of the total variance; √((n − 1) λ).
    mean_ : ndarray of shape (n_features,)
    scale_ : ndarray of shape (n_features,) or None
        What every feature was divided by.
    sampling_errors_ : ndarray of shape (n_components,) or None
        The standard error of each explained variance.
    noise_variance_ : float
        As in scikit-learn: what is left of the variance, divided by min(n, d) − k.
    total_variance_ : float
    n_components_, n_samples_, n_features_in_, feature_names_in_
    certificate_ : Certificate
    plan_ : Plan
    warnings_ : list of str
        What else is worth knowing: constant columns, heavy tails, one sample that dominates.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import PCA
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> pca = PCA(n_components=2).fit(X)
    >>> pca.singular_values_.round(5)
    array([6.30061, 0.5498 ])
    >>> pca.transform(X[:1]).round(3)
    array([[-1.383, -0.294]])
    >>> print(pca.plan_.route)
    covariance

    A published correlation matrix in place of samples:

    >>> R = [[1, 0.8, 0.1], [0.8, 1, 0.2], [0.1, 0.2, 1]]
    >>> PCA(1).fit_covariance(R, n_samples=180).explained_variance_.round(3)
    array([1.853])

    Counts as weights, and a model from moments that were gathered elsewhere:

    >>> weighted = PCA(1).fit(X, sample_weight=[1, 1, 1, 1, 1, 2])
    >>> bool(np.allclose(weighted.components_, PCA(1).fit(X[[0, 1, 2, 3, 4, 5, 5]]).components_))
    True
    >>> from eigenlens import Moments
    >>> both = Moments(X[:3]).merge(Moments(X[3:]))
    >>> bool(np.allclose(PCA(1).fit(both).components_, PCA(1).fit(X).components_))
    True
    """

    _method = "pca"
    _constraints = {
        "n_components": [
            Whole(0),
            Number(0, 1, open_low=True, only_float=True),
            Words("mle", *_core.rule_names()),
            NOTHING,
        ],
        "copy": [TRUTH],
        "whiten": [TRUTH],
        "svd_solver": [Words(*_SOLVERS, "randomized")],
        "tol": [Number(0)],
        "iterated_power": [Words("auto"), Whole(0)],
        "n_oversamples": [Whole(1)],
        "power_iteration_normalizer": [Words("auto", "QR", "LU", "none")],
        "random_state": [RANDOM_STATE],
        "standardize": [TRUTH],
        "weight_kind": [Words("frequency", "relative")],
        "missing": [Words("error", "em", "mean")],
        "ddof": [Whole(0)],
        **SHARED,
    }

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: Literal[
            "auto", "full", "covariance_eigh", "arpack", "randomized", "dual"
        ] = "auto",
        tol: float = 0.0,
        iterated_power: int | Literal["auto"] = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: Literal["auto", "QR", "LU", "none"] = "auto",
        random_state: Any = None,
        standardize: bool = False,
        memory: int | str | None = None,
        n_jobs: int | None = None,
        weight_kind: Literal["frequency", "relative"] = "frequency",
        missing: Literal["error", "em", "mean"] = "error",
        ddof: Literal[0, 1] = 1,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.standardize = standardize
        self.memory = memory
        self.n_jobs = n_jobs
        self.weight_kind = weight_kind
        self.missing = missing
        self.ddof = ddof

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

    def transform(self, X: Any) -> np.ndarray:
        """Scores of training or new samples (n_samples × n_components)."""
        return self._kept(self._scores(X))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples (n_samples × n_features) from scores (n_samples × n_components)."""
        check_is_fitted(self)
        if self.n_components_ == 0:
            # Without components every sample is the mean: that of scores 0.
            X = np.zeros((len(X), 1), dtype=self.components_.dtype)
        return super().inverse_transform(X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command line and :func:`load` read too."""
        check_is_fitted(self)
        if self.n_components_ == 0:
            raise NotImplementedError("a model file holds at least one component; use pickle")
        super().save(path)

    def score_samples(self, X: Any) -> np.ndarray:
        """The log-likelihood of each sample under the implied Gaussian (n_samples,).

        Where the components carry all of the variance but for rounding, as they do in data of
        missing rank, that Gaussian lives on its support: the affine subspace through the mean along
        the r components that have variance. The likelihood is its density there,
        −½ (r ln 2π + Σ ln λ + Σ z²/λ), and −∞ for samples off the support, whose distance from it
        is beyond rounding: more than 16 √(d ε) of their distance from the mean and the largest
        standard deviation together.
        """
        check_is_fitted(self)
        data = for_estimator(self, X, reset=False)
        noise, k = self.noise_variance_, self.n_components_
        return self._model.gaussian_log_likelihood(data.given, noise, k)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of the samples; −∞ if one lies off the support (`score_samples`)."""
        return float(np.mean(self.score_samples(X)))

    @property
    def loadings_(self) -> np.ndarray:
        """Components times standard deviation (n_features × n_components)."""
        check_is_fitted(self)
        return self._model.loadings[:, : self.n_components_]

    def _kept(self, scores: np.ndarray) -> np.ndarray:
        """Scores without those of a component that the model has and was not asked for."""
        return scores if self.n_components_ else scores[:, :0]

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _fit(self, X: Any, sample_weight: Any, *, scores: bool) -> np.ndarray | None:
        found = super()._fit(X, sample_weight, scores=scores)
        if self._needs_one_more():
            share = self.n_components
            try:
                self.n_components = self.n_components_ + 1
                found = super()._fit(X, sample_weight, scores=scores)
            finally:
                self.n_components = share
        return found if found is None else self._kept(found)

    def _needs_one_more(self) -> bool:
        """Whether a share is only reached, where scikit-learn wants it exceeded."""
        if not isinstance(self.n_components, float | np.floating):
            return False
        reached = self._model.explained_variance_ratio.sum()
        limit = min(self.n_features_in_, round(self._model.n_samples))
        return bool(reached <= self.n_components and self.n_components_ < limit)

    def _tolerance(self) -> float | None:
        return _ARPACK_TOLERANCE if self._as_arpack else self.tol

    def _method_options(self, data: Data) -> dict[str, Any]:
        self._as_arpack = self.svd_solver == "arpack" and not self.tol and data.dtype == np.float64
        if data.is_sparse and self.svd_solver in ("full", "randomized", "dual"):
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, '
                f'while "{self.svd_solver}" was passed. See TruncatedSVD for a possible '
                "alternative."
            )
        return {
            "n_components": self._n_components_asked_for(data),
            "standardize": bool(self.standardize),
            "whiten": bool(self.whiten),
            "ddof": str(self.ddof),
            **self._route(data),
        }

    def _route(self, data: Data) -> dict[str, Any]:
        if self.svd_solver != "randomized":
            return {"solver": _SOLVERS[self.svd_solver]}
        power = self.iterated_power
        if power == "auto":
            # As scikit-learn: more where few components of many are wanted.
            k, limit = self.n_components or data.limit or 1, data.limit or data.n_features
            power = 7 if isinstance(k, int) and k < 0.1 * limit else 4
        return {
            "solver": "randomized",
            "oversampling": int(self.n_oversamples),
            "power_iterations": int(power),
        }

    def _n_components_asked_for(self, data: Data) -> int | float | str | None:
        n_components, limit = self.n_components, data.limit
        solver = "arpack" if data.is_sparse and self.svd_solver == "auto" else self.svd_solver
        if n_components is None:
            return limit - 1 if solver == "arpack" and limit is not None and limit > 1 else None
        if isinstance(n_components, str):
            return self._rule(n_components, solver, data)
        if isinstance(n_components, float | np.floating):
            if solver in ("arpack", "randomized"):
                raise ValueError(
                    f"n_components={n_components!r} must be between 1 and "
                    f"min(n_samples, n_features)={limit!r} with svd_solver={solver!r}"
                )
            return float(n_components)
        least = 1 if solver in ("arpack", "randomized") else 0
        if n_components < least or (limit is not None and n_components > limit):
            # All routes of 'auto' are exact: none is another solver to choose.
            named = "full" if solver == "auto" else solver
            raise ValueError(
                f"n_components={n_components!r} must be between {least} and "
                f"min(n_samples, n_features)={limit!r} with svd_solver={named!r}"
            )
        if solver == "arpack" and n_components == limit:
            raise ValueError(
                f"n_components={n_components!r} must be strictly less than "
                f"min(n_samples, n_features)={limit!r} with svd_solver='arpack'"
            )
        # Without components all variance is noise; a compiled model keeps one, which is not looked at.
        return max(int(n_components), 1)

    def _rule(self, n_components: str, solver: str, data: Data) -> str:
        if solver in ("arpack", "randomized"):
            raise ValueError(
                f"n_components={n_components!r} cannot be a string with svd_solver={solver!r}"
            )
        if n_components == "mle":
            if data.n_samples is not None and data.n_samples < data.n_features:
                raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
            return "minka"
        return n_components

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        usual = super()._parameters_of(model)
        return {**usual, "whiten": model.whitens, "standardize": model.scale is not None}

    def _promises_certificate(self) -> bool:
        # Nobody was promised what only ARPACK's default asks for.
        good_enough = self._as_arpack and self._model.certificate["relative_residual"] <= 1e-9
        return self.svd_solver != "randomized" and not good_enough

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        def like_the_data(values: np.ndarray) -> np.ndarray:
            return values.astype(data.dtype, copy=False)

        keeps_none = isinstance(self.n_components, int) and self.n_components == 0
        self.n_components_ = k = 0 if keeps_none else model.n_components
        self.n_samples_ = data.n_samples
        if data.n_samples is None and model.n_samples is not None:
            self.n_samples_ = round(model.n_samples)
        self.components_ = like_the_data(model.components[:k])
        self.explained_variance_ = like_the_data(model.explained_variance[:k])
        self.explained_variance_ratio_ = like_the_data(model.explained_variance_ratio[:k])
        self.singular_values_ = like_the_data(model.singular_values[:k])
        self.mean_ = like_the_data(model.mean)
        self.scale_ = None if model.scale is None else like_the_data(model.scale)
        self.total_variance_ = model.total_variance
        self.noise_variance_ = noise_variance(model, k)

    def _stored_attributes(self) -> dict[str, Any]:
        return {"dtype": str(self.components_.dtype), "n_samples_": self.n_samples_}


def noise_variance(model: _core.Model, k: int) -> float:
    """The mean of the min(n, d) − k variances left out, as scikit-learn defines it."""
    d = model.n_features
    limit = d if model.n_samples is None else min(round(model.n_samples), d)
    if k >= limit:
        return 0.0
    spectrum = model.full_spectrum
    if spectrum is not None and len(spectrum) >= limit:
        return math.fsum(spectrum.tolist()[k:limit]) / (limit - k)
    left = model.total_variance - model.explained_variance[:k].sum()
    return float(max(left, 0.0) / (limit - k))
