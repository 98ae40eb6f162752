"""What parameters may be, in scikit-learn's words."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from eigenlens._compat import InvalidParameterError

# The plain type first: the registry of numbers takes longer than all other checks together.
_WHOLE = (int, Integral)


@dataclass(frozen=True)
class Whole:
    """A whole number, at least `least`."""

    least: int = 0

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, _WHOLE) and not isinstance(value, bool) and value >= self.least

    def __str__(self) -> str:
        return f"an int in the range [{self.least}, inf)"


@dataclass(frozen=True)
class Number:
    """A number in a range; an open end excludes the bound."""

    low: float
    high: float = np.inf
    open_low: bool = False
    only_float: bool = False
    closed_high: bool = False

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        if self.only_float and isinstance(value, Integral):
            return False
        above = value > self.low if self.open_low else value >= self.low
        below = value <= self.high if self.closed_high else value < self.high
        return bool(above and below)

    def __str__(self) -> str:
        left, right = "(" if self.open_low else "[", "]" if self.closed_high else ")"
        return f"a float in the range {left}{float(self.low)}, {float(self.high)}{right}"


class Words:
    """One of these texts."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.words

    def __str__(self) -> str:
        return f"a str among {{{', '.join(repr(word) for word in sorted(self.words))}}}"


class _Nothing:
    def __contains__(self, value: Any) -> bool:
        return value is None

    def __str__(self) -> str:
        return "None"


class _Truth:
    def __contains__(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)

    def __str__(self) -> str:
        return "an instance of 'bool' or an instance of 'numpy.bool'"


class _RandomState:
    def __contains__(self, value: Any) -> bool:
        return value is None or value in Whole() or hasattr(value, "randint")

    def __str__(self) -> str:
        return (
            "an int in the range [0, 4294967295], an instance of "
            "'numpy.random.mtrand.RandomState' or None"
        )


class _Memory:
    def __contains__(self, value: Any) -> bool:
        return value is None or value in Whole(1) or isinstance(value, str)

    def __str__(self) -> str:
        return "a number of bytes, a text such as '512MiB' or None"


class _Jobs:
    def __contains__(self, value: Any) -> bool:
        return isinstance(value, _WHOLE) and value != 0

    def __str__(self) -> str:
        return "an int that is not 0"


class _Callable:
    def __contains__(self, value: Any) -> bool:
        return callable(value)

    def __str__(self) -> str:
        return "a callable"


class _Text:
    def __contains__(self, value: Any) -> bool:
        return isinstance(value, str)

    def __str__(self) -> str:
        return "an instance of 'str'"


class _Mapping:
    def __contains__(self, value: Any) -> bool:
        return isinstance(value, dict)

    def __str__(self) -> str:
        return "an instance of 'dict'"


class _Sequence:
    def __contains__(self, value: Any) -> bool:
        return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)

    def __str__(self) -> str:
        return "an array-like"


class _Fits:
    def __contains__(self, value: Any) -> bool:
        return callable(getattr(value, "fit", None))

    def __str__(self) -> str:
        return "an object implementing 'fit'"


NOTHING = _Nothing()
FITS = _Fits()
SEQUENCE = _Sequence()
CALLABLE = _Callable()
MAPPING = _Mapping()
TEXT = _Text()
TRUTH = _Truth()
RANDOM_STATE = _RandomState()
MEMORY = _Memory()
JOBS = _Jobs()


def check(estimator: Any, constraints: dict[str, list[Any]]) -> None:
    """Refuses the first parameter that is none of what it may be."""
    usual = _defaults(type(estimator))
    for name, allowed in constraints.items():
        value = getattr(estimator, name)
        if (name in usual and value is usual[name]) or any(value in one for one in allowed):
            continue
        words = [str(one) for one in allowed]
        said = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
        raise InvalidParameterError(
            f"The {name!r} parameter of {type(estimator).__name__} must be {said}. "
            f"Got {value!r} instead."
        )


@functools.cache
def _defaults(kind: type) -> dict[str, Any]:
    """Values that need no check: the defaults of the class that has the constraints, which those of
    a user's class that inherits them need not be."""
    owner = next(one for one in kind.__mro__ if "_constraints" in vars(one))
    given = inspect.signature(owner.__init__).parameters.values()
    return {one.name: one.default for one in given if one.default is not one.empty}
