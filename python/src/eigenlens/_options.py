"""The options of every method, as the compiled part takes them."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def shared(estimator: Any, *, tolerance: float | None = None) -> dict[str, Any]:
    """Threads, memory, seed, tolerance and iterations of an estimator."""
    return options(
        n_jobs=getattr(estimator, "n_jobs", None),
        memory=getattr(estimator, "memory", None),
        random_state=getattr(estimator, "random_state", None),
        tolerance=tolerance,
        max_iter=getattr(estimator, "max_iter", None),
    )


def options(
    *,
    n_jobs: int | None = None,
    memory: int | str | None = None,
    random_state: Any = None,
    tolerance: float | None = None,
    max_iter: int | None = None,
) -> dict[str, Any]:
    """The same from single values."""
    return {
        "threads": _threads(n_jobs),
        "memory": n_bytes(memory),
        "seed": seed(random_state),
        "tolerance": None if not tolerance else float(tolerance),
        "max_iterations": None if max_iter is None else int(max_iter),
    }


def _threads(n_jobs: int | None) -> int | None:
    """Threads as joblib counts them: −2 is all cores but one; None, like −1, is all of them."""
    if n_jobs is None or n_jobs == -1:
        return None
    return int(n_jobs) if n_jobs > 0 else max(1, _n_cores() + 1 + int(n_jobs))


def _n_cores() -> int:
    """Cores that the process may use."""
    can_tell = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if can_tell else os.cpu_count() or 1


def seed(random_state: Any) -> int:
    """A seed: 0 for `None`, so that the same data always give the same answer."""
    if random_state is None:
        return 0
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)


def generator(random_state: Any) -> np.random.RandomState:
    """The generator that scikit-learn would use; that of seed 0 for `None`."""
    if hasattr(random_state, "randint"):
        return random_state
    return np.random.RandomState(0 if random_state is None else int(random_state))


def n_bytes(memory: int | str | None) -> int | None:
    """Bytes from a number or a text such as `512MiB` or `2 GB`."""
    if memory is None or isinstance(memory, int):
        return memory
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?i?)b?\s*", str(memory).lower())
    factor = ({**_UNITS, **_BINARY}).get(found[2]) if found else None
    if not found or factor is None:
        raise ValueError(f"`memory` is {memory!r}, but it must be like '512MiB' or '2GB'")
    return int(float(found[1]) * factor)
