"""What the library can do, said in Python: matrices, rotation, posteriors, kernels, paths."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import eigenlens
from eigenlens import (
    PCA,
    BayesianPCA,
    ClassicalMDS,
    KernelPCA,
    ProbabilisticPCA,
    SparsePCA,
    SupervisedPCA,
    hsic,
)

PITPROPS = Path(__file__).resolve().parents[2] / "golden" / "pitprops" / "correlations.csv"


def _pitprops():
    with PITPROPS.open(newline="") as file:
        return np.array([[float(v) for v in row] for row in list(csv.reader(file))[1:]])


@pytest.fixture
def X():
    rng = np.random.default_rng(3)
    return rng.normal(size=(50, 5)) @ rng.normal(size=(5, 5)) + 2


def test_pitprops_fit_from_their_correlations(tmp_path):
    printed = [4.2186, 2.3781, 1.8782, 1.1094, 0.9100, 0.8154]
    pca = PCA(6).fit_covariance(_pitprops(), n_samples=180)
    np.testing.assert_allclose(pca.explained_variance_, printed, atol=0.5e-4)
    np.testing.assert_allclose(pca.sampling_errors_, pca.explained_variance_ * np.sqrt(2 / 179))
    assert pca.n_samples_ == 180
    from_file = PCA(6).fit_covariance(PITPROPS)
    np.testing.assert_allclose(from_file.components_, pca.components_, atol=1e-12)
    assert from_file.sampling_errors_ is None
    assert list(from_file.feature_names_in_[:2]) == ["topdiam", "length"]
    pca.save(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(eigenlens.load(tmp_path / "m.safetensors").components_, pca.components_)
    with pytest.raises(ValueError, match="does not tell their means"):
        eigenlens.verify(pca, _pitprops())
    best = SparsePCA(1, formulation="cardinality", non_zeros=6, certify=True).fit_covariance(_pitprops())
    assert best.optimality_[0]["proven"]
    ppca = ProbabilisticPCA(2).fit_covariance(_pitprops(), n_samples=180)
    np.testing.assert_allclose(ppca.explained_variance_, np.array(printed[:2]) * 179 / 180, atol=1e-4)
    with pytest.raises(ValueError, match="not known"):
        ProbabilisticPCA(2).fit_covariance(_pitprops())
    with pytest.raises(NotImplementedError, match="needs the samples"):
        BayesianPCA(2).fit_covariance(_pitprops())


def test_what_is_no_covariance_is_refused(X):
    with pytest.raises(ValueError, match="square"):
        PCA(2).fit_covariance(X)
    with pytest.raises(ValueError, match="symmetric"):
        PCA(1).fit_covariance([[1.0, 0.5], [0.1, 1.0]])
    with pytest.raises(ValueError, match="NaN"):
        PCA(1).fit_covariance([[1.0, np.nan], [0.1, 1.0]])


def test_variances_divided_by_n(X):
    ml = PCA(3, ddof=0).fit(X)
    np.testing.assert_allclose(ml.explained_variance_, ml.transform(X).var(axis=0), rtol=1e-10)
    np.testing.assert_allclose(ml.total_variance_, X.var(axis=0).sum(), rtol=1e-10)
    np.testing.assert_allclose(ml.singular_values_, PCA(3).fit(X).singular_values_, rtol=1e-12)
    whole = PCA(ddof=0).fit(X)
    np.testing.assert_allclose(whole.get_covariance(), np.cov(X.T, ddof=0), rtol=1e-8)
    with pytest.raises(ValueError, match="their variances are 1"):
        PCA(2, ddof=0, standardize=True).fit(X)
    with pytest.raises(ValueError, match="ddof"):
        PCA(2, ddof=2).fit(X)


def test_kernel_pca_says_its_shares_and_takes_widths_by_name(X):
    kpca = KernelPCA(2, kernel="rbf", gamma="median").fit(X)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    median = np.median(np.sqrt(squares[np.triu_indices(len(X), 1)]))
    np.testing.assert_allclose(kpca.gamma_, 1 / (2 * median**2), rtol=0.05)
    K = np.exp(-kpca.gamma_ * squares)
    H = np.eye(len(X)) - 1 / len(X)
    values = np.linalg.eigvalsh(H @ K @ H)[::-1]
    np.testing.assert_allclose(kpca.explained_variance_ratio_, values[:2] / values.sum(), rtol=1e-6)
    assert KernelPCA(2, kernel="laplacian", gamma="scale").fit(X).gamma_ > 0
    with pytest.raises(ValueError, match="width of distances"):
        KernelPCA(2, kernel="poly", gamma="median").fit(X)
    labels = np.array([[0.0], [1.0], [2.0]] * 6)
    delta = KernelPCA(2, kernel="delta").fit(labels)
    np.testing.assert_allclose(delta.eigenvalues_, [6.0, 6.0], rtol=1e-9)
    assert eigenlens.plots.plot(delta, "scree").svg.startswith("<svg")


def test_posteriors_and_errors_of_incomplete_samples(X):
    ppca = ProbabilisticPCA(2).fit(X)
    W, noise = ppca.weights_, ppca.noise_variance_
    holes = X.copy()
    holes[0, 1:3] = np.nan
    holes[1] = np.nan
    means, covariances = ppca.posterior(holes)
    there = [0, 3, 4]
    M = W[there].T @ W[there] + noise * np.eye(2)
    np.testing.assert_allclose(covariances[0], noise * np.linalg.inv(M), atol=1e-10)
    centred = (X[0] - X.mean(axis=0))[there]
    np.testing.assert_allclose(means[0], np.linalg.solve(M, W[there].T @ centred), atol=1e-9)
    np.testing.assert_allclose(covariances[1], np.eye(2), atol=1e-12)
    scores, errors = ppca.transform_with_errors(holes)
    np.testing.assert_allclose(scores, means, atol=1e-12)
    np.testing.assert_allclose(errors[0], np.sqrt(np.diag(covariances[0])), atol=1e-12)
    _, errors = PCA(2).fit(X).transform_with_errors(holes[[0]])
    assert (errors > 0).all()


def test_sparse_pca_says_all_that_the_command_line_does(X):
    ridge = SparsePCA(1, formulation="regression", alpha=0.0, ridge=3.0).fit(X)
    np.testing.assert_allclose(np.abs(ridge.components_), np.abs(PCA(1).fit(X).components_), atol=1e-5)
    soft = SparsePCA(1, formulation="regression", non_zeros=2, ridge="infinite").fit(X)
    assert soft.non_zeros_.tolist() == [2]
    path = SparsePCA(2, formulation="cardinality", non_zeros=2, path=3).fit(X)
    assert [sum(point["n_non_zeros"]) for point in path.path_][-1] == 10
    scaled = SparsePCA(1, formulation="cardinality", non_zeros=5, standardize=True, ridge_alpha=0).fit(X)
    np.testing.assert_allclose(scaled.scale_, X.std(axis=0, ddof=1), rtol=1e-10)
    plain = PCA(1, standardize=True).fit(X)
    np.testing.assert_allclose(np.abs(scaled.components_), np.abs(plain.components_), atol=1e-6)
    others = [
        SparsePCA(2, formulation="cardinality", non_zeros=3, deflation=way).fit(X).components_
        for way in ("projection", "schur")
    ]
    np.testing.assert_allclose(others[0][0], others[1][0], atol=1e-9)
    loose = SparsePCA(1, formulation="cardinality", non_zeros=3, non_negative=True).fit(X)
    assert (loose.components_ >= 0).all()
    for wrong in ({"ridge": 1.0}, {"path": 3}, {"deflation": "schur"}):
        with pytest.raises(ValueError, match="needs formulation"):
            SparsePCA(1, **wrong).fit(X)


def test_hsic_takes_every_kernel(X):
    x, y = X[:, :2], X[:, 2:]
    H = np.eye(len(X)) - 1 / len(X)
    K, L = (x @ x.T + 1) ** 3, np.tanh(0.1 * (y @ y.T))
    found = hsic(x, y, kernel_x="poly", degree_x=3, coef0_x=1, kernel_y="sigmoid", gamma_y=0.1)
    wanted = np.trace(H @ K @ H @ L) / (len(X) - 1) ** 2
    np.testing.assert_allclose(found.statistic, wanted, rtol=1e-8)
    with pytest.raises(ValueError, match="degree_x"):
        hsic(x, y, degree_x=2)


def test_supervised_pca_of_the_textbook_is_not_centred(X):
    y = np.arange(50) % 3
    plain, textbook = SupervisedPCA(2).fit(X, y), SupervisedPCA(2, center=False).fit(X, y)
    np.testing.assert_allclose(textbook.components_, plain.components_, atol=1e-10)
    np.testing.assert_allclose(textbook.transform(X), X @ plain.components_.T, atol=1e-9)
    back = textbook.inverse_transform(textbook.transform(X))
    np.testing.assert_allclose(back, X @ plain.components_.T @ plain.components_, atol=1e-9)


def test_an_incomplete_mixture_is_filled(X):
    mixture = eigenlens.ProbabilisticPCAMixture(2, n_components=1).fit(X)
    holes = X[:4].copy()
    holes[2, 1] = np.nan
    filled, errors = mixture.impute(holes, return_std=True)
    assert np.isfinite(filled).all() and errors[2, 1] > 0 and np.count_nonzero(errors) == 1


def test_embeddings_hand_over_their_kernel(X):
    found = ClassicalMDS(2, metric="manhattan").implied_kernel(X)
    distances = np.abs(X[:, None] - X[None]).sum(axis=2)
    np.testing.assert_allclose(found.distances, distances, atol=1e-10)
    H = np.eye(len(X)) - 1 / len(X)
    np.testing.assert_allclose(found.kernel, -0.5 * H @ distances**2 @ H, atol=1e-8)
    given = ClassicalMDS(2, metric="precomputed").implied_kernel(distances)
    np.testing.assert_allclose(given.kernel, found.kernel, atol=1e-8)
    assert found.weights is None
