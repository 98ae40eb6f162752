"""The same numbers and signs as scikit-learn, on real and random data."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from sklearn import datasets, decomposition

import eigenlens

REAL = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "digits": datasets.load_digits,
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
}


def data(name: str) -> np.ndarray:
    if name in REAL:
        return REAL[name]().data
    rng = np.random.default_rng(5)
    shape = {"tall": (400, 12), "wide": (30, 80), "square": (40, 40)}[name]
    return rng.normal(size=shape) * np.geomspace(4, 1, shape[1]) + 3


NAMES = [*REAL, "tall", "wide", "square"]


def assert_close(ours, theirs, *, of: float = 1.0) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-8 * of)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("whiten", [False, True])
def test_pca(name, whiten):
    X = data(name)
    # Components of clearly different variance, so that signs and vectors are well defined.
    k = min(5, min(X.shape) - 1)
    ours = eigenlens.PCA(k, whiten=whiten)
    theirs = decomposition.PCA(k, whiten=whiten, svd_solver="full")
    Z, Y = ours.fit_transform(X), theirs.fit_transform(X)
    size = np.abs(Y).max()
    assert_close(ours.components_, theirs.components_)
    assert_close(ours.explained_variance_, theirs.explained_variance_)
    assert_close(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert_close(ours.singular_values_, theirs.singular_values_)
    assert_close(ours.mean_, theirs.mean_)
    assert_close(ours.noise_variance_, theirs.noise_variance_)
    assert_close(Z, Y, of=size)
    assert_close(ours.transform(X), theirs.transform(X), of=size)
    assert_close(ours.inverse_transform(Z), theirs.inverse_transform(Y), of=np.abs(X).max())
    assert ours.n_components_ == theirs.n_components_
    assert ours.n_samples_ == theirs.n_samples_
    assert ours.n_features_in_ == theirs.n_features_in_
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


@pytest.mark.parametrize("name", ["iris", "wine", "tall", "wide"])
def test_the_gaussian_of_pca(name):
    X = data(name)
    ours = eigenlens.PCA(3).fit(X)
    theirs = decomposition.PCA(3, svd_solver="full").fit(X)
    cov = theirs.get_covariance()
    np.testing.assert_allclose(ours.get_covariance(), cov, rtol=1e-6, atol=1e-9 * cov.max())
    precision = theirs.get_precision()
    np.testing.assert_allclose(
        ours.get_precision(), precision, rtol=1e-5, atol=1e-8 * np.abs(precision).max()
    )
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-6)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-6)


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "tall"])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.9, 0.99])
def test_a_share_is_exceeded(name, share):
    X = data(name)
    ours = eigenlens.PCA(share).fit(X)
    theirs = decomposition.PCA(share, svd_solver="full").fit(X)
    assert ours.n_components_ == theirs.n_components_


def test_a_share_that_is_only_reached_takes_one_more():
    # Two equal variances: the first carries exactly one half.
    X = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    assert eigenlens.PCA(0.5).fit(X).n_components_ == 2
    assert decomposition.PCA(0.5, svd_solver="full").fit(X).n_components_ == 2


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "tall"])
def test_minka(name):
    X = data(name)
    theirs = decomposition.PCA("mle", svd_solver="full").fit(X)
    assert eigenlens.PCA("mle").fit(X).n_components_ == theirs.n_components_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "arpack", "randomized"])
def test_every_solver_and_type(solver, dtype):
    rng = np.random.default_rng(2)
    X = (rng.normal(size=(300, 30)) * np.geomspace(10, 0.1, 30)).astype(dtype)
    # Enough for the approximate solver to be as good as the others, wherever its random start lies.
    ours = eigenlens.PCA(4, svd_solver=solver, iterated_power=14, random_state=0)
    theirs = decomposition.PCA(4, svd_solver="full").fit(X.astype(float))
    Z = ours.fit_transform(X)
    tolerance = 1e-4 if dtype == np.float32 else 1e-8
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=tolerance)
    np.testing.assert_allclose(Z, theirs.transform(X), atol=100 * tolerance)
    assert Z.dtype == ours.components_.dtype == ours.explained_variance_.dtype == dtype


@pytest.mark.parametrize("solver", ["auto", "arpack", "covariance_eigh"])
@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_sparse_pca(solver, kind):
    X = scipy.sparse.random(200, 40, 0.1, random_state=3, format="csr")
    ours = eigenlens.PCA(3, svd_solver=solver).fit(kind(X))
    theirs = decomposition.PCA(3, svd_solver="full").fit(X.toarray())
    assert_close(ours.components_, theirs.components_)
    assert_close(ours.explained_variance_, theirs.explained_variance_)
    assert_close(ours.transform(kind(X)), theirs.transform(X.toarray()))


@pytest.mark.parametrize("algorithm", ["randomized", "arpack"])
@pytest.mark.parametrize("name", ["digits", "wine", "tall"])
@pytest.mark.parametrize("sparse", [False, True])
def test_truncated_svd(name, algorithm, sparse):
    X = data(name)
    k = min(4, X.shape[1] - 1)
    shown = scipy.sparse.csr_matrix(X) if sparse else X
    ours = eigenlens.TruncatedSVD(k, algorithm=algorithm)
    theirs = decomposition.TruncatedSVD(k, algorithm="arpack", random_state=0)
    Z, Y = ours.fit_transform(shown), theirs.fit_transform(X)
    assert_close(Z, Y, of=np.abs(Y).max())
    assert_close(ours.components_, theirs.components_)
    assert_close(ours.singular_values_, theirs.singular_values_)
    assert_close(ours.explained_variance_, theirs.explained_variance_, of=X.var())
    assert_close(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert_close(ours.inverse_transform(Z), theirs.inverse_transform(Y), of=np.abs(X).max())


@pytest.mark.parametrize("name", ["digits", "breast_cancer", "tall"])
def test_incremental_pca_is_closer_to_the_batch_answer(name):
    X = data(name)
    k = 5
    exact = decomposition.PCA(k, svd_solver="full").fit(X)

    def error(model) -> float:
        overlap = np.linalg.svd(model.components_ @ exact.components_.T, compute_uv=False)
        values = np.abs(model.explained_variance_ / exact.explained_variance_ - 1).max()
        return max(values, float(np.sqrt(max(0.0, 1 - overlap.min() ** 2))))

    ours = eigenlens.IncrementalPCA(k, batch_size=100).fit(X)
    theirs = decomposition.IncrementalPCA(k, batch_size=100).fit(X)
    assert error(ours) <= max(error(theirs), 1e-7)
    batches = eigenlens.IncrementalPCA(k)
    for batch in np.array_split(X, 7):
        batches.partial_fit(batch)
    assert error(batches) <= max(error(theirs), 1e-7)
    for model in (ours, batches):
        assert_close(model.mean_, theirs.mean_, of=np.abs(X).max())
        assert_close(model.var_, theirs.var_, of=X.var())
        assert model.n_samples_seen_ == theirs.n_samples_seen_
        assert model.n_components_ == theirs.n_components_
    assert ours.batch_size_ == theirs.batch_size_


WRONG = [
    ("PCA", {"n_components": 99}, ValueError),
    ("PCA", {"n_components": -1}, ValueError),
    ("PCA", {"n_components": 1.5}, ValueError),
    ("PCA", {"n_components": "most"}, ValueError),
    ("PCA", {"svd_solver": "fast"}, ValueError),
    ("PCA", {"whiten": "yes"}, ValueError),
    ("PCA", {"n_components": 4, "svd_solver": "arpack"}, ValueError),
    ("PCA", {"n_components": 0.5, "svd_solver": "arpack"}, ValueError),
    ("PCA", {"n_components": "mle", "svd_solver": "randomized"}, ValueError),
    ("PCA", {"tol": -1.0}, ValueError),
    ("TruncatedSVD", {"n_components": 0}, ValueError),
    ("TruncatedSVD", {"n_components": 9}, ValueError),
    ("TruncatedSVD", {"n_components": 4, "algorithm": "arpack"}, ValueError),
    ("TruncatedSVD", {"algorithm": "power"}, ValueError),
    ("IncrementalPCA", {"n_components": 9}, ValueError),
    ("IncrementalPCA", {"n_components": 0}, ValueError),
]


@pytest.mark.parametrize(("name", "parameters", "error"), WRONG)
def test_what_scikit_learn_refuses_is_refused_with_the_same_exception(name, parameters, error):
    X = data("iris")
    with pytest.raises(error) as theirs:
        getattr(decomposition, name)(**parameters).fit(X)
    with pytest.raises(error) as ours:
        getattr(eigenlens, name)(**parameters).fit(X)
    assert type(ours.value) is type(theirs.value)
    # The same first words, so that code that looks at them keeps working.
    assert str(ours.value).split()[:3] == str(theirs.value).split()[:3]


def test_a_first_batch_that_is_too_small_is_refused_in_the_same_words():
    messages = []
    for module in (eigenlens, decomposition):
        with pytest.raises(ValueError) as caught:
            module.IncrementalPCA(3).partial_fit(data("iris")[:2])
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_parameters_and_defaults_are_those_of_scikit_learn():
    for name in ("PCA", "IncrementalPCA", "TruncatedSVD"):
        theirs = getattr(decomposition, name)().get_params()
        ours = getattr(eigenlens, name)().get_params()
        assert {key: ours.get(key, "missing") for key in theirs} == theirs


def test_sparse_data_with_a_dense_solver_are_a_type_error():
    X = scipy.sparse.random(20, 5, 0.5, random_state=0, format="csr")
    for module in (eigenlens, decomposition):
        with pytest.raises(TypeError, match="PCA only support sparse inputs"):
            module.PCA(2, svd_solver="full").fit(X)
        with pytest.raises(TypeError, match="does not support sparse input"):
            module.IncrementalPCA(2).partial_fit(X)
