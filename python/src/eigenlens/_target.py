"""What supervised methods keep, as the compiled part takes it."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def given_target(estimator: Any, y: Any) -> dict[str, Any]:
    """The target of a fit: classes, numbers, or a kernel between the samples."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    values = np.asarray(y)
    if np.iscomplexobj(values):
        raise ValueError(f"Complex data not supported\n{values}\n")
    if values.ndim not in (1, 2) or values.size == 0:
        raise ValueError(f"y should be a 1d array, got an array of shape {values.shape} instead.")
    empty: dict[str, Any] = {"labels": None, "coded": None, "numbers": None, "kernel": None}
    if estimator.label_kernel == "precomputed":
        return {**empty, "kernel": np.ascontiguousarray(values, dtype=np.float64)}
    numbers = _numbers(values)
    if numbers is None and estimator.target == "numbers":
        raise ValueError("target='numbers', but y holds something else; use target='classes'")
    if numbers is not None:
        if np.isinf(numbers).any():
            raise ValueError(
                "Input y contains infinity or a value too large for dtype('float64')."
            )
        kind = "classes" if values.dtype.kind == "b" else estimator.target
        return {**empty, "numbers": (numbers, kind)}
    if values.ndim == 2 and values.shape[1] != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {values.shape} instead.")
    labels = [None if _is_missing(label) else str(label) for label in values.ravel()]
    return {**empty, "labels": labels}


def classes(y: Any) -> np.ndarray:
    """The different labels, sorted."""
    labels = np.asarray(y).ravel()
    return np.unique(labels[[not _is_missing(label) for label in labels]])


def _numbers(values: np.ndarray) -> np.ndarray | None:
    """n × q numbers, where all are."""
    if values.dtype.kind == "O" and not all(isinstance(v, Real) for v in values.ravel()):
        return None
    if values.dtype.kind not in "biufO":
        return None
    values = values.astype(np.float64)
    return np.ascontiguousarray(values[:, None] if values.ndim == 1 else values)


def _is_missing(label: Any) -> bool:
    return label is None or bool(isinstance(label, float | np.floating) and np.isnan(label))
