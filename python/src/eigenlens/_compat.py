"""scikit-learn's conventions: its own code where it is installed, else a small stand-in."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    import sklearn  # noqa: F401
except ImportError:
    from eigenlens._standalone import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        ConvergenceWarning,
        InvalidParameterError,
        NotFittedError,
        TransformerMixin,
        check_array,
        check_is_fitted,
        check_sample_weight,
        class_labels,
        validate_data,
    )

    HAS_SKLEARN = False
else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        TransformerMixin,
    )
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.utils._param_validation import InvalidParameterError
    from sklearn.utils.validation import _check_sample_weight as check_sample_weight
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_y as check_y
    from sklearn.utils.validation import (
        check_array,
        check_consistent_length,
        check_is_fitted,
        validate_data,
    )

    def class_labels(estimator: Any, X: Any, y: Any) -> np.ndarray:
        """The class of each sample, checked as scikit-learn does."""
        if y is None:
            raise ValueError(
                f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        y = check_y(y, multi_output=False, y_numeric=False, estimator=estimator)
        if hasattr(X, "shape"):
            check_consistent_length(X, y)
        check_classification_targets(y)
        return y

    HAS_SKLEARN = True

__all__ = [
    "HAS_SKLEARN",
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "ConvergenceWarning",
    "InvalidParameterError",
    "NotFittedError",
    "TransformerMixin",
    "check_array",
    "check_is_fitted",
    "check_sample_weight",
    "class_labels",
    "validate_data",
]
