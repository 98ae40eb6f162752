"""PCA of data that come batch by batch."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from eigenlens import _constraints, _core, _options
from eigenlens._constraints import NOTHING, TRUTH, Whole
from eigenlens._data import Data, for_estimator
from eigenlens._estimator import SHARED, Estimator
from eigenlens._implied_gaussian import ImpliedGaussian
from eigenlens._pca import noise_variance
from eigenlens._standalone import is_sparse

# Up to this many features the scatter of what `fit` saw is kept, so that batches can follow.
_MOST_FEATURES = 2000

_SPARSE_BATCH = (
    "IncrementalPCA.partial_fit does not support sparse input. Either convert data to dense or use "
    "IncrementalPCA.fit to do so in batches."
)

_FROM_MODEL = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "noise_variance_",
    "total_variance_",
    "var_",
    "_model",
)


class IncrementalPCA(ImpliedGaussian, Estimator):
    """PCA of batches, a drop-in for scikit-learn's `IncrementalPCA`, without its approximation.

    Batches are added to count, mean and scatter (n_features² numbers), which lose nothing: after any
    batches, in any order, the answer is that of :class:`PCA` on all of them, to rounding. The
    components are computed when they are asked for, not at every batch.

    Parameters
    ----------
    n_components : int or None, default=None
        None: as many as the first batch allows.
    whiten : bool, default=False
        Scores of variance 1.
    copy : bool, default=True
        Without effect: data are never written to.
    batch_size : int or None, default=None
        Rows of a batch of `fit`, which only limits `n_components` as in scikit-learn: the data are
        fitted as a whole.
    memory, n_jobs
        As in :class:`PCA`.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, var_,
    noise_variance_, n_components_, n_samples_seen_, batch_size_, n_features_in_,
    feature_names_in_ : as in scikit-learn
    certificate_ : Certificate
    plan_ : Plan
    warnings_ : list of str

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import PCA, IncrementalPCA
    >>> X = np.random.default_rng(0).normal(size=(600, 5)) * [4, 3, 2, 1, 1]
    >>> ipca = IncrementalPCA(n_components=2)
    >>> for batch in np.array_split(X, 6):
    ...     ipca = ipca.partial_fit(batch)
    >>> int(ipca.n_samples_seen_)
    600
    >>> bool(np.allclose(ipca.components_, PCA(2).fit(X).components_, atol=1e-12))
    True
    """

    _method = "pca"
    _is_usual = False
    _constraints = {
        "n_components": [Whole(1), NOTHING],
        "whiten": [TRUTH],
        "copy": [TRUTH],
        "batch_size": [Whole(1), NOTHING],
        **SHARED,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size
        self.memory = memory
        self.n_jobs = n_jobs

    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True) -> Self:
        """Adds a batch of samples (n_samples × n_features) to all that were seen, also by `fit`."""
        _constraints.check(self, self._constraints)
        if is_sparse(X):
            raise TypeError(_SPARSE_BATCH)
        first = not hasattr(self, "n_samples_seen_")
        if not first and self.n_components not in (None, self.n_components_):
            raise ValueError(
                f"n_components has changed from {self.n_components_} to {self.n_components} between "
                "calls to partial_fit; as in scikit-learn, fit anew"
            )
        data = for_estimator(self, X, reset=first)
        if data.is_sparse:  # a file
            raise TypeError(_SPARSE_BATCH)
        known = self.__dict__.get("_moments")
        if known is None and not first:
            raise ValueError(
                "the samples seen so far are known by their components only (the model was loaded, "
                f"or fitted to more than {_MOST_FEATURES} features); use partial_fit from the first "
                "batch on"
            )
        found = _core.Moments.of(data.given, _options.shared(self))
        if first:
            # Of some files the rows are only counted by reading them.
            n_samples = round(found.n_samples)
            self._dtype = data.dtype
            self._set_components(n_samples, data.n_features)
            if self.n_components_ > n_samples:
                raise ValueError(
                    f"n_components={self.n_components} must be less or equal to the batch number "
                    f"of samples {n_samples} for the first partial_fit call."
                )
        self._moments = found if known is None else known.merged(found)
        self.n_samples_seen_ = round(self._moments.n_samples)
        self.mean_ = self._moments.mean.astype(self._dtype, copy=False)
        for name in _FROM_MODEL:
            self.__dict__.pop(name, None)
        return self

    def __getattr__(self, name: str) -> Any:
        # The components of the batches so far are found when they are first asked for.
        if name in _FROM_MODEL and "_moments" in self.__dict__:
            self._solve()
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _solve(self) -> None:
        moments = self._moments
        data = Data(
            given={},
            n_samples=self.n_samples_seen_,
            n_features=moments.n_features,
            dtype=self._dtype,
        )
        model = _core.fit_moments(
            self._method, self._options_for(self.n_components_), moments, self._shared()
        )
        self._take(model, data, None)

    def _fit(self, X: Any, sample_weight: Any, *, scores: bool) -> np.ndarray | None:
        self.__dict__.pop("_moments", None)
        self.__dict__.pop("n_samples_seen_", None)
        return super()._fit(X, sample_weight, scores=scores)

    def _method_options(self, data: Data) -> dict[str, Any]:
        rows, d = data.n_counted, data.n_features
        self.batch_size_ = 5 * d if self.batch_size is None else self.batch_size
        first = self.batch_size_ if rows is None else min(self.batch_size_, rows)
        self._set_components(first, d)
        return self._options_for(self.n_components_)

    def _set_components(self, first_batch: int, n_features: int) -> None:
        k = self.n_components
        if k is None:
            self.n_components_ = min(first_batch, n_features)
        elif k > n_features:
            raise ValueError(
                f"n_components={k!r} invalid for n_features={n_features}, need more rows than "
                "columns for IncrementalPCA processing"
            )
        else:
            self.n_components_ = k

    def _options_for(self, k: int) -> dict[str, Any]:
        return {"n_components": k, "whiten": bool(self.whiten)}

    def _describe(self, model: _core.Model, data: Data, scores: np.ndarray | None) -> None:
        def like_the_data(values: np.ndarray) -> np.ndarray:
            return values.astype(data.dtype, copy=False)

        n_samples = round(model.n_samples)
        self.n_components_ = model.n_components
        self.n_samples_seen_ = n_samples
        self.components_ = like_the_data(model.components)
        self.explained_variance_ = like_the_data(model.explained_variance)
        self.explained_variance_ratio_ = like_the_data(model.explained_variance_ratio)
        self.singular_values_ = like_the_data(model.singular_values)
        self.mean_ = like_the_data(model.mean)
        self.total_variance_ = model.total_variance
        self.noise_variance_ = noise_variance(model, model.n_components)
        self._dtype = data.dtype
        if data.given:
            self._see(data)
        if "_moments" in self.__dict__:
            self._set_variances(self._moments.covariance.diagonal())

    def _see(self, data: Data) -> None:
        """Keeps what later batches need of the samples of `fit`."""
        if data.n_features <= _MOST_FEATURES:
            self._moments = _core.Moments.of(data.given, self._shared())
        else:
            self._set_variances(_core.column_statistics(data.given, self._shared())[2])

    def _set_variances(self, variances: np.ndarray) -> None:
        # scikit-learn's divisor is n.
        n = self.n_samples_seen_
        self.var_ = (variances * ((n - 1) / n)).astype(self._dtype, copy=False)

    def _stored_attributes(self) -> dict[str, Any]:
        return {"dtype": str(self.components_.dtype), "var_": self.var_.tolist()}
