"""Probabilistic PCA, and missing values in PCA."""

from __future__ import annotations

import numpy as np
import pytest

from eigenlens import PCA, ProbabilisticPCA


def with_holes(X: np.ndarray, share: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    hidden = np.random.default_rng(4).random(X.shape) < share
    return np.where(hidden, np.nan, X), hidden


@pytest.fixture
def correlated() -> np.ndarray:
    rng = np.random.default_rng(3)
    return rng.normal(size=(400, 2)) @ rng.normal(size=(2, 6)) * 3 + rng.normal(size=(400, 6)) + 5


def test_the_closed_form(correlated):
    n, d = correlated.shape
    k = 2
    ppca = ProbabilisticPCA(k).fit(correlated)
    values = np.linalg.eigvalsh(np.cov(correlated.T, ddof=0))[::-1]
    np.testing.assert_allclose(ppca.explained_variance_, values[:k])
    np.testing.assert_allclose(ppca.noise_variance_, values[k:].mean())
    np.testing.assert_allclose(ppca.components_, PCA(k).fit(correlated).components_, atol=1e-12)
    covariance = ppca.weights_ @ ppca.weights_.T + ppca.noise_variance_ * np.eye(d)
    np.testing.assert_allclose(ppca.get_covariance(), covariance)
    # The density of a Gaussian, by hand.
    centered = correlated - correlated.mean(axis=0)
    distance = np.einsum("ij,jk,ik->i", centered, np.linalg.inv(covariance), centered)
    density = -0.5 * (d * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + distance)
    np.testing.assert_allclose(ppca.score_samples(correlated), density)
    assert ppca.score(correlated) == pytest.approx(ppca.log_likelihood_ / n)
    # Posterior means: M⁻¹ Wᵀ (x − μ).
    m = ppca.weights_.T @ ppca.weights_ + ppca.noise_variance_ * np.eye(k)
    means = centered @ ppca.weights_ @ np.linalg.inv(m)
    np.testing.assert_allclose(ppca.fit_transform(correlated), means, atol=1e-10)
    assert ppca.n_iter_ == 1
    drawn = ppca.sample(20_000, random_state=1)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.06 * covariance.max())
    assert np.array_equal(drawn, ppca.sample(20_000, random_state=1))


def test_holes_are_filled_better_than_by_the_mean(correlated):
    X, hidden = with_holes(correlated)
    ppca = ProbabilisticPCA(2).fit(X)
    assert ppca.n_iter_ > 0
    filled, errors = ppca.impute(X, return_std=True)
    assert np.array_equal(filled[~hidden], X[~hidden])
    assert (errors[hidden] > 0).all() and (errors[~hidden] == 0).all()
    means = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
    miss = (filled - correlated)[hidden]
    assert np.sqrt(np.mean(miss**2)) < 0.6 * np.sqrt(np.mean((means - correlated)[hidden] ** 2))
    # About two thirds within one standard error.
    assert 0.55 < np.mean(np.abs(miss) < errors[hidden]) < 0.8
    assert np.isfinite(ppca.transform(X)).all() and np.isfinite(ppca.score_samples(X)).all()


def test_pca_takes_holes_when_it_is_asked_to(correlated):
    X, _ = with_holes(correlated)
    with pytest.raises(ValueError, match="NaN"):
        PCA(2).fit(X)
    exact = PCA(2).fit(correlated).components_
    by_em = PCA(2, missing="em").fit(X)
    by_mean = PCA(2, missing="mean").fit(X)

    def angle(components: np.ndarray) -> float:
        overlap = np.linalg.svd(components @ exact.T, compute_uv=False).min()
        return float(np.arccos(min(1.0, overlap)))

    assert angle(by_em.components_) < 0.1
    assert np.isfinite(by_em.transform(X)).all()
    # Means in place of holes take variance away.
    assert by_mean.total_variance_ < by_em.total_variance_
    whole = PCA(2, missing="em").fit(correlated)
    np.testing.assert_allclose(whole.components_, exact, atol=1e-9)
