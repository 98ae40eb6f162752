"""In scikit-learn's machinery: clones, pipelines, searches."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenlens
from eigenlens import PCA, IncrementalPCA, Isomap, LocallyLinearEmbedding, TruncatedSVD

# Those that place new samples; two in each of their ways.
ESTIMATORS = [
    kind(n_parts=2) if kind.__name__ == "ProbabilisticPCAMixture" else kind(n_components=2)
    for kind in vars(eigenlens).values()
    if isinstance(kind, type) and hasattr(kind, "transform")
]
ESTIMATORS += [LocallyLinearEmbedding(n_components=2, method="ltsa")]


def test_a_search_over_components():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), PCA(), LogisticRegression(max_iter=500))
    search = GridSearchCV(pipeline, {"pca__n_components": [1, 2, 3]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9


def test_a_pipeline_keeps_tables():
    pd = pytest.importorskip("pandas")
    X = load_iris(as_frame=True).data
    pipeline = make_pipeline(StandardScaler(), PCA(2)).set_output(transform="pandas")
    shown = pipeline.fit_transform(X)
    assert isinstance(shown, pd.DataFrame)
    assert list(shown.columns) == ["pca0", "pca1"]
    assert list(pipeline.get_feature_names_out()) == ["pca0", "pca1"]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_tables_come_out_of_every_class(estimator):
    pd = pytest.importorskip("pandas")
    table = load_iris(as_frame=True)
    X, y = table.data.iloc[::-1], table.target[::-1]
    plain = clone(estimator).fit(X, y)
    estimator = clone(estimator).set_output(transform="pandas")
    assert list(estimator.fit_transform(X, y).index) == list(X.index)
    scores = estimator.fit(X, y).transform(X)
    assert isinstance(scores, pd.DataFrame)
    assert list(scores.columns) == list(estimator.get_feature_names_out())
    assert np.array_equal(scores, plain.transform(X))


def test_every_parameter_is_checked(spread):
    for estimator in ESTIMATORS:
        assert set(type(estimator)._constraints) == set(estimator.get_params())
    for wrong in ({"random_state": "seed"}, {"n_jobs": 0}, {"n_jobs": 1.5}):
        with pytest.raises(ValueError, match=f"The {next(iter(wrong))!r} parameter of Isomap must"):
            Isomap(**wrong).fit(spread)


@pytest.mark.parametrize("estimator", [PCA(3, standardize=True), IncrementalPCA(3), TruncatedSVD(3)])
def test_clones_fit_alike(estimator):
    X = load_digits().data
    first, second = clone(estimator).fit(X), clone(estimator).fit(X)
    assert np.array_equal(first.components_, second.components_)
    assert repr(clone(first)) == repr(estimator)


def test_map_coordinates_in_float32_come_out_right():
    """A mean of 5e6 and a spread of 10: scikit-learn's default gives noise, silently."""
    rng = np.random.default_rng(0)
    spread = rng.normal(size=(20_000, 3)) * [10, 5, 2]
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    X = (5e6 + spread @ turn).astype(np.float32)
    exact = np.linalg.svd(X.astype(float) - X.astype(float).mean(axis=0), full_matrices=False)
    directions, variances = exact[2], exact[1] ** 2 / (len(X) - 1)

    def errors(pca):
        overlap = np.abs((pca.components_ * directions[:2]).sum(axis=1))
        return abs(pca.explained_variance_ / variances[:2] - 1).max(), 1 - overlap.min()

    from sklearn import decomposition

    ours = make_pipeline(PCA(2), StandardScaler()).fit(X)[0]
    theirs = make_pipeline(decomposition.PCA(2), StandardScaler()).fit(X)[0]
    assert max(errors(ours)) < 1e-5
    assert max(errors(theirs)) > 0.1
