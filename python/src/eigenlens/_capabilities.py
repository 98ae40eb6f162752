"""What only some models can do, by the same names in every class that has it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from eigenlens import _constraints, _core
from eigenlens._compat import check_is_fitted
from eigenlens._data import Data, for_estimator
from eigenlens._estimator import Estimator
from eigenlens._moments import Moments

# There is one way from moments and from a covariance.
_ANY_ROUTE = {"solver": "auto", "oversampling": None, "power_iterations": None}


class FromMatrices(Estimator):
    """An estimator that can do without samples: their covariance, or count, mean and scatter, will do."""

    def fit_covariance(self, covariance: Any, *, n_samples: float | None = None) -> Self:
        """Fits the model to a covariance or correlation matrix.

        Parameters
        ----------
        covariance : array-like, table or path of shape (n_features, n_features)
            Symmetric, divisor n − 1. With a correlation matrix the fit is that of standardised features.
        n_samples : float, optional
            The number of samples behind it; without it there are no sampling errors. Means are not known:
            new samples are transformed as they are.
        """
        _constraints.check(self, self._constraints)
        data = for_estimator(self, covariance, reset=True)
        options = {**self._matrix_options(data), "input": "covariance", "sample_count": n_samples}
        # A matrix has no missing entries that could be anything.
        given = {**data.given, "missing": "error"}
        model, _ = _core.fit(self._compiled(), options, given, self._shared())
        counted = None if n_samples is None else round(n_samples)
        self._take(model, replace(data, n_samples=counted), None)
        return self

    def _fit_moments(self, moments: Moments) -> Self:
        _constraints.check(self, self._constraints)
        self.n_features_in_ = moments.n_features
        self.__dict__.pop("feature_names_in_", None)
        if moments.feature_names is not None:
            self.feature_names_in_ = np.asarray(moments.feature_names, dtype=object)
        data = Data(
            given={},
            n_samples=round(moments.n_samples),
            n_features=moments.n_features,
            dtype=np.dtype(np.float64),
        )
        options = self._matrix_options(data)
        model = _core.fit_moments(self._compiled(), options, moments._core, self._shared())
        self._take(model, data, None)
        return self

    def _matrix_options(self, data: Data) -> dict[str, Any]:
        """The options of a fit without samples."""
        options = self._method_options(data)
        return {**options, **_ANY_ROUTE} if "solver" in options else options


class PrincipalComponents(Estimator):
    """An estimator whose model is made of principal components."""

    @property
    def sampling_errors_(self) -> np.ndarray | None:
        """The standard error of each explained variance, `λ √(2/(n − 1))`; None where n is not known."""
        return self._record("sampling_errors")

    def varimax(self, *, normalize: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Rotates the loadings so that each column has few large entries (Kaiser 1958).

        Parameters
        ----------
        normalize : bool, default=True
            Whether features count alike; else by the square of their communality.

        Returns
        -------
        loadings : ndarray of shape (n_features, n_components)
        rotation : ndarray of shape (n_components, n_components)
            Orthogonal: `loadings = loadings_ @ rotation`.
        """
        check_is_fitted(self)
        return self._model.varimax(bool(normalize))

    def transform_with_errors(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Scores of samples that may have missing entries, and the standard error of each score.

        Of a PCA, scores are fitted to what is observed by least squares; of a density they are posterior
        means. Both arrays are n_samples × n_components.
        """
        check_is_fitted(self)
        data = for_estimator(self, X, reset=False)
        scores, errors, _ = self._model.scores_with_errors(data.given)
        return scores, errors

    def sample_diagnostics(self, X: Any) -> dict[str, np.ndarray]:
        """T², Q, leverage, squared cosines and contributions of each sample, training or new.

        Columns by name (n_samples,), as `pandas.DataFrame` takes them: `t_squared`, `q`, `leverage`,
        then `PC1_squared_cosine`, … and `PC1_contribution`, …
        """
        check_is_fitted(self)
        data = for_estimator(self, X, reset=False)
        return _by_name(*self._model.sample_diagnostics(data.given))

    def feature_contributions(self, X: Any) -> dict[str, np.ndarray]:
        """What each feature adds to T² and Q of each sample: which ones make it unusual.

        Columns by name (n_samples,): `a_t_squared`, `b_t_squared`, …, which add up to T², then
        `a_q`, `b_q`, …, which add up to Q.
        """
        check_is_fitted(self)
        data = for_estimator(self, X, reset=False)
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{f + 1}" for f in range(self.n_features_in_)] if names is None else list(names)
        return _by_name(*self._model.feature_contributions(data.given, names))

    def feature_diagnostics(self) -> dict[str, np.ndarray]:
        """Communality, loadings, correlations, squared cosines and contributions of each feature.

        Columns by name (n_features,): `communality`, then `PC1_loading`, … and so on.
        """
        check_is_fitted(self)
        return _by_name(*self._model.feature_diagnostics())


class Fills(Estimator):
    """An estimator whose density fills missing entries."""

    def impute(self, X: Any, *, return_std: bool = False) -> Any:
        """The samples with NaN replaced by the conditional mean given the rest of their row.

        With `return_std`, also an array of standard errors, 0 where nothing was missing.
        """
        check_is_fitted(self)
        data = for_estimator(self, X, reset=False)
        filled, entries = self._model.impute(data.given)
        if not return_std:
            return filled
        errors = np.zeros_like(filled)
        for row, column, _, error in entries:
            errors[row, column] = error
        return filled, errors


def _by_name(names: list[str], table: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(names, table.T, strict=True))
