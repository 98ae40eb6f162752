"""Linear discriminant analysis: scikit-learn's numbers, its errors, and what it cannot do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from eigenlens import LinearDiscriminantAnalysis, load, verify

sklearn = pytest.importorskip("sklearn")
from sklearn import datasets  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Theirs  # noqa: E402

SOLVERS = [
    {"solver": "svd"},
    {"solver": "svd", "store_covariance": True},
    {"solver": "lsqr"},
    {"solver": "lsqr", "shrinkage": 0.3},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "eigen"},
]


def blobs(n_classes=3, n_features=5, dtype=np.float64):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(n_classes, size=120)
    X = rng.normal(size=(120, n_features)) @ rng.normal(size=(n_features, n_features))
    return (X + 2 * rng.normal(size=(n_classes, n_features))[y]).astype(dtype), y


def tables():
    iris, wine, digits = datasets.load_iris(), datasets.load_wine(), datasets.load_digits()
    return {
        "iris": (iris.data, iris.target_names[iris.target]),
        "wine": (wine.data, wine.target),
        "digits": (digits.data[:600], digits.target[:600]),
        "two": blobs(2),
        "float32": blobs(4, dtype=np.float32),
        "twelve": blobs(12, 15),
    }


def comparable():
    """Every table with every solver; but where pixels never vary, the covariance that `lsqr` and `eigen` invert
    without shrinkage is singular, and there is no one answer."""
    return [
        pytest.param(name, parameters, id=f"{name} {parameters}")
        for name in tables()
        for parameters in SOLVERS
        if name != "digits" or parameters["solver"] == "svd" or "shrinkage" in parameters
    ]


@pytest.mark.parametrize(("name", "parameters"), comparable())
def test_numbers_are_scikit_learns(name, parameters):
    X, y = tables()[name]
    ours = LinearDiscriminantAnalysis(**parameters).fit(X, y)
    theirs = Theirs(**parameters).fit(X, y)
    tolerance = 2e-3 if X.dtype == np.float32 else 1e-6
    assert np.array_equal(ours.classes_, theirs.classes_)
    for attribute in ("coef_", "intercept_", "means_", "priors_", "covariance_", "xbar_"):
        assert hasattr(ours, attribute) == hasattr(theirs, attribute), attribute
        if hasattr(ours, attribute):
            found, expected = getattr(ours, attribute), getattr(theirs, attribute)
            assert found.shape == expected.shape, attribute
            if attribute in ("coef_", "intercept_"):
                assert found.dtype == X.dtype
                # Of these solvers scikit-learn's have in common what says nothing of classes.
                if parameters["solver"] != "svd" and len(found) > 1:
                    found, expected = np.diff(found, axis=0), np.diff(expected, axis=0)
            size = abs(expected).max()
            np.testing.assert_allclose(found, expected, atol=tolerance * size, err_msg=attribute)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=10 * tolerance)
    found, expected = ours.predict_log_proba(X[:5]), theirs.predict_log_proba(X[:5])
    # Below, scikit-learn subtracts probabilities from 1.
    sound = expected > -10
    np.testing.assert_allclose(found[sound], expected[sound], rtol=0.01, atol=0.01)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99
    assert ours.decision_function(X).shape == theirs.decision_function(X).shape
    if parameters["solver"] == "lsqr":
        with pytest.raises(NotImplementedError, match="transform not implemented for 'lsqr'"):
            ours.transform(X)
        return
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_, atol=tolerance
    )
    found, expected = ours.transform(X), theirs.transform(X)
    sign = np.sign((found * expected).sum(axis=0))
    size = abs(expected).max()
    np.testing.assert_allclose(found * sign, expected, atol=10 * tolerance * size)
    assert found.dtype == X.dtype


def test_given_priors_are_scikit_learns():
    X, y = blobs()
    priors = [0.2, 0.5, 0.3]
    for solver in ("svd", "lsqr", "eigen"):
        ours = LinearDiscriminantAnalysis(solver, priors=priors).fit(X, y)
        theirs = Theirs(solver, priors=priors).fit(X, y)
        difference = [np.diff(one.coef_, axis=0) for one in (ours, theirs)]
        np.testing.assert_allclose(*difference, atol=1e-9)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    ours = LinearDiscriminantAnalysis(priors=priors).fit(X, y).transform(X)
    theirs = Theirs(priors=priors).fit(X, y).transform(X)
    np.testing.assert_allclose(abs(ours), abs(theirs), atol=1e-9)
    with pytest.warns(UserWarning, match="do not sum to 1"):
        scaled = LinearDiscriminantAnalysis(priors=[2, 5, 3]).fit(X, y)
    np.testing.assert_allclose(scaled.priors_, priors)


def test_more_features_than_samples_are_scikit_learns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 100)), np.arange(40) % 4
    X[y == 1, 3] += 3
    ours, theirs = LinearDiscriminantAnalysis().fit(X, y), Theirs().fit(X, y)
    np.testing.assert_allclose(abs(ours.transform(X)), abs(theirs.transform(X)), atol=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-7)


def test_errors_are_scikit_learns():
    X, y = blobs()
    cases = [
        ({"n_components": 3}, ValueError),
        ({"shrinkage": 0.5}, NotImplementedError),
        ({"priors": [0.5, 0.7, -0.2]}, ValueError),
        ({"solver": "cholesky"}, ValueError),
        ({"solver": "lsqr", "shrinkage": "dummy"}, ValueError),
        ({"solver": "lsqr", "shrinkage": 1.5}, ValueError),
        ({"covariance_estimator": Theirs()}, ValueError),
        ({"solver": "lsqr", "shrinkage": 0.1, "covariance_estimator": Theirs()}, ValueError),
    ]
    for parameters, kind in cases:
        with pytest.raises(kind) as ours:
            LinearDiscriminantAnalysis(**parameters).fit(X, y)
        with pytest.raises(kind) as theirs:
            Theirs(**parameters).fit(X, y)
        assert str(ours.value).split(". Got")[0][:40] == str(theirs.value).split(". Got")[0][:40]
    with pytest.raises(ValueError, match="more than the number of classes"):
        LinearDiscriminantAnalysis().fit(X[:3], [0, 1, 2])


def test_covariances_of_other_estimators_are_taken():
    from sklearn.covariance import OAS

    X, y = blobs()
    for solver in ("lsqr", "eigen"):
        ours = LinearDiscriminantAnalysis(solver, covariance_estimator=OAS()).fit(X, y)
        theirs = Theirs(solver, covariance_estimator=OAS()).fit(X, y)
        np.testing.assert_allclose(ours.covariance_, theirs.covariance_, atol=1e-12)
        difference = [np.diff(one.coef_, axis=0) for one in (ours, theirs)]
        np.testing.assert_allclose(*difference, atol=1e-9)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    from sklearn.preprocessing import StandardScaler

    with pytest.raises(ValueError, match="does not have a covariance_ attribute"):
        LinearDiscriminantAnalysis("eigen", covariance_estimator=StandardScaler()).fit(X, y)


def test_classes_far_apart_and_means_far_away_cost_nothing():
    X, y = blobs()
    expected = LinearDiscriminantAnalysis().fit(X, y).transform(X)
    np.testing.assert_allclose(
        LinearDiscriminantAnalysis().fit(X + 1e7, y).transform(X + 1e7), expected, atol=1e-5
    )
    apart = X + 1e7 * np.eye(5)[y]
    scores = LinearDiscriminantAnalysis().fit(apart, y).transform(apart)
    for label in range(3):
        scores[y == label] -= scores[y == label].mean(axis=0)
    np.testing.assert_allclose(scores.T @ scores / len(y), np.eye(2), atol=1e-5)


def test_weights_sparse_files_and_models(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = blobs()
    lda = LinearDiscriminantAnalysis(n_components=1).fit(X, y)
    weights = np.arange(len(y)) % 3
    weighted = LinearDiscriminantAnalysis().fit(X, y, sample_weight=weights)
    repeated = LinearDiscriminantAnalysis().fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    compressed = LinearDiscriminantAnalysis(n_components=1).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(compressed.coef_, lda.coef_, atol=1e-9)
    assert verify(lda, X, y).passed and not verify(lda, X, y[::-1]).passed
    assert "classes" in lda.plan(X, y)
    lda.save(tmp_path / "model.safetensors")
    for back in (load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(lda))):
        assert type(back) is LinearDiscriminantAnalysis and back.n_components == 1
        assert np.array_equal(back.predict(X), lda.predict(X))
        assert back.classes_.dtype == y.dtype
    lda._model.save(tmp_path / "model.safetensors", {})
    back = load(tmp_path / "model.safetensors")
    assert type(back) is LinearDiscriminantAnalysis
    assert np.array_equal(back.predict(X), lda.predict(X).astype(str))
    with pytest.raises(NotImplementedError, match="inverse_transform"):
        lda.inverse_transform(lda.transform(X))
    numbers = LinearDiscriminantAnalysis().fit(X, y + 9)  # 10 comes before 9 among texts
    assert list(numbers.classes_) == [9, 10, 11]
    assert np.array_equal(numbers.predict(X), LinearDiscriminantAnalysis().fit(X, y).predict(X) + 9)
