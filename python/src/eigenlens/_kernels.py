"""Kernels: compiled where they are known there, else computed here."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from eigenlens import _core
from eigenlens._data import of_array
from eigenlens._standalone import is_sparse

# What scikit-learn calls them.
NAMES = ("linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "chi2", "additive_chi2")
_LARGEST_DEGREE = 100
# Those that are compiled, as scikit-learn calls them, with their parameters.
COMPILED = {
    "poly" if name == "polynomial" else name: tuple(parameters)
    for name, parameters, _ in _core.kernels()
}
# Those whose gamma is a width of distances.
WIDTHS = tuple(name for name, _, has_width in _core.kernels() if has_width)


def compiled(
    kernel: str | Callable[..., float], gamma: float | str, degree: float, coef0: float
) -> dict[str, Any] | None:
    """The kernel as the compiled part takes it, where it has it."""
    if callable(kernel) or kernel not in COMPILED:
        return None
    by_word = isinstance(gamma, str)
    if "gamma" in COMPILED[kernel] and not by_word and not gamma > 0.0:
        return None
    whole = float(degree).is_integer() and 1 <= degree <= _LARGEST_DEGREE
    if kernel == "poly" and not whole:
        return None
    return options(kernel, gamma if by_word else float(gamma), int(degree) if whole else 1, float(coef0))


def options(kernel: str, gamma: float | str | None, degree: int, coef0: float) -> dict[str, Any]:
    """The options of a compiled kernel that it has."""
    name = "polynomial" if kernel == "poly" else kernel
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    return {"kernel": name, **{option: given[option] for option in COMPILED[kernel]}}


def matrix(
    X: Any,
    Y: Any,
    kernel: str | Callable[..., float],
    *,
    gamma: float = 1.0,
    degree: float = 3,
    coef0: float = 1,
    params: dict[str, Any] | None = None,
) -> np.ndarray:
    """Kernel values between the rows of X and Y (m × n); a callable is asked for every pair."""
    if callable(kernel):
        return of_pairs(X, Y, kernel, params or {})
    if kernel == "precomputed":
        return X
    known = compiled(kernel, gamma, degree, coef0)
    if known is not None:
        if X.dtype != Y.dtype:
            X, Y = X.astype(np.float64), Y.astype(np.float64)
        if Y.shape[0] == 1:
            # The compiled part wants two; both columns are the same.
            return matrix(X, Y[[0, 0]], kernel, gamma=gamma, degree=degree, coef0=coef0)[:, :1]
        return _core.kernel_matrix(known, of_array(X).given, of_array(Y).given)
    return _by_formula(_dense(X), _dense(Y), kernel, gamma, degree, coef0)


def of_pairs(X: Any, Y: Any, function: Callable[..., float], params: dict[str, Any]) -> np.ndarray:
    """A function of every pair of rows (m × n); that of rows with themselves is symmetric."""
    row = (lambda A, i: A[[i], :]) if is_sparse(X) else (lambda A, i: A[i])
    values = np.empty((X.shape[0], Y.shape[0]))
    if X is Y:
        for i, j in itertools.combinations_with_replacement(range(X.shape[0]), 2):
            values[i, j] = values[j, i] = function(row(X, i), row(X, j), **params)
        return values
    for i, j in itertools.product(range(X.shape[0]), range(Y.shape[0])):
        values[i, j] = function(row(X, i), row(Y, j), **params)
    return values


def _by_formula(
    X: np.ndarray, Y: np.ndarray, kernel: str, gamma: float, degree: float, coef0: float
) -> np.ndarray:
    if kernel in ("rbf", "laplacian"):  # with γ = 0
        return np.ones((len(X), len(Y)))
    if kernel == "poly":
        return (gamma * (X @ Y.T) + coef0) ** degree
    if kernel == "sigmoid":
        return np.tanh(gamma * (X @ Y.T) + coef0)
    if (X < 0).any() or (Y < 0).any():
        raise ValueError("X contains negative values, for which the chi2 kernels are not defined.")
    values = np.empty((len(X), len(Y)))
    for i, x in enumerate(X):
        total = x + Y
        share = np.divide((x - Y) ** 2, total, out=np.zeros_like(total), where=total > 0)
        values[i] = -share.sum(axis=1)
    return np.exp(gamma * values) if kernel == "chi2" else values


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
