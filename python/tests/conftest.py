"""What several tests use."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest


@pytest.fixture
def spread() -> np.ndarray:
    """200 × 6 with distinct variances and a mean that is not 0."""
    rng = np.random.default_rng(1)
    return rng.normal(size=(200, 6)) @ np.diag([5, 4, 3, 2, 1, 0.5]) + rng.normal(size=6)


def pytest_collection_modifyitems(items):
    """The example of the pictures draws with Matplotlib, which may not be installed."""
    if importlib.util.find_spec("matplotlib") is None:
        for item in items:
            if item.name == "eigenlens.plots":
                item.add_marker(pytest.mark.skip(reason="could not import 'matplotlib'"))
