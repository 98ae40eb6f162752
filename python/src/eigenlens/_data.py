"""What users hand over, as the compiled part takes it: arrays without copies, sparse, files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlens import _core, _standalone
from eigenlens._compat import check_array, check_sample_weight, validate_data
from eigenlens._options import n_bytes
from eigenlens._standalone import feature_names, is_sparse
from eigenlens._table import as_table


_PLAIN = (np.dtype(np.float64), np.dtype(np.float32))


@dataclass
class Data:
    """Data ready to be used."""

    given: dict[str, Any]
    n_samples: int | None
    n_features: int
    dtype: np.dtype[Any]
    is_sparse: bool = False
    # The array or sparse matrix itself; None for files.
    X: Any = None

    @property
    def n_counted(self) -> int | None:
        """The number of samples, each as often as its weight says, where it is known."""
        weights = self.given.get("weights")
        if weights is None:
            return self.n_samples
        used = int(np.count_nonzero(weights))
        return used if self.given["relative"] else max(used, round(float(np.sum(weights))))

    @property
    def limit(self) -> int | None:
        """min(n, d), where it is known."""
        return None if self.n_counted is None else min(self.n_counted, self.n_features)


def for_estimator(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    sample_weight: Any = None,
    accept_sparse: bool = True,
    ensure_min_samples: int = 1,
    ensure_min_features: int = 1,
    ensure_all_finite: bool = False,
) -> Data:
    """Data for `fit` (with `reset`) or for a fitted estimator, with names kept or compared.

    The compiled part looks for NaN and infinities itself: no extra pass over the data.
    `ensure_all_finite` is for what is computed here.
    """
    table = as_table(X)
    if table is not None:
        return _from_files(estimator, table, reset=reset, sample_weight=sample_weight)
    X = _in_memory_table(X)
    checks: dict[str, Any] = {
        "accept_sparse": "csr" if accept_sparse else False,
        "dtype": [np.float64, np.float32],
        "ensure_all_finite": ensure_all_finite,
        "ensure_min_samples": ensure_min_samples,
        "ensure_min_features": ensure_min_features,
    }
    names, X = _from_arrow(X)
    plain = reset and not ensure_all_finite
    if names is None and plain and _is_plain(X, ensure_min_samples, ensure_min_features):
        estimator.n_features_in_ = X.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
    elif names is None:
        X = validate_data(estimator, X, reset=reset, **checks)
    else:
        X = check_array(X, estimator=estimator, **checks)
        _keep_features(estimator, names, reset=reset)
    names = getattr(estimator, "feature_names_in_", None) if reset else None
    weights = _weights(sample_weight, X)
    data = _data(X, names, weights)
    data.given["relative"] = getattr(estimator, "weight_kind", "frequency") == "relative"
    data.given["missing"] = getattr(estimator, "missing", "error")
    return data


def alone(X: Any, sample_weight: Any = None, *, ensure_min_samples: int = 1) -> Data:
    """Data for a function, without an estimator."""
    table = as_table(X)
    if table is not None:
        data = _files(table.open())
        data.given["weights"] = _file_weights(sample_weight)
        return data
    names, X = _from_arrow(_in_memory_table(X))
    if names is None:
        names = feature_names(X)
    X = check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=ensure_min_samples,
    )
    # Not scikit-learn's check, which refuses a part of which no sample counts.
    weights = None if sample_weight is None else _standalone.check_sample_weight(sample_weight, X)
    return _data(X, names, weights)


def _data(X: Any, names: Any, weights: Any) -> Data:
    sparse = is_sparse(X)
    return Data(
        given={
            "values": _compressed(X) if sparse else _plain(X),
            "names": None if names is None else [str(name) for name in names],
            "weights": weights,
            "relative": False,
            "missing": "error",
        },
        n_samples=X.shape[0],
        n_features=X.shape[1],
        dtype=X.dtype,
        is_sparse=sparse,
        X=X,
    )


def of_array(X: Any) -> Data:
    """Data of an array or sparse matrix that needs no check."""
    return _data(X, None, None)


def in_memory(data: Data, estimator: Any) -> Any:
    """The array or sparse matrix, for what is computed here rather than in the compiled part."""
    if data.X is None:
        raise ValueError(
            f"{type(estimator).__name__} does not read files; load the table first, for example "
            f"with {'scipy.sparse.load_npz' if data.is_sparse else 'pandas.read_parquet'}"
        )
    return data.X


def _is_plain(X: Any, min_samples: int, min_features: int) -> bool:
    """Whether validation would find nothing to do: it costs a few percent of a small fit."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in _PLAIN
        and X.shape[0] >= min_samples
        and X.shape[1] >= min_features
    )


def _plain(X: np.ndarray) -> np.ndarray:
    """The array itself; a copy only where its numbers do not lie as the processor wants them."""
    aligned = X.flags.aligned and all(stride % X.itemsize == 0 for stride in X.strides)
    return X if aligned else np.array(X)


def _compressed(X: Any) -> tuple[Any, ...]:
    """A sparse matrix by compressed rows."""
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"the sparse matrix has {X.shape[1]} columns, but at most 2³¹ − 1 will do")
    return (
        X.shape,
        np.asarray(X.indptr, dtype=np.int64),
        np.asarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.data),
    )


def _in_memory_table(X: Any) -> Any:
    """What validation knows, of what it does not: a query that has to be run, a part of an Arrow table, an array of
    another library on this machine's processor."""
    if isinstance(X, np.ndarray):
        return X
    kind = f"{type(X).__module__.split('.')[0]}.{type(X).__name__}"
    if kind == "polars.LazyFrame":
        return X.collect()
    if kind == "pyarrow.RecordBatch":
        import pyarrow

        return pyarrow.Table.from_batches([X])
    if hasattr(X, "__array_namespace__") and hasattr(X, "__dlpack__"):
        return np.from_dlpack(X)
    return X


def _from_arrow(X: Any) -> tuple[list[str] | None, Any]:
    """Names and numbers of a table that speaks Arrow and nothing else that is known here."""
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__"):
        return _core.from_arrow(X)
    return None, X


def _from_files(estimator: Any, table: Any, *, reset: bool, sample_weight: Any) -> Data:
    memory = n_bytes(getattr(estimator, "memory", None))
    known = None if reset else _known_names(estimator)
    policy = getattr(estimator, "missing", "error")
    data = _files(table.open(memory, known, policy))
    if reset:
        _keep_features(estimator, data.given["values"].feature_names, reset=True)
    data.given["missing"] = policy
    data.given["weights"] = _file_weights(sample_weight)
    data.given["relative"] = getattr(estimator, "weight_kind", "frequency") == "relative"
    return data


def _known_names(estimator: Any) -> list[str]:
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        # What readers call columns that have no name.
        return [f"x{i + 1}" for i in range(estimator.n_features_in_)]
    return [str(name) for name in names]


def _files(files: _core.Files) -> Data:
    return Data(
        given={
            "values": files,
            "names": None,
            "weights": None,
            "relative": False,
            "missing": "error",
        },
        n_samples=files.n_rows,
        n_features=len(files.feature_names),
        dtype=np.dtype(np.float32 if files.is_f32 else np.float64),
        is_sparse=files.is_sparse,
    )


def _keep_features(estimator: Any, names: list[str], *, reset: bool) -> None:
    """Keeps the names of the features, or compares them with those of the fit."""
    if reset:
        estimator.n_features_in_ = len(names)
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
        return
    if len(names) != estimator.n_features_in_:
        raise ValueError(
            f"X has {len(names)} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is not None and list(known) != names:
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            f"Feature names seen at fit time: {list(known)[:5]}, now: {names[:5]}"
        )


def _file_weights(sample_weight: Any) -> np.ndarray | None:
    """Weights of rows that are counted as they are read."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array, got {weights.ndim}D array.")
    return weights


def _weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    return None if sample_weight is None else check_sample_weight(sample_weight, X, dtype=np.float64)
