"""Sparse PCA: scikit-learn's problem, and the formulations that say how sparse a component is."""

from __future__ import annotations

import copy
import functools
import pickle

import numpy as np
import pytest

import eigenlens
from eigenlens import MiniBatchSparsePCA, SparsePCA, load


def random(n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, d)) + rng.normal(size=(n, d)) + 2


def adjusted(X: np.ndarray, components: np.ndarray) -> float:
    """The variance that components explain together (Zou, Hastie & Tibshirani 2006)."""
    scores = (X - X.mean(axis=0)) @ components.T
    return float(np.sum(np.diag(np.linalg.qr(scores)[1]) ** 2) / (len(X) - 1))


def objective(X: np.ndarray, U: np.ndarray, V: np.ndarray, alpha: float) -> float:
    return 0.5 * np.sum((X - X.mean(axis=0) - U @ V) ** 2) + alpha * np.abs(V).sum()


CASES = ["iris", "wine", "digits", "tall", "wide"]


@functools.cache
def case(name: str) -> tuple[np.ndarray, int, float]:
    """Data, a number of components, and a penalty that leaves some of the entries."""
    if name in ("tall", "wide"):
        return {"tall": (random(120, 20), 4, 3.0), "wide": (random(25, 50), 3, 3.0)}[name]
    datasets = pytest.importorskip("sklearn.datasets")
    X = getattr(datasets, f"load_{name}")().data
    if name == "wine":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    k, alpha = {"iris": (3, 1.0), "wine": (4, 2.0), "digits": (6, 30.0)}[name]
    return X, k, alpha


@functools.cache
def of_scikit_learn(name: str):
    decomposition = pytest.importorskip("sklearn.decomposition")
    X, k, alpha = case(name)
    return decomposition.SparsePCA(k, alpha=alpha, random_state=0).fit(X)


@pytest.mark.parametrize("name", CASES)
def test_the_problem_and_the_answer_are_those_of_scikit_learn(name):
    X, k, alpha = case(name)
    theirs = copy.deepcopy(of_scikit_learn(name))
    ours = SparsePCA(k, alpha=alpha, random_state=0).fit(X)
    np.testing.assert_allclose(ours.error_[-1], theirs.error_[-1], rtol=1e-7)
    assert np.array_equal(ours.components_ == 0, theirs.components_ == 0)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-6)
    size = np.abs(X).max()
    np.testing.assert_allclose(ours.mean_, theirs.mean_, atol=1e-12 * size)
    scores = theirs.transform(X)
    np.testing.assert_allclose(ours.transform(X), scores, atol=1e-5 * size)
    assert ours.n_components_ == theirs.n_components_
    # With the same components, new samples have the same scores, and come back the same.
    theirs.components_ = ours.components_
    np.testing.assert_allclose(ours.transform(X[:7]), theirs.transform(X[:7]), atol=1e-9 * size)
    np.testing.assert_allclose(
        ours.inverse_transform(scores), theirs.inverse_transform(scores), atol=1e-9 * size
    )


@pytest.mark.parametrize("name", CASES)
def test_the_objective_never_rises_and_ends_at_rest(name):
    X, k, alpha = case(name)
    pca = SparsePCA(k, alpha=alpha, tol=1e-12, max_iter=5000).fit(X)
    assert (np.diff(pca.error_) <= 1e-9 * pca.error_[0]).all()
    assert len(pca.error_) == pca.n_iter_ > 1
    assert pca.error_[-1] < 0.5 * np.sum((X - X.mean(axis=0)) ** 2)
    assert (pca.non_zeros_ == np.count_nonzero(pca.components_, axis=1)).all()
    norms = np.linalg.norm(pca.components_, axis=1)
    np.testing.assert_allclose(norms[norms > 0], 1)


def test_the_objective_of_one_component_by_hand():
    # k = 1: alternating between u = X v/‖X v‖ and v = soft(Xᵀu, alpha).
    X, alpha = random(60, 8), 4.0
    centered = X - X.mean(axis=0)
    v = np.linalg.svd(centered)[2][0]
    for _ in range(500):
        u = centered @ v / np.linalg.norm(centered @ v)
        v = np.sign(centered.T @ u) * np.maximum(np.abs(centered.T @ u) - alpha, 0)
    pca = SparsePCA(1, alpha=alpha, tol=1e-13, max_iter=5000).fit(X)
    expected = v / np.linalg.norm(v) * np.sign(v[np.abs(v).argmax()])
    np.testing.assert_allclose(pca.components_[0], expected, atol=1e-5)
    value = objective(X, u[:, None], v[None], alpha)
    assert pca.error_[-1] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_as_much_variance_as_scikit_learn_at_equal_sparsity(name):
    X, k, alpha = case(name)
    theirs = of_scikit_learn(name)
    counts = np.count_nonzero(theirs.components_, axis=1)
    kept = theirs.components_[counts > 0]
    ours = SparsePCA(k, alpha=alpha).fit(X)
    assert np.array_equal(ours.non_zeros_, counts)
    assert adjusted(X, ours.components_) == pytest.approx(ours.explained_variance_.sum())
    assert adjusted(X, ours.components_) >= (1 - 1e-4) * adjusted(X, kept)
    # One after the other: the first has the most that as many features can have; all together
    # may have a little less than components that were found together.
    counts = [int(count) for count in counts if count]
    ours = SparsePCA(len(counts), formulation="cardinality", non_zeros=counts).fit(X)
    assert list(ours.non_zeros_) == counts
    assert adjusted(X, ours.components_[:1]) >= adjusted(X, kept[:1])
    assert adjusted(X, ours.components_) >= 0.98 * adjusted(X, kept)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("passes", [10, 1000])
def test_minibatches_end_no_lower(name, passes):
    decomposition = pytest.importorskip("sklearn.decomposition")
    X, k, alpha = case(name)
    given = {"n_components": k, "alpha": alpha, "max_iter": passes, "random_state": 0}
    theirs = decomposition.MiniBatchSparsePCA(**given).fit(X)
    # Their other half is not kept: once more by the class that theirs is made of.
    learned = decomposition.MiniBatchDictionaryLearning(
        **given, batch_size=3, transform_algorithm="lasso_lars"
    )
    V = learned.fit_transform((X - X.mean(axis=0)).T).T
    np.testing.assert_allclose(
        V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-300), theirs.components_
    )
    ours = MiniBatchSparsePCA(**given).fit(X)
    assert ours.error_[-1] <= objective(X, learned.components_.T, V, alpha)
    # It is sparse PCA that ends sooner.
    plain = SparsePCA(k, alpha=alpha, tol=1e-5).fit(X)
    assert np.array_equal(ours.components_, plain.components_)
    assert ours.warnings_ == plain.warnings_


def test_minibatches_are_stored_and_have_scikit_learns_parameters(tmp_path):
    X, path = random(50, 6), tmp_path / "model.safetensors"
    fitted = MiniBatchSparsePCA(2, alpha=3, batch_size=7).fit(X)
    fitted.save(path)
    back = load(path)
    assert repr(back) == repr(fitted)
    assert np.array_equal(back.transform(X), fitted.transform(X))
    assert list(fitted.get_feature_names_out()) == ["minibatchsparsepca0", "minibatchsparsepca1"]
    # Two passes over six features, four at a time.
    assert MiniBatchSparsePCA(2, alpha=3, max_iter=2, batch_size=4).fit(X).n_iter_ == 4
    with pytest.raises(ValueError, match="callback"):
        MiniBatchSparsePCA(callback=print).fit(X)
    decomposition = pytest.importorskip("sklearn.decomposition")
    theirs, ours = decomposition.MiniBatchSparsePCA().get_params(), MiniBatchSparsePCA().get_params()
    assert {key: ours.get(key, "missing") for key in theirs} == theirs


def test_a_proof_says_that_nothing_is_better():
    X = random(80, 12)
    pca = SparsePCA(2, formulation="cardinality", non_zeros=[4, 2], certify=True).fit(X)
    assert list(pca.non_zeros_) == [4, 2]
    assert all(one["proven"] for one in pca.optimality_)
    # Every choice of four features, tried.
    from itertools import combinations

    S = np.cov(X.T)
    best = max(np.linalg.eigvalsh(S[np.ix_(at, at)])[-1] for at in combinations(range(12), 4))
    assert pca.optimality_[0]["value"] == pytest.approx(best)
    assert SparsePCA(2, formulation="cardinality").fit(X).non_zeros_.max() <= 3
    assert SparsePCA(2).fit(X).optimality_ == []


@pytest.mark.parametrize("formulation", ["dictionary", "cardinality", "regression"])
def test_types_sparse_weights_and_files(formulation, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    X = random(90, 10) * (np.random.default_rng(1).random((90, 10)) < 0.4)
    make = {"dictionary": {"alpha": 2.0}, "regression": {"non_zeros": 3}, "cardinality": {}}
    new = SparsePCA(3, formulation=formulation, **make[formulation])
    dense = new.fit(X)
    expected, scores = dense.components_, dense.transform(X)
    np.testing.assert_allclose(new.fit_transform(X), scores, atol=1e-10)
    new.fit(sparse.csr_matrix(X))
    np.testing.assert_allclose(new.components_, expected, atol=1e-6)
    np.testing.assert_allclose(new.transform(sparse.csr_matrix(X)), scores, atol=1e-5)
    np.save(tmp_path / "X.npy", X)
    np.testing.assert_allclose(new.fit(tmp_path / "X.npy").components_, expected, atol=1e-12)
    weights = np.arange(90) % 3
    new.fit(X, sample_weight=weights)
    weighted = new.components_
    np.testing.assert_allclose(new.fit(np.repeat(X, weights, axis=0)).components_, weighted, atol=1e-6)
    single = new.fit(X.astype(np.float32))
    assert single.components_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.components_, expected, atol=1e-2)
    path = tmp_path / "model.safetensors"
    for fitted in (single, new.fit(X)):
        fitted.save(path)
        for back in (load(path), pickle.loads(pickle.dumps(fitted))):
            assert type(back) is SparsePCA
            assert np.array_equal(back.components_, fitted.components_)
            assert back.components_.dtype == fitted.components_.dtype
            assert np.array_equal(back.transform(X), fitted.transform(X))
            assert back.n_iter_ == fitted.n_iter_
            assert hasattr(back, "error_") == (formulation == "dictionary")


def test_many_features_without_their_covariance():
    decomposition = pytest.importorskip("sklearn.decomposition")
    X = random(20, 1100)
    ours = SparsePCA(2, alpha=4, max_iter=6).fit(X)
    assert "no d × d matrix is formed" in str(ours.plan_)
    theirs = decomposition.SparsePCA(2, alpha=4, max_iter=6).fit(X)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-5)


def test_a_notebook_shows_what_is_known():
    html = SparsePCA(2, alpha=3).fit(random(50, 6))._repr_html_()
    for part in ("<svg", "non-zeros", "the alternation rests", "adjusted"):
        assert part in html


def test_a_model_that_no_estimator_saved(tmp_path):
    X, path = random(50, 6), tmp_path / "model.safetensors"
    for made in (
        SparsePCA(2, alpha=3),
        SparsePCA(2, formulation="cardinality"),
        SparsePCA(2, formulation="regression", non_zeros=3),
    ):
        made.fit(X)._model.save(path, {})
        back = load(path)
        assert back.formulation == made.formulation and back.n_components == 2
        assert np.array_equal(back.transform(X), made.transform(X))


def test_unused_components_end_about_as_low_as_in_scikit_learn():
    # Less rank than components: scikit-learn draws those that are not used at random.
    decomposition = pytest.importorskip("sklearn.decomposition")
    rng = np.random.default_rng(1)
    ratios = []
    for seed in range(6):
        X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 15))
        ours = SparsePCA(5, alpha=1, max_iter=60).fit(X)
        theirs = decomposition.SparsePCA(5, alpha=1, random_state=seed, max_iter=60).fit(X)
        assert ours.non_zeros_.all()
        ratios.append(ours.error_[-1] / theirs.error_[-1])
    # There is more than one minimum, and chance decides which is found.
    assert np.mean(ratios) < 1.03 and max(ratios) < 1.15


def test_unused_components_are_put_to_use():
    # Rank 2, but a penalty near 0: a third direction only waits to be found.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2)) @ rng.normal(size=(2, 7))
    pca = SparsePCA(4, alpha=1e-3).fit(X)
    assert pca.error_[-1] < 0.2 * SparsePCA(2, alpha=1.0).fit(X).error_[-1]
    none = SparsePCA(3, alpha=1e6).fit(X)
    assert not none.components_.any() and not none.transform(X).any()
    assert none.error_[-1] == pytest.approx(0.5 * np.sum((X - X.mean(axis=0)) ** 2))


def test_more_components_than_features_add_nothing():
    X = random(40, 5)
    many, all_ = SparsePCA(8, alpha=0.5).fit(X), SparsePCA(alpha=0.5).fit(X)
    assert many.components_.shape == (8, 5) and all_.components_.shape == (5, 5)
    assert np.array_equal(many.components_[:5], all_.components_)
    assert not many.components_[5:].any()
    assert many.transform(X).shape == many.fit_transform(X).shape == (40, 8)
    assert list(many.get_feature_names_out())[-1] == "sparsepca7"
    assert many.inverse_transform(many.transform(X)).shape == X.shape


def test_a_start_is_where_it_goes_on_from():
    X = random(100, 15)
    whole = SparsePCA(3, alpha=5, tol=1e-10, max_iter=5000).fit(X)
    U = np.zeros((100, 3))
    again = SparsePCA(3, alpha=5, tol=1e-10, U_init=U, V_init=whole.components_).fit(X)
    assert again.n_iter_ < whole.n_iter_
    np.testing.assert_allclose(again.components_, whole.components_, atol=1e-3)
    with pytest.raises(ValueError, match="start"):
        SparsePCA(3, U_init=U, V_init=np.ones((2, 15))).fit(X)
    # As in scikit-learn, one of the two alone is not used.
    alone = SparsePCA(3, alpha=5, V_init=np.ones((3, 15))).fit(X)
    np.testing.assert_allclose(alone.components_, SparsePCA(3, alpha=5).fit(X).components_)


def test_large_offsets_and_scales():
    X = random(100, 8)
    expected = SparsePCA(2, alpha=3).fit(X).components_
    np.testing.assert_allclose(SparsePCA(2, alpha=3).fit(X + 1e7).components_, expected, atol=1e-5)
    stopped = SparsePCA(2, alpha=3, max_iter=1).fit(X)
    assert any("factorisation stopped after 1" in words for words in stopped.warnings_)
    assert pickle.loads(pickle.dumps(stopped)).warnings_ == stopped.warnings_
    tiny = SparsePCA(2, alpha=3e-200).fit(X * 1e-200)
    np.testing.assert_allclose(tiny.components_, expected, atol=1e-5)


def test_parameters_are_scikit_learns_and_wrong_ones_are_refused():
    decomposition = pytest.importorskip("sklearn.decomposition")
    theirs, ours = decomposition.SparsePCA().get_params(), SparsePCA().get_params()
    assert {key: ours.get(key, "missing") for key in theirs} == theirs
    X = random(20, 5)
    for wrong in ({"alpha": -1}, {"method": "fast"}, {"n_components": 0}, {"tol": "x"}):
        messages = []
        for module in (eigenlens, decomposition):
            with pytest.raises(ValueError) as caught:
                module.SparsePCA(**wrong).fit(X)
            messages.append(str(caught.value).split()[:6])
        assert messages[0] == messages[1]
    for wrong, words in (
        ({"max_iter": 0, "formulation": "regression"}, "formulation='dictionary'"),
        ({"non_zeros": 2}, "formulation"),
        ({"certify": True}, "cardinality"),
        ({"non_zeros": [2, 0], "formulation": "regression"}, "non_zeros"),
        ({"non_zeros": [2, 2, 2], "formulation": "cardinality", "n_components": 2}, "3 values"),
    ):
        with pytest.raises(ValueError, match=words):
            SparsePCA(**wrong).fit(X)
