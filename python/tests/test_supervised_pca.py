"""Supervised PCA, its kernel form, and the dependence that both maximise."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from eigenlens import PCA, KernelSupervisedPCA, SupervisedPCA, hsic, load


@pytest.fixture
def classes() -> tuple[np.ndarray, np.ndarray]:
    """90 × 5, whose three classes differ along two directions of little variance."""
    rng = np.random.default_rng(2)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 5)) * [8, 4, 1, 1, 1] + 3
    X[:, 2] += 6 * (y == 1)
    X[:, 3] += 5 * (y == 2)
    return X, y


def subspace(a: np.ndarray, b: np.ndarray) -> float:
    """The sine of the largest angle between two spans."""
    return float(np.sqrt(max(0.0, 1 - np.linalg.svd(a @ b.T, compute_uv=False).min() ** 2)))


def rbf(X: np.ndarray, gamma: float) -> np.ndarray:
    return np.exp(-gamma * np.sum((X[:, None] - X[None]) ** 2, axis=2))


def test_the_definition(classes):
    X, y = classes
    n = len(X)
    H = np.eye(n) - 1 / n
    K = (y[:, None] == y[None]).astype(float)
    values, vectors = np.linalg.eigh(X.T @ H @ K @ H @ X)
    spca = SupervisedPCA().fit(X, y)
    assert spca.n_components_ == spca.target_rank_ == 2
    for j in range(2):
        expected = vectors[:, -1 - j]
        assert abs(spca.components_[j] @ expected) == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(spca.hsic_, values[::-1][:2] / (n - 1) ** 2)
    assert spca.total_hsic_ == pytest.approx(values.sum() / (n - 1) ** 2)
    assert list(spca.classes_) == [0, 1, 2]
    scores = (X - X.mean(axis=0)) @ spca.components_.T
    np.testing.assert_allclose(spca.transform(X), scores, atol=1e-10)
    np.testing.assert_allclose(spca.fit_transform(X, y), scores, atol=1e-10)
    np.testing.assert_allclose(spca.explained_variance_, scores.var(axis=0, ddof=1))
    back = scores @ spca.components_ + X.mean(axis=0)
    np.testing.assert_allclose(spca.inverse_transform(scores), back)
    assert spca.certificate_.relative_residual < 1e-9


def test_the_ends_of_the_dial_and_equal_kernels(classes):
    X, y = classes
    pca = PCA(3).fit(X).components_
    identity = SupervisedPCA(3, label_kernel="precomputed").fit(X, np.eye(90))
    np.testing.assert_allclose(np.abs(identity.components_), np.abs(pca), atol=1e-8)
    unsupervised = SupervisedPCA(3, supervision=0.0).fit(X, y)
    np.testing.assert_allclose(unsupervised.components_, pca, atol=1e-8)
    assert subspace(SupervisedPCA(3).fit(X, y).components_[:2], pca[:2]) > 0.9
    # The delta kernel of classes is the linear kernel of columns of 0 and 1.
    one_hot = np.eye(3)[y]
    delta = SupervisedPCA(2).fit(X, y)
    linear = SupervisedPCA(2, label_kernel="linear", target="numbers").fit(X, one_hot)
    np.testing.assert_allclose(delta.components_, linear.components_, atol=1e-8)
    assert not hasattr(linear, "classes_")
    standardized = SupervisedPCA(2, standardize=True).fit(X, y)
    by_hand = SupervisedPCA(2).fit((X - X.mean(axis=0)) / X.std(axis=0, ddof=1), y)
    np.testing.assert_allclose(standardized.components_, by_hand.components_, atol=1e-8)
    around = standardized.inverse_transform(standardized.transform(X))
    assert np.corrcoef(around[:, 2], X[:, 2])[0, 1] > 0.5


def test_the_kernel_form_is_the_linear_one_for_a_linear_kernel(classes):
    X, y = classes
    linear = KernelSupervisedPCA(2, kernel="linear").fit(X[:70], y[:70])
    plain = SupervisedPCA(2).fit(X[:70], y[:70])
    np.testing.assert_allclose(
        np.abs(linear.transform(X)), np.abs(plain.transform(X)), atol=1e-7
    )
    assert linear.total_hsic_ == pytest.approx(plain.total_hsic_)
    # A kernel given as numbers, for training and for new samples.
    gamma = 0.05
    kernel = KernelSupervisedPCA(2, gamma=gamma).fit(X[:70], y[:70])
    whole = rbf(X, gamma)
    given = KernelSupervisedPCA(2, kernel="precomputed").fit(whole[:70, :70], y[:70])
    np.testing.assert_allclose(given.transform(whole[:, :70]), kernel.transform(X), atol=1e-8)
    assert kernel.gamma_ == gamma
    assert KernelSupervisedPCA(2).fit(X, y).gamma_ > 0
    with pytest.raises(NotImplementedError, match="SupervisedPCA"):
        kernel.inverse_transform(kernel.transform(X))
    # HSIC by its definition.
    H = np.eye(70) - 1 / 70
    K = (y[:70, None] == y[None, :70]).astype(float)
    value = np.trace(whole[:70, :70] @ H @ K @ H) / 69**2
    assert kernel.total_hsic_ == pytest.approx(value)


def gaussian(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.exp(-0.05 * np.sum((a - b) ** 2)))


def test_a_kernel_of_ones_own(classes, tmp_path):
    X, y = classes
    named = KernelSupervisedPCA(2, gamma=0.05).fit(X[:70], y[:70])
    own = KernelSupervisedPCA(2, kernel=gaussian).fit(X[:70], y[:70])
    np.testing.assert_allclose(own.transform(X), named.transform(X), atol=1e-8)
    assert own.n_features_in_ == 5
    assert own.hsic_ == pytest.approx(named.hsic_)
    again = pickle.loads(pickle.dumps(own))
    assert np.array_equal(again.transform(X), own.transform(X))
    with pytest.raises(NotImplementedError, match="pickle"):
        own.save(tmp_path / "model.safetensors")
    # A plan is one for the kernel's values, not for the samples.
    whole = rbf(X, 0.05)
    given = KernelSupervisedPCA(2, kernel="precomputed").plan(whole, y)
    assert KernelSupervisedPCA(2, kernel=gaussian).plan(X, y) == given
    # NaN is found before anything is computed, and named as such.
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        KernelSupervisedPCA(2, kernel=gaussian).fit(broken, y)
    with pytest.raises(ValueError, match="NaN"):
        KernelSupervisedPCA(2, kernel="precomputed").fit(broken, y)


def test_what_a_target_may_be(classes):
    X, y = classes
    expected = SupervisedPCA(2).fit(X, y).components_
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    for labels in (names, list(names), names.astype(object), y.astype(float), y[:, None]):
        spca = SupervisedPCA(2).fit(X, labels)
        np.testing.assert_allclose(spca.components_, expected, atol=1e-10)
    assert list(SupervisedPCA(2).fit(X, names).classes_) == ["setosa", "versicolor", "virginica"]
    truth = SupervisedPCA().fit(X, y == 1)
    assert truth.n_components_ == 1 and list(truth.classes_) == [False, True]
    # Numbers that are not few and whole are numbers.
    numbers = SupervisedPCA(1).fit(X, X[:, 1] + 0.1 * X[:, 4])
    assert not hasattr(numbers, "classes_") and abs(numbers.components_[0, 1]) > 0.9
    assert hasattr(SupervisedPCA(2, target="classes").fit(X, y + 0.5), "classes_")
    assert not hasattr(SupervisedPCA(2, target="numbers").fit(X, y), "classes_")
    holes = names.astype(object)
    holes[:10] = None
    with pytest.raises(ValueError, match="label"):
        SupervisedPCA(2).fit(X, holes)
    kept = SupervisedPCA(2, unlabelled="keep").fit(X, holes)
    assert list(kept.classes_) == ["setosa", "versicolor", "virginica"]
    for wrong, words in (
        (None, "requires y"),
        (y[:-1], "89 values"),
        (np.zeros(90), "at least 2 classes"),
        (np.full(90, np.inf), "infinity"),
        (np.zeros((90, 2, 2)), "1d array"),
    ):
        with pytest.raises(ValueError, match=words):
            SupervisedPCA(1).fit(X, wrong)
    with pytest.raises(ValueError, match="target='classes'"):
        SupervisedPCA(1, target="numbers").fit(X, names)
    with pytest.raises(ValueError, match="label_kernel='rbf'"):
        SupervisedPCA(1, label_gamma=1.0).fit(X, y)


@pytest.mark.parametrize("make", [SupervisedPCA, KernelSupervisedPCA])
def test_types_sparse_files_and_storing(make, classes, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = classes
    X = X * (np.random.default_rng(0).random(X.shape) < 0.7)
    new = make(2)
    scores = new.fit(X, y).transform(X)
    np.testing.assert_allclose(new.fit_transform(X, y), scores, atol=1e-10)
    np.testing.assert_allclose(new.fit(sparse.csr_matrix(X), y).transform(X), scores, atol=1e-7)
    single = new.fit(X.astype(np.float32), y).transform(X.astype(np.float32))
    assert single.dtype == new.hsic_.dtype == np.float32
    np.testing.assert_allclose(single, scores, atol=2e-3 * np.abs(scores).max())
    np.save(tmp_path / "X.npy", X)
    path = tmp_path / "X.npy"
    np.testing.assert_allclose(new.fit(path, y).transform(path), scores, atol=1e-10)
    assert "route" in new.plan(path, y)
    names = np.array(["a", "b", "c"])[y]
    fitted = make(2).fit(X, names)
    fitted.save(tmp_path / "model.safetensors")
    for back in (load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(fitted))):
        assert repr(back) == repr(fitted)
        assert np.array_equal(back.transform(X), fitted.transform(X))
        assert np.array_equal(back.hsic_, fitted.hsic_)
        assert list(back.classes_) == ["a", "b", "c"]
    html = fitted._repr_html_()
    for part in ("<svg", "HSIC", "residual", "route"):
        assert part in html
    # A file of the command line has no words about an estimator.
    fitted._model.save(tmp_path / "model.safetensors", {})
    back = load(tmp_path / "model.safetensors")
    assert type(back) is make and back.n_components == 2
    assert np.array_equal(back.transform(X), fitted.transform(X))


def test_weights_count_samples(classes):
    X, y = classes
    weights = np.arange(90) % 4
    weighted = SupervisedPCA(2).fit(X, y, sample_weight=weights)
    repeated = SupervisedPCA(2).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-9)


def test_in_a_pipeline_and_a_search(classes):
    pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    X, y = classes
    pipeline = make_pipeline(SupervisedPCA(2, standardize=True), KNeighborsClassifier())
    search = GridSearchCV(pipeline, {"supervisedpca__supervision": [0.0, 1.0]}).fit(X, y)
    assert search.best_params_["supervisedpca__supervision"] == 1.0
    assert search.best_score_ > 0.8


def test_hsic_is_its_definition():
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(40, 2)), rng.normal(size=(40, 3))
    Y[:, 0] += X[:, 1] ** 2
    n = 40
    H = np.eye(n) - 1 / n
    K, L = rbf(X, 0.3), rbf(Y, 0.7)
    found = hsic(X, Y, gamma_x=0.3, gamma_y=0.7, n_permutations=300)
    assert found.statistic == pytest.approx(np.trace(K @ H @ L @ H) / (n - 1) ** 2)
    Kc, Lc = H @ K @ H, H @ L @ H
    aligned = np.sum(Kc * Lc) / np.sqrt(np.sum(Kc**2) * np.sum(Lc**2))
    assert found.alignment == pytest.approx(aligned)
    # Song et al. 2012, equation 5.
    K0, L0 = K - np.eye(n), L - np.eye(n)
    one = np.ones(n)
    unbiased = np.trace(K0 @ L0) + one @ K0 @ one * (one @ L0 @ one) / ((n - 1) * (n - 2))
    unbiased -= 2 / (n - 2) * (one @ K0 @ L0 @ one)
    assert found.unbiased == pytest.approx(unbiased / (n * (n - 3)))
    assert found.method == "300 permutations" and found.n_samples == n
    assert found == hsic(X, Y, gamma_x=0.3, gamma_y=0.7, n_permutations=300)
    given = hsic(K, L, kernel_x="precomputed", kernel_y="precomputed", method="gamma")
    assert given.statistic == pytest.approx(found.statistic)
    assert given.method == "gamma approximation"
    assert given.pvalue == pytest.approx(found.pvalue, abs=0.06)
    linear = hsic(X, Y, kernel_x="linear", kernel_y="linear")
    cross = (X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0))
    assert linear.statistic == pytest.approx(np.sum(cross**2) / (n - 1) ** 2)


def test_hsic_tests_independence():
    rng = np.random.default_rng(4)
    x, noise = rng.normal(size=80), rng.normal(size=80)
    assert hsic(x, x**2 + 0.1 * noise).pvalue < 0.01
    pvalues = [hsic(x, rng.normal(size=80), method="gamma").pvalue for _ in range(40)]
    assert 0.25 < np.mean(pvalues) < 0.75
    words = np.where(x > 0, "up", "down")
    assert hsic(x, words).pvalue < 0.01
    assert hsic(words, words).alignment == pytest.approx(1)
    with pytest.raises(ValueError, match="delta kernel only"):
        hsic(x, words, kernel_y="rbf")
    with pytest.raises(ValueError, match="kernel_x"):
        hsic(x, x, kernel_x="magic")
    with pytest.raises(ValueError, match="does not fit"):
        hsic(x, x, kernel_x="linear", gamma_x=1.0)
    with pytest.raises(ValueError, match="samples"):
        hsic(x, x[:-1])
