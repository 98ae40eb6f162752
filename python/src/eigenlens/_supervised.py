"""What supervised estimators share: a target in `fit`."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenlens import _constraints, _core
from eigenlens._constraints import NOTHING, Number, Whole, Words
from eigenlens._data import Data
from eigenlens._estimator import SHARED, Estimator
from eigenlens._results import variances
from eigenlens._target import classes, given_target

# By scikit-learn's names of kernels.
_LABEL_KERNELS = {"auto": "auto", "delta": "delta", "linear": "linear", "rbf": "gaussian"}
SUPERVISED = {
    "n_components": [Whole(1), Number(0, 1, open_low=True, only_float=True), NOTHING],
    "target": [Words("auto", "classes", "numbers")],
    "label_kernel": [Words(*_LABEL_KERNELS, "precomputed")],
    "label_gamma": [Number(0, open_low=True), NOTHING],
    "unlabelled": [Words("error", "keep")],
    "tol": [Number(0)],
    **SHARED,
}



class Supervised(Estimator):
    """An estimator whose `fit` needs a target."""

    def plan(self, X: Any, y: Any) -> str:
        """What a fit would do, in words, without reading a row of X: route, passes, memory."""
        _constraints.check(self, self._constraints)
        other = type(self)(**self.get_params(deep=False))
        other._target = given_target(self, y)
        return other._planned(X)

    def _fit_to(
        self, X: Any, y: Any, sample_weight: Any = None, *, scores: bool = False
    ) -> np.ndarray | None:
        _constraints.check(self, self._constraints)
        self._target = given_target(self, y)
        try:
            found = self._fit(X, sample_weight, scores=scores)
        finally:
            del self._target
        if hasattr(self, "classes_"):
            self.classes_ = classes(y)
        return found

    def _supervision_method_options(self) -> dict[str, Any]:
        if self.label_gamma is not None and self.label_kernel != "rbf":
            raise ValueError("label_gamma needs label_kernel='rbf'")
        given_kernel = self.label_kernel == "precomputed"
        return {
            "n_components": self.n_components,
            "label_kernel": "auto" if given_kernel else _LABEL_KERNELS[self.label_kernel],
            "label_gamma": self.label_gamma,
            "unlabelled": self.unlabelled,
        }

    def _given_target(self) -> dict[str, Any]:
        return self._target

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        values = model.values
        self.n_components_ = model.n_components
        self.eigenvalues_ = variances(values["eigenvalues"], data.dtype)
        self.hsic_ = variances(values["hsic"], data.dtype)
        self.hsic_ratio_ = values["hsic_ratio"].astype(data.dtype)
        self.explained_variance_ = variances(values["explained_variance"], data.dtype)
        self.explained_variance_ratio_ = values["explained_variance_ratio"].astype(data.dtype)
        self.total_hsic_ = values["total_hsic"]
        self.target_rank_ = values["target"]["rank"]
        self.__dict__.pop("classes_", None)
        if values["target"]["classes"] is not None:
            self.classes_ = np.asarray(values["target"]["classes"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
