"""Storing, copying, showing and checking fitted models."""

from __future__ import annotations

import copy
import functools
import multiprocessing
import pickle
import struct

import numpy as np
import pytest

import eigenlens
from eigenlens import (
    PCA,
    IncrementalPCA,
    Moments,
    ProbabilisticPCA,
    TruncatedSVD,
    choose_n_components,
    load,
    verify,
)

FITTED = [
    PCA(2),
    PCA(3, whiten=True, standardize=True, random_state=5),
    PCA(0.9),
    IncrementalPCA(2),
    TruncatedSVD(2),
    ProbabilisticPCA(2),
    ProbabilisticPCA(2, standardize=True),
]
ARRAYS = ["components_", "singular_values_", "explained_variance_", "explained_variance_ratio_"]


@pytest.mark.parametrize("model", FITTED, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_model_goes_to_a_file_and_back(model, dtype, spread, tmp_path):
    X = spread.astype(dtype)
    fitted = copy.deepcopy(model).fit(X)
    path = tmp_path / "model.safetensors"
    fitted.save(path)
    back = load(path)
    assert repr(back) == repr(fitted)
    assert type(back) is type(fitted)
    assert np.array_equal(back.transform(X), fitted.transform(X))
    for name in (*ARRAYS, "mean_", "noise_variance_", "var_", "n_samples_", "n_components_"):
        if hasattr(fitted, name):
            assert np.array_equal(getattr(back, name), getattr(fitted, name)), name
            kinds = np.asarray(getattr(back, name)).dtype, np.asarray(getattr(fitted, name)).dtype
            assert kinds[0] == kinds[1], name
    assert str(back.certificate_) == str(fitted.certificate_)
    assert back.plan_ == fitted.plan_


@pytest.mark.parametrize("model", FITTED, ids=repr)
def test_records_are_those_of_the_last_fit(model, spread):
    model = copy.deepcopy(model)
    for name in ("certificate_", "plan_", "warnings_"):
        assert not hasattr(model, name)
    first = str(model.fit(spread).certificate_)
    other = np.exp(spread)
    fresh = copy.deepcopy(model).fit(other)
    assert str(model.fit(other).certificate_) == str(fresh.certificate_) != first
    assert (model.plan_, model.warnings_) == (fresh.plan_, fresh.warnings_)


@pytest.mark.parametrize("model", FITTED, ids=repr)
def test_a_model_is_pickled_through_its_checked_bytes(model, spread):
    fitted = copy.deepcopy(model).fit(spread)
    stored = pickle.dumps(fitted)
    back = pickle.loads(stored)
    assert np.array_equal(back.transform(spread), fitted.transform(spread))
    assert np.array_equal(back.components_, fitted.components_)
    assert str(back.certificate_) == str(fitted.certificate_)
    assert (back.plan_, back.warnings_) == (fitted.plan_, fitted.warnings_)
    # The bytes are those of the model file, and a damaged one is refused.
    bytes_ = fitted._model.to_bytes()
    assert bytes_ in stored
    damaged = bytearray(bytes_)
    damaged[-3] ^= 1
    with pytest.raises(ValueError):
        eigenlens._core.Model.from_bytes(bytes(damaged))


def test_batches_go_on_after_pickling(spread):
    model = IncrementalPCA(2).partial_fit(spread[:100])
    model = pickle.loads(pickle.dumps(model)).partial_fit(spread[100:])
    np.testing.assert_allclose(model.components_, PCA(2).fit(spread).components_, atol=1e-12)


def test_batches_follow_a_fit(spread, tmp_path):
    expected = PCA(2).fit(spread).components_
    model = IncrementalPCA(2).fit(spread[:150]).partial_fit(spread[150:])
    np.testing.assert_allclose(model.components_, expected, atol=1e-12)
    np.testing.assert_allclose(model.var_, spread.var(axis=0))
    model.save(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="partial_fit from the first"):
        load(tmp_path / "model.safetensors").partial_fit(spread)


def test_a_damaged_file_is_refused(spread, tmp_path):
    path = tmp_path / "model.safetensors"
    PCA(2).fit(spread).save(path)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="model.safetensors"):
        load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.safetensors")


@pytest.mark.parametrize("model", FITTED, ids=repr)
def test_a_notebook_shows_shares_picture_and_certificate(model, spread):
    fitted = copy.deepcopy(model).fit(spread)
    html = fitted._repr_html_()
    for part in ("<svg", "residual", "components", "route", type(model).__name__):
        assert part in html
    assert "<svg" not in copy.deepcopy(model)._repr_html_()


def test_columns_without_names_are_numbered_alike(spread):
    # The first component is the column of largest variance, the third column.
    X = np.zeros((200, 4))
    X[:, 1:] = spread[:, [1, 0, 2]]
    X[:, 2] *= 100
    pca = PCA(2).fit(X)
    assert np.argmax(np.abs(pca.components_[0])) == 2
    assert "column 2 +1.000" in pca._repr_html_()
    assert any("column 2 carries" in words for words in pca.warnings_)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="row 3, column 2"):
        PCA(2).fit(X)


def test_names_cannot_write_html(spread):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(spread, columns=["<b>x</b>", *"bcdef"])
    html = PCA(2).fit(table)._repr_html_()
    assert "<b>x</b>" not in html


def test_moments_of_parts_are_those_of_the_whole(spread):
    parts = [Moments(part) for part in np.array_split(spread, 5)]
    whole = Moments()
    for part in reversed(parts):
        whole = whole.merge(Moments.from_bytes(part.to_bytes()))
    assert whole.n_samples == 200
    np.testing.assert_allclose(whole.mean, spread.mean(axis=0))
    np.testing.assert_allclose(whole.covariance, np.cov(spread.T), rtol=1e-12)
    whole = whole.subtract(parts[0])
    np.testing.assert_allclose(whole.covariance, np.cov(spread[40:].T), rtol=1e-10)
    pca = PCA(2).fit(pickle.loads(pickle.dumps(whole)))
    np.testing.assert_allclose(pca.components_, PCA(2).fit(spread[40:]).components_, atol=1e-12)
    np.testing.assert_allclose(pca.transform(spread), PCA(2).fit(spread[40:]).transform(spread))
    one_by_one = Moments()
    for row in spread:
        one_by_one.update(row[None])
    np.testing.assert_allclose(one_by_one.covariance, np.cov(spread.T), rtol=1e-12)
    with pytest.raises(ValueError, match="no samples"):
        _ = Moments().mean
    with pytest.raises(ValueError, match="bytes"):
        Moments.from_bytes(b"nonsense")
    with pytest.raises(ValueError, match="features"):
        Moments(spread).merge(Moments(spread[:, :2]))


def test_merging_moments_changes_neither():
    X = np.random.default_rng(0).normal(size=(1000, 3))
    parts = [Moments(part) for part in np.array_split(X, 4)]
    for _ in range(2):
        assert functools.reduce(lambda a, b: a.merge(b), parts).n_samples == 1000
        assert functools.reduce(lambda a, b: a + b, parts).n_samples == 1000
        assert sum(parts).n_samples == 1000
        assert (sum(parts) - parts[0]).n_samples == sum(parts).subtract(parts[0]).n_samples == 750
    assert [part.n_samples for part in parts] == [250] * 4
    np.testing.assert_allclose(sum(parts).covariance, np.cov(X.T), rtol=1e-12)
    # In place is `update`, with samples or with moments.
    seen = Moments()
    for part in parts:
        assert seen.update(part) is seen
    assert seen.n_samples == 1000 and parts[0].n_samples == 250
    assert seen.update(X[:5]).n_samples == 1005
    with pytest.raises(ValueError, match="sample_weight"):
        seen.update(parts[0], sample_weight=[1.0])
    with pytest.raises(TypeError, match="ndarray"):
        seen.merge(X)
    with pytest.raises(TypeError):
        _ = seen + 1


def test_moments_know_their_features(spread):
    pd = pytest.importorskip("pandas")
    names, order = list("abcdef"), list("fbacde")
    table = pd.DataFrame(spread, columns=names)
    first, second = Moments(table[:80]), Moments(table[80:][order])
    assert first.feature_names == names and second.feature_names == order
    both = first.merge(second)
    assert both.feature_names == names
    np.testing.assert_allclose(both.covariance, np.cov(spread.T), rtol=1e-12)
    back = Moments.from_bytes(second.to_bytes()) + pickle.loads(pickle.dumps(first))
    assert back.feature_names == order
    pca = PCA(2).fit(both)
    assert list(pca.feature_names_in_) == names
    np.testing.assert_allclose(pca.transform(table), PCA(2).fit(table).transform(table), atol=1e-10)
    # Names stay beside parts without.
    assert (Moments(spread) + first).feature_names == names
    assert (first + Moments(spread)).feature_names == names
    assert not hasattr(PCA(2).fit(table).fit(Moments(spread)), "feature_names_in_")
    with pytest.raises(ValueError, match="missing: `f`; not known: `z`"):
        first.merge(Moments(table.rename(columns={"f": "z"})))
    # Numbers are no names, as everywhere in scikit-learn.
    assert Moments(pd.DataFrame(spread)).feature_names is None


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
def test_moments_know_the_features_of_every_table(package, spread):
    library = pytest.importorskip(package)
    columns = {name: spread[:, f] for f, name in enumerate("abcdef")}
    table = library.table(columns) if package == "pyarrow" else library.DataFrame(columns)
    moments = Moments(table)
    assert moments.feature_names == list("abcdef")
    np.testing.assert_allclose(moments.covariance, np.cov(spread.T), rtol=1e-12)


def test_moments_of_no_samples_change_nothing(spread):
    whole = Moments(spread)
    for none in (Moments(), Moments(spread[:0]), Moments(spread, sample_weight=np.zeros(200))):
        assert none.n_samples == 0
        for both in (whole + none, none + whole, whole - none, none.merge(whole)):
            assert both.n_samples == 200
            assert np.array_equal(both.covariance, whole.covariance)
    assert np.isnan(Moments(spread[:0]).mean).all()
    assert Moments.from_bytes(Moments(spread[:0]).to_bytes()).n_features == 6
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(spread, columns=list("abcdef"))
    none = Moments(table[:0])
    assert (none + Moments(table[list("fedcba")])).feature_names == list("abcdef")
    assert (whole + none).feature_names == list("abcdef")


def test_moments_of_the_first_format_are_read():
    # Two samples, (0, 1) and (2, 5), as they were written before features had names.
    body = b"EIGMOM" + struct.pack("<HQQd2i", 1, 2, 2, 2.0, 0, 0)
    body += struct.pack("<7d", 1.0, 3.0, 0.0, 0.0, 2.0, 4.0, 8.0)
    checksum = 0xCBF29CE484222325
    for byte in body:
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    written = body + struct.pack("<Q", checksum)
    moments = Moments.from_bytes(written)
    assert np.array_equal(moments.covariance, [[2.0, 4.0], [4.0, 8.0]])
    assert np.array_equal(moments.mean, [1.0, 3.0])
    assert moments.feature_names is None
    # Without names they still are.
    assert Moments([[0.0, 1.0], [2.0, 5.0]]).to_bytes()[:40] == written[:40]


def test_a_density_is_verified_on_complete_data(spread):
    for model in (ProbabilisticPCA(2), ProbabilisticPCA(2, missing="mean"), PCA(2, missing="em")):
        assert verify(model.fit(spread), spread).passed
        assert not verify(model.fit(spread), spread + 1.0).passed
    holes = spread.copy()
    holes[3, 1] = np.nan
    (failure,) = verify(PCA(2).fit(spread), holes).failures
    assert str(failure) == "missing entries: the model says 0, the data say 1"


@pytest.mark.parametrize("k", [3, 5, 8, None])
@pytest.mark.parametrize("svd_solver", ["auto", "full", "covariance_eigh"])
@pytest.mark.parametrize("offset", [0.0, 10.0, 1e6])
def test_the_likelihood_of_missing_rank_is_that_on_the_support(k, svd_solver, offset):
    rng = np.random.default_rng(5)
    coordinates = rng.normal(size=(100, 3)) * [4.0, 1.0, 0.3]
    axes = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    X = coordinates @ axes[:3] + offset
    # The three coordinates are those of the support, whatever its directions.
    centered = coordinates - coordinates.mean(axis=0)
    covariance = np.cov(coordinates.T)
    distance = np.einsum("ij,jk,ik->i", centered, np.linalg.inv(covariance), centered)
    expected = -0.5 * (3 * np.log(2 * np.pi) + np.log(np.linalg.det(covariance)) + distance)
    pca = PCA(k, svd_solver=svd_solver).fit(X)
    np.testing.assert_allclose(pca.score_samples(X), expected, atol=1e-6)
    assert pca.score(X) == pytest.approx(expected.mean(), abs=1e-6)
    # The same in any directions, among more features, and for new samples on the support.
    turned = np.pad(coordinates @ axes[:3], ((0, 0), (0, 4))) @ np.linalg.qr(rng.normal(size=(12, 12)))[0]
    again = PCA(3, svd_solver=svd_solver).fit(turned)
    np.testing.assert_allclose(again.score_samples(turned), expected, atol=1e-6)
    new = X[:1] + 2.0 * axes[1]
    assert np.isfinite(pca.score_samples(new)).all()
    # Off it, by more than rounding, there is no density.
    for step in (1e-3, 1.0, 1e6):
        assert pca.score_samples(new + step * axes[5]) == [-np.inf]
    with pytest.raises(ValueError, match="singular"):
        pca.get_precision()


def test_the_likelihood_on_the_support_in_single_precision_and_other_units():
    rng = np.random.default_rng(6)
    coordinates = rng.normal(size=(300, 2)) * [4.0, 1.0]
    X = coordinates @ np.linalg.qr(rng.normal(size=(5, 2)))[0].T
    expected = PCA(2).fit(X).score(X)
    narrow = X.astype(np.float32)
    for k in (2, 5):
        assert PCA(k).fit(narrow).score(narrow) == pytest.approx(expected, abs=1e-3)
    # Standardising changes the units, not the density: with as many components as rank, the
    # Gaussian is that of the data.
    assert PCA(2, standardize=True).fit(X).score(X) == pytest.approx(expected, abs=1e-8)
    # Small noise is no rounding.
    noisy = X + 1e-5 * rng.normal(size=X.shape)
    sign, log_determinant = np.linalg.slogdet(np.cov(noisy.T))
    full = -0.5 * (5 * np.log(2 * np.pi) + log_determinant + 5 * 299 / 300)
    assert PCA(5).fit(noisy).score(noisy) == pytest.approx(full, rel=1e-6)


def test_rules_say_how_many_and_why():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 10)) * 4 + rng.normal(size=(400, 10))
    choices = choose_n_components(X)
    assert set(choices) == set(eigenlens._core.rule_names())
    for rule in ("minka", "bic", "parallel-analysis", "gavish-donoho", "cross-validation"):
        assert choices[rule].n_components == 3, rule
    assert choices["kaiser"].n_components is None
    assert "standard" in choices["kaiser"].reason
    assert choose_n_components(X, standardize=True)["kaiser"].n_components is not None
    assert PCA("parallel-analysis").fit(X).n_components_ == 3
    with pytest.raises(ValueError, match="`luck` is not known"):
        choose_n_components(X, rules=["luck"])


def test_verify_finds_what_is_wrong(spread):
    pca = PCA(3).fit(spread)
    assert verify(pca, spread)
    assert not verify(pca, 1.001 * spread)
    weights = np.arange(200) % 3
    assert verify(PCA(2).fit(spread, sample_weight=weights), spread, sample_weight=weights)
    assert not verify(PCA(2).fit(spread, sample_weight=weights), spread)
    found = verify(pca, spread, seed=5)
    assert found.seed == 5 and found.rows == 200 and found.tolerance == 1e-6
    assert verify(pca, spread).seed != verify(pca, spread).seed
    table = repr(found).splitlines()
    assert table[0].split() == ["claim", "claimed", "found"] and table[-1].startswith("passed: ")
    assert any(line.startswith("not checked") for line in table)
    claims = {check.claim: check for check in found.checks}
    value = claims["explained variance of component 2"]
    assert value.holds and value.claimed == pytest.approx(pca.explained_variance_[1])
    with pytest.raises(ValueError, match="tolerance"):
        verify(pca, spread, tolerance=2.0)


def test_verify_takes_a_table(spread):
    pca = PCA(2).fit(spread)
    components, mean, values = pca.components_, pca.mean_, pca.explained_variance_
    assert verify((components, mean), spread)
    assert verify((components, mean, values), spread)
    assert verify({"components": components, "mean": mean, "explained_variance": values}, spread)
    # What is not the leading one, not of length 1, not the mean, not the variance.
    wrong = [
        ((components[1:], mean), "largest explained variance beside"),
        ((components * 0.99, mean), "products of different components"),
        ((components, mean + 0.1), "mean of feature"),
        ((components, None), "is an eigenvector"),
        ((components, mean, values[::-1].copy()), "explained variance of component 1"),
    ]
    for table, claim in wrong:
        found = verify(table, spread)
        assert any(claim in check.claim for check in found.failures), (claim, found)
    with pytest.raises(ValueError, match="a table has 1 parts"):
        verify((components,), spread)
    with pytest.raises(ValueError, match="entries"):
        verify({"loadings": components}, spread)


def test_every_estimator_of_ours_is_verified(spread):
    y = (spread[:, 0] > spread[:, 0].mean()).astype(int)
    for model in (
        eigenlens.TruncatedSVD(2),
        eigenlens.KernelPCA(2, kernel="rbf"),
        eigenlens.SparsePCA(2),
        eigenlens.BayesianPCA(2),
        eigenlens.ClassicalMDS(2),
    ):
        found = verify(model.fit(spread), spread)
        assert found and found.checks, (model, found)
    for model in (eigenlens.SupervisedPCA(1), eigenlens.KernelSupervisedPCA(1)):
        model.fit(spread, y)
        assert verify(model, spread, y), verify(model, spread, y)
        assert not verify(model, spread, y[::-1])


def test_verify_takes_a_model_of_scikit_learn(spread):
    decomposition = pytest.importorskip("sklearn.decomposition")
    assert verify(decomposition.PCA(3).fit(spread), spread)
    assert verify(decomposition.PCA(3, whiten=True, svd_solver="full").fit(spread), spread)
    assert not verify(decomposition.PCA(3).fit(spread), spread[:-1])
    assert verify(decomposition.IncrementalPCA(3, batch_size=200).fit(spread), spread)
    assert verify(decomposition.TruncatedSVD(3, algorithm="arpack").fit(spread), spread)
    kernel = decomposition.KernelPCA(2, kernel="rbf", gamma=0.01, eigen_solver="dense")
    assert verify(kernel.fit(spread), spread)
    kernel.eigenvalues_ = kernel.eigenvalues_ * 1.001
    assert not verify(kernel, spread)
    sparse = decomposition.SparsePCA(2, max_iter=50, random_state=0).fit(spread)
    assert verify(sparse, spread) and not verify(sparse, spread + 1.0)
    assert any(claim == "the components" for claim, _ in verify(sparse, spread).not_checked)
    # scikit-learn's default loses all digits here, and nobody says so.
    rng = np.random.default_rng(0)
    coordinates = (5e6 + 10 * rng.normal(size=(5000, 3))).astype(np.float32)
    assert not verify(decomposition.PCA(2).fit(coordinates), coordinates)
    assert verify(PCA(2).fit(coordinates), coordinates)


def test_a_tolerance_that_is_not_met_is_a_warning():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    with pytest.warns(eigenlens.ConvergenceWarning, match="residual"):
        PCA(5, svd_solver="covariance_eigh", tol=1e-17).fit(X)
    randomized = PCA(5, svd_solver="randomized", iterated_power=1).fit(X)
    assert randomized.certificate_.relative_residual > 1e-6
    assert any("residual" in words for words in randomized.warnings_)


def test_threads_do_not_change_a_bit(spread):
    one = PCA(3, n_jobs=1).fit(spread)
    for n_jobs in (2, -1, -2, -1000):
        other = PCA(3, n_jobs=n_jobs).fit(spread)
        assert np.array_equal(other.components_, one.components_)


def test_a_forked_process_fits_too(spread):
    # Python's own pools fork on Linux, and threads do not come along.
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("there is no fork here")
    expected = PCA(3, n_jobs=2).fit(spread).components_
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = pool.apply_async(PCA(3, n_jobs=2).fit, (spread,)).get(timeout=60)
    assert np.array_equal(found.components_, expected)


def test_set_output(spread):
    for library, names in (("pandas", ["pca0", "pca1"]), ("polars", ["pca0", "pca1"])):
        pytest.importorskip(library)
        pca = PCA(2).set_output(transform=library)
        for shown in (pca.fit_transform(spread), pca.transform(spread)):
            assert list(shown.columns) == names
            assert np.array_equal(np.asarray(shown), PCA(2).fit(spread).transform(spread))
