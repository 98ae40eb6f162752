"""Pictures return axes with what was asked for."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt

from eigenlens import PCA, KernelPCA, SupervisedPCA, plots


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_scree(spread):
    pca = PCA().fit(spread)
    ax = plots.scree(pca)
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights, pca.explained_variance_)


def test_scree_shows_what_the_method_orders_by(spread):
    model = SupervisedPCA(2).fit(spread, np.arange(200) % 3)
    ax = plots.scree(model)
    assert ax.get_ylabel() == "Share of HSIC"
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], model.hsic_ratio_)
    kernel = KernelPCA(2, kernel="rbf").fit(spread)
    assert len(plots.scree(kernel).patches) == 2
    assert plots.scores(kernel, spread).get_xlabel().startswith("KPC1 (")


def test_scores_and_groups(spread):
    pca = PCA(3).fit(spread)
    figure, given = plt.subplots()
    ax = plots.scores(pca, spread, components=(0, 2), groups=np.arange(200) % 2, ax=given)
    assert ax is given
    assert [len(points.get_offsets()) for points in ax.collections] == [100, 100]
    assert ax.get_ylabel().startswith("PC3")
    with pytest.raises(ValueError, match="there are 3"):
        plots.scores(pca, spread, components=(0, 3))


def test_loadings_name_the_largest_first(spread):
    ax = plots.loadings(PCA(2).fit(spread), component=0, most=4)
    widths = np.abs([bar.get_width() for bar in ax.patches])
    assert len(widths) == 4 and (np.diff(widths) >= 0).all()


def test_loadings_are_components_times_deviations(spread):
    pca = PCA(2).fit(spread)
    ax = plots.loadings(pca, component=1, most=4)
    widths = np.sort(np.abs([bar.get_width() for bar in ax.patches]))
    expected = np.abs(pca.components_[1]) * np.sqrt(pca.explained_variance_[1])
    np.testing.assert_allclose(widths, np.sort(expected)[-4:])
    assert ax.get_xlabel().startswith("Loading on PC2 (")
    assert ax.get_xlabel().endswith("% of the variance)")


def test_biplot_and_circle(spread):
    pca = PCA(2).fit(spread)
    assert len(plots.biplot(pca, spread, most=3).texts) == 6
    ax = plots.correlation_circle(pca, spread)
    ends = np.array([text.xy for text in ax.texts if text.get_text()])
    assert (np.hypot(*ends.T) <= 1 + 1e-9).all()
