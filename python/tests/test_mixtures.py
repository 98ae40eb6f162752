"""Bayesian PCA and mixtures of probabilistic PCAs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from eigenlens import BayesianPCA, ProbabilisticPCA, ProbabilisticPCAMixture, load


@pytest.fixture
def clouds() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    part = np.arange(300) % 3 // 2  # 0 twice as often as 1
    X = rng.normal(size=(300, 4)) * np.where(part[:, None] == 0, [4, 1, 1, 1], [1, 1, 4, 1])
    X[part == 1] += [0, 12, 0, 5]
    return X, part


def test_a_prior_finds_the_number_of_components(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 9)) * 3 + rng.normal(size=(400, 9))
    found = BayesianPCA().fit(X)
    assert found.n_components_ == len(found.relevance_) == 3
    assert found.transform(X).shape == (400, 3)
    ppca = ProbabilisticPCA(3).fit(X)
    overlap = np.linalg.svd(found.components_ @ ppca.components_.T, compute_uv=False)
    assert overlap.min() > 0.999
    assert found.score(X) == pytest.approx(ppca.score(X), rel=1e-2)
    assert BayesianPCA(2).fit(X).n_components_ == 2
    hidden = rng.random(X.shape) < 0.05
    filled = BayesianPCA().fit(np.where(hidden, np.nan, X)).impute(np.where(hidden, np.nan, X))
    assert np.std((filled - X)[hidden]) < 0.6 * np.std(X[hidden])
    found.save(tmp_path / "model.safetensors")
    back = load(tmp_path / "model.safetensors")
    assert type(back) is BayesianPCA
    assert np.array_equal(back.transform(X), found.transform(X))
    assert np.array_equal(back.relevance_, found.relevance_)
    found._model.save(tmp_path / "model.safetensors", {})
    assert type(load(tmp_path / "model.safetensors")) is BayesianPCA


def test_a_mixture_tells_clouds_apart(clouds, tmp_path):
    X, part = clouds
    mixture = ProbabilisticPCAMixture(2, 1).fit(X)
    assert (mixture.predict(X) == part).mean() > 0.99
    assert np.array_equal(ProbabilisticPCAMixture(2, 1).fit_predict(X), mixture.predict(X))
    np.testing.assert_allclose(mixture.weights_, [2 / 3, 1 / 3], atol=0.01)
    np.testing.assert_allclose(mixture.means_[0], X[part == 0].mean(axis=0), atol=0.1)
    probabilities = mixture.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(mixture.transform(X), probabilities)
    assert mixture.score(X) == pytest.approx(mixture.log_likelihood_ / 300)
    assert mixture.converged_ and mixture.n_iter_ > 1
    # One part is probabilistic PCA.
    single = ProbabilisticPCAMixture(1, 2).fit(X)
    ppca = ProbabilisticPCA(2).fit(X)
    np.testing.assert_allclose(single.score_samples(X), ppca.score_samples(X), rtol=1e-3)
    assert ProbabilisticPCAMixture(4, 1, choose=True).fit(X).n_parts_ == 2
    samples, parts = mixture.sample(6000, random_state=1)
    assert samples.shape == (6000, 4)
    np.testing.assert_allclose(np.bincount(parts) / 6000, mixture.weights_, atol=0.03)
    np.testing.assert_allclose(samples[parts == 1].mean(axis=0), mixture.means_[1], atol=0.4)
    assert np.array_equal(samples, mixture.sample(6000, random_state=1)[0])
    assert "noise variance" in mixture._repr_html_()
    mixture._model.save(tmp_path / "model.safetensors", {})
    back = load(tmp_path / "model.safetensors")
    assert (back.n_parts, back.n_components) == (2, 1)
    mixture.save(tmp_path / "model.safetensors")
    for back in (load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(mixture))):
        assert type(back) is ProbabilisticPCAMixture
        assert np.array_equal(back.predict_proba(X), probabilities)
        assert np.array_equal(back.means_, mixture.means_)


def test_a_mixture_takes_holes_and_single_precision(clouds):
    X, part = clouds
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    mixture = ProbabilisticPCAMixture(2, 1).fit(X)
    assert (mixture.predict(X) == part).mean() > 0.97
    with pytest.raises(ValueError, match="NaN"):
        ProbabilisticPCAMixture(2, 1, missing="error").fit(X)
    single = ProbabilisticPCAMixture(2, 1).fit(X.astype(np.float32))
    assert single.means_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    with pytest.raises(NotImplementedError, match="ProbabilisticPCA"):
        single.inverse_transform(single.transform(X))
    with pytest.raises(ValueError, match="n_parts"):
        ProbabilisticPCAMixture(0).fit(X)
