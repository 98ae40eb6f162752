"""What fits and checks say about themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Certificate:
    """How far components can be trusted numerically; values are relative to the largest variance.

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
class Verification:
    """What an independent check found; all but the mean's error relative to the largest variance.

    Attributes
    ----------
    passed : bool
        Whether everything is within `tolerance`.
    rows : int
        Rows read.
    mean_error : float
        Largest error of the mean, in standard deviations of its column.
    residuals, value_errors : ndarray of shape (n_components,)
        ‖S u − λ u‖ and |uᵀ S u − λ| of each component.
    total_error : float
        Error of the total variance, relative to it.
    orthogonality : float
        The largest entry of |UᵀU − I|.
    """

    passed: bool
    rows: int
    mean_error: float
    residuals: np.ndarray
    value_errors: np.ndarray
    total_error: float
    orthogonality: float
    tolerance: float

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        worst = max(self.residuals.max(initial=0.0), self.value_errors.max(initial=0.0))
        return (
            f"<Verification {verdict}: residual {worst:.1e}, mean {self.mean_error:.1e}, "
            f"total {self.total_error:.1e}, tolerance {self.tolerance:.0e}>"
        )


def certificate(found: dict[str, Any] | None) -> Certificate | None:
    """A certificate from the compiled part; None where a model is not made of eigenpairs."""
    return None if found is None else Certificate(**found)


def verification(found: dict[str, Any]) -> Verification:
    """A verification from the compiled part."""
    return Verification(**found)


def variances(values: Any, dtype: Any) -> np.ndarray:
    """Variances and eigenvalues of a model's description, where those too large for a number are ``None``."""
    if isinstance(values, np.ndarray):
        return values.astype(dtype, copy=False)
    return np.array([np.inf if value is None else value for value in values], dtype=dtype)
