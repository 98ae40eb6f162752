"""An interactive report: one page that needs no network, in notebooks and as a file."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from eigenlens import _core, plots
from eigenlens._data import for_estimator


class Explorer:
    """An interactive page. Notebooks show it; :meth:`save` writes it.

    Attributes
    ----------
    html : str
        The page: one file with everything inside, which loads nothing and sends nothing.
    """

    def __init__(self, html: str, height: int = 900) -> None:
        self.html = html
        self.height = height

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page; it appears whole or not at all."""
        path = Path(path)
        beside = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            beside.write_text(self.html, encoding="utf-8", newline="\n")
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)

    def __repr__(self) -> str:
        return f"Explorer({len(self.html) / 1e6:.1f} MB; `save(path)` writes the page)"

    def _repr_html_(self) -> str:
        # The page of its own, apart from the notebook's: it may run its script and save files, nothing else.
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self.height}px;border:0" title="eigenlens explorer"></iframe>'
        )


def explore(
    estimator: Any,
    X: Any = None,
    *,
    labels: Any = None,
    names: Any = None,
    image_size: tuple[int, int] | None = None,
    max_samples: int | None = None,
    include_features: bool | None = None,
    seed: int = 0,
    height: int = 900,
) -> Explorer:
    """An interactive page: samples, components, features, diagnostics and how far to trust them.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like, sparse matrix, table, path or :class:`Table`, optional
        The samples.
    labels : array-like of shape (n_samples,), dict or data frame, optional
        What else is known of the samples: one column, or several by name. Groups, or numbers where there are
        too many different ones to be groups.
    names : array-like of shape (n_samples,), optional
        What the samples are called.
    image_size : pair of int, optional
        Width and height of images whose pixels are the features, row by row.
    max_samples : int, optional
        At most so many samples, evenly spaced.
    include_features : bool, optional
        Whether the values of the features go into the page; by default if they are at most 8 million.
    seed : int
        Of rules for the number of components that draw random numbers.
    height : int
        Of the page in a notebook, in pixels.

    Returns
    -------
    Explorer

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import PCA, explore
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> page = explore(PCA(2).fit(X), X, labels=["a", "b"] * 20)
    >>> page.html[:15]
    '<!doctype html>'
    """
    model = plots._model(estimator)
    data = None
    if X is not None:
        finite = estimator._must_be_finite()
        data = for_estimator(estimator, X, reset=False, ensure_all_finite=finite)
        data = estimator._seen(data, new=True).given
    elif labels is not None or names is not None:
        raise ValueError("`labels` and `names` are about samples, and there is no `X`")
    if max_samples is not None and max_samples < 1:
        raise ValueError(f"`max_samples` is {max_samples}, but it must be at least 1")
    args = {
        "labels": _columns(labels),
        "names": None if names is None else plots._text(names),
        "image_size": image_size,
        "max_samples": max_samples,
        "include_features": include_features,
        "seed": seed,
    }
    return Explorer(_core.explore(model, data, args), height)


def _columns(labels: Any) -> list[tuple[str, list[str]]]:
    """The columns by name, as text."""
    if labels is None:
        return []
    if hasattr(labels, "keys") and not hasattr(labels, "index") or hasattr(labels, "columns"):
        return [(str(key), plots._text(labels[key])) for key in _keys(labels)]
    name = getattr(labels, "name", None)
    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError("`labels` must be one column, or columns by name")
    return [(str(name) if name is not None else "label", plots._text(values))]


def _keys(labels: Any) -> list[Any]:
    return list(labels.columns if hasattr(labels, "columns") else labels.keys())
