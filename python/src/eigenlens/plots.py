"""Pictures of models.

:func:`plot` draws any picture of the command line, as SVG or PNG, without further packages; :func:`kinds` lists
them. The other functions draw with Matplotlib, where it is installed, and return the axes they drew on.

>>> import numpy as np
>>> from eigenlens import PCA, plots
>>> X = np.random.default_rng(0).normal(size=(40, 3))
>>> pca = PCA().fit(X)
>>> plots.plot(pca, "biplot", X).svg[:4]
'<svg'
>>> ax = plots.scree(pca)
>>> ax.get_ylabel()
'Explained variance'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigenlens import _core
from eigenlens._compat import check_is_fitted
from eigenlens._core import Picture
from eigenlens._data import for_estimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR, _LINE = "#4c78a8", "#333333"


def kinds(estimator: Any = None) -> dict[str, str]:
    """The pictures that :func:`plot` draws, of a fitted estimator where one is given, and what they show."""
    return dict(_core.plots(None if estimator is None else _model(estimator)))


def plot(
    estimator: Any,
    kind: str | None = None,
    X: Any = None,
    *,
    components: tuple[int, int] | None = None,
    color: Any = None,
    names: Any = None,
    image_size: tuple[int, int] | None = None,
    seed: int = 0,
) -> Picture:
    """A picture as the command line draws it, the same bytes.

    Parameters
    ----------
    estimator : fitted estimator
    kind : str, optional
        One of :func:`kinds`; samples (`'scores'`) if there are any, else `'scree'`.
    X : array-like, sparse matrix, table, path or :class:`Table`, optional
        The samples, for pictures that show them.
    components : pair of int, optional
        The two components of a plane, counted from 0.
    color : array-like of shape (n_samples,), optional
        Groups, or numbers where there are too many different ones to be groups.
    names : array-like of shape (n_samples,), optional
        What the samples are called.
    image_size : pair of int, optional
        Width and height of images whose pixels are the features, row by row.
    seed : int
        Of random numbers, where there are any: entries that are held out.

    Returns
    -------
    Picture
        Shown by notebooks; with the text `svg`, `png()` and `save(path)`, and with a `note` on what is not
        obvious from it.
    """
    model = _model(estimator)
    data = None
    if X is not None:
        finite = estimator._must_be_finite()
        data = for_estimator(estimator, X, reset=False, ensure_all_finite=finite)
        data = estimator._seen(data, new=True).given
    options = {
        "axes": components,
        "color": None if color is None else (str(getattr(color, "name", None) or ""), _text(color)),
        "names": None if names is None else _text(names),
        "image_size": image_size,
        "seed": seed,
    }
    return _core.draw(model, kind, data, options)


def scree(estimator: Any, *, ax: Axes | None = None) -> Axes:
    """What each component carries, explained variance in most methods, with the cumulative share."""
    check_is_fitted(estimator)
    ax = _axes(ax)
    label, values, errors, cumulative, total = _heights(estimator)
    numbers = np.arange(1, len(values) + 1)
    ax.bar(numbers, values, color=_BAR, yerr=errors, ecolor=_LINE)
    ax.set(xlabel="Component", ylabel=label, xticks=_ticks(numbers))
    if cumulative is not None:
        shares = ax.twinx()
        shares.plot(numbers, cumulative, "o-", color=_LINE, ms=3)
        shares.set(ylabel=f"Cumulative share of {total}", ylim=(0, 1.05))
    return ax


def scores(
    estimator: Any,
    X: Any,
    *,
    components: tuple[int, int] = (0, 1),
    groups: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Scores of samples on two components, coloured by group."""
    check_is_fitted(estimator)
    ax = _axes(ax)
    points = np.asarray(estimator.transform(X))
    i, j = _two(components, points.shape[1])
    if groups is None:
        ax.scatter(points[:, i], points[:, j], s=12, color=_BAR)
    else:
        groups = np.asarray(groups)
        for group in dict.fromkeys(groups.tolist()):
            chosen = groups == group
            ax.scatter(points[chosen, i], points[chosen, j], s=12, label=str(group))
        ax.legend()
    ax.set(xlabel=_label(estimator, i), ylabel=_label(estimator, j))
    ax.axhline(0, color="#8888", lw=0.5)
    ax.axvline(0, color="#8888", lw=0.5)
    return ax


def loadings(
    estimator: Any, *, component: int = 0, most: int = 20, ax: Axes | None = None
) -> Axes:
    """The largest loadings of one component: its entries times the standard deviation along it."""
    check_is_fitted(estimator)
    ax = _axes(ax)
    component = _one(component, len(estimator.components_))
    values = _loadings(estimator)[:, component]
    order = np.argsort(-np.abs(values))[:most][::-1]
    names = _feature_names(estimator)
    ax.barh([names[f] for f in order], values[order], color=_BAR)
    ax.axvline(0, color=_LINE, lw=0.5)
    ax.set(xlabel=f"Loading on {_label(estimator, component)}")
    return ax


def biplot(
    estimator: Any,
    X: Any,
    *,
    components: tuple[int, int] = (0, 1),
    groups: Any = None,
    most: int = 15,
    ax: Axes | None = None,
) -> Axes:
    """Scores of samples and, as arrows, the weights of the features."""
    ax = scores(estimator, X, components=components, groups=groups, ax=ax)
    i, j = components
    weights = np.asarray(estimator.components_)[[i, j]]
    lengths = np.hypot(*weights)
    reach = np.abs(np.asarray(estimator.transform(X))[:, [i, j]]).max()
    factor = 0.8 * reach / max(lengths.max(), np.finfo(float).tiny)
    names = _feature_names(estimator)
    for f in np.argsort(-lengths)[:most]:
        x, y = weights[:, f] * factor
        ax.annotate("", xy=(x, y), xytext=(0, 0), arrowprops={"arrowstyle": "->", "color": _LINE})
        ax.annotate(names[f], xy=(x, y), fontsize=8)
    return ax


def correlation_circle(
    estimator: Any, X: Any, *, components: tuple[int, int] = (0, 1), ax: Axes | None = None
) -> Axes:
    """Correlations of the features with the scores, in the unit circle."""
    ax = _axes(ax)
    points = np.asarray(estimator.transform(X), dtype=float)
    i, j = _two(components, points.shape[1])
    table = np.asarray(X, dtype=float)
    both = np.corrcoef(np.column_stack([points[:, [i, j]], table]).T)[:2, 2:]
    angle = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(angle), np.sin(angle), color="#8888", lw=0.8)
    for name, (x, y) in zip(_feature_names(estimator), both.T, strict=True):
        ax.annotate("", xy=(x, y), xytext=(0, 0), arrowprops={"arrowstyle": "->", "color": _BAR})
        ax.annotate(name, xy=(x, y), fontsize=8)
    ax.set(
        xlabel=_label(estimator, i),
        ylabel=_label(estimator, j),
        aspect="equal",
        xlim=(-1.15, 1.15),
        ylim=(-1.15, 1.15),
    )
    return ax


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need Matplotlib: `pip install matplotlib`") from error
    return plt.subplots()[1]


def _model(estimator: Any) -> _core.Model:
    check_is_fitted(estimator)
    model = getattr(estimator, "_model", None)
    if model is None:
        raise TypeError(f"{type(estimator).__name__} has no model that could be drawn")
    return model


def _text(values: Any) -> list[str]:
    return [str(value) for value in np.asarray(values).tolist()]


def _heights(estimator: Any) -> tuple[str, np.ndarray, np.ndarray | None, np.ndarray | None, str]:
    """What a scree plot shows: label, heights, twice their standard errors, cumulative shares, and of what."""
    model = getattr(estimator, "_model", None)
    found = None if model is None else model.summary["scree"]
    label, heights, errors, cumulative, total = found or ("Explained variance", [], [], [], "the variance")
    if label == "Explained variance" and hasattr(estimator, "explained_variance_"):
        # The estimator's own, which may have another divisor than the model's.
        values = np.asarray(estimator.explained_variance_, dtype=float)
        k = len(values)
        same = len(errors) >= k and np.allclose(values, heights[:k], rtol=1e-4)
        spread = 2 * np.asarray(errors[:k]) if same else None
        return label, values, spread, np.cumsum(estimator.explained_variance_ratio_), total
    if found is None:
        raise TypeError(f"{type(estimator).__name__} has no values in order for a scree plot")
    k = model.n_components
    shares = np.asarray(cumulative[:k]) if cumulative else None
    return label, np.asarray(heights[:k]), None, shares, total


def _label(estimator: Any, j: int) -> str:
    model = getattr(estimator, "_model", None)
    if model is None:
        return f"Component {j + 1}"
    name, share = model.axes[j]
    return name if share is None else f"{name} ({100 * share[0]:.1f} % of {share[1]})"


def _loadings(estimator: Any) -> np.ndarray:
    model = getattr(estimator, "_model", None)
    if model is not None and model.loadings is not None:
        return model.loadings
    deviations = np.sqrt(np.asarray(estimator.explained_variance_, dtype=float))
    return np.asarray(estimator.components_).T * deviations


def _feature_names(estimator: Any) -> list[str]:
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return [f"x{f}" for f in range(estimator.n_features_in_)]
    return [str(name) for name in names]


def _one(component: int, k: int) -> int:
    if not 0 <= component < k:
        raise ValueError(f"`component` is {component}, but there are {k}, counted from 0")
    return component


def _two(components: tuple[int, int], k: int) -> tuple[int, int]:
    return _one(components[0], k), _one(components[1], k)


def _ticks(numbers: np.ndarray) -> list[int]:
    step = max(1, len(numbers) // 10)
    return [int(number) for number in numbers[::step]]
