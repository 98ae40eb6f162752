"""What fits and checks say about themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Certificate:
    """How far components can be trusted numerically; values are relative to the largest variance.

    Of float32 data they hold for the components as they are rounded. Rounding is allowed for by a model that was
    tried and is not proven.

    Attributes
    ----------
    evidence : str
        What residuals were measured against: `data`, `probes` or `matrix`.
    relative_residual : float
        The largest residual.
    residuals, value_errors, angles : ndarray of shape (n_components,)
        ‖S u − λ u‖; bounds on the error of each variance and on the sine of the angle of each
        component (1: it is identified only with its group).
    groups : list of (start, end)
        Components that are only identified together; `group_angles` bounds their spans.
    orthogonality : float
        The largest entry of |UᵀU − I|.
    rank : int
        Components above the rounding of the route taken.
    none_missed : str
        Why no larger variance was overlooked.
    is_conditional : bool
        Whether the angles assume that none was.
    """

    evidence: str
    relative_residual: float
    residuals: np.ndarray
    value_errors: np.ndarray
    angles: np.ndarray
    groups: list[tuple[int, int]]
    group_angles: np.ndarray
    orthogonality: float
    rank: int
    none_missed: str
    is_conditional: bool
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Certificate: residual {self.relative_residual:.1e} against the {self.evidence}>"


@dataclass(frozen=True)
class Plan:
    """What a fit did: its route and why, passes over the data, bytes at the peak."""

    route: str
    reason: str
    passes: int
    peak_memory: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Check:
    """One claim of a model, and what the data say.

    Attributes
    ----------
    claim : str
        In words, such as "explained variance of component 3".
    claimed, found : float, str or None
        What the model says, and what was found.
    allowed : float or None
        By how much they may differ; of a bound, by how much the measurement itself may be off.
    holds : bool
        Whether it is so.
    sentence : str
        The same in a sentence.
    """

    claim: str
    claimed: Any
    found: Any
    allowed: float | None
    holds: bool
    sentence: str

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class Verification:
    """What an independent check found of everything a model claims.

    Attributes
    ----------
    passed : bool
        Whether every claim that was checked holds.
    rows : int
        Rows read.
    seed : int
        Seed of the random probes that looked for what the fit missed.
    tolerance : float
        What residuals may be, relative to the largest eigenvalue.
    checks : list of Check
        Every claim that was checked.
    not_checked : list of (str, str)
        What was not checked, and why.
    """

    passed: bool
    rows: int
    seed: int
    tolerance: float
    checks: list[Check]
    not_checked: list[tuple[str, str]]

    @property
    def failures(self) -> list[Check]:
        """The claims that do not hold."""
        return [check for check in self.checks if not check.holds]

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        width = max((len(check.claim) for check in self.checks), default=0)
        lines = [
            f"{'holds' if check.holds else 'FALSE':<13}{check.claim:<{width}}  "
            f"{_cell(check.claimed):>24}  {_cell(check.found):>24}"
            for check in self.checks
        ]
        lines += [f"not checked  {claim}: {reason}" for claim, reason in self.not_checked]
        verdict = "passed" if self.passed else "FAILED"
        heading = f"{'':<13}{'claim':<{width}}  {'claimed':>24}  {'found':>24}"
        end = (
            f"{verdict}: {len(self.checks)} claims checked against {self.rows} rows "
            f"(tolerance {self.tolerance:g}, seed {self.seed})"
        )
        return "\n".join([heading, *lines, end])


def _cell(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def certificate(found: dict[str, Any] | None) -> Certificate | None:
    """A certificate from the compiled part; None where a model is not made of eigenpairs."""
    return None if found is None else Certificate(**found)


def verification(found: dict[str, Any]) -> Verification:
    """A verification from the compiled part."""
    checks = [Check(*check) for check in found.pop("checks")]
    return Verification(**found, checks=checks)


def variances(values: Any, dtype: Any) -> np.ndarray:
    """Variances and eigenvalues of a model's description, where those too large for a number are ``None``."""
    if isinstance(values, np.ndarray):
        return values.astype(dtype, copy=False)
    return np.array([np.inf if value is None else value for value in values], dtype=dtype)
