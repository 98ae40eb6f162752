"""Kernel PCA and kernel features: the numbers of scikit-learn, and what is beyond it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from sklearn import datasets, decomposition, kernel_approximation
from sklearn.metrics.pairwise import pairwise_kernels

import eigenlens
from eigenlens import KernelPCA, Nystroem, RBFSampler, load

DATA = {
    "iris": datasets.load_iris().data,
    "wine": datasets.load_wine().data / datasets.load_wine().data.std(axis=0),
    "digits": datasets.load_digits().data[:300] / 16,
    "random": np.random.default_rng(3).normal(size=(90, 7)) * np.geomspace(3, 1, 7) + 1,
}
KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly"},
    {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 0.5},
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.05},
    {"kernel": "cosine"},
    {"kernel": "sigmoid", "gamma": 1e-2, "coef0": 0.1},
]


def close(ours, theirs, tolerance=1e-7):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * np.abs(theirs).max())


def dot(x, y, power=1):
    return float(np.dot(x, y)) ** power


@pytest.mark.parametrize("parameters", KERNELS, ids=str)
@pytest.mark.parametrize("name", DATA)
def test_kernel_pca_has_the_same_numbers_and_signs(name, parameters):
    X = DATA[name]
    train, new = X[::2], X[1::2]
    k = 3
    ours = KernelPCA(k, **parameters)
    theirs = decomposition.KernelPCA(k, **parameters, eigen_solver="dense")
    close(ours.fit_transform(train), theirs.fit_transform(train))
    close(ours.eigenvalues_, theirs.eigenvalues_)
    close(ours.eigenvectors_, theirs.eigenvectors_)
    close(ours.transform(train), theirs.transform(train))
    close(ours.transform(new), theirs.transform(new))
    assert ours.gamma_ == theirs.gamma_
    assert np.array_equal(ours.X_fit_, theirs.X_fit_)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert ours.certificate_.relative_residual < 1e-9


# A small ridge leaves polynomial kernels of scores with a condition of 1e11: rounding decides there.
@pytest.mark.parametrize(
    ("parameters", "alpha"),
    [(p, alpha) for p in KERNELS[:6] for alpha in (1.0, 1e-3) if p["kernel"] != "poly" or alpha == 1],
    ids=str,
)
def test_the_learned_inverse_is_the_same(parameters, alpha):
    X = DATA["wine"]
    given = {"n_components": 4, "fit_inverse_transform": True, "alpha": alpha, **parameters}
    ours, theirs = KernelPCA(**given), decomposition.KernelPCA(**given, eigen_solver="dense")
    Z, Y = ours.fit_transform(X[::2]), theirs.fit_transform(X[::2])
    close(ours.X_transformed_fit_, theirs.X_transformed_fit_)
    close(ours.dual_coef_, theirs.dual_coef_, 1e-5)
    close(ours.inverse_transform(Z), theirs.inverse_transform(Y), 1e-6)
    new = ours.transform(X[1::2]), theirs.transform(X[1::2])
    close(ours.inverse_transform(new[0]), theirs.inverse_transform(new[1]), 1e-6)


def test_precomputed_and_callable_kernels():
    X, new = DATA["iris"][::2], DATA["iris"][1::2]
    theirs = decomposition.KernelPCA(3, kernel="poly", degree=2, gamma=1, coef0=0).fit(X)
    K, K_new = (X @ X.T) ** 2, (new @ X.T) ** 2
    given = KernelPCA(3, kernel="precomputed").fit(K)
    close(given.transform(K), theirs.transform(X))
    close(given.transform(K_new), theirs.transform(new))
    called = KernelPCA(3, kernel=dot, kernel_params={"power": 2})
    close(called.fit_transform(X), theirs.transform(X))
    close(called.transform(new), theirs.transform(new))
    assert called.n_features_in_ == 4
    with pytest.raises(NotImplementedError, match="pickle"):
        called.save("nowhere")
    again = pickle.loads(pickle.dumps(called))
    assert np.array_equal(again.transform(new), called.transform(new))
    # What the caller does to the data afterwards does not matter.
    changed = X.copy()
    called = KernelPCA(3, kernel=dot, kernel_params={"power": 2}).fit(changed)
    changed[:] = 0
    close(called.transform(new), theirs.transform(new))


@pytest.mark.parametrize("kernel", ["laplacian", "chi2", "additive_chi2"])
def test_more_kernels_than_scikit_learn_takes(kernel):
    X = DATA["digits"][:80]
    parameters = {} if kernel == "additive_chi2" else {"gamma": 0.4}
    K = pairwise_kernels(X, metric=kernel, **parameters)
    theirs = decomposition.KernelPCA(3, kernel="precomputed").fit_transform(K)
    close(KernelPCA(3, kernel=kernel, gamma=0.4).fit_transform(X), theirs)


def test_fractional_degrees_and_a_gamma_of_nothing():
    X = np.abs(DATA["wine"])
    given = {"n_components": 2, "kernel": "poly", "degree": 1.5, "gamma": 0.2}
    close(KernelPCA(**given).fit_transform(X), decomposition.KernelPCA(**given).fit_transform(X))
    flat = KernelPCA(2, kernel="rbf", gamma=0).fit(X)
    assert np.array_equal(flat.eigenvalues_, [0, 0])


@pytest.mark.parametrize("remove", [False, True])
@pytest.mark.parametrize("k", [None, 3, 200])
def test_components_without_variance(k, remove):
    X = DATA["iris"][:60]
    for parameters in ({"kernel": "linear"}, {"kernel": "rbf", "gamma": 2.0}):
        given = {"n_components": k, "remove_zero_eig": remove, **parameters}
        ours = KernelPCA(**given).fit(X)
        theirs = decomposition.KernelPCA(**given, eigen_solver="dense").fit(X)
        if k is not None and not remove:
            assert ours.eigenvalues_.shape == theirs.eigenvalues_.shape
        assert np.count_nonzero(ours.eigenvalues_) == np.count_nonzero(theirs.eigenvalues_)
        assert ours.transform(X).shape == (60, len(ours.eigenvalues_))
        n = np.count_nonzero(ours.eigenvalues_)
        close(ours.eigenvalues_[:n], theirs.eigenvalues_[:n])


def test_sparse_and_float32():
    X = scipy.sparse.random(80, 30, 0.2, random_state=1, format="csr")
    for kernel in ("linear", "rbf", "poly", "cosine"):
        theirs = decomposition.KernelPCA(3, kernel=kernel, eigen_solver="dense").fit(X)
        ours = KernelPCA(3, kernel=kernel).fit(X)
        close(ours.transform(X), theirs.transform(X))
        close(ours.transform(X.toarray()), theirs.transform(X))
        single = KernelPCA(3, kernel=kernel).fit(X.toarray().astype(np.float32))
        found = single.transform(X.toarray().astype(np.float32))
        assert found.dtype == single.eigenvectors_.dtype == np.float32
        close(found, theirs.transform(X), 1e-3)
    for kernel in ("rbf", dot):
        with pytest.raises(NotImplementedError, match="sparse"):
            KernelPCA(2, kernel=kernel, fit_inverse_transform=True).fit(X)


def test_negative_eigenvalues_are_refused_only_where_they_are_asked_for():
    # The example of scikit-learn's own tests.
    K = [[4.48, -1.0, 8.07, 2.33, 2.33, 2.33, -5.76, -12.78]] * 8
    K = np.add(K, np.transpose(K)) / 2
    K[:2, :2] = [[9, 4], [4, -9]]
    for module in (eigenlens, decomposition):
        module.KernelPCA(1, kernel="precomputed", eigen_solver="dense").fit(K)
        with pytest.raises(ValueError, match="There are significant negative eigenvalues"):
            module.KernelPCA(8, kernel="precomputed", eigen_solver="dense").fit(K)
        with pytest.raises(ValueError, match="There are significant negative eigenvalues"):
            module.KernelPCA(kernel="precomputed", eigen_solver="dense").fit(K)


def test_exceptions_of_kernel_pca_are_the_same():
    X = DATA["iris"]
    for parameters, error in (
        ({"kernel": "nonsense"}, ValueError),
        ({"n_components": 0}, ValueError),
        ({"gamma": -1.0}, ValueError),
        ({"kernel": "precomputed", "fit_inverse_transform": True}, ValueError),
    ):
        for module in (eigenlens, decomposition):
            with pytest.raises(error):
                module.KernelPCA(**parameters).fit(X)
    for module in (eigenlens, decomposition):
        with pytest.raises(eigenlens.NotFittedError, match="fit_inverse_transform"):
            module.KernelPCA(2).fit(X).inverse_transform(X[:, :2])


def test_parameters_and_defaults():
    pairs = (
        (KernelPCA, decomposition.KernelPCA),
        (Nystroem, kernel_approximation.Nystroem),
        (RBFSampler, kernel_approximation.RBFSampler),
    )
    for ours, theirs in pairs:
        expected = theirs().get_params()
        found = ours().get_params()
        assert {key: found.get(key, "missing") for key in expected} == expected


@pytest.mark.parametrize("approximation", ["nystrom", "random_features", "subset", "auto"])
def test_approximations_are_near_the_exact_answer(approximation):
    X = DATA["digits"]
    exact = KernelPCA(3, kernel="rbf", gamma=0.02).fit(X)
    model = KernelPCA(
        3, kernel="rbf", gamma=0.02, approximation=approximation, n_landmarks=200, random_state=1
    )
    scores = model.fit_transform(X)
    assert model.accuracy_["kind"] != "exact" or approximation == "auto"
    overlap = np.linalg.svd(model.eigenvectors_.T @ exact.eigenvectors_, compute_uv=False)
    assert overlap.min() > 0.85
    if approximation != "subset":
        assert np.allclose(scores, model.transform(X), atol=1e-8)
        np.testing.assert_allclose(np.linalg.norm(model.eigenvectors_, axis=0), 1, rtol=1e-6)


def test_pre_images_denoise():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    clean = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = clean + 0.1 * rng.normal(size=clean.shape)
    model = KernelPCA(6, kernel="rbf", gamma=1.0).fit(noisy)
    for method in ("auto", "fixed-point", "distances", "ridge"):
        found, distance = model.pre_image(noisy, method=method, return_distance=True)
        assert np.abs(np.linalg.norm(found, axis=1) - 1).mean() < 0.07
        assert distance.shape == (300,)
    with pytest.raises(ValueError, match="method"):
        model.pre_image(noisy, method="magic")
    with pytest.raises(NotImplementedError, match="fit_inverse_transform"):
        KernelPCA(2, kernel=dot).fit(noisy[:20]).pre_image(noisy[:20])


STORED = [
    KernelPCA(3, kernel="rbf", gamma=0.1),
    KernelPCA(3, kernel="poly", degree=2),
    KernelPCA(kernel="linear"),
    KernelPCA(3, kernel="rbf", fit_inverse_transform=True, alpha=0.1),
    KernelPCA(2, kernel="rbf", approximation="nystrom", n_landmarks=40),
]


@pytest.mark.parametrize("model", STORED, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_models_go_to_files_and_pickles_and_back(model, dtype, tmp_path):
    X = DATA["wine"].astype(dtype)
    fitted = pickle.loads(pickle.dumps(model)).fit(X)
    fitted.save(tmp_path / "model.safetensors")
    for back in (load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(fitted))):
        assert repr(back) == repr(fitted)
        assert np.array_equal(back.transform(X), fitted.transform(X))
        assert np.array_equal(back.eigenvalues_, fitted.eigenvalues_)
        assert back.eigenvalues_.dtype == dtype
        assert back.gamma_ == fitted.gamma_
        if model.approximation == "exact":
            assert np.array_equal(back.eigenvectors_, fitted.eigenvectors_)
            close(back.X_fit_, X, 1e-6)
        if model.fit_inverse_transform:
            Z = fitted.transform(X)
            close(back.inverse_transform(Z), fitted.inverse_transform(Z), 1e-3)


def test_plan_budget_and_display():
    X = DATA["digits"]
    assert "kernel matrix" in KernelPCA(2, kernel="rbf").plan(X)
    assert "200 landmarks" in KernelPCA(2, approximation="nystrom", n_landmarks=200).plan(X)
    with pytest.raises(MemoryError, match="budget"):
        KernelPCA(2, kernel="rbf", memory="10KiB").fit(X)
    html = KernelPCA(2, kernel="rbf").fit(X)._repr_html_()
    assert "rbf (gamma" in html and "<svg" in html


# Features.


def kernel_error(Z, K):
    return np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "cosine", "chi2"])
def test_nystroem_is_as_good_and_draws_the_same_landmarks(kernel):
    X = DATA["digits"]
    K = pairwise_kernels(X, metric=kernel)
    errors = np.zeros((6, 2))
    for seed in range(6):
        given = {"kernel": kernel, "n_components": 40, "random_state": seed}
        ours, theirs = Nystroem(**given), kernel_approximation.Nystroem(**given)
        errors[seed] = kernel_error(ours.fit_transform(X), K), kernel_error(
            theirs.fit_transform(X), K
        )
        assert np.array_equal(ours.component_indices_, theirs.component_indices_)
        assert np.array_equal(ours.components_, theirs.components_)
        close(ours.transform(X[:50] * 0.9), theirs.transform(X[:50] * 0.9), 1e-5)
    np.testing.assert_allclose(errors[:, 0], errors[:, 1], rtol=1e-3)


def test_better_landmarks():
    # Most samples in one place: drawn uniformly, landmarks miss the rare ones.
    rng = np.random.default_rng(0)
    rare = rng.uniform(-20, 20, size=(60, 2))
    X = np.concatenate([0.3 * rng.normal(size=(600, 2)), rare])
    K = pairwise_kernels(X, metric="rbf", gamma=0.2)
    errors = {}
    for landmarks in ("uniform", "pivoted_cholesky"):
        of_seeds = [
            np.trace(K) - np.sum(Z**2)
            for seed in range(5)
            for Z in [
                Nystroem(
                    gamma=0.2, n_components=60, random_state=seed, landmarks=landmarks
                ).fit_transform(X)
            ]
        ]
        errors[landmarks] = np.mean(of_seeds)
    assert errors["pivoted_cholesky"] < 0.5 * errors["uniform"]


def test_nystroem_of_a_callable_and_of_a_given_kernel():
    X = DATA["iris"]
    K = pairwise_kernels(X, metric="rbf", gamma=0.3)

    def gauss(x, y, width):
        return float(np.exp(-width * np.sum((x - y) ** 2)))

    usual = Nystroem(gamma=0.3, n_components=20, random_state=2).fit_transform(X)
    called = Nystroem(gauss, kernel_params={"width": 0.3}, n_components=20, random_state=2)
    close(called.fit_transform(X), usual, 1e-6)
    for landmarks in ("uniform", "pivoted_cholesky"):
        given = Nystroem("precomputed", n_components=150, landmarks=landmarks)
        assert kernel_error(given.fit_transform(K), K) < 1e-5
        few = Nystroem("precomputed", n_components=40, landmarks=landmarks)
        assert kernel_error(few.fit_transform(K), K) < 0.05
    for module in (eigenlens, kernel_approximation):
        with pytest.raises(ValueError, match="Don't pass gamma"):
            module.Nystroem(gauss, gamma=1.0).fit(X)
        with pytest.warns(UserWarning, match="n_components > n_samples"):
            module.Nystroem(n_components=500).fit(X)


@pytest.mark.parametrize("gamma", [0.01, "scale"])
def test_random_features_are_as_good(gamma):
    X = DATA["digits"]
    used = gamma if gamma != "scale" else 1 / (X.shape[1] * X.var())
    K = pairwise_kernels(X, metric="rbf", gamma=used)
    errors = np.zeros((8, 2))
    for seed in range(8):
        given = {"gamma": gamma, "n_components": 128, "random_state": seed}
        theirs = kernel_approximation.RBFSampler(**given).fit_transform(X)
        ours = RBFSampler(**given).fit_transform(X)
        close(ours, theirs)
        errors[seed] = [kernel_error(Z, K) for Z in (ours, theirs)]
    assert errors[:, 0].mean() <= errors[:, 1].mean() * 1.000001


def test_features_of_sparse_and_float32_data():
    X = scipy.sparse.random(60, 20, 0.3, random_state=0, format="csr")
    for model in (Nystroem(n_components=10), RBFSampler(n_components=10, gamma="scale")):
        dense = model.fit(X.toarray()).transform(X.toarray())
        close(model.fit(X).transform(X), dense, 1e-6)
        single = model.fit(X.toarray().astype(np.float32))
        found = single.transform(X.toarray().astype(np.float32))
        assert found.dtype == np.float32
        close(found, dense, 1e-3)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.transform(X), model.transform(X))


def test_models_that_no_estimator_saved(tmp_path):
    X = DATA["wine"]
    for model in (
        KernelPCA(2, kernel="poly", gamma=0.5, degree=2, coef0=3.0),
        KernelPCA(2, kernel="rbf", gamma=0.5, approximation="nystrom", n_landmarks=30),
    ):
        fitted = model.fit(X)
        fitted._model.save(tmp_path / "model.safetensors", {})
        back = load(tmp_path / "model.safetensors")
        assert repr(back) == repr(model)
        assert np.array_equal(back.transform(X), fitted.transform(X))
