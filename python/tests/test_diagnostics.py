"""Diagnostics as tables with names, beside NumPy and SciPy."""

import numpy as np
import pytest

from eigenlens import PCA, KernelPCA, associations


@pytest.fixture
def groups():
    rng = np.random.default_rng(4)
    batch = np.repeat(["a", "b", "c"], [20, 15, 25])
    X = rng.normal(size=(60, 5)) * [3, 2, 1, 1, 0.5] + np.repeat([0.0, 1.0, 2.5], [20, 15, 25])[:, None]
    return X, batch, rng.normal(size=60)


def test_samples_add_up_to_their_definitions(groups):
    X, *_ = groups
    model = PCA(2, standardize=True).fit(X)
    centered = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    values, vectors = np.linalg.eigh(np.cov(centered.T))
    values, vectors = values[::-1][:2], vectors[:, ::-1][:, :2]
    scores = centered @ vectors
    residuals = centered - scores @ vectors.T
    found = model.sample_diagnostics(X)
    np.testing.assert_allclose(found["t_squared"], (scores**2 / values).sum(axis=1), rtol=1e-10)
    np.testing.assert_allclose(found["q"], (residuals**2).sum(axis=1), rtol=1e-9)
    cosines = scores**2 / (centered**2).sum(axis=1)[:, None]
    np.testing.assert_allclose(found["PC2_squared_cosine"], cosines[:, 1], rtol=1e-9)
    parts = model.feature_contributions(X)
    assert list(parts) == [f"x{f + 1}_{what}" for what in ("t_squared", "q") for f in range(5)]
    for what in ("t_squared", "q"):
        together = sum(parts[f"x{f + 1}_{what}"] for f in range(5))
        np.testing.assert_allclose(together, found[what], rtol=1e-9)
    np.testing.assert_allclose(parts["x3_q"], residuals[:, 2] ** 2, rtol=1e-8, atol=1e-14)
    # The share of a feature's variance that the components carry, without regard to signs.
    features = model.feature_diagnostics()
    correlations = np.array([[np.corrcoef(x, z)[0, 1] for z in scores.T] for x in centered.T])
    np.testing.assert_allclose(features["communality"], (correlations**2).sum(axis=1), rtol=1e-10)


def test_associations_are_those_of_scipy(groups):
    stats = pytest.importorskip("scipy.stats")
    X, batch, age = groups
    age = age.copy()
    age[3] = np.nan
    scores = KernelPCA(3, kernel="rbf").fit_transform(X)
    names = [f"sample {i}" for i in range(60)]
    found = associations(scores, {"age": age, "batch": batch, "name": names})
    assert found.names == ["name"]
    table = found.table
    assert table["measure"].tolist() == ["correlation"] * 3 + ["eta_squared"] * 3
    known = ~np.isnan(age)
    for j in range(3):
        r = stats.pearsonr(scores[known, j], age[known])
        np.testing.assert_allclose(table["value"][j], r.statistic, atol=1e-14)
        np.testing.assert_allclose(table["p_value"][j], r.pvalue, rtol=1e-10)
        f = stats.f_oneway(*(scores[batch == g, j] for g in "abc"))
        np.testing.assert_allclose(table["p_value"][3 + j], f.pvalue, rtol=1e-10)
    adjusted = stats.false_discovery_control(table["p_value"])
    np.testing.assert_allclose(table["adjusted_p_value"], adjusted, rtol=1e-14)
    means = found.groups
    of_b = (means["group"] == "b") & (means["component"] == 1)
    np.testing.assert_allclose(means["mean"][of_b], scores[batch == "b", 1].mean(), atol=1e-14)


def test_data_frames_are_metadata(groups):
    pandas = pytest.importorskip("pandas")
    X, batch, age = groups
    scores = PCA(2).fit_transform(X)
    frame = pandas.DataFrame({"age": age, "batch": pandas.Categorical(batch)})
    found = associations(scores, frame)
    plain = associations(scores, {"age": age, "batch": batch})
    for name, column in plain.table.items():
        np.testing.assert_array_equal(found.table[name], column)
    assert len(pandas.DataFrame(found.groups)) == 6


def test_what_does_not_fit_is_named(groups):
    X, *_ = groups
    scores = PCA(2).fit_transform(X)
    with pytest.raises(ValueError, match=r"`metadata` has 3 rows in `age`, but `scores` has 60"):
        associations(scores, {"age": [1, 2, 3]})
    with pytest.raises(ValueError, match="dimensions"):
        associations(scores[:, 0], {})
    nothing = associations(scores, {"same": np.ones(60)})
    assert np.isnan(nothing.table["value"]).all()
