"""What classifiers share: labels in `fit`, classes out of `predict`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from eigenlens import _constraints, _core
from eigenlens._compat import ClassifierMixin, check_is_fitted, class_labels
from eigenlens._data import Data, for_estimator
from eigenlens._estimator import Estimator


class Classifier(ClassifierMixin, Estimator):
    """An estimator that is fitted to labels and whose model tells classes apart.

    A subclass says what an :class:`Estimator` says. Classes keep the order of `classes_`, whatever they
    are called.
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array-like, sparse matrix, table, path or :class:`Table`
            n_samples × n_features.
        y : array-like of shape (n_samples,)
            The class of each sample; required.
        sample_weight : array-like of shape (n_samples,), optional
            Weight w means that the sample counts w times.
        """
        self._fit_to(X, y, sample_weight, scores=False)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fits the model and returns the scores of the samples (n_samples × n_components)."""
        return self._fit_to(X, y, sample_weight, scores=True)

    def plan(self, X: Any, y: Any) -> str:
        """What a fit would do, in words, without reading a row of X: route, passes, memory."""
        _constraints.check(self, self._constraints)
        other = type(self)(**self.get_params(deep=False))
        other._encode(X, y)
        return other._planned(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """How much speaks for each class: (n_samples, n_classes), of two classes (n_samples,) for the second."""
        found = self._of_samples("decision_function", X)
        return found[:, 1] - found[:, 0] if len(self.classes_) == 2 else found

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each sample (n_samples,)."""
        best = self._of_samples("decision_function", X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class given each sample (n_samples × n_classes)."""
        return self._of_samples("predict_proba", X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of the probability of each class (n_samples × n_classes)."""
        found = self.predict_proba(X)
        return np.log(np.maximum(found, np.finfo(found.dtype).smallest_normal))

    def _of_samples(self, name: str, X: Any) -> np.ndarray:
        check_is_fitted(self)
        data = for_estimator(self, X, reset=False)
        return getattr(self._model, name)(data.given).astype(data.dtype, copy=False)

    def _fit_to(self, X: Any, y: Any, sample_weight: Any, *, scores: bool) -> np.ndarray | None:
        _constraints.check(self, self._constraints)
        self._encode(X, y)
        try:
            found = self._fit(X, sample_weight, scores=scores)
        finally:
            del self._target
        return found

    def _encode(self, X: Any, y: Any) -> None:
        """Labels as numbers, and what the numbers stand for."""
        self._target = self._as_target(X, y)
        self._classes = np.unique(class_labels(self, X, y))

    def _as_target(self, X: Any, y: Any) -> dict[str, Any]:
        """Labels as the compiled part takes them."""
        classes, codes = np.unique(class_labels(self, X, y), return_inverse=True)
        coded = (codes.tolist(), [str(label) for label in classes])
        return {"labels": None, "coded": coded, "numbers": None, "kernel": None}

    def _given_target(self) -> dict[str, Any]:
        return self._target

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        known = self.__dict__.pop("_classes", None)
        names = model.classes
        if known is None:
            self.classes_ = np.asarray(names)
        else:
            # Classes whose samples weigh nothing are none of the model's.
            self.classes_ = known[[str(label) in names for label in known]]

    def _stored_attributes(self) -> dict[str, Any]:
        return {"classes_": self.classes_.tolist()} if self.classes_.dtype.kind in "biufU" else {}

    def _restore(self, model: _core.Model, stored: dict[str, Any]) -> Self:
        labels = stored.pop("classes_", None)
        super()._restore(model, stored)
        if labels is not None:
            self.classes_ = np.asarray(labels)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
