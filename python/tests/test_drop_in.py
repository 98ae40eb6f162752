"""What scikit-learn's own tests ask of drop-in classes; all of them are run by `drop_in/run.py`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from eigenlens import PCA, IncrementalPCA, SparsePCA

PACKAGE = Path(__file__).resolve().parents[1]


def test_every_test_that_is_left_out_has_its_proof():
    pytest.importorskip("sklearn")
    spec = importlib.util.spec_from_file_location("drop_in", PACKAGE / "drop_in" / "run.py")
    drop_in = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drop_in)
    page = (PACKAGE.parent / "docs" / "drop-in.md").read_text()
    sections = {part.split("\n")[0]: part for part in page.split("\n## ")[1:]}
    assert set(sections) == set(drop_in.LEFT_OUT.values())
    for test, heading in drop_in.LEFT_OUT.items():
        assert f"`{test}`" in sections[heading]
        assert "assert " in sections[heading]


@pytest.mark.parametrize("standardize", [False, True])
def test_without_components_all_variance_is_noise(spread, standardize):
    pca = PCA(n_components=0, standardize=standardize)
    scores = pca.fit_transform(spread)
    assert scores.shape == pca.transform(spread).shape == (200, 0)
    assert pca.components_.shape == (0, 6) and pca.n_components_ == 0
    scale = spread.std(axis=0, ddof=1) if standardize else np.ones(6)
    noise = np.mean(np.var(spread / scale, axis=0, ddof=1))
    assert np.isclose(pca.noise_variance_, noise)
    assert np.allclose(pca.get_covariance(), np.diag(noise * scale**2))
    assert np.allclose(pca.get_precision(), np.diag(1 / (noise * scale**2)))
    z = (spread - spread.mean(axis=0)) / (scale * np.sqrt(noise))
    density = -0.5 * (6 * np.log(2 * np.pi) + (z**2).sum(axis=1)) - np.log(scale * np.sqrt(noise)).sum()
    assert np.allclose(pca.score_samples(spread), density)
    assert np.allclose(pca.inverse_transform(scores), spread.mean(axis=0))
    assert list(pca.get_feature_names_out()) == []
    with pytest.raises(NotImplementedError, match="at least one component"):
        pca.save("model.safetensors")


@pytest.mark.parametrize("n_components", [2, 6])
def test_batches_imply_the_gaussian_of_all_samples(spread, n_components):
    batches = IncrementalPCA(n_components)
    for batch in np.array_split(spread, 4):
        batches.partial_fit(batch)
    whole = PCA(n_components).fit(spread)
    assert np.allclose(batches.get_covariance(), whole.get_covariance())
    assert np.allclose(batches.get_precision() @ batches.get_covariance(), np.eye(6))


def test_another_number_of_components_begins_anew(spread):
    batches = IncrementalPCA(3).partial_fit(spread)
    with pytest.raises(ValueError, match="has changed from 3 to 2"):
        batches.set_params(n_components=2).partial_fit(spread)
    assert batches.fit(spread).components_.shape == (2, 6)


def test_without_iterations_sparse_components_are_their_start(spread):
    start = np.random.default_rng(0).normal(size=(2, 6))
    given = SparsePCA(2, max_iter=0, U_init=np.ones((200, 2)), V_init=start).fit(spread)
    units = start / np.linalg.norm(start, axis=1, keepdims=True)
    assert np.allclose(abs(given.components_), abs(units))
    plain = SparsePCA(2, max_iter=0).fit(spread)
    assert np.allclose(plain.components_, PCA(2).fit(spread).components_, atol=1e-6)
    with pytest.raises(ValueError, match="formulation='dictionary'"):
        SparsePCA(2, max_iter=0, formulation="cardinality").fit(spread)


def test_arpack_is_as_precise_as_its_default_asks():
    rng = np.random.default_rng(3)
    samples = rng.normal(size=(400, 80))
    exact = np.linalg.svd(samples - samples.mean(axis=0))[2][:2]
    found = PCA(2, svd_solver="arpack").fit(samples).components_
    assert abs(abs(found) - abs(exact)).max() < 1e-11
