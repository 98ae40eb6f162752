"""Runs the tests that come with the installed scikit-learn, with our classes in place of theirs.

Usage: ``python drop_in/run.py [PYTEST OPTION]...``. Tests in :data:`LEFT_OUT` must fail: one that passes is an
error, so that the list is never longer than it has to be. Why each stands in it is shown in ``docs/drop-in.md``.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

import pytest
import sklearn

import eigenlens

# Where scikit-learn's classes are imported from, and by which of its test files. Whatever of these modules is a class
# of ours too is put in its place.
MODULES = {
    "sklearn.decomposition": [
        "sklearn.decomposition.tests.test_incremental_pca",
        "sklearn.decomposition.tests.test_kernel_pca",
        "sklearn.decomposition.tests.test_pca",
        "sklearn.decomposition.tests.test_sparse_pca",
        "sklearn.decomposition.tests.test_truncated_svd",
    ],
    "sklearn.discriminant_analysis": ["sklearn.tests.test_discriminant_analysis"],
    "sklearn.kernel_approximation": ["sklearn.tests.test_kernel_approximation"],
    "sklearn.manifold": [
        "sklearn.manifold.tests.test_classical_mds",
        "sklearn.manifold.tests.test_isomap",
        "sklearn.manifold.tests.test_locally_linear",
        "sklearn.manifold.tests.test_mds",
        "sklearn.manifold.tests.test_spectral_embedding",
    ],
}

# Tests that ask for what is wrong, or for what only scikit-learn has inside, by the heading of their proof in
# `docs/drop-in.md`; with all their parameters, or with one.
LEFT_OUT = {
    "test_pca_score": "Whitening changes scores, not likelihoods",
    "test_pca_svd_solver_auto": "Which of its solvers scikit-learn takes",
    "test_precomputed_kernel_not_psd[randomized]": "The leading eigenvalues of an indefinite kernel",
    "test_spca_early_stopping": "The patience of minibatches",
    "test_error_pyamg_not_available": "A package that is not needed",
}


def replaced() -> dict[str, type]:
    """Puts our classes in place of scikit-learn's, and names them."""
    ours = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for class_name in module.__all__ if hasattr(module, "__all__") else dir(module):
            if isinstance(getattr(eigenlens, class_name, None), type):
                ours[class_name] = getattr(eigenlens, class_name)
                setattr(module, class_name, ours[class_name])
    return ours


class DropIn:
    """What pytest is told about the tests."""

    def __init__(self, ours: dict[str, type]) -> None:
        self.ours = ours

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            self._check(item.module)
            reason = LEFT_OUT.get(item.name) or LEFT_OUT.get(item.originalname)
            if reason:
                item.add_marker(pytest.mark.xfail(strict=True, reason=reason))

    def _check(self, module: object) -> None:
        """A test file that has scikit-learn's class would prove nothing."""
        for name, ours in self.ours.items():
            if getattr(module, name, ours) is not ours:
                raise pytest.UsageError(f"{module} has scikit-learn's {name}")


def main() -> int:
    ours = replaced()
    files = [name for names in MODULES.values() for name in names if importlib.util.find_spec(name)]
    home = Path(sklearn.__file__).parent
    options = ["-q", "--pyargs", f"--rootdir={home}", f"--confcutdir={home}", "-p", "no:cacheprovider"]
    print(f"scikit-learn {sklearn.__version__}, with our {', '.join(sorted(ours))}")
    return pytest.main([*options, *sys.argv[1:], *files], plugins=[DropIn(ours)])


if __name__ == "__main__":
    sys.exit(main())
