"""Isomap."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from eigenlens import _core, _distances, _graphs
from eigenlens._compat import check_is_fitted
from eigenlens._constraints import (
    CALLABLE,
    MAPPING,
    NOTHING,
    RANDOM_STATE,
    TEXT,
    Number,
    Whole,
    Words,
)
from eigenlens._data import Data, in_memory, of_array
from eigenlens._embedding import Embedding, search
from eigenlens._estimator import SHARED
from eigenlens._kernel_pca import KernelPCA
from eigenlens._standalone import is_sparse


class Isomap(Embedding):
    """Isomap, a drop-in for scikit-learn's `Isomap`.

    Classical MDS of the lengths of shortest paths on the graph of neighbours.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Neighbours of every sample.
    radius : float or None, default=None
        In place of `n_neighbors=None`: whoever is at most this far away.
    n_components : int, default=2
    eigen_solver : {'auto', 'arpack', 'dense'}, default='auto'
        Accepted; every answer is exact to `tol`.
    tol : float, default=0
        The residual wanted, relative to the largest eigenvalue; 0: 1e-9, or 1e-6 for float32.
    max_iter, path_method, neighbors_algorithm
        Accepted, and not needed.
    n_jobs : int or None, default=None
    metric : str or callable, default='minkowski'
        Euclidean distances are compiled. With others, with a callable and with `'precomputed'`
        (distances n_samples × n_samples, or a sparse matrix of those to neighbours) the graph and
        its paths are computed by NumPy and SciPy.
    p, metric_params
        Of the metric.
    n_landmarks : int or None, default=None
        Compares only so many samples, drawn with the seed `random_state`, with all others
        (de Silva & Tenenbaum 2004). Euclidean distances only.
    random_state : int, RandomState or None, default=None
        The seed of the landmarks; None is 0.
    memory : int, str or None, default=None
        A budget such as `'2GiB'`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Of every component the largest entry is positive.
    eigenvalues_ : ndarray of shape (n_components,)
    dist_matrix_ : ndarray of shape (n_samples, n_samples)
        Lengths of shortest paths. Computed when it is first asked for with Euclidean distances.
    kernel_pca_ : KernelPCA
        Of −½ D∘D, with D the shortest paths; computed when it is asked for, as is `nbrs_`.
    nbrs_ : sklearn.neighbors.NearestNeighbors
        Where scikit-learn is installed.
    quality_ : dict
        Trustworthiness, continuity, stress and residual variance of the embedding.
    certificate_, plan_, warnings_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import Isomap
    >>> angle = np.linspace(0, np.pi, 50)
    >>> half_circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> line = Isomap(n_neighbors=2, n_components=1).fit_transform(half_circle)
    >>> bool(abs(np.ptp(line) - np.pi) < 0.01)
    True
    """

    _method = "isomap"
    _constraints = {
        "n_neighbors": [Whole(1), NOTHING],
        "radius": [Number(0, closed_high=True), NOTHING],
        "n_components": [Whole(1)],
        "eigen_solver": [Words("auto", "arpack", "dense")],
        "tol": [Number(0)],
        "max_iter": [Whole(1), NOTHING],
        "path_method": [Words("auto", "FW", "D")],
        "neighbors_algorithm": [Words("auto", "brute", "kd_tree", "ball_tree")],
        "p": [Number(1)],
        "metric": [TEXT, CALLABLE],
        "metric_params": [MAPPING, NOTHING],
        "n_landmarks": [Whole(2), NOTHING],
        "random_state": [RANDOM_STATE],
        **SHARED,
    }

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        n_components: int = 2,
        eigen_solver: Literal["auto", "arpack", "dense"] = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        path_method: Literal["auto", "FW", "D"] = "auto",
        neighbors_algorithm: Literal["auto", "brute", "kd_tree", "ball_tree"] = "auto",
        n_jobs: int | None = None,
        metric: str | Callable[..., float] = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_landmarks: int | None = None,
        random_state: Any = None,
        memory: int | str | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.path_method = path_method
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.memory = memory

    def reconstruction_error(self) -> float:
        """‖K − K_fit‖ / n_samples in the Frobenius norm, with K the centred kernel −½ D∘D."""
        check_is_fitted(self)
        kernel = -0.5 * np.asarray(self.dist_matrix_, dtype=np.float64) ** 2
        kernel -= kernel.mean(axis=0)
        kernel -= kernel.mean(axis=1, keepdims=True)
        left = np.sum(kernel**2) - np.sum(self._model.values["eigenvalues"] ** 2)
        return float(np.sqrt(max(left, 0.0)) / len(kernel))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command line and :func:`load` read too."""
        check_is_fitted(self)
        if not self._is_euclidean():
            raise NotImplementedError(
                f"a model with metric={self.metric!r} cannot be written to a model file; pickle "
                "the estimator"
            )
        super().save(path)

    @property
    def dist_matrix_(self) -> np.ndarray:
        """Lengths of shortest paths between the training samples (n_samples × n_samples)."""
        check_is_fitted(self)
        if self._paths is None:
            starts, columns, lengths = (
                _core.model_array(self._model, f"graph.{name}")
                for name in ("starts", "columns", "lengths")
            )
            n = len(starts) - 1
            rows = np.repeat(np.arange(n), np.diff(starts))
            paths = self._unit() * _graphs.shortest_paths_of_edges(rows, columns, lengths, n)
            self._paths = paths.astype(self.embedding_.dtype, copy=False)
        return self._paths

    @property
    def kernel_pca_(self) -> KernelPCA:
        """The kernel PCA that the embedding is."""
        kernel = -0.5 * self.dist_matrix_**2
        return KernelPCA(self.n_components, kernel="precomputed", tol=self.tol).fit(kernel)

    @property
    def nbrs_(self) -> Any:
        """A search for neighbours among the training samples."""
        check_is_fitted(self)
        samples = self._points() if self._is_euclidean() else self._fit_X
        return search(
            samples,
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            algorithm=self.neighbors_algorithm,
            metric=self.metric,
            p=self.p,
            metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        )

    # Which route.

    def _is_euclidean(self) -> bool:
        by_name = self.metric in ("euclidean", "l2")
        minkowski = self.metric in ("minkowski", "p") and self.p == 2
        return (by_name or minkowski) and not self.metric_params

    def _compiled(self) -> str:
        return "isomap" if self._is_euclidean() else "mds"

    def _method_options(self, data: Data) -> dict[str, Any]:
        self._check(data)
        k, n = int(self.n_components), data.n_samples
        k = k if n is None else min(k, n)
        if not self._is_euclidean():
            return {"n_components": k, "distances": True}
        return {
            "n_components": k,
            "n_neighbors": self.n_neighbors,
            # Larger ones have squares that are no numbers.
            "radius": None if self.radius is None else min(float(self.radius), 1e150),
            "landmarks": self.n_landmarks,
            "bridges": True,
        }

    def _check(self, data: Data) -> None:
        if self.n_neighbors is not None and self.radius is not None:
            raise ValueError(
                "Both n_neighbors and radius are provided. Use "
                f"Isomap(radius={self.radius}, n_neighbors=None) if intended to use radius-based "
                "neighbors"
            )
        if self.n_neighbors is None and self.radius is None:
            raise ValueError("one of n_neighbors and radius is needed")
        n = data.n_samples
        if self.n_neighbors is not None and n is not None and self.n_neighbors >= n:
            raise ValueError(
                f"Expected n_neighbors < n_samples_fit, but n_neighbors = {self.n_neighbors}, "
                f"n_samples_fit = {n}, n_samples = {n}"
            )
        if self.n_landmarks is not None and not self._is_euclidean():
            raise NotImplementedError(
                f"n_landmarks with metric={self.metric!r} is not offered; use metric='euclidean' "
                "or n_landmarks=None"
            )

    # Other metrics: the graph is made here, and its paths are given to MDS.

    def _must_be_finite(self) -> bool:
        return not self._is_euclidean()

    def _seen(self, data: Data, *, new: bool) -> Data:
        if self._is_euclidean():
            return data
        X = in_memory(data, self)
        if new:
            return of_array(self._paths_from(self._distances(X, self._fit_X)))
        distances = self._distances(X, X)
        if distances.shape[0] != distances.shape[1]:
            raise ValueError(
                f"Precomputed distances must be a square matrix. Input is a "
                f"{distances.shape[0]}x{distances.shape[1]} matrix."
            )
        graph = _graphs.neighbor_graph(distances, self.n_neighbors, self.radius)
        count, part = _graphs.parts(graph)
        if count > 1:
            if self.metric == "precomputed" and is_sparse(X):
                raise RuntimeError(
                    "The number of connected components of the neighbors graph is "
                    f"{count} > 1. The graph cannot be completed with metric='precomputed', and "
                    "Isomap cannot be fitted. Increase the number of neighbors to avoid this "
                    "issue, or precompute the full distance matrix instead of passing a sparse "
                    "neighbors graph."
                )
            _warn_about_parts(count)
            _graphs.join(graph, distances, count, part)
        self._made = _graphs.shortest_paths(graph)
        return of_array(self._made)

    def _distances(self, X: Any, Y: Any) -> np.ndarray:
        params = dict(self.metric_params or {})
        if self.metric == "minkowski":
            params.setdefault("p", self.p)
        return _distances.matrix(X, Y, self.metric, params)

    def _paths_from(self, distances: np.ndarray) -> np.ndarray:
        """Lengths of paths from new samples, by their neighbours, to all training samples."""
        paths = np.empty((len(distances), len(self._paths)), dtype=np.float64)
        for row, to in enumerate(distances):
            if self.n_neighbors is None:
                chosen = np.flatnonzero(to <= self.radius)
                if not chosen.size:
                    raise ValueError(
                        f"row {row} has no neighbour within radius={self.radius}; use "
                        "n_neighbors or a larger radius"
                    )
            else:
                chosen = _graphs.nearest(to[None], self.n_neighbors)[0]
            paths[row] = (self._paths[chosen] + to[chosen, None]).min(axis=0)
        return paths

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        super()._describe(model, data, scores)
        self._paths = self.__dict__.pop("_made", None)
        if not self._is_euclidean():
            self._fit_X = data.X
        elif scores is not None and (bridges := model.values["n_bridges"]) > 0:
            _warn_about_parts(bridges + 1)

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        which = model.values["neighborhood"]
        given = {"n_neighbors": which.get("nearest"), "radius": which.get("radius")}
        return {**super()._parameters_of(model), **given}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        return tags


def _warn_about_parts(count: int) -> None:
    warnings.warn(
        f"The number of connected components of the neighbors graph is {count} > 1. Completing "
        "the graph to fit Isomap might be slow. Increase the number of neighbors to avoid this "
        "issue.",
        stacklevel=5,
    )
