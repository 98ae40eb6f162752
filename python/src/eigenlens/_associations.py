"""How components go with what is known of the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlens import _core


@dataclass(frozen=True, eq=False)
class Associations:
    """Components beside columns about the samples, as columns by name.

    Attributes
    ----------
    table : dict of str to ndarray
        A row for each column with each component: `column`, `component` (counted from 0), `measure`
        (`correlation` with numbers, `eta_squared`: the share of variance between groups), `value`,
        `p_value` (as if scores were normal: t and F tests), `adjusted_p_value` (Benjamini & Hochberg
        1995, for all tests of the table), `n_samples`, `n_groups`. NaN where nothing varies.
    groups : dict of str to ndarray
        A row for each group on each component: `column`, `group`, `component`, `n_samples`, `mean`,
        `v_test` (distance from the mean of all in standard errors of a group of this size).
    names : list of str
        Columns of text that name samples, and take no part.
    """

    table: dict[str, np.ndarray]
    groups: dict[str, np.ndarray]
    names: list[str]


def associations(scores: Any, metadata: Any) -> Associations:
    """How components go with what is known of the samples.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_components)
        What `transform` gave.
    metadata : data frame or dict of str to array-like of shape (n_samples,)
        Numbers, or text (or categories) that says which group a sample is of. NaN, None and empty
        text: not known.

    Returns
    -------
    Associations

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import PCA, associations
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + np.repeat([0, 5, 9], 20)[:, None]
    >>> scores = PCA(2).fit_transform(X)
    >>> found = associations(scores, {"batch": np.repeat(["a", "b", "c"], 20)})
    >>> found.table["measure"][0], found.table["value"][0] > 0.9
    (np.str_('eta_squared'), np.True_)
    """
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    if scores.ndim != 2:
        raise ValueError(f"`scores` has {scores.ndim} dimensions, but it must have 2")
    keys = metadata.keys() if isinstance(metadata, dict) else metadata.columns
    names = [str(name) for name in keys]
    columns = [_column(metadata[key]) for key in keys]
    for name, column in zip(names, columns, strict=True):
        if len(column) != len(scores):
            raise ValueError(
                f"`metadata` has {len(column)} rows in `{name}`, but `scores` has {len(scores)}"
            )
    found, groups = _core.associations(scores, columns)
    rows = [
        (name, component, "correlation" if entry[4] is None else "eta_squared", *entry)
        for name, entries in zip(names, found, strict=True)
        for component, entry in enumerate(entries or [])
    ]
    heads = ["column", "component", "measure", "value", "p_value", "adjusted_p_value"]
    return Associations(
        table=_table([*heads, "n_samples", "n_groups"], rows),
        groups=_table(
            ["column", "group", "component", "n_samples", "mean", "v_test"],
            [(names[column], *rest) for column, *rest in groups],
        ),
        names=[name for name, entries in zip(names, found, strict=True) if entries is None],
    )


def _column(values: Any) -> list[float] | list[str | None]:
    """Numbers, or texts that are None where nothing is known."""
    values = np.asarray(values)
    if values.dtype.kind in "iuf":
        return values.astype(np.float64).tolist()
    return [None if _is_unknown(value) else str(value) for value in values.tolist()]


def _is_unknown(value: Any) -> bool:
    # NaN and pandas' NA are not equal to themselves, or say nothing of it.
    return value is None or not bool(str(value).strip()) or str(value) in ("nan", "<NA>", "NaT")


def _table(names: list[str], rows: list[tuple[Any, ...]]) -> dict[str, np.ndarray]:
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return {
        name: np.array([np.nan if value is None else value for value in column])
        for name, column in zip(names, columns, strict=True)
    }
