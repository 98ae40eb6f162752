"""Spectral embedding: Laplacian eigenmaps."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from eigenlens import _core, _distances, _graphs, _kernels
from eigenlens._compat import check_is_fitted
from eigenlens._constraints import CALLABLE, NOTHING, RANDOM_STATE, Number, Whole, Words
from eigenlens._data import Data, in_memory, of_array
from eigenlens._embedding import Embedding
from eigenlens._estimator import SHARED
from eigenlens._standalone import is_sparse


class SpectralEmbedding(Embedding):
    """Laplacian eigenmaps, a drop-in for scikit-learn's `SpectralEmbedding`.

    The eigenvectors of the normalised graph Laplacian with the smallest eigenvalues above 0, divided
    by the roots of the degrees. New samples are placed by their affinities to the training samples,
    unless affinities are given.

    Parameters
    ----------
    n_components : int, default=2
    affinity : {'nearest_neighbors', 'rbf', 'precomputed', 'precomputed_nearest_neighbors'} or \
callable
        Neighbours count 1 where each is the other's, else ½, a sample being its own first
        neighbour; a Gaussian kernel; the affinities themselves, dense or sparse; neighbours by
        given distances; a function of the data that returns the affinities. With `n_neighbors=1`,
        which is a graph without an edge there, every sample is tied to its nearest.
    gamma : float or None, default=None
        Of `'rbf'`; None: 1 / n_features.
    random_state : int, RandomState or None, default=None
        The seed of random numbers; None is 0.
    eigen_solver : {'arpack', 'lobpcg', 'amg'} or None, default=None
        Accepted, and not needed.
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
        Made when it is asked for, unless it was given.
    n_neighbors_ : int
    gamma_ : float
    quality_ : dict
        Trustworthiness and continuity of the embedding.
    certificate_, plan_, warnings_, n_features_in_, feature_names_in_

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

    _method = "laplacian"
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
        eigen_solver: Literal["arpack", "lobpcg", "amg"] | None = None,
        eigen_tol: float | Literal["auto"] = "auto",
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

    @property
    def affinity_matrix_(self) -> Any:
        """The affinities of the training samples (n_samples × n_samples)."""
        check_is_fitted(self)
        X = self._fit_X
        if X is None:
            raise AttributeError("a model from a file keeps no affinities; fit it again")
        if self._given():
            return X
        if not self._ties_neighbors(is_sparse(X)):
            return _kernels.matrix(X, X, "rbf", gamma=self.gamma_).astype(X.dtype, copy=False)
        # A sample is its own first neighbour.
        m, n = max(self.n_neighbors_, 2), X.shape[0]
        if self.affinity == "nearest_neighbors":
            return _graphs.shared_neighbors(_distances.nearest_samples(X, X, m), n)
        return _graphs.shared_neighbors(_graphs.nearest(_distances.as_given(X), m), n)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command line and :func:`load` read too."""
        check_is_fitted(self)
        if callable(self.affinity):
            raise NotImplementedError(
                f"a model with affinity={self.affinity!r} cannot be written to a model file; "
                "pickle the estimator"
            )
        super().save(path)

    def __getattribute__(self, name: str) -> Any:
        if name == "transform" and self._given():
            # A row of affinities does not say whether its sample is new, and its own entry counts.
            raise AttributeError(
                "'SpectralEmbedding' object has no attribute 'transform' where affinities are given"
            )
        return super().__getattribute__(name)

    def _given(self) -> bool:
        """Whether affinities are made outside the compiled part."""
        return callable(self.affinity) or self.affinity == "precomputed"

    def _ties_neighbors(self, sparse: bool) -> bool:
        """Whether only neighbours are tied."""
        by_features = self.affinity == "nearest_neighbors" and not sparse
        return by_features or self.affinity == "precomputed_nearest_neighbors"

    def _must_be_finite(self) -> bool:
        return self.affinity not in ("nearest_neighbors", "rbf")

    def _tolerance(self) -> float | None:
        return None if self.eigen_tol == "auto" else self.eigen_tol

    def _seen(self, data: Data, *, new: bool) -> Data:
        if self.affinity == "precomputed_nearest_neighbors":
            _distances.refuse_negative(in_memory(data, self))
        if not self._given():
            return data
        X = in_memory(data, self)
        self._made = self.affinity(X) if callable(self.affinity) else X
        return of_array(_symmetric(self._made))

    def _method_options(self, data: Data) -> dict[str, Any]:
        k, n = int(self.n_components), data.n_samples
        if n is not None and k >= n:
            raise ValueError(f"n_components={k} must be less than n_samples={n}")
        options = {
            "n_components": k,
            "n_neighbors": None,
            "affinity": "precomputed",
            "gamma": None,
            "distances": self.affinity == "precomputed_nearest_neighbors",
            "keep_parts": True,
        }
        if self._given():
            return options
        if self._ties_neighbors(data.is_sparse):
            return {**options, "affinity": "averaged", "n_neighbors": self._others(data)}
        if self.affinity == "nearest_neighbors":
            warnings.warn(
                "Nearest neighbors affinity currently does not support sparse input, falling "
                "back to rbf affinity",
                stacklevel=4,
            )
        return {**options, "affinity": "rbf", "gamma": self._gamma(data.n_features)}

    def _gamma(self, n_features: int) -> float:
        return 1.0 / n_features if self.gamma is None else float(self.gamma)

    def _neighbors_wanted(self, n: int) -> int:
        wanted = max(n // 10, 1) if self.n_neighbors is None else int(self.n_neighbors)
        if wanted > n:
            raise ValueError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {wanted}, "
                f"n_samples_fit = {n}, n_samples = {n}"
            )
        return wanted

    def _others(self, data: Data) -> int:
        """Neighbours besides the sample itself, which is its own first one; at least one."""
        wanted = self._neighbors_wanted(data.n_samples)
        if data.is_sparse:
            graph = data.X.tocoo()
            if not (graph.row == graph.col).any():
                return wanted
        return max(wanted - 1, 1)

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        super()._describe(model, data, scores)
        self._fit_X = self.__dict__.pop("_made", data.X)
        found = _core.model_description(model)
        if "nearest" in (model.values["neighborhood"] or {}):
            self.n_neighbors_ = self._neighbors_wanted(data.n_samples)
        if found["map"].get("affinity") == "rbf":
            self.gamma_ = self._gamma(data.n_features)
        parts = [one for one in found["warnings"] if one["kind"] == "several_parts"]
        if scores is not None and parts:
            warnings.warn(
                "Graph is not fully connected, spectral embedding may not work as expected.",
                stacklevel=5,
            )

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        found = _core.model_description(model)["map"]
        given = super()._parameters_of(model)
        samples = found.get("samples", "points")
        if samples == "affinities":
            return {**given, "affinity": "precomputed"}
        if found.get("affinity") == "rbf":
            unit = 2.0 ** found["exponent"]
            return {**given, "affinity": "rbf", "gamma": found["gamma"] / unit**2}
        if samples == "distances":
            given["affinity"] = "precomputed_nearest_neighbors"
        if "nearest" in model.values["neighborhood"]:
            given["n_neighbors"] = model.values["neighborhood"]["nearest"] + 1
        return given

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        given = self.affinity in ("precomputed", "precomputed_nearest_neighbors")
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        return tags


def _symmetric(affinities: Any) -> Any:
    """Given affinities, made symmetric where they are not, with scikit-learn's warning."""
    if affinities.shape[0] != affinities.shape[1]:
        raise ValueError(f"array must be 2-dimensional and square. shape = {affinities.shape}")
    sparse = is_sparse(affinities)
    affinities = affinities.tocsr() if sparse else np.asarray(affinities)
    if affinities.dtype not in (np.float64, np.float32):
        affinities = affinities.astype(np.float64)
    if np.min(affinities.data if sparse else affinities, initial=0.0) < 0.0:
        raise ValueError("Negative values in data: affinities must be at least 0.")
    uneven = abs(affinities - affinities.T).max()
    if uneven == 0.0:
        return affinities
    if uneven > 1e-10:
        warnings.warn(
            "Array is not symmetric, and will be converted to symmetric by average with its "
            "transpose.",
            stacklevel=6,
        )
    affinities = 0.5 * (affinities + affinities.T)
    return affinities.tocsr() if sparse else affinities
