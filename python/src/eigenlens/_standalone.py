"""What scikit-learn brings, for where it is not installed: the same names, words and behaviour.

Only as much as estimators and their users need: parameters, validation, names of outputs and
`set_output`.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

import numpy as np


class NotFittedError(ValueError, AttributeError):
    """An estimator is used before it is fitted."""


class InvalidParameterError(ValueError, TypeError):
    """A parameter of an estimator is not what it may be."""


class ConvergenceWarning(UserWarning):
    """An answer does not meet its tolerance."""


class BaseEstimator:
    """Parameters are the arguments of `__init__`, kept under their names."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        arguments = inspect.signature(cls.__init__).parameters.values()
        return sorted(a.name for a in arguments if a.name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> BaseEstimator:
        """Sets parameters by name."""
        known = self._get_param_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {known!r}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        signature = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if not _same(value, signature[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _html_repr(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"

    def _repr_html_(self) -> str:
        return self._html_repr()


class TransformerMixin:
    """`set_output` for estimators with `transform`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("transform", "fit_transform"):
            if name in cls.__dict__:
                setattr(cls, name, _with_output(cls.__dict__[name]))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fits, and transforms the same samples."""
        return self.fit(X, y).transform(X)

    def set_output(self, *, transform: str | None = None) -> TransformerMixin:
        """What `transform` returns: `default`, `pandas` or `polars`."""
        if transform not in (None, "default", "pandas", "polars"):
            raise ValueError(
                "output config must be in ['default', 'pandas', 'polars'], "
                f"got {transform}"
            )
        if transform is not None:
            self._output = transform
        return self


class ClassifierMixin:
    """What classifiers have."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of samples whose class is predicted."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))


class ClassNamePrefixFeaturesOutMixin:
    """Names of outputs: the class's name in small letters, and a number."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of `transform`."""
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        names = [f"{prefix}{i}" for i in range(self._n_features_out)]
        return np.asarray(names, dtype=object)


def check_is_fitted(estimator: Any) -> None:
    """Refuses an estimator that is not fitted."""
    if not any(name.endswith("_") and not name.startswith("__") for name in vars(estimator)):
        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with "
            "appropriate arguments before using this estimator."
        )


def validate_data(
    estimator: Any,
    X: Any,
    *,
    reset: bool = True,
    skip_check_array: bool = False,
    **checks: Any,
) -> Any:
    """Data as an array, with the number and names of the features kept or compared."""
    names = feature_names(X)
    if reset:
        if names is not None:
            estimator.feature_names_in_ = names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    else:
        _compare_names(estimator, names)
    if not skip_check_array:
        X = check_array(X, estimator=estimator, **checks)
    n_features = X.shape[1]
    if reset:
        estimator.n_features_in_ = n_features
    elif n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return X


def check_array(
    X: Any,
    *,
    accept_sparse: Any = False,
    dtype: Any = "numeric",
    ensure_min_samples: int = 1,
    ensure_min_features: int = 1,
    ensure_all_finite: bool = True,
    estimator: Any = None,
    **_ignored: Any,
) -> Any:
    """Data as an array of two dimensions, or a sparse matrix, of one of the types."""
    wanted = [np.dtype(d) for d in (dtype if isinstance(dtype, list | tuple) else [np.float64])]
    by = f" by {type(estimator).__name__}" if estimator is not None else ""
    if is_sparse(X):
        if not accept_sparse:
            raise TypeError(
                "Sparse data was passed, but dense data is required. "
                "Use '.toarray()' to convert to a dense numpy array."
            )
        X = X.tocsr()
        if X.dtype not in wanted:
            X = X.astype(wanted[0])
    else:
        X = np.asarray(X)
        if np.iscomplexobj(X):
            raise ValueError(f"Complex data not supported\n{X}\n")
        if X.ndim != 2:
            dimensions = {0: "scalar", 1: "1D"}.get(X.ndim)
            if dimensions is None:
                raise ValueError(
                    f"Found array with dim {X.ndim}, while dim <= 2 is required{by}."
                )
            raise ValueError(
                f"Expected 2D array, got {dimensions} array instead:\narray={X}.\n"
                "Reshape your data either using array.reshape(-1, 1) if your data has a single "
                "feature or array.reshape(1, -1) if it contains a single sample."
            )
        if X.dtype not in wanted:
            try:
                X = X.astype(wanted[0])
            except (TypeError, ValueError) as error:
                raise ValueError(f"the data are not numbers: {error}") from error
    for size, least, what in (
        (X.shape[0], ensure_min_samples, "sample"),
        (X.shape[1], ensure_min_features, "feature"),
    ):
        if size < least:
            raise ValueError(
                f"Found array with {size} {what}(s) (shape={X.shape}) while a minimum of "
                f"{least} is required{by}."
            )
    if ensure_all_finite and not np.isfinite(X.data if is_sparse(X) else X).all():
        raise ValueError("Input contains NaN or infinity.")
    return X


def check_sample_weight(sample_weight: Any, X: Any, *, dtype: Any = None) -> np.ndarray:
    """Weights as an array, one for each sample."""
    weights = np.asarray(sample_weight, dtype=dtype or np.float64)
    if weights.ndim == 0:
        weights = np.full(X.shape[0], float(weights))
    if weights.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array."
        )
    if weights.shape != (X.shape[0],):
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected {(X.shape[0],)}!"
        )
    return weights


def class_labels(estimator: Any, X: Any, y: Any) -> np.ndarray:
    """The class of each sample."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if y.dtype.kind == "f" and (not np.isfinite(y).all() or (y != np.floor(y)).any()):
        raise ValueError("Unknown label type: continuous. Classes are text or whole numbers.")
    rows = getattr(X, "shape", y.shape)[0]
    if rows != len(y):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[rows, len(y)]}"
        )
    return y


def is_sparse(X: Any) -> bool:
    """Whether it is a sparse matrix or array of SciPy's, which may not be installed."""
    return type(X).__module__.startswith("scipy.sparse") and hasattr(X, "tocsr")


def feature_names(X: Any) -> np.ndarray | None:
    """The names of the columns of a table, where all of them are text."""
    # Arrow's tables have their names in `column_names`, and the columns themselves in `columns`.
    for attribute in ("column_names", "columns"):
        names = getattr(X, attribute, None)
        if names is not None and not callable(names):
            names = list(names)
            if names and all(isinstance(name, str) for name in names):
                return np.asarray(names, dtype=object)
    return None


def _compare_names(estimator: Any, names: np.ndarray | None) -> None:
    known = getattr(estimator, "feature_names_in_", None)
    name = type(estimator).__name__
    if known is None and names is None:
        return
    if names is None:
        warnings.warn(
            f"X does not have valid feature names, but {name} was fitted with feature names",
            stacklevel=4,
        )
    elif known is None:
        warnings.warn(
            f"X has feature names, but {name} was fitted without feature names", stacklevel=4
        )
    elif list(known) != list(names):
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            f"Feature names seen at fit time: {list(known)[:5]}, now: {list(names)[:5]}"
        )


def _with_output(method: Any) -> Any:
    @functools.wraps(method)
    def wrapped(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        scores = method(self, X, *args, **kwargs)
        kind = getattr(self, "_output", "default")
        if kind == "default":
            return scores
        names = self.get_feature_names_out()
        if kind == "pandas":
            import pandas as pd

            return pd.DataFrame(scores, columns=names, index=getattr(X, "index", None))
        import polars as pl

        return pl.DataFrame(scores, schema=list(names))

    return wrapped


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and bool(a == b))
