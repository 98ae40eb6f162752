"""Model files of the first format version load, with the scores they were written with."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from eigenlens import _core, load
from eigenlens._estimator import ESTIMATORS

ROOT = pathlib.Path(__file__).parents[2] / "golden" / "models-v1"
MODELS = sorted(ROOT.glob("*/*.safetensors"))
# Classes whose models went to files later.
LATER = {"LinearDiscriminantAnalysis", "SpectralEmbedding"}


def named(path: pathlib.Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("path", MODELS, ids=named)
def test_a_model_gives_the_scores_it_was_written_with(path):
    (new,) = (one for one in path.parent.iterdir() if one.stem == "new")
    expected = np.loadtxt(path.with_suffix(".scores.csv"), delimiter=",", skiprows=1, ndmin=2)
    model = load(path)
    if path.name.startswith("cli-sparse-pca"):
        # The command line projects by least squares.
        model.ridge_alpha = 0
    if path.parent.name in ("distances", "kernel"):
        # Matrices between samples are no tables that are read.
        new = np.loadtxt(new, delimiter=",", skiprows=1)
    scores = model.transform(new)
    tolerance = 1e-6 if scores.dtype == np.float32 else 1e-12
    assert scores.shape == expected.shape
    largest = np.abs(expected).max(axis=0)
    assert (np.abs(scores - expected) <= tolerance * largest).all()


def test_every_class_has_written_a_model():
    written = {_core.Model.load(path).options.get("class") for path in MODELS}
    assert written - {None} == set(ESTIMATORS) - LATER
