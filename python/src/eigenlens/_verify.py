"""Models checked against data, by code that shares nothing with the solvers."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np

from eigenlens import _core, _kernels
from eigenlens._classifier import Classifier
from eigenlens._compat import check_is_fitted
from eigenlens._data import Data, alone, for_estimator
from eigenlens._estimator import Estimator
from eigenlens._results import Verification, verification
from eigenlens._supervised import Supervised
from eigenlens._target import given_target


def verify(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    tolerance: float = 1e-6,
    seed: int | None = None,
) -> Verification:
    """Checks everything a fitted model claims against the data it was made from.

    Every number is made once more by plain loops that share nothing with the solvers: means, scales,
    variances, residuals, the bounds of the certificate, warnings, and whether a larger component was
    missed. What data cannot show is listed in `not_checked`.

    Parameters
    ----------
    model : an estimator of ours, one of scikit-learn, or a table
        Of scikit-learn a fitted `PCA`, `IncrementalPCA`, `TruncatedSVD`, `KernelPCA` or `SparsePCA`. A table
        is `(components, mean)` or `(components, mean, explained_variance)`, with the mean `None` where
        nothing was subtracted, or a dictionary with these names.
    X : array-like, sparse matrix, table or path
        The training data.
    y : array-like of shape (n_samples,), optional
        Their target, for a supervised model.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the training.
    tolerance : float, default=1e-6
        What residuals may be, relative to the largest eigenvalue; never what the model says of itself.
    seed : int, optional
        Of the random probes that look for what was missed; drawn afresh where it is not given.

    Returns
    -------
    Verification
        True in a condition if it passed; shows a table of all claims.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import PCA, verify
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> verify(PCA(2).fit(X), X).passed
    True
    >>> print(verify(PCA(2).fit(X), X[:-1]).failures[0])
    number of samples: the model says 50, the data say 49 (a difference of 4.9e-8 is allowed)
    """
    how = (secrets.randbits(64) if seed is None else int(seed), float(tolerance))
    if isinstance(model, (tuple, list, Mapping)):
        return _table(model, alone(X, sample_weight), how)
    check_is_fitted(model)
    if isinstance(model, Estimator):
        data = for_estimator(model, X, reset=False, sample_weight=sample_weight)
        seen = model._seen(data, new=False)
        return verification(model._model.verify(seen.given, _target(model, X, y), *how))
    return _of_scikit_learn(model, alone(X, sample_weight), how)


def _target(model: Estimator, X: Any, y: Any) -> dict[str, Any] | None:
    if isinstance(model, Classifier):
        return model._as_target(X, y)
    return given_target(model, y) if isinstance(model, Supervised) else None


def _table(model: Any, data: Data, how: tuple[int, float]) -> Verification:
    if not isinstance(model, Mapping):
        if len(model) not in (2, 3):
            raise ValueError(
                f"a table has {len(model)} parts, but components, mean and, where known, "
                "explained_variance are expected"
            )
        model = dict(zip(("components", "mean", "explained_variance"), model, strict=False))
    known = {"components", "mean", "explained_variance", "total_variance"}
    if "components" not in model or not known.issuperset(model):
        raise ValueError(f"a table has the entries {sorted(model)}, but it may have {sorted(known)}")
    return _claim(data, how, **model)


def _of_scikit_learn(model: Any, data: Data, how: tuple[int, float]) -> Verification:
    if hasattr(model, "eigenvectors_"):
        return _kernel_claim(model, data, how)
    if not hasattr(model, "components_"):
        raise TypeError(f"{type(model).__name__} has no components to check")
    if not hasattr(model, "explained_variance_"):
        return _sparse_claim(model, data, how)
    values = np.asarray(model.explained_variance_, dtype=np.float64)
    if not hasattr(model, "mean_"):
        # About 0: singular values are what was found, not the variances of the scores.
        squares = np.asarray(model.singular_values_, dtype=np.float64) ** 2
        values = None if data.n_samples is None else squares / (data.n_samples - 1)
        return _claim(data, how, components=model.components_, explained_variance=values)
    ratio = np.asarray(model.explained_variance_ratio_, dtype=np.float64)
    total = float(values[0] / ratio[0]) if ratio[0] > 0.0 else 0.0
    return _claim(
        data,
        how,
        components=model.components_,
        mean=model.mean_,
        explained_variance=values,
        total_variance=total,
    )


def _claim(
    data: Data,
    how: tuple[int, float],
    components: Any,
    mean: Any = None,
    explained_variance: Any = None,
    total_variance: float | None = None,
) -> Verification:
    def numbers(of: Any) -> np.ndarray | None:
        return None if of is None else np.ascontiguousarray(of, dtype=np.float64)

    claimed = {
        "components": numbers(components),
        "mean": numbers(mean),
        "explained_variance": numbers(explained_variance),
        "total_variance": total_variance,
    }
    return verification(_core.verify_claim(claimed, data.given, *how))


def _kernel_claim(model: Any, data: Data, how: tuple[int, float]) -> Verification:
    gamma = getattr(model, "gamma_", 1.0)
    if model.kernel == "precomputed":
        kernel: dict[str, Any] | None = {"kernel": "precomputed"}
    else:
        kernel = _kernels.compiled(model.kernel, gamma, model.degree, model.coef0)
    if kernel is None:
        raise ValueError(f"the kernel {model.kernel!r} is not known here")
    values = np.ascontiguousarray(model.eigenvalues_, dtype=np.float64)
    vectors = np.ascontiguousarray(model.eigenvectors_, dtype=np.float64)
    return verification(_core.verify_kernel_claim(kernel, values, vectors, data.given, *how))


def _sparse_claim(model: Any, data: Data, how: tuple[int, float]) -> Verification:
    """Of components that minimise a penalised criterion only the mean can be made once more."""
    found = _claim(data, how, components=model.components_, mean=model.mean_)
    about_mean = [check for check in found.checks if check.claim.startswith("mean")]
    reason = "they minimise a criterion with penalties, from where the search began"
    return Verification(
        passed=all(about_mean),
        rows=found.rows,
        seed=found.seed,
        tolerance=found.tolerance,
        checks=about_mean,
        not_checked=[*found.not_checked, ("the components", reason)],
    )
