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
