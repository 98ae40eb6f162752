"""Mixtures of probabilistic principal component analysers."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from eigenlens import _core, _options
from eigenlens._capabilities import Fills
from eigenlens._compat import check_is_fitted
from eigenlens._constraints import NOTHING, RANDOM_STATE, TRUTH, Number, Whole, Words
from eigenlens._data import Data, for_estimator
from eigenlens._estimator import SHARED
from eigenlens._results import variances



class ProbabilisticPCAMixture(Fills):
    """A mixture of probabilistic PCAs (Tipping & Bishop 1999): clusters with their own directions.

    Found by expectation maximisation from the best of several starts; missing entries (NaN) are integrated
    out.

    Parameters
    ----------
    n_parts : int, default=2
        The number of Gaussians.
    n_components : int, default=1
        The latent dimension of each; 0: spheres.
    choose : bool, default=False
        Tries 1 to n_parts parts and keeps the number with the least BIC.
    n_init : int, default=5
        Random starts, of which the best is followed to its end.
    standardize, missing, tol, max_iter, random_state, memory, n_jobs
        As in :class:`ProbabilisticPCA`.

    Attributes
    ----------
    n_parts_ : int
    weights_ : ndarray of shape (n_parts,)
        The share of each part, the largest first.
    means_ : ndarray of shape (n_parts, n_features)
    noise_variances_ : ndarray of shape (n_parts,)
    log_likelihood_, aic_, bic_ : float
        Of the training samples.
    n_iter_ : int
    converged_ : bool
    n_features_in_, feature_names_in_, plan_, warnings_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import ProbabilisticPCAMixture
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3)) * [3, 1, 1]
    >>> X[:20] += [0, 20, 0]
    >>> mixture = ProbabilisticPCAMixture(n_parts=2).fit(X)
    >>> mixture.weights_.round(3)
    array([0.667, 0.333])
    >>> mixture.predict(X[[0, 30]])
    array([1, 0])
    """

    _method = "ppca-mixture"
    _constraints = {
        "n_parts": [Whole(1)],
        "n_components": [Whole(0)],
        "choose": [TRUTH],
        "n_init": [Whole(1)],
        "standardize": [TRUTH],
        "missing": [Words("em", "mean", "error")],
        "tol": [Number(0)],
        "max_iter": [Whole(1), NOTHING],
        "random_state": [RANDOM_STATE],
        **SHARED,
    }

    def __init__(
        self,
        n_parts: int = 2,
        n_components: int = 1,
        *,
        choose: bool = False,
        n_init: int = 5,
        standardize: bool = False,
        missing: Literal["em", "mean", "error"] = "em",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: Any = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_parts = n_parts
        self.n_components = n_components
        self.choose = choose
        self.n_init = n_init
        self.standardize = standardize
        self.missing = missing
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.memory = memory
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> ProbabilisticPCAMixture:
        """Fits the model to data or a file (n_samples × n_features)."""
        self._fit(X, None, scores=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fits the model and returns the probability of each part (n_samples × n_parts)."""
        return self._fit(X, None, scores=True)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each part given each sample (n_samples × n_parts)."""
        check_is_fitted(self)
        return self._model.predict_proba(for_estimator(self, X, reset=False).given)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable part of each sample (n_samples,)."""
        return self.predict_proba(X).argmax(axis=1)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fits the model and returns the most probable part of each sample (n_samples,)."""
        return self._fit(X, None, scores=True).argmax(axis=1)

    def score_samples(self, X: Any) -> np.ndarray:
        """The log-likelihood of what is observed of each sample (n_samples,)."""
        check_is_fitted(self)
        return self._model.log_likelihood(for_estimator(self, X, reset=False).given)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of the samples."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draws samples (n_samples × n_features), and the part that each comes from."""
        check_is_fitted(self)
        samples, parts = self._model.sample(int(n_samples), _options.seed(random_state))
        return samples, np.asarray(parts)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Not defined: probabilities of parts do not say where a sample is."""
        raise NotImplementedError(
            "ProbabilisticPCAMixture has no inverse_transform; use ProbabilisticPCA, which has one"
        )

    def _method_options(self, data: Data) -> dict[str, Any]:
        if data.is_sparse:
            raise TypeError(
                "Sparse data was passed, but dense data is required. "
                "Use '.toarray()' to convert to a dense numpy array."
            )
        return {
            "n_parts": int(self.n_parts),
            "n_components": int(self.n_components),
            "starts": int(self.n_init),
            "standardize": bool(self.standardize),
            "best": bool(self.choose),
        }

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        values = model.values
        self.n_parts_ = model.n_components
        self.weights_ = values["shares"].astype(data.dtype)
        self.means_ = values["means"].astype(data.dtype)
        self.noise_variances_ = variances(values["noise_variances"], data.dtype)
        self.log_likelihood_ = values["log_likelihood"]
        self.aic_, self.bic_ = values["aic"], values["bic"]
        self.n_iter_ = values["em"]["iterations"]
        self.converged_ = values["em"]["converged"]

    def _stored_attributes(self) -> dict[str, Any]:
        return {"dtype": str(self.means_.dtype)}

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        return {
            "n_parts": model.n_components,
            "n_components": model.values["latent_dimension"],
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
