"""Distances between samples: scikit-learn's where it is installed, else the common ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenlens._compat import HAS_SKLEARN
from eigenlens._graphs import nearest
from eigenlens._kernels import of_pairs
from eigenlens._standalone import is_sparse

Metric = str | Callable[..., float]

# What the compiled part has, by every name that is used for it.
COMPILED = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "l1": "manhattan",
    "chebyshev": "chebyshev",
    "cosine": "cosine",
}


def matrix(X: Any, Y: Any, metric: Metric, params: dict[str, Any]) -> np.ndarray:
    """Distances between the rows of X and Y (m × n)."""
    if callable(metric):
        return of_pairs(X, Y, metric, params)
    if metric == "precomputed":
        return as_given(X)
    if HAS_SKLEARN:
        from sklearn.metrics import pairwise_distances

        # Most metrics are not defined for sparse matrices.
        return pairwise_distances(_dense(X), None if X is Y else _dense(Y), metric=metric, **params)
    x = _dense(X)
    return _by_formula(x, x if X is Y else _dense(Y), metric, params)


def nearest_samples(X: np.ndarray, among: np.ndarray, k: int) -> np.ndarray:
    """The k nearest of some samples (m × k), nearest first, by Euclidean distance. Samples that are
    `among` themselves are their own nearest."""
    if HAS_SKLEARN:
        from sklearn.neighbors import NearestNeighbors

        return NearestNeighbors(n_neighbors=k).fit(among).kneighbors(X, return_distance=False)
    distances = matrix(X, among, "euclidean", {})
    if X is among:
        np.fill_diagonal(distances, -1.0)
    return nearest(distances, k)


def as_given(X: Any) -> np.ndarray:
    """Given distances; those that a sparse matrix does not hold are infinite."""
    refuse_negative(X)
    if not is_sparse(X):
        return X
    X = X.tocoo()
    full = np.full(X.shape, np.inf)
    full[X.row, X.col] = X.data
    return full


def refuse_negative(X: Any) -> None:
    """Refuses given distances below 0."""
    if np.min(X.data if is_sparse(X) else X, initial=0.0) < 0.0:
        raise ValueError("Negative values in data passed to precomputed distance matrix.")


def refuse_asymmetric(X: Any) -> None:
    """Refuses a matrix that is not square and symmetric."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"array must be 2-dimensional and square. shape = {X.shape}")
    if abs(X - X.T).max() > 1e-10:
        raise ValueError("Array must be symmetric")


def _by_formula(X: np.ndarray, Y: np.ndarray, metric: str, params: dict[str, Any]) -> np.ndarray:
    name = COMPILED.get(metric, metric)
    if name not in (*COMPILED.values(), "sqeuclidean", "minkowski"):
        raise ValueError(
            f"metric={metric!r} needs scikit-learn; without it use metric='precomputed' or one of "
            f"{sorted({*COMPILED, 'minkowski', 'sqeuclidean'})}"
        )
    if name == "cosine":
        return _cosine(X, Y)
    p = {"manhattan": 1, "chebyshev": np.inf, "minkowski": params.get("p", 2)}.get(name, 2)
    # A row at a time: differences of all pairs at once would take n_features times the memory.
    rows = [np.linalg.norm(x - Y, ord=p, axis=1) for x in X]
    found = np.array(rows).reshape(len(X), len(Y))
    return found**2 if name == "sqeuclidean" else found


def _cosine(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    def unit(A: np.ndarray) -> np.ndarray:
        norms = np.linalg.norm(A, axis=1, keepdims=True)
        return A / np.where(norms > 0.0, norms, 1.0)

    found = np.clip(1.0 - unit(X) @ unit(Y).T, 0.0, 2.0)
    if X is Y:
        np.fill_diagonal(found, 0.0)
    return found


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
