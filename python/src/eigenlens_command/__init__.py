"""The `eigenlens` command: the Rust program, run by the extension of the package `eigenlens`.

In a package of its own, because importing `eigenlens` imports NumPy and scikit-learn, which the program does not need:
it would start in a second instead of a few hundredths.
"""

from __future__ import annotations

import sys
from importlib import machinery, util
from types import ModuleType


def main() -> int:
    """Runs the program with the arguments of this process and returns its exit code."""
    return _extension().command(["eigenlens", *sys.argv[1:]])


def _extension() -> ModuleType:
    """The compiled part of `eigenlens`, without the package around it unless that is there already."""
    if "eigenlens._core" in sys.modules:
        return sys.modules["eigenlens._core"]
    package = util.find_spec("eigenlens")
    places = package.submodule_search_locations
    spec = machinery.PathFinder.find_spec("_core", places)
    extension = util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    return extension

