"""Model files."""

from __future__ import annotations

import json
import os
from typing import Any

from eigenlens import _core
from eigenlens._bayesian_pca import BayesianPCA
from eigenlens._classical_mds import ClassicalMDS
from eigenlens._estimator import Estimator
from eigenlens._incremental_pca import IncrementalPCA
from eigenlens._isomap import Isomap
from eigenlens._kernel_pca import KernelPCA
from eigenlens._kernel_supervised_pca import KernelSupervisedPCA
from eigenlens._locally_linear import LocallyLinearEmbedding
from eigenlens._mini_batch_sparse_pca import MiniBatchSparsePCA
from eigenlens._pca import PCA
from eigenlens._probabilistic_pca import ProbabilisticPCA
from eigenlens._probabilistic_pca_mixture import ProbabilisticPCAMixture
from eigenlens._sparse_pca import SparsePCA
from eigenlens._spectral_embedding import SpectralEmbedding
from eigenlens._supervised_pca import SupervisedPCA
from eigenlens._truncated_svd import TruncatedSVD

# By method, for models that no estimator saved; a new estimator is a row here.
_BY_METHOD: dict[str, type[Estimator]] = {
    "pca": PCA,
    "lsa": TruncatedSVD,
    "ppca": ProbabilisticPCA,
    "bayesian-pca": BayesianPCA,
    "ppca-mixture": ProbabilisticPCAMixture,
    "sparse-pca": SparsePCA,
    "supervised-pca": SupervisedPCA,
    "kernel-supervised-pca": KernelSupervisedPCA,
    "kernel-pca": KernelPCA,
    "mds": ClassicalMDS,
    "isomap": Isomap,
    "laplacian": SpectralEmbedding,
    "lle": LocallyLinearEmbedding,
}
_CLASSES: dict[str, type[Estimator]] = {
    one.__name__: one for one in (*_BY_METHOD.values(), IncrementalPCA, MiniBatchSparsePCA)
}


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted estimator in a model file, whether `save` or the command line wrote it.

    Everything in the file is checked; nothing in it is executed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlens import PCA, load
    >>> X = [[0.0, 1.0], [2.0, 3.0], [3.0, 7.0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.safetensors")
    ...     PCA(1).fit(X).save(path)
    ...     pca = load(path)
    >>> pca
    PCA(n_components=1)
    >>> pca.transform(X).round(3)
    array([[-3.125],
           [-0.458],
           [ 3.582]])
    """
    model = _core.Model.load(path)
    words = model.options
    kind = _CLASSES.get(words.get("class", ""))
    if kind is None or kind._method != model.method:
        if model.method not in _BY_METHOD:
            known = ", ".join(_BY_METHOD)
            raise ValueError(f"{path}: a model of `{model.method}`; Python knows {known}")
        kind = _BY_METHOD[model.method]
        parameters = kind._parameters_of(model)
        stored: dict[str, Any] = {}
    else:
        known = kind._get_param_names()
        parameters = json.loads(words["parameters"])
        parameters = {name: value for name, value in parameters.items() if name in known}
        stored = json.loads(words["attributes"])
    return kind(**parameters)._restore(model, stored)
