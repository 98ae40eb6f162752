"""Spectral embedding: Laplacian eigenmaps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from eigenlens import _constraints, _core, _graphs, _kernels, _options
from eigenlens._compat import BaseEstimator
from eigenlens._constraints import CALLABLE, NOTHING, RANDOM_STATE, Number, Whole, Words
from eigenlens._data import for_estimator, in_memory, of_array
from eigenlens._distances import as_given, nearest_samples
from eigenlens._estimator import SHARED
from eigenlens._standalone import is_sparse

# Above this many samples, few eigenvectors are cheaper by iteration than all of them.
_ALL_PAIRS = 400


class SpectralEmbedding(BaseEstimator):
    """Laplacian eigenmaps, a drop-in for scikit-learn's `SpectralEmbedding`.

    The eigenvectors of the normalised graph Laplacian with the smallest eigenvalues above 0, divided
    by the roots of the degrees. As there, only the training samples are embedded: there is no
    `transform`.

    Parameters
    ----------
    n_components : int, default=2
    affinity : {'nearest_neighbors', 'rbf', 'precomputed', 'precomputed_nearest_neighbors'} or \
callable
        Neighbours count 1 where each is the other's, else ½, a sample being its own first
        neighbour; a Gaussian kernel; the affinities themselves, dense or sparse; neighbours by
        given distances; a function of the data that returns the affinities.
    gamma : float or None, default=None
        Of `'rbf'`; None: 1 / n_features.
    random_state : int, RandomState or None, default=None
        The seed of random numbers; None is 0.
    eigen_solver : {'arpack', 'lobpcg', 'amg'} or None, default=None
        Accepted. Sparse graphs are solved by shift and invert, dense ones by block Krylov iteration
        or a full decomposition.
    eigen_tol : float or 'auto', default='auto'
        The residual wanted; `'auto'`: 1e-9.
    n_neighbors : int or None, default=None
        None: a tenth of the samples.
    n_jobs : int or None, default=None
    memory : int, str or None, default=None
        A budget such as `'2GiB'` for the factor of a sparse graph.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Of every component the largest entry is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the normalised Laplacian, smallest first, without the 0 of the constant vector.
    affinity_matrix_ : ndarray or sparse matrix of shape (n_samples, n_samples)
    n_neighbors_ : int
    gamma_ : float
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import SpectralEmbedding
    >>> X = np.arange(30.0)[:, None]
    >>> line = SpectralEmbedding(n_components=1, n_neighbors=3).fit_transform(X).ravel()
    >>> steps = np.diff(line)
    >>> bool((steps > 0).all() or (steps < 0).all())
    True
    """

    _constraints = {
        "n_components": [Whole(1)],
        "affinity": [
            Words("nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors"),
            CALLABLE,
        ],
        "gamma": [Number(0), NOTHING],
        "random_state": [RANDOM_STATE],
        "eigen_solver": [Words("arpack", "lobpcg", "amg"), NOTHING],
        "eigen_tol": [Number(0), Words("auto")],
        "n_neighbors": [Whole(1), NOTHING],
        **SHARED,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: str | Callable[[Any], Any] = "nearest_neighbors",
        gamma: float | None = None,
        random_state: Any = None,
        eigen_solver: str | None = None,
        eigen_tol: float | str = "auto",
        n_neighbors: int | None = None,
        n_jobs: int | None = None,
        memory: int | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.eigen_solver = eigen_solver
        self.eigen_tol = eigen_tol
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.memory = memory

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fits the embedding to samples (n_samples × n_features), or to affinities or distances
        (n_samples × n_samples) as `affinity` says."""
        _constraints.check(self, self._constraints)
        data = for_estimator(
            self, X, reset=True, ensure_min_samples=2, ensure_all_finite=True
        )
        self.affinity_matrix_ = self._affinities(in_memory(data, self))
        affinities = _symmetric(self.affinity_matrix_)
        if self.n_components >= affinities.shape[0]:
            raise ValueError(
                f"n_components={self.n_components} must be less than "
                f"n_samples={affinities.shape[0]}"
            )
        if not _is_connected(affinities):
            warnings.warn(
                "Graph is not fully connected, spectral embedding may not work as expected.",
                stacklevel=2,
            )
        degrees, scaled = _normalized(affinities)
        roots = np.sqrt(degrees)
        known = roots / max(np.linalg.norm(roots), np.finfo(float).tiny)
        if is_sparse(scaled):
            values, vectors = self._of_sparse(scaled, known)
        else:
            values, vectors = self._of_dense(scaled, known)
        embedding = vectors / np.where(roots > 0.0, roots, 1.0)[:, None]
        largest = embedding[np.abs(embedding).argmax(axis=0), np.arange(embedding.shape[1])]
        embedding *= np.where(largest < 0.0, -1.0, 1.0)
        self.embedding_ = embedding.astype(data.dtype, copy=False)
        self.eigenvalues_ = values
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fits the embedding and returns the coordinates (n_samples × n_components)."""
        return self.fit(X).embedding_

    def _affinities(self, X: Any) -> Any:
        if callable(self.affinity):
            return self.affinity(X)
        if self.affinity == "precomputed":
            return X
        if self.affinity == "precomputed_nearest_neighbors":
            distances = as_given(X)
            self.n_neighbors_ = self._neighbors_wanted(X.shape[0])
            return _graphs.shared_neighbors(
                _graphs.nearest(distances, self.n_neighbors_), X.shape[0]
            )
        if self.affinity == "nearest_neighbors" and not is_sparse(X):
            self.n_neighbors_ = self._neighbors_wanted(X.shape[0])
            return _graphs.shared_neighbors(nearest_samples(X, X, self.n_neighbors_), X.shape[0])
        if self.affinity == "nearest_neighbors":
            warnings.warn(
                "Nearest neighbors affinity currently does not support sparse input, falling "
                "back to rbf affinity",
                stacklevel=3,
            )
        self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        return _kernels.matrix(X, X, "rbf", gamma=self.gamma_).astype(X.dtype, copy=False)

    def _neighbors_wanted(self, n: int) -> int:
        wanted = max(n // 10, 1) if self.n_neighbors is None else int(self.n_neighbors)
        if wanted > n:
            raise ValueError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {wanted}, "
                f"n_samples_fit = {n}, n_samples = {n}"
            )
        return wanted

    def _options(self) -> dict[str, Any]:
        tolerance = None if self.eigen_tol == "auto" else self.eigen_tol
        return _options.shared(self, tolerance=tolerance)

    def _of_sparse(self, scaled: Any, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The smallest pairs of I − `scaled` besides the known null vector."""
        if not known.any():
            # Nobody has a neighbour: every vector is as good.
            k = int(self.n_components)
            return np.ones(k), np.eye(len(known), k)
        laplacian = -scaled
        laplacian.setdiag(1.0)
        given = of_array(laplacian.tocsr()).given
        return _core.smallest_pairs(given, known, int(self.n_components), self._options())

    def _of_dense(self, scaled: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        k, n = int(self.n_components), len(scaled)
        # The known pair (1, v) becomes (−1, v): the smallest there can be.
        scaled = scaled - 2.0 * np.outer(known, known)
        if n > _ALL_PAIRS and 10 * k < n:
            try:
                values, vectors = _core.largest_pairs(scaled, k, self._options())
                return 1.0 - values, vectors
            except RuntimeError:
                # A spectrum too dense for the iteration: all pairs instead.
                pass
        values, vectors = np.linalg.eigh(scaled)
        return 1.0 - values[::-1][:k], vectors[:, ::-1][:, :k]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        given = self.affinity in ("precomputed", "precomputed_nearest_neighbors")
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        return tags


def _symmetric(affinities: Any) -> Any:
    """The affinities as float64, symmetric and without a diagonal, which changes no degree."""
    if affinities.shape[0] != affinities.shape[1]:
        raise ValueError(f"array must be 2-dimensional and square. shape = {affinities.shape}")
    entries = affinities.data if is_sparse(affinities) else affinities
    if np.min(entries, initial=0.0) < 0.0:
        raise ValueError("Negative values in data: affinities must be at least 0.")
    if is_sparse(affinities):
        affinities = affinities.tocsr().astype(np.float64)
        difference = abs(affinities - affinities.T)
        uneven = difference.max() if difference.nnz else 0.0
    else:
        affinities = np.array(affinities, dtype=np.float64)
        uneven = np.abs(affinities - affinities.T).max()
    if uneven > 1e-10:
        warnings.warn(
            "Array is not symmetric, and will be converted to symmetric by average with its "
            "transpose.",
            stacklevel=3,
        )
    affinities = 0.5 * (affinities + affinities.T)
    if is_sparse(affinities):
        affinities = affinities.tolil()
        affinities.setdiag(0.0)
        affinities = affinities.tocsr()
        affinities.eliminate_zeros()
    else:
        np.fill_diagonal(affinities, 0.0)
    return affinities


def _normalized(affinities: Any) -> tuple[np.ndarray, Any]:
    """Degrees, and D^{-½} A D^{-½}."""
    degrees = np.asarray(affinities.sum(axis=0), dtype=np.float64).ravel()
    inverse = 1.0 / np.sqrt(np.where(degrees > 0.0, degrees, 1.0))
    if not is_sparse(affinities):
        return degrees, affinities * inverse[:, None] * inverse
    scaled = affinities.copy()
    rows = np.repeat(np.arange(len(inverse)), np.diff(scaled.indptr))
    scaled.data = scaled.data * inverse[rows] * inverse[scaled.indices]
    return degrees, scaled


def _is_connected(affinities: Any) -> bool:
    if is_sparse(affinities):
        return _graphs.csgraph.connected_components(affinities, return_labels=False) == 1
    return _graphs.parts(np.where(affinities > 0.0, 1.0, np.inf))[0] == 1
