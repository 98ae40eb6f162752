"""scikit-learn's conventions: its own code where it is installed, else a small stand-in."""

from __future__ import annotations

try:
    import sklearn  # noqa: F401
except ImportError:
    from eigenlens._standalone import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        ConvergenceWarning,
        InvalidParameterError,
        NotFittedError,
        TransformerMixin,
        check_array,
        check_is_fitted,
        check_sample_weight,
        validate_data,
    )

    HAS_SKLEARN = False
else:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.utils._param_validation import InvalidParameterError
    from sklearn.utils.validation import _check_sample_weight as check_sample_weight
    from sklearn.utils.validation import check_array, check_is_fitted, validate_data

    HAS_SKLEARN = True

__all__ = [
    "HAS_SKLEARN",
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ConvergenceWarning",
    "InvalidParameterError",
    "NotFittedError",
    "TransformerMixin",
    "check_array",
    "check_is_fitted",
    "check_sample_weight",
    "validate_data",
]
