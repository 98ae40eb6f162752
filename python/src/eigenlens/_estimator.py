"""What every estimator shares: validation, fitting, transforming, storing, showing."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Self

import numpy as np

from eigenlens import _constraints, _core, _html, _options
from eigenlens._compat import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ConvergenceWarning,
    TransformerMixin,
    check_array,
    check_is_fitted,
)
from eigenlens._constraints import JOBS, MEMORY, NOTHING
from eigenlens._data import Data, for_estimator
from eigenlens._results import Certificate, Plan, certificate

SHARED = {"memory": [MEMORY], "n_jobs": [JOBS, NOTHING]}

# Every estimator over a compiled method, by its name: what model files are loaded into.
ESTIMATORS: dict[str, type[Estimator]] = {}


class Estimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator over a compiled method.

    A subclass names its method, says what its parameters may be, turns them into method_options and names
    the attributes of its model; fitting, transforming, storing and showing are here.
    """

    _method: str
    # Whether it is what a model of its method becomes where no estimator of ours saved it.
    _is_usual = True
    _constraints: dict[str, list[Any]]
    _ensure_min_samples = 2
    _ensure_min_features = 1

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if hasattr(cls, "_method") and cls.__module__.startswith("eigenlens."):
            ESTIMATORS[cls.__name__] = cls

    # What a subclass says.

    def _method_options(self, data: Data) -> dict[str, Any]:
        """The parameters in the words of the compiled part."""
        raise NotImplementedError

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        """Sets the attributes that end in an underscore."""
        raise NotImplementedError

    def _given_target(self) -> dict[str, Any] | None:
        """What a supervised method is fitted to."""
        return None

    def _tolerance(self) -> float | None:
        return getattr(self, "tol", None)

    def _seen(self, data: Data, *, new: bool) -> Data:
        """The data as the method sees them: others where, say, a kernel is computed here first."""
        return data

    def _must_be_finite(self) -> bool:
        """Whether data are looked through here, before the compiled part does."""
        return False

    def _compiled(self) -> str:
        """The compiled method, where parameters decide which."""
        return self._method

    # What follows from it.

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array-like, sparse matrix, table, path or :class:`Table`
            n_samples × n_features. A file is read within the budget `memory`.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Weight w means that the sample counts w times.
        """
        self._fit(X, sample_weight, scores=False)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fits the model and returns the scores of the samples (n_samples × n_components)."""
        return self._fit(X, sample_weight, scores=True)

    def transform(self, X: Any) -> np.ndarray:
        """Scores of training or new samples (n_samples × n_components)."""
        return self._scores(X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples (n_samples × n_features) from scores (n_samples × n_components)."""
        check_is_fitted(self)
        scores = check_array(
            X, dtype=[np.float64, np.float32], estimator=self, ensure_all_finite=False
        )
        return self._model.inverse_transform(scores)

    def plan(self, X: Any) -> str:
        """What a fit would do, in words, without reading a row: route, passes, memory."""
        _constraints.check(self, self._constraints)
        return type(self)(**self.get_params(deep=False))._planned(X)

    # Made when they are asked for: few do, and a fit of a few milliseconds would feel it.

    @property
    def certificate_(self) -> Certificate | None:
        """How far the components can be trusted; None where they are no eigenvectors."""
        components = getattr(self, "components_", None)
        single = getattr(components, "dtype", None) == np.float32
        return certificate(self._record("certificate_of_single" if single else "certificate"))

    @property
    def loadings_(self) -> np.ndarray:
        """Components times the standard deviations along them (n_features × n_components)."""
        found = self._record("loadings")
        if found is None:
            raise AttributeError(f"{type(self).__name__!r} has no loadings: its scores are not linear")
        return found

    @property
    def plan_(self) -> Plan:
        """What the fit did, and why."""
        return Plan(**self._record("plan"))

    @property
    def warnings_(self) -> list[str]:
        """What else is worth knowing."""
        return [words for _, words in self._record("warnings")]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command line and :func:`load` read too."""
        check_is_fitted(self)
        self._model.save(path, self._words())

    def explore(self, X: Any = None, **options: Any) -> Any:
        """An interactive page about the model and samples; see :func:`eigenlens.explore`."""
        from eigenlens._explore import explore

        return explore(self, X, **options)

    def _scores(self, X: Any) -> np.ndarray:
        """The scores as an array, whatever `set_output` makes of them."""
        check_is_fitted(self)
        data = for_estimator(self, X, reset=False, ensure_all_finite=self._must_be_finite())
        memory = _options.n_bytes(getattr(self, "memory", None))
        scores = self._model.transform(self._seen(data, new=True).given, memory)
        return scores.astype(data.dtype, copy=False)

    def _planned(self, X: Any) -> str:
        data = for_estimator(self, X, reset=True)
        method_options, given = self._method_options(data), self._seen(data, new=False).given
        target = self._given_target()
        return _core.plan(self._compiled(), method_options, given, self._shared(), target)

    def _fit(self, X: Any, sample_weight: Any, *, scores: bool) -> np.ndarray | None:
        _constraints.check(self, self._constraints)
        data = for_estimator(
            self,
            X,
            reset=True,
            sample_weight=sample_weight,
            ensure_min_samples=self._ensure_min_samples,
            ensure_min_features=self._ensure_min_features,
            ensure_all_finite=self._must_be_finite(),
        )
        method_options, given = self._method_options(data), self._seen(data, new=False).given
        model, found = _core.fit(
            self._compiled(), method_options, given, self._shared(), scores, self._given_target()
        )
        self._take(model, data, found)
        return found

    def _take(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        """Makes the model the estimator's own."""
        self._model = model
        self._describe(model, data, scores)
        for about_certificate, words in model.warnings:
            if about_certificate and self._promises_certificate():
                warnings.warn(words, ConvergenceWarning, stacklevel=4)

    def _record(self, name: str) -> Any:
        """What the model says about its making."""
        if not hasattr(self, "_model"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute '{name}_'")
        return getattr(self._model, name)

    def _promises_certificate(self) -> bool:
        """Whether an answer above the tolerance is worth a warning."""
        return True

    def _shared(self) -> dict[str, Any]:
        return _options.shared(self, tolerance=self._tolerance())

    @property
    def _n_features_out(self) -> int:
        return self._model.n_components

    # Storing.

    def _words(self) -> dict[str, str]:
        """What the model file says about its making."""
        parameters = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if isinstance(value, int | float | str | bool | None)
        }
        return {
            "class": type(self).__name__,
            "parameters": json.dumps(parameters),
            "attributes": json.dumps(self._stored_attributes()),
        }

    def _stored_attributes(self) -> dict[str, Any]:
        """Attributes that do not follow from the model."""
        return {}

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        """The parameters that make such a model, for one that no estimator saved."""
        return {"n_components": model.n_components}

    def _restore(self, model: _core.Model, stored: dict[str, Any]) -> Self:
        """The fitted estimator of a stored model."""
        samples = model.n_samples
        data = Data(
            given={},
            n_samples=None if samples is None else round(samples),
            n_features=model.n_features,
            dtype=np.dtype(stored.get("dtype", "float64")),
        )
        self.n_features_in_ = model.n_features
        if model.feature_names is not None:
            self.feature_names_in_ = np.asarray(model.feature_names, dtype=object)
        self._model = model
        self._describe(model, data, None)
        for name, value in stored.items():
            if name != "dtype":
                is_array = isinstance(value, list)
                setattr(self, name, np.asarray(value, data.dtype) if is_array else value)
        return self

    # Showing.

    def _html_repr(self) -> str:
        if not hasattr(self, "_model"):
            return super()._html_repr()
        return _html.summary(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "error") != "error"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
