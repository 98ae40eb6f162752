"""Without scikit-learn everything but its own machinery is there."""

from __future__ import annotations

import subprocess
import sys
import textwrap

HIDDEN = """
    import sys
    sys.modules["sklearn"] = None  # as if it were not installed
    import numpy as np
    import eigenlens
    from eigenlens import PCA, IncrementalPCA, TruncatedSVD, NotFittedError
    from eigenlens._compat import HAS_SKLEARN
    assert not HAS_SKLEARN
    X = np.random.default_rng(0).normal(size=(80, 5)) * [5, 4, 3, 2, 1] + 7
"""


def run(script: str) -> str:
    """Runs a script in which scikit-learn cannot be imported."""
    script = textwrap.dedent(HIDDEN) + textwrap.dedent(script)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_estimators_work():
    run("""
        for model in (PCA(2), IncrementalPCA(2), TruncatedSVD(2)):
            scores = model.fit_transform(X)
            assert np.allclose(scores, model.transform(X))
            assert model.inverse_transform(scores).shape == X.shape
            assert model.n_features_in_ == 5
        centered = X - X.mean(axis=0)
        expected = np.linalg.svd(centered, full_matrices=False)[1] ** 2 / 79
        assert np.allclose(PCA().fit(X).explained_variance_, expected)
        assert np.isfinite(PCA(2).fit(X).score(X))
        assert PCA(1).fit(X, sample_weight=np.ones(80)).n_components_ == 1
    """)


def test_targets_densities_and_sparse_components_work():
    run("""
        y = np.where(X[:, 2] > 7, "high", "low")
        for model in (eigenlens.SupervisedPCA(1), eigenlens.KernelSupervisedPCA(1)):
            assert np.allclose(model.fit_transform(X, y), model.transform(X))
            assert list(model.classes_) == ["high", "low"]
        assert eigenlens.hsic(X, y).pvalue < 0.05
        sparse = eigenlens.SparsePCA(2, alpha=30)
        assert np.allclose(sparse.fit_transform(X), sparse.transform(X))
        assert (sparse.components_ == 0).any()
        assert eigenlens.BayesianPCA().fit(X).transform(X).shape[0] == 80
        parts = eigenlens.ProbabilisticPCAMixture(2).fit(X).predict_proba(X)
        assert np.allclose(parts.sum(axis=1), 1)
    """)


def test_conventions_are_the_same():
    run("""
        import pickle
        pca = PCA(n_components=2, whiten=True)
        assert repr(pca) == "PCA(n_components=2, whiten=True)"
        assert pca.get_params()["svd_solver"] == "auto"
        assert pca.set_params(n_components=3).n_components == 3
        try:
            pca.set_params(nothing=1)
        except ValueError as error:
            assert "Invalid parameter 'nothing'" in str(error)
        else:
            raise AssertionError
        try:
            pca.transform(X)
        except NotFittedError as error:
            assert "not fitted yet" in str(error)
        else:
            raise AssertionError
        pca.fit(X)
        assert list(pca.get_feature_names_out()) == ["pca0", "pca1", "pca2"]
        assert np.array_equal(pickle.loads(pickle.dumps(pca)).transform(X), pca.transform(X))
        assert "<svg" in pca._repr_html_()
    """)


def test_wrong_input_is_refused_in_the_same_words():
    run("""
        def message(work, kind=ValueError):
            try:
                work()
            except kind as error:
                return str(error)
            raise AssertionError("nothing was raised")

        assert "Expected 2D array, got 1D array" in message(lambda: PCA(1).fit(X[0]))
        assert "1 sample(s)" in message(lambda: PCA(1).fit(X[:1]))
        assert "must be an int" in message(lambda: PCA(1.5).fit(X))
        assert "contains NaN" in message(lambda: PCA(1).fit(np.where(X == X[3, 3], np.nan, X)))
        assert "X has 3 features, but PCA is expecting 5" in message(
            lambda: PCA(1).fit(X).transform(X[:, :3])
        )
        assert "sample_weight.shape" in message(lambda: PCA(1).fit(X, sample_weight=[1, 2]))
        assert "Complex data" in message(lambda: PCA(1).fit(X * 1j))
    """)


KERNELS_AND_EMBEDDINGS = """
    from eigenlens import (
        ClassicalMDS, Isomap, KernelPCA, LocallyLinearEmbedding, Nystroem, RBFSampler,
        SpectralEmbedding,
    )
    for model in (
        KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
        KernelPCA(2, kernel=lambda x, y: float(x @ y)),
        KernelPCA(2, kernel="chi2"),
        ClassicalMDS(2),
        ClassicalMDS(2, metric="sqeuclidean"),
        Isomap(n_neighbors=8),
        Isomap(n_neighbors=8, metric="cosine"),
        Isomap(n_neighbors=8, metric="minkowski", p=3),
        LocallyLinearEmbedding(n_neighbors=8, reg=0.1),
    ):
        scores = model.fit_transform(np.abs(X))
        assert scores.shape == (80, 2)
        assert np.allclose(scores, model.transform(np.abs(X)), atol=1e-6 * abs(scores).max())
    for model in (Nystroem(n_components=9), RBFSampler(n_components=9)):
        assert model.fit_transform(X).shape == (80, 9)
    for method in ("hessian", "modified", "ltsa"):
        model = LocallyLinearEmbedding(n_neighbors=12, method=method).fit(X)
        assert model.transform(X[:5]).shape == (5, 2)
    # The same answer on either route.
    one = Isomap(n_neighbors=8).fit(X)
    other = Isomap(n_neighbors=8, metric=lambda x, y: np.linalg.norm(x - y)).fit(X)
    assert np.allclose(one.embedding_, other.embedding_)
    assert np.allclose(one.dist_matrix_, other.dist_matrix_)
    assert np.isclose(one.reconstruction_error(), other.reconstruction_error())
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    given = SpectralEmbedding(2, affinity="precomputed_nearest_neighbors", n_neighbors=12)
    assert np.allclose(
        given.fit_transform(distances),
        SpectralEmbedding(2, n_neighbors=12).fit_transform(X),
    )
    linear = KernelPCA(2).fit(X)
    assert np.allclose(linear.eigenvalues_, 79 * PCA(2).fit(X).explained_variance_)
    try:
        Isomap(metric="canberra").fit(X)
    except ValueError as error:
        assert "needs scikit-learn" in str(error)
    else:
        raise AssertionError
    try:
        one.nbrs_
    except AttributeError as error:
        assert "scikit-learn" in str(error)
    else:
        raise AssertionError
"""


def test_kernels_and_embeddings_work():
    run(KERNELS_AND_EMBEDDINGS)


def test_kernels_and_embeddings_work_without_scipy_too():
    run('    sys.modules["scipy"] = None\n' + KERNELS_AND_EMBEDDINGS)
