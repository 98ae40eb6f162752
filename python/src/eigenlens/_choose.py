"""How many components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eigenlens import _core, _options
from eigenlens._data import alone


@dataclass(frozen=True, eq=False)
class Choice:
    """What one rule says.

    Attributes
    ----------
    rule : str
    n_components : int or None
        None where the rule cannot be computed here: `reason` says why.
    thresholds : dict of str to float
        Numbers that were compared with.
    curves : dict of str to (int, ndarray)
        Criteria: the number of components of the first value, and the values.
    notes : list of str
    """

    rule: str
    n_components: int | None
    reason: str | None = None
    thresholds: dict[str, float] = field(default_factory=dict)
    curves: dict[str, tuple[int, np.ndarray]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        if self.n_components is None:
            return f"<Choice {self.rule}: not computed, {self.reason}>"
        return f"<Choice {self.rule}: {self.n_components}>"


def choose_n_components(
    X: Any,
    *,
    rules: Sequence[str] | None = None,
    center: bool = True,
    standardize: bool = False,
    random_state: Any = None,
    memory: int | str | None = None,
    n_jobs: int | None = None,
    sample_weight: Any = None,
) -> dict[str, Choice]:
    """How many components each rule keeps, with what it went by.

    Parameters
    ----------
    X : array-like, sparse matrix, table or path
        n_samples × n_features.
    rules : sequence of str, optional
        Some of `threshold`, `ratio`, `cumulative-share`, `elbow`, `minka`, `bic`,
        `parallel-analysis`, `gavish-donoho`, `broken-stick`, `kaiser`, `cross-validation`; None:
        all of them.
    center, standardize : bool
        What is done to the features first.
    random_state, memory, n_jobs
        As in :class:`PCA`.

    Returns
    -------
    dict of str to Choice
        By rule. A rule that cannot be computed is no error: its choice says why.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlens import choose_n_components
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 12)) * 3 + rng.normal(size=(500, 12))
    >>> choices = choose_n_components(X, rules=["minka", "parallel-analysis", "kaiser"])
    >>> choices["minka"].n_components, choices["parallel-analysis"].n_components
    (3, 3)
    >>> choices["kaiser"].n_components is None
    True
    """
    found = _core.choose_n_components(
        alone(X, sample_weight).given,
        list(_core.rule_names() if rules is None else rules),
        center,
        standardize,
        _options.options(n_jobs=n_jobs, memory=memory, random_state=random_state),
    )
    return {one["rule"]: Choice(**one) for one in found}
