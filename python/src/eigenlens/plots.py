"""Pictures with Matplotlib, where it is installed. Every function returns the axes it drew on.

>>> import numpy as np
>>> from eigenlens import PCA, plots
>>> X = np.random.default_rng(0).normal(size=(40, 3))
>>> ax = plots.scree(PCA().fit(X))
>>> ax.get_ylabel()
'Explained variance'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigenlens._compat import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR, _LINE = "#4c78a8", "#333333"


def scree(estimator: Any, *, ax: Axes | None = None) -> Axes:
    """Explained variance of each component, with the cumulative share."""
    check_is_fitted(estimator)
    ax = _axes(ax)
    values = np.asarray(estimator.explained_variance_, dtype=float)
    numbers = np.arange(1, len(values) + 1)
    model = getattr(estimator, "_model", None)
    errors = None if model is None else model.sampling_errors
    same = errors is not None and np.allclose(values, model.explained_variance, rtol=1e-4)
    ax.bar(numbers, values, color=_BAR, yerr=2 * errors if same else None, ecolor=_LINE)
    ax.set(xlabel="Component", ylabel="Explained variance", xticks=_ticks(numbers))
    shares = ax.twinx()
    shares.plot(numbers, np.cumsum(estimator.explained_variance_ratio_), "o-", color=_LINE, ms=3)
    shares.set(ylabel="Cumulative share", ylim=(0, 1.05))
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
    """The largest loadings of one component: its entries times the standard deviation of its scores."""
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


def _label(estimator: Any, j: int) -> str:
    share = getattr(estimator, "explained_variance_ratio_", None)
    return f"PC{j + 1}" if share is None else f"PC{j + 1} ({100 * share[j]:.1f} % of the variance)"


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
