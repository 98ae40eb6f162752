"""The variants of locally linear embedding: operators M whose smallest eigenvectors are coordinates.

Each is a sum over samples of W Wᵀ among the sample's neighbours, and has the constant vector as a
null vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigenlens import _graphs

# For every sample: the samples that its part of M is about, and that part.
Local = Iterator[tuple[np.ndarray, np.ndarray]]


def operator(
    X: np.ndarray,
    neighbors: np.ndarray,
    k: int,
    *,
    method: str,
    hessian_tol: float,
    modified_tol: float,
) -> Any:
    """M (n × n): sparse where SciPy is installed."""
    if method == "hessian":
        parts = _hessian(X, neighbors, k, hessian_tol)
    elif method == "modified":
        parts = _modified(X, neighbors, k, modified_tol)
    else:
        parts = _tangents(X, neighbors, k)
    n = len(X)
    if _graphs.sparse is None:
        total = np.zeros((n, n))
        for nodes, part in parts:
            total[np.ix_(nodes, nodes)] += part
        return total
    rows, columns, values = [], [], []
    for nodes, part in parts:
        rows.append(np.repeat(nodes, len(nodes)))
        columns.append(np.tile(nodes, len(nodes)))
        values.append(part.ravel())
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return _graphs.sparse.coo_array(entries, shape=(n, n)).tocsr()


def weights(x: np.ndarray, nearest: np.ndarray, reg: float) -> np.ndarray:
    """The weights, of sum 1, that reconstruct x from its neighbours (Saul & Roweis 2003)."""
    differences = nearest - x
    gram = differences @ differences.T
    trace = np.trace(gram)
    gram.flat[:: len(gram) + 1] += reg * trace if trace > 0.0 else reg
    found = np.linalg.solve(gram, np.ones(len(gram)))
    return found / found.sum()


def _tangents(X: np.ndarray, neighbors: np.ndarray, k: int) -> Local:
    """Local tangent space alignment (Zhang & Zha 2004): what is outside the tangent space and not
    constant."""
    constant = np.full((neighbors.shape[1], 1), neighbors.shape[1] ** -0.5)
    for nodes in neighbors:
        inside = np.hstack([constant, _directions(X[nodes])[:, :k]])
        yield nodes, np.eye(len(nodes)) - inside @ inside.T


def _hessian(X: np.ndarray, neighbors: np.ndarray, k: int, tol: float) -> Local:
    """Hessian eigenmaps (Donoho & Grimes 2003): what is left of second derivatives."""
    first, second = np.triu_indices(k)
    constant = np.ones((neighbors.shape[1], 1))
    for nodes in neighbors:
        tangent = _directions(X[nodes])[:, :k]
        basis = np.hstack([constant, tangent, tangent[:, first] * tangent[:, second]])
        left = np.linalg.qr(basis, mode="complete")[0][:, k + 1 :]
        sums = left.sum(axis=0)
        left = left / np.where(np.abs(sums) < tol, 1.0, sums)
        yield nodes, left @ left.T


def _modified(X: np.ndarray, neighbors: np.ndarray, k: int, tol: float) -> Local:
    """Modified LLE (Zhang & Wang 2007): several weights for each sample."""
    m = neighbors.shape[1]
    around = (X[nodes] - x for x, nodes in zip(X, neighbors, strict=True))
    found = [np.linalg.svd(differences, full_matrices=True)[:2] for differences in around]
    vectors = [left for left, _ in found]
    values = np.array([roots**2 for _, roots in found])
    # How much of the spread is across the surface: half of the samples have less.
    across = np.median(_shares(values[:, k:].sum(axis=1), values[:, :k].sum(axis=1)))
    for i, (nodes, own, spread) in enumerate(
        zip(neighbors, vectors, values, strict=True)
    ):
        usual = _regularized(own, spread)
        sums = np.cumsum(spread)
        share = _shares(sums[-1] - sums[:-1], sums[:-1])
        count = max(1, int(np.searchsorted(share[::-1], across)) + m - len(spread))
        null = own[:, m - count :]
        length = np.linalg.norm(null.sum(axis=0)) / np.sqrt(count)
        # The reflection that makes the sums of all columns equal.
        mirror = length - null.sum(axis=0)
        size = np.linalg.norm(mirror)
        mirror = mirror / size if size >= tol else np.zeros_like(mirror)
        several = null - 2.0 * np.outer(null @ mirror, mirror) + (1.0 - length) * usual[:, None]
        block = np.vstack([several, np.full((1, count), -1.0)])
        yield np.append(nodes, i), block @ block.T


def _shares(part: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """`part` / `rest`, and 0 where there is nothing: neighbours that coincide."""
    return np.divide(part, rest, out=np.zeros_like(part), where=rest > 0.0)


def _regularized(vectors: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The weights of the standard method, from the eigenvectors of the local Gram matrix."""
    ridge = 1e-3 * values.sum() or 1.0
    spread = np.full(len(vectors), ridge)
    spread[: len(values)] += values
    found = vectors @ (vectors.sum(axis=0) / spread)
    return found / found.sum()


def _directions(samples: np.ndarray) -> np.ndarray:
    """Left singular vectors of centred samples, the largest spread first; 0 where there is none,
    since any direction would do and most are not orthogonal to the constant."""
    left, roots, _ = np.linalg.svd(samples - samples.mean(axis=0), full_matrices=False)
    return left * (roots > 1e-12 * np.abs(samples).max(initial=0.0))
