"""Drop-in classes have scikit-learn's parameters, in its order, with its defaults."""

from __future__ import annotations

import inspect
import typing

import pytest

import eigenlens
from eigenlens._constraints import Words

sklearn = pytest.importorskip("sklearn")
from sklearn.utils import all_estimators  # noqa: E402

# Every class whose name scikit-learn has too.
THEIRS = [theirs for name, theirs in all_estimators() if hasattr(eigenlens, name)]


def test_there_are_such_classes():
    assert len(THEIRS) >= 12


def parameters(kind):
    named = inspect.signature(kind.__init__).parameters.values()
    return [p for p in named if p.name != "self"]


@pytest.mark.parametrize("theirs", THEIRS, ids=lambda kind: kind.__name__)
def test_parameters_and_defaults_are_scikit_learns(theirs):
    ours = {p.name: p for p in parameters(getattr(eigenlens, theirs.__name__))}
    positional = [p.name for p in ours.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    expected = [p.name for p in parameters(theirs) if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert positional == expected
    for parameter in parameters(theirs):
        assert parameter.name in ours, parameter.name
        found = ours[parameter.name]
        # Deprecated ones say so by a word of scikit-learn's.
        if parameter.default != "deprecated":
            assert found.default == parameter.default, parameter.name


@pytest.mark.parametrize("theirs", THEIRS, ids=lambda kind: kind.__name__)
def test_what_we_add_is_named(theirs):
    known = {p.name for p in parameters(theirs)}
    for parameter in parameters(getattr(eigenlens, theirs.__name__)):
        if parameter.name not in known:
            assert parameter.kind is parameter.KEYWORD_ONLY, parameter.name
            assert parameter.default is not parameter.empty, parameter.name


def literals(annotation) -> set[str]:
    """The texts that an annotation allows."""
    found = typing.get_args(annotation)
    if typing.get_origin(annotation) is typing.Literal:
        return {one for one in found if isinstance(one, str)}
    return set().union(*map(literals, found)) if found else set()


@pytest.mark.parametrize("theirs", THEIRS, ids=lambda kind: kind.__name__)
def test_types_list_the_words_that_are_allowed(theirs):
    ours = getattr(eigenlens, theirs.__name__)
    hints = typing.get_type_hints(ours.__init__)
    for name, allowed in ours._constraints.items():
        words = {word for one in allowed if isinstance(one, Words) for word in one.words}
        if literals(hints[name]):
            assert literals(hints[name]) == words, name
    solvers = [name for name in hints if name.endswith("solver")]
    assert all(literals(hints[name]) for name in solvers)
