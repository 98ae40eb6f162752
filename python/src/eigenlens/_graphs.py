"""Graphs of neighbours that are made here: of given distances, or of any metric."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from scipy import sparse
    from scipy.sparse import csgraph
except ImportError:
    sparse = csgraph = None


def nearest(distances: np.ndarray, k: int) -> np.ndarray:
    """The k columns with the smallest entries of every row (m × k), nearest first."""
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


def neighbor_graph(
    distances: np.ndarray, n_neighbors: int | None, radius: float | None
) -> np.ndarray:
    """Lengths of the edges between neighbours (n × n), symmetric; infinite where there is none."""
    n = len(distances)
    others = np.array(distances, dtype=np.float64)
    np.fill_diagonal(others, np.inf)
    if n_neighbors is None:
        graph = np.where(others <= radius, others, np.inf)
    else:
        graph = np.full((n, n), np.inf)
        rows, columns = np.arange(n)[:, None], nearest(others, n_neighbors)
        graph[rows, columns] = others[rows, columns]
    return np.minimum(graph, graph.T)


def parts(graph: np.ndarray) -> tuple[int, np.ndarray]:
    """How many parts a graph has, and the part of every node."""
    joined = np.isfinite(graph)
    part = np.full(len(graph), -1)
    count = 0
    for start in range(len(graph)):
        if part[start] >= 0:
            continue
        front = np.array([start])
        while front.size:
            part[front] = count
            front = np.flatnonzero(joined[front].any(axis=0) & (part < 0))
        count += 1
    return count, part


def join(graph: np.ndarray, distances: np.ndarray, count: int, part: np.ndarray) -> None:
    """Adds the shortest edge between any two parts, as scikit-learn does."""
    for a in range(count):
        of_a = np.flatnonzero(part == a)
        for b in range(a):
            of_b = np.flatnonzero(part == b)
            between = distances[np.ix_(of_a, of_b)]
            i, j = np.unravel_index(between.argmin(), between.shape)
            graph[of_a[i], of_b[j]] = graph[of_b[j], of_a[i]] = between[i, j]


def shortest_paths(graph: np.ndarray) -> np.ndarray:
    """Lengths of shortest paths between all nodes (n × n); infinite entries are no edges."""
    if csgraph is not None:
        rows, columns = np.nonzero(np.isfinite(graph))
        return shortest_paths_of_edges(rows, columns, graph[rows, columns], len(graph))
    paths = np.array(graph)
    np.fill_diagonal(paths, 0.0)
    for through in range(len(paths)):
        np.minimum(paths, paths[:, through, None] + paths[None, through], out=paths)
    return paths


def shortest_paths_of_edges(
    rows: np.ndarray, columns: np.ndarray, lengths: np.ndarray, n: int
) -> np.ndarray:
    """The same of edges in both directions."""
    if csgraph is not None:
        # SciPy takes stored zeros as edges, so that duplicates stay together.
        edges = sparse.csr_array((lengths, (rows, columns)), shape=(n, n))
        return csgraph.shortest_path(edges, method="D", directed=True)
    graph = np.full((n, n), np.inf)
    graph[rows, columns] = lengths
    return shortest_paths(graph)


def shared_neighbors(neighbors: np.ndarray, n: int) -> Any:
    """½ (A + Aᵀ), with A that of the neighbours of every sample: sparse where SciPy is installed."""
    rows = np.repeat(np.arange(n), neighbors.shape[1])
    if sparse is None:
        graph = np.zeros((n, n))
        graph[rows, neighbors.ravel()] = 1.0
    else:
        ones = np.ones(neighbors.size)
        graph = sparse.csr_matrix((ones, (rows, neighbors.ravel())), shape=(n, n))
    return 0.5 * (graph + graph.T)
