"""A fitted model in a notebook: a table of components, the scree plot, the certificate."""

from __future__ import annotations

from html import escape
from typing import Any

from eigenlens import plots

_SHOWN = 10
_BOX = (
    "font-family:system-ui,sans-serif;font-size:13px;max-width:760px;"
    "border:1px solid #8884;border-radius:6px;padding:10px 14px"
)
_CELL = "text-align:right;padding:1px 12px 1px 0"


def summary(estimator: Any) -> str:
    """A compact page: what was fitted, its components, the certificate, warnings."""
    found = estimator._model.summary
    facts = "; ".join(f"{name} {words}" for name, words in found["facts"])
    parts = [
        f"<div><b>{escape(repr(estimator))}</b></div>",
        f"<div>{escape(found['headline'])}</div>",
        _table(found["columns"]),
        _scree(estimator),
        f"<div>{escape(facts)}</div>",
        f"<pre style='margin:6px 0'>{escape(found['trust'])}</pre>",
        f"<div style='opacity:.75'>{escape(str(estimator.plan_))}</div>",
        *(f"<div>⚠ {escape(words)}</div>" for words in estimator.warnings_),
    ]
    return f"<div style='{_BOX}'>{''.join(parts)}</div>"


def _table(columns: dict[str, tuple[str, list[Any]]]) -> str:
    n_rows = max((len(cells) for _, cells in columns.values()), default=0)
    if n_rows == 0:
        return ""
    head = "".join(f"<th style='{_CELL}'>{escape(name)}</th>" for name in columns)
    rows = [
        "".join(f"<td style='{_CELL}'>{_cell(*column, row)}</td>" for column in columns.values())
        for row in range(min(_SHOWN, n_rows))
    ]
    body = "".join(
        f"<tr><td style='{_CELL}'>{number}</td>{cells}</tr>" for number, cells in enumerate(rows, 1)
    )
    more = f"<div>… and {n_rows - _SHOWN} more</div>" if n_rows > _SHOWN else ""
    return f"<table><tr><th></th>{head}</tr>{body}</table>{more}"


def _cell(kind: str, cells: list[Any], row: int) -> str:
    if row >= len(cells):
        return ""
    if kind == "numbers":
        return f"{cells[row]:.5g}"
    return f"{100 * cells[row]:.2f} %" if kind == "shares" else escape(cells[row])


def _scree(estimator: Any) -> str:
    if "scree" not in plots.kinds(estimator):
        return ""
    return f"<div style='max-width:560px'>{plots.plot(estimator, 'scree').svg}</div>"
