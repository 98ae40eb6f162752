"""Model files."""

from __future__ import annotations

import json
import os
from typing import Any

from eigenlens import _core
from eigenlens._estimator import ESTIMATORS, Estimator


def _usual(method: str) -> type[Estimator] | None:
    """The estimator of a method, for models that none of ours saved."""
    usual = (one for one in ESTIMATORS.values() if one._method == method and one._is_usual)
    return next(usual, None)


def load(path: str | os.PathLike[str]) -> Estimator:
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
    kind = ESTIMATORS.get(words.get("class", ""))
    if kind is None or kind._method != model.method:
        kind = _usual(model.method)
        if kind is None:
            known = ", ".join(sorted({one._method for one in ESTIMATORS.values()}))
            raise ValueError(f"{path}: a model of `{model.method}`; Python knows {known}")
        parameters = kind._parameters_of(model)
        stored: dict[str, Any] = {}
    else:
        known = kind._get_param_names()
        parameters = json.loads(words["parameters"])
        parameters = {name: value for name, value in parameters.items() if name in known}
        stored = json.loads(words["attributes"])
    return kind(**parameters)._restore(model, stored)
