"""Locally linear embedding."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from eigenlens import _core
from eigenlens._compat import check_is_fitted
from eigenlens._constraints import RANDOM_STATE, Number, Whole, Words
from eigenlens._data import Data
from eigenlens._embedding import Embedding, search
from eigenlens._estimator import SHARED


class LocallyLinearEmbedding(Embedding):
    """Locally linear embedding, a drop-in for scikit-learn's `LocallyLinearEmbedding`.

    Every sample is written as a weighted mean of its neighbours; coordinates are those that the
    same weights reconstruct best.

    Parameters
    ----------
    n_neighbors : int, default=5
    n_components : int, default=2
    reg : float, default=1e-3
        Added to the diagonal of every local Gram matrix, relative to its trace; above 0.
    eigen_solver, tol, max_iter
        Accepted; the residual is at most 1e-9 of the norm (1e-6 for float32) in any case.
    method : {'standard', 'hessian', 'modified', 'ltsa'}, default='standard'
        What coordinates satisfy around every sample: the weights of Roweis & Saul (2000), Hessian
        eigenmaps (Donoho & Grimes 2003), modified LLE (Zhang & Wang 2007) or local tangent space
        alignment (Zhang & Zha 2004).
    hessian_tol, modified_tol : float
        As there.
    neighbors_algorithm
        Accepted, and not needed.
    random_state : int, RandomState or None, default=None
        The seed of random numbers; None is 0.
    n_jobs : int or None, default=None
    memory : int, str or None, default=None
        A budget such as `'2GiB'`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Unit columns whose largest entry is positive.
    reconstruction_error_ : float
        The sum of the eigenvalues.
    eigenvalues_ : ndarray of shape (n_components,)
    nbrs_ : sklearn.neighbors.NearestNeighbors
        Made when it is asked for, where scikit-learn is installed.
    quality_ : dict
        Trustworthiness and continuity of the embedding.
    certificate_, plan_, warnings_, n_features_in_, feature_names_in_

    Notes
    -----
    The parts of a disconnected graph are joined by their shortest edges; scikit-learn returns an
    arbitrary basis of what tells the parts apart.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import LocallyLinearEmbedding
    >>> angle = np.linspace(0, 3, 60)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> line = LocallyLinearEmbedding(n_neighbors=4, n_components=1).fit_transform(arc).ravel()
    >>> steps = np.diff(line)
    >>> bool((steps > 0).all() or (steps < 0).all())
    True
    """

    _method = "lle"
    _constraints = {
        "n_neighbors": [Whole(1)],
        "n_components": [Whole(1)],
        "reg": [Number(0)],
        "eigen_solver": [Words("auto", "arpack", "dense")],
        "tol": [Number(0)],
        "max_iter": [Whole(1)],
        "method": [Words("standard", "hessian", "modified", "ltsa")],
        "hessian_tol": [Number(0)],
        "modified_tol": [Number(0)],
        "neighbors_algorithm": [Words("auto", "brute", "kd_tree", "ball_tree")],
        "random_state": [RANDOM_STATE],
        **SHARED,
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        n_components: int = 2,
        reg: float = 1e-3,
        eigen_solver: Literal["auto", "arpack", "dense"] = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        method: Literal["standard", "hessian", "modified", "ltsa"] = "standard",
        hessian_tol: float = 1e-4,
        modified_tol: float = 1e-12,
        neighbors_algorithm: Literal["auto", "brute", "kd_tree", "ball_tree"] = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        memory: int | str | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.method = method
        self.hessian_tol = hessian_tol
        self.modified_tol = modified_tol
        self.neighbors_algorithm = neighbors_algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory

    @property
    def nbrs_(self) -> Any:
        """A search for neighbours among the training samples."""
        check_is_fitted(self)
        return search(
            self._points(),
            n_neighbors=self.n_neighbors,
            algorithm=self.neighbors_algorithm,
            n_jobs=self.n_jobs,
        )

    def _tolerance(self) -> float | None:
        # `tol` is what another solver stops at; ours is certified at its own.
        return None

    def _method_options(self, data: Data) -> dict[str, Any]:
        self._check(data)
        if not self.reg > 0:
            raise ValueError(
                "reg=0 leaves weights undefined where neighbours are more than features; use a "
                "small number such as reg=1e-12"
            )
        return {
            "n_components": int(self.n_components),
            "n_neighbors": int(self.n_neighbors),
            "variant": self.method,
            "regularization": float(self.reg),
            "hessian_tolerance": float(self.hessian_tol) if self.method == "hessian" else None,
            "modified_tolerance": float(self.modified_tol) if self.method == "modified" else None,
            "bridges": True,
        }

    def _check(self, data: Data) -> None:
        k, m = self.n_components, self.n_neighbors
        if k > data.n_features:
            raise ValueError("output dimension must be less than or equal to input dimension")
        n = data.n_samples
        if n is not None and m >= n:
            raise ValueError(
                f"Expected n_neighbors < n_samples, but n_samples = {n}, "
                f"n_neighbors = {m}"
            )
        if self.method == "hessian" and m <= k * (k + 3) // 2:
            raise ValueError(
                "for method='hessian', n_neighbors must be greater than "
                "[n_components * (n_components + 3) / 2]"
            )
        if self.method == "modified" and m < k:
            raise ValueError("modified LLE requires n_neighbors >= n_components")

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        super()._describe(model, data, scores)
        self.reconstruction_error_ = float(model.values["eigenvalues"].sum())

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        nearest = model.values["neighborhood"].get("nearest", 5)
        method = _core.model_description(model)["map"].get("variant", "standard")
        return {**super()._parameters_of(model), "n_neighbors": nearest, "method": method}

