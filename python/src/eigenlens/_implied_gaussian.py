"""The Gaussian that principal components imply: variances along them, and noise in all other directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eigenlens._compat import check_is_fitted

if TYPE_CHECKING:
    from eigenlens import _core

_SINGULAR = (
    "the covariance of the implied Gaussian is singular: some kept components have no variance, or "
    "none is left for the others; use a smaller n_components"
)


class ImpliedGaussian:
    """Covariance and precision, for estimators with `components_` and a `noise_variance_`."""

    _model: _core.Model
    components_: np.ndarray
    noise_variance_: float

    def get_covariance(self) -> np.ndarray:
        """The covariance (n_features × n_features) of the implied Gaussian."""
        check_is_fitted(self)
        k, noise = len(self.components_), self.noise_variance_
        values, components = self._model.explained_variance[:k], self._model.components[:k]
        above = np.where(values > noise, values - noise, 0.0)
        covariance = (components.T * above) @ components
        covariance.flat[:: len(covariance) + 1] += noise
        scale = self._model.scale
        return covariance if scale is None else covariance * np.outer(scale, scale)

    def get_precision(self) -> np.ndarray:
        """The inverse of the covariance; an error where that is singular but for rounding."""
        check_is_fitted(self)
        k, d = self.components_.shape
        epsilon = float(np.finfo(self.components_.dtype).eps)
        values, noise = self._model.variances_above_rounding(self.noise_variance_, epsilon)
        values, components = values[:k], self._model.components[:k]
        if noise > 0.0:
            kept = np.where(values > noise, (values - noise) / values, 0.0)
            precision = (np.eye(d) - (components.T * kept) @ components) / noise
        elif k == d and values.min() > 0.0:
            precision = (components.T / values) @ components
        else:
            raise ValueError(_SINGULAR)
        scale = self._model.scale
        return precision if scale is None else precision / np.outer(scale, scale)
