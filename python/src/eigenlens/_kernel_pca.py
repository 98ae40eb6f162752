"""Kernel principal component analysis."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np

from eigenlens import _core, _kernels
from eigenlens._compat import NotFittedError, check_array, check_is_fitted
from eigenlens._constraints import (
    CALLABLE,
    MAPPING,
    NOTHING,
    RANDOM_STATE,
    TRUTH,
    Number,
    Whole,
    Words,
)
from eigenlens._data import Data, for_estimator, in_memory, of_array
from eigenlens._estimator import SHARED, Estimator
from eigenlens._standalone import is_sparse

_PRECOMPUTED = {"kernel": "precomputed"}
# The option that holds the size of an approximation.
_SIZES = {"nystrom": "landmarks", "random_features": "random_features", "subset": "subset"}


class KernelPCA(Estimator):
    """Kernel PCA, a drop-in for scikit-learn's `KernelPCA`.

    PCA in the feature space of a kernel: the eigenvectors of the centred kernel matrix, certified
    against the kernel computed once more. For many samples, `approximation` leaves the
    n_samples × n_samples matrix out.

    Parameters
    ----------
    n_components : int or None, default=None
        None: all whose eigenvalue is not 0.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'cosine', 'precomputed'} or callable
        Also `'laplacian'`, `'chi2'` and `'additive_chi2'`. A callable takes two samples and
        `kernel_params`.
    gamma : float or None, default=None
        None: 1 / n_features.
    degree, coef0
        Of `'poly'` and `'sigmoid'`.
    kernel_params : dict or None, default=None
        Of a callable.
    alpha : float, default=1.0
        The ridge of the learned inverse.
    fit_inverse_transform : bool, default=False
        Learns `inverse_transform` by kernel ridge regression from scores to samples. See
        :meth:`pre_image` for other ways, which need no training.
    eigen_solver : {'auto', 'dense', 'arpack', 'randomized'}, default='auto'
        Accepted; every answer is exact to `tol`, by block Krylov iteration or a full decomposition.
    tol : float, default=0
        The residual wanted, relative to the largest eigenvalue; 0: 1e-9, or 1e-6 for float32.
    max_iter, iterated_power
        Accepted, and not needed.
    remove_zero_eig : bool, default=False
        Leaves components without variance out, which are otherwise 0.
    random_state : int, RandomState or None, default=None
        The seed of random numbers; None is 0.
    copy_X : bool, default=True
        Whether `X_fit_` is a copy where samples are needed later; data are never written to.
    n_jobs : int or None, default=None
    approximation : {'exact', 'nystrom', 'random_features', 'subset', 'auto'}, default='exact'
        What is done about the kernel matrix: every value counts (kept, or recomputed in blocks
        where `memory` is too small for it); landmarks by randomly pivoted Cholesky; orthogonal
        random Fourier features (rbf); only `n_landmarks` samples; `'auto'`: exact where it is
        affordable, else `'nystrom'`.
    n_landmarks : int or None, default=None
        Landmarks, features or samples of the approximation.
    memory : int, str or None, default=None
        A budget such as `'2GiB'`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Of the centred kernel matrix, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Unit columns whose largest entry is positive; 0 where the eigenvalue is.
    dual_coef_, X_transformed_fit_
        Of the learned inverse.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
    gamma_ : float
    accuracy_ : dict
        How the kernel was dealt with, and what that cost.
    certificate_, plan_, warnings_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import KernelPCA
    >>> angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.concatenate([circle, 4 * circle])
    >>> Z = KernelPCA(n_components=1, kernel="rbf", gamma=0.3).fit_transform(X)
    >>> bool((Z[:40] > 0.1).all() and (Z[40:] < 0.1).all())
    True
    """

    _method = "kernel-pca"
    _constraints = {
        "n_components": [Whole(1), NOTHING],
        "kernel": [Words(*_kernels.NAMES, "delta", "precomputed"), CALLABLE],
        "gamma": [Number(0), Words("median", "scale"), NOTHING],
        "degree": [Number(0)],
        "coef0": [Number(-np.inf, open_low=True)],
        "kernel_params": [MAPPING, NOTHING],
        "alpha": [Number(0)],
        "fit_inverse_transform": [TRUTH],
        "eigen_solver": [Words("auto", "dense", "arpack", "randomized")],
        "tol": [Number(0)],
        "max_iter": [Whole(1), NOTHING],
        "iterated_power": [Whole(0), Words("auto")],
        "remove_zero_eig": [TRUTH],
        "random_state": [RANDOM_STATE],
        "copy_X": [TRUTH],
        "approximation": [Words("exact", "nystrom", "random_features", "subset", "auto")],
        "n_landmarks": [Whole(2), NOTHING],
        **SHARED,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Callable[..., float] = "linear",
        gamma: float | Literal["median", "scale"] | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: Literal["auto", "dense", "arpack", "randomized"] = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | Literal["auto"] = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        approximation: Literal["exact", "nystrom", "random_features", "subset", "auto"] = "exact",
        n_landmarks: int | None = None,
        memory: int | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.memory = memory

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fits the model to samples, or to a kernel matrix with `kernel='precomputed'`."""
        self._fit(X, None, scores=self.approximation != "exact")
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fits the model and returns the scores of the samples (n_samples × n_components)."""
        self.fit(X)
        return self._training_scores()

    def transform(self, X: Any) -> np.ndarray:
        """Scores of training or new samples; of kernel values with the training samples with
        `kernel='precomputed'`."""
        return self._scores(X)[:, : self._n_features_out]

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples from scores, as learned with `fit_inverse_transform=True`."""
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and "
                "hence the inverse transform is not available."
            )
        check_is_fitted(self)
        scores = check_array(X, dtype=[np.float64, np.float32], estimator=self)
        values = self._kernel(scores, self.X_transformed_fit_)
        return (values @ self.dual_coef_).astype(scores.dtype, copy=False)

    def pre_image(
        self,
        X: Any,
        *,
        method: Literal["auto", "fixed-point", "distances", "ridge"] = "auto",
        return_distance: bool = False,
    ) -> Any:
        """Samples whose place in feature space is near what the components keep of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to denoise.
        method : {'auto', 'fixed-point', 'distances', 'ridge'}
            Exact for the linear kernel; fixed-point iteration (Mika et al. 1998) and distances
            (Kwok & Tsang 2004) for the rbf kernel; kernel ridge regression (Bakir et al. 2003).
        return_distance : bool
            Also the distance that is left in feature space (n_samples,).
        """
        check_is_fitted(self)
        if self._compiled_kernel() is None:
            raise NotImplementedError(
                "pre-images need a kernel that is compiled; use fit_inverse_transform=True and "
                "inverse_transform for a kernel of one's own"
            )
        data = for_estimator(self, X, reset=False)
        rows, distances = _core.pre_images(self._model, data.given, method)
        return (rows, distances) if return_distance else rows

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command line and :func:`load` read too."""
        check_is_fitted(self)
        if self._compiled_kernel() is None or self._column_means is not None:
            raise NotImplementedError(
                "a kernel that is computed in Python cannot be written to a model file; pickle "
                "the estimator"
            )
        super().save(path)

    # The kernel.

    def _compiled_kernel(self) -> dict[str, Any] | None:
        return _kernels.compiled(self.kernel, self.gamma_, self.degree, self.coef0)

    def _kernel(self, X: Any, Y: Any) -> np.ndarray:
        return _kernels.matrix(
            X,
            Y,
            self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )

    def _must_be_finite(self) -> bool:
        return callable(self.kernel) or self.kernel in ("precomputed", "chi2", "additive_chi2")

    def _seen(self, data: Data, *, new: bool) -> Data:
        if self.kernel == "precomputed":
            return self._given_kernel(data, new=new)
        if self._compiled_kernel() is not None:
            return data
        X = in_memory(data, self)
        return of_array(self._kernel(X, self.X_fit_ if new else X))

    def _given_kernel(self, data: Data, *, new: bool) -> Data:
        """A given kernel; one that only centring makes symmetric is centred here, as scikit-learn
        does."""
        K = in_memory(data, self)
        if new:
            return data if self._column_means is None else of_array(K - self._column_means)
        self._column_means = None
        if is_sparse(K) or K.shape[0] != K.shape[1] or np.allclose(K, K.T, rtol=1e-9):
            return data
        self._column_means = K.mean(axis=0)
        centered = K - self._column_means
        return of_array(centered - centered.mean(axis=1, keepdims=True))

    # The fit.

    def _shared(self) -> dict[str, Any]:
        # `max_iter` counts the steps of another solver.
        return {**super()._shared(), "max_iterations": None}

    def _fit(self, X: Any, sample_weight: Any, *, scores: bool) -> np.ndarray | None:
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        if self.fit_inverse_transform and is_sparse(X):
            raise NotImplementedError("Inverse transform not implemented for sparse matrices!")
        return super()._fit(X, sample_weight, scores=scores)

    def _method_options(self, data: Data) -> dict[str, Any]:
        self.gamma_ = self._gamma(data.n_features)
        if self.approximation == "subset" and self.n_landmarks is None:
            raise ValueError("approximation='subset' needs n_landmarks, the number of samples")
        return {
            "n_components": self._n_components_asked_for(data),
            **(self._compiled_kernel() or _PRECOMPUTED),
            **self._approximation(),
        }

    def _gamma(self, n_features: int) -> float | str:
        if self.gamma is None:
            return 1.0 / n_features
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        if self.kernel not in _kernels.WIDTHS:
            raise ValueError(
                f"gamma={self.gamma!r} is a width of distances, which kernel={self.kernel!r} has not"
            )
        return self.gamma

    def _approximation(self) -> dict[str, Any]:
        if self.approximation in ("auto", "exact"):
            return {"approximation": self.approximation}
        size = {_SIZES[self.approximation]: self.n_landmarks}
        if self.approximation == "subset":
            return size
        orthogonal = self.approximation == "random_features"
        approximation = self.approximation.replace("_", "-")
        return {"approximation": approximation, "orthogonal": orthogonal, **size}

    def _n_components_asked_for(self, data: Data) -> int | None:
        n, n_components = data.n_samples, self.n_components
        most = n
        if self.approximation != "exact" and self.n_landmarks is not None and n is not None:
            most = min(n, self.n_landmarks)
        if n_components is not None:
            return int(n_components) if most is None else min(int(n_components), most)
        if most is None:
            return None
        # Centring takes one from the rank; linear and cosine kernels have at most that of the data.
        rank = data.n_features if self.kernel in ("linear", "cosine") else most
        return max(1, min(rank, most, n - 1))

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        values = model.values
        self.accuracy_ = values["accuracy"]
        self.__dict__.setdefault("_column_means", None)
        if isinstance(getattr(self, "gamma_", None), str):
            self.gamma_ = float(values["kernel"]["gamma"])
        if not hasattr(self, "gamma_"):
            self.gamma_ = values["kernel"].get("gamma", 1.0 / data.n_features)
        eigenvalues = np.array(values["eigenvalues"])
        # As in scikit-learn: what is this small is 0.
        smallest = (2e-7 if data.dtype == np.float32 else 1e-12) * eigenvalues.max(initial=0.0)
        eigenvalues[eigenvalues < smallest] = 0.0
        self._refuse_negative(model, eigenvalues, data)
        if self.remove_zero_eig or self.n_components is None:
            eigenvalues = eigenvalues[eigenvalues > 0.0]
        self.eigenvalues_ = eigenvalues.astype(data.dtype)
        self._set_eigenvectors(model, eigenvalues, data, scores)
        if data.X is not None:
            needs_samples = self.fit_inverse_transform or self._compiled_kernel() is None
            self.X_fit_ = data.X.copy() if needs_samples and self.copy_X else data.X
        elif (points := _points(model)) is not None:
            self.X_fit_ = points.astype(data.dtype, copy=False)
        if self.fit_inverse_transform:
            self._learn_inverse()

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        """The share of the variance in feature space that each component carries (n_components,)."""
        shares = self._record("values")["explained_variance_ratio"]
        return shares[: len(self.eigenvalues_)].astype(self.eigenvalues_.dtype)

    def _set_eigenvectors(
        self, model: _core.Model, values: np.ndarray, data: Data, scores: np.ndarray | None
    ) -> None:
        k = len(values)
        coefficients = _core.model_array(model, "dual_coefficients")
        if self.accuracy_["kind"] == "exact":
            # Scores of training samples are K̃ V Λ^{-1/2} = V Λ^{1/2}; coefficients are V Λ^{-1/2}.
            vectors = coefficients[:, :k] * np.sqrt(values)
        elif scores is not None:
            roots = np.sqrt(values)
            usable = np.where(roots > 0.0, roots, np.inf)
            vectors = scores[:, :k].astype(np.float64) / usable
        else:
            # A model from a file keeps no scores of the samples it was made from.
            return
        self.eigenvectors_ = vectors.astype(data.dtype)

    def _training_scores(self) -> np.ndarray:
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def _learn_inverse(self) -> None:
        scores = self._training_scores()
        ridge = self._kernel(scores, scores).astype(np.float64)
        ridge.flat[:: len(ridge) + 1] += self.alpha
        samples = np.asarray(self.X_fit_, dtype=np.float64)
        self.dual_coef_ = np.linalg.solve(ridge, samples).astype(scores.dtype, copy=False)
        self.X_transformed_fit_ = scores

    def _refuse_negative(self, model: _core.Model, eigenvalues: np.ndarray, data: Data) -> None:
        """Refuses components along which the kernel has clearly negative eigenvalues."""
        negative = _core.model_description(model)["negative"]
        asked = data.n_samples if self.n_components is None else len(eigenvalues)
        if negative is None or data.X is None or np.count_nonzero(eigenvalues) == asked:
            return
        ratio, least = (5e-3, 1e-6) if data.dtype == np.float32 else (1e-5, 1e-10)
        largest, smallest = float(eigenvalues.max(initial=0.0)), negative["smallest"]
        bound = -max(ratio * largest, least)
        if smallest < bound and asked < data.n_samples:
            # Between the components asked for and the smallest there may be others.
            centered = np.array(self._kernel(data.X, data.X), dtype=np.float64)
            centered -= centered.mean(axis=0)
            centered -= centered.mean(axis=1, keepdims=True)
            smallest = np.linalg.eigvalsh(centered)[-asked]
        if smallest < bound:
            raise ValueError(
                f"There are significant negative eigenvalues ({-smallest / largest:g} of the "
                "maximum positive). Either the matrix is not PSD, or there was an issue while "
                "computing the eigendecomposition of the matrix. Ask for fewer components with "
                "n_components."
            )

    @classmethod
    def _parameters_of(cls, model: _core.Model) -> dict[str, Any]:
        kernel = model.values["kernel"]
        name = {"polynomial": "poly"}.get(kernel["name"], kernel["name"])
        numbers = {key: kernel[key] for key in ("gamma", "degree", "coef0") if key in kernel}
        accuracy = model.values["accuracy"]
        sizes = [accuracy[key] for key in ("landmarks", "features", "samples") if key in accuracy]
        return {
            **super()._parameters_of(model),
            "kernel": name,
            **numbers,
            "approximation": accuracy["kind"],
            "n_landmarks": sizes[0] if sizes else None,
        }

    def _stored_attributes(self) -> dict[str, Any]:
        return {"dtype": str(self.eigenvalues_.dtype), "gamma_": self.gamma_}

    @property
    def _n_features_out(self) -> int:
        return self.eigenvalues_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _points(model: _core.Model) -> np.ndarray | None:
    """The samples that a model keeps, where it keeps them as they were."""
    kernel, points = model.values["kernel"]["name"], _core.model_array(model, "points")
    if points is None or kernel == "cosine" or model.values["accuracy"]["kind"] != "exact":
        return None
    shift = _core.model_array(model, "shift")
    return points if shift is None else points + shift
