"""Probabilistic principal component analysis."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from eigenlens import _core, _options
from eigenlens._capabilities import Fills, FromMatrices, PrincipalComponents
from eigenlens._compat import check_is_fitted
from eigenlens._constraints import NOTHING, RANDOM_STATE, TRUTH, Number, Whole, Words
from eigenlens._data import Data, for_estimator
from eigenlens._estimator import SHARED
from eigenlens._moments import Moments
from eigenlens._results import variances


class ProbabilisticPCA(Fills, FromMatrices, PrincipalComponents):
    """Probabilistic PCA (Tipping & Bishop 1999): a Gaussian density that fills missing entries.

    Samples are `x = W z + μ + ε` with z of variance 1 and noise of variance σ². Without missing entries the
    maximum of the likelihood has a closed form and costs what PCA costs; with missing entries (NaN) it is found
    by expectation maximisation, and nothing is filled in.

    Parameters
    ----------
    n_components : int, float or None, default=None
        A number, or a share of the variance; None: min(n_samples, n_features) − 1, as a density needs
        something left for the noise.
    standardize : bool, default=False
        Divides every feature by its standard deviation.
    algorithm : {'auto', 'em'}, default='auto'
        `'em'` iterates also where the closed form would do.
    missing : {'em', 'mean', 'error'}, default='em'
        What NaN means.
    tol : float, default=0.0
        The residual wanted; 0: 1e-9, or 1e-6 for float32.
    max_iter : int or None, default=None
        The most iterations.
    random_state, memory, n_jobs, weight_kind
        As in :class:`PCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows that span the columns of W.
    weights_ : ndarray of shape (n_features, n_components)
        W = U (Λ − σ² I)^½.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Maximum-likelihood estimates (divisor n), and shares.
    noise_variance_ : float
        σ², the mean of the n_features − n_components variances left out, divisor n.
    mean_, scale_ : ndarray of shape (n_features,)
    log_likelihood_, aic_, bic_ : float or None
        Of the training samples; None where the model has no volume.
    n_iter_ : int
        Iterations; 1 for the closed form.
    sampling_errors_ : ndarray of shape (n_components,) or None
        The standard errors of the variances with divisor n − 1.
    n_components_, n_features_in_, feature_names_in_, certificate_, plan_, warnings_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import ProbabilisticPCA
    >>> X = np.array([[-1, -1.1, 0.2], [-2, -1.9, np.nan], [-3, -3.1, 0.1], [1, 0.9, 0],
    ...               [2, np.nan, 0.1], [3, 3.2, -0.2]])
    >>> ppca = ProbabilisticPCA(n_components=1).fit(X)
    >>> filled = ppca.impute(X)
    >>> bool(abs(filled[4, 1] - 2) < 0.5)
    True
    >>> ppca.sample(4).shape
    (4, 3)
    """

    _method = "ppca"
    _constraints = {
        "n_components": [
            Whole(1),
            Number(0, 1, open_low=True, only_float=True),
            NOTHING,
        ],
        "standardize": [TRUTH],
        "algorithm": [Words("auto", "em")],
        "missing": [Words("em", "mean", "error")],
        "tol": [Number(0)],
        "max_iter": [Whole(1), NOTHING],
        "random_state": [RANDOM_STATE],
        "weight_kind": [Words("frequency", "relative")],
        **SHARED,
    }

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        standardize: bool = False,
        algorithm: Literal["auto", "em"] = "auto",
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
        self.algorithm = algorithm
        self.missing = missing
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.memory = memory
        self.n_jobs = n_jobs
        self.weight_kind = weight_kind

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

    def posterior(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """What samples say of the hidden variables, complete or not.

        Means E[z|x] (n_samples × n_components) and covariances cov[z|x] (n_samples × n_components ×
        n_components): σ² M⁻¹ for complete samples, the prior's I where nothing is observed.
        """
        check_is_fitted(self)
        return self._model.posterior(for_estimator(self, X, reset=False).given)

    def score_samples(self, X: Any) -> np.ndarray:
        """The log-likelihood of what is observed of each sample (n_samples,)."""
        check_is_fitted(self)
        data = for_estimator(self, X, reset=False)
        return self._model.log_likelihood(data.given)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of the samples."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draws samples (n_samples × n_features)."""
        check_is_fitted(self)
        samples, _ = self._model.sample(int(n_samples), _options.seed(random_state))
        return samples

    def get_covariance(self) -> np.ndarray:
        """W Wᵀ + σ² I (n_features × n_features), in the units of the data."""
        check_is_fitted(self)
        return self._model.covariance()

    def _method_options(self, data: Data) -> dict[str, Any]:
        k = self.n_components
        if k is None:
            k = max(1, (data.limit or data.n_features) - 1)
        return {
            "n_components": k,
            "standardize": bool(self.standardize),
            "em": self.algorithm == "em",
        }

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        def like_the_data(values: np.ndarray) -> np.ndarray:
            return values.astype(data.dtype, copy=False)

        values = model.values
        self.n_components_ = model.n_components
        self.components_ = like_the_data(model.components)
        self.weights_ = like_the_data(model.weights())
        self.explained_variance_ = variances(values["explained_variance"], data.dtype)
        self.explained_variance_ratio_ = like_the_data(model.explained_variance_ratio)
        self.mean_ = like_the_data(model.mean)
        self.scale_ = None if model.scale is None else like_the_data(model.scale)
        self.noise_variance_ = values["noise_variance"]
        self.log_likelihood_ = values["log_likelihood"]
        self.aic_, self.bic_ = values["aic"], values["bic"]
        self.n_iter_ = 1 if values["em"] is None else values["em"]["iterations"]

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        return {**super()._parameters_of(model), "standardize": model.scale is not None}

    def _stored_attributes(self) -> dict[str, Any]:
        return {"dtype": str(self.components_.dtype)}
