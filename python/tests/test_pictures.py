"""Pictures of the one table of plots: the bytes that the command line writes."""

from __future__ import annotations

import os
import subprocess

import numpy as np
import pytest

from eigenlens import PCA, ProbabilisticPCA, RBFSampler, SupervisedPCA, load, plots
from eigenlens._estimator import ESTIMATORS

FLAGS = {
    "supervised-pca": ["--target", "species"],
    "kernel-supervised-pca": ["--target", "species"],
    "lda": ["--target", "species"],
    "ppca-mixture": ["--parts", "2"],
    "sparse-pca": ["--path", "6"],
    "isomap": ["--bridges"],
    "laplacian": ["--bridges"],
    "lle": ["--bridges"],
}
COLORED = {"scores", "biplot", "posterior"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    program = os.environ.get("EIGENLENS_PROGRAM", "")
    if not os.path.exists(program):
        pytest.skip("EIGENLENS_PROGRAM does not name the program")
    folder = tmp_path_factory.mktemp("pictures")

    def run(*arguments):
        subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, cwd=folder)
        return folder

    run("example", "iris")
    return run


@pytest.mark.parametrize("method", sorted({one._method for one in ESTIMATORS.values()}))
def test_every_plot_has_the_bytes_of_the_command_line(run, method):
    flags = FLAGS.get(method, [])
    folder = run("fit", method, "iris.csv", "-k", 2, *flags, "-o", "m.safetensors")
    model, table = load(folder / "m.safetensors"), folder / "iris.csv"
    lines = [line.split(",") for line in table.read_text().splitlines()[1:]]
    species = [line[4] for line in lines]
    array = np.array([line[:4] for line in lines], dtype=float)
    drawn = 0
    for kind in plots.kinds():
        options = {"color": species} if kind in COLORED else {}
        size = ["--image-size", "2x2"] if kind == "images" else []
        if kind == "images":
            options["image_size"] = (2, 2)
        if kind not in plots.kinds(model):
            with pytest.raises(ValueError, match="does not fit|no path"):
                plots.plot(model, kind, table, **options)
            continue
        run("plot", "m.safetensors", "iris.csv", "--kind", kind, *size, "-o", "p.svg")
        expected = (folder / "p.svg").read_text(encoding="utf-8")
        assert plots.plot(model, kind, table, **options).svg == expected, kind
        if not hasattr(model, "feature_names_in_"):
            assert plots.plot(model, kind, array, **options).svg == expected, kind
        drawn += 1
    assert drawn >= 1


def test_a_model_of_ours_is_drawn_alike_by_the_command_line(run, spread):
    folder = run("example", "iris")
    np.save(folder / "x.npy", spread)
    PCA(3, whiten=True).fit(spread).save(folder / "ours.safetensors")
    pca = load(folder / "ours.safetensors")
    for kind in ("scree", "scores", "loadings", "monitoring"):
        run("plot", "ours.safetensors", "x.npy", "--kind", kind, "-o", "p.svg")
        assert plots.plot(pca, kind, spread).svg == (folder / "p.svg").read_text(encoding="utf-8")


def test_pictures_are_shown_and_saved(spread, tmp_path):
    pca = PCA(3).fit(spread)
    picture = plots.plot(pca, X=spread, components=(0, 2), color=np.arange(200) % 2)
    assert picture._repr_svg_() == picture.svg
    assert "PC3" in picture.svg and "PC2" not in picture.svg
    picture.save(tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text(encoding="utf-8") == picture.svg
    picture.save(tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes() == picture.png()
    assert picture.png().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="svg"):
        picture.save(tmp_path / "p.gif")
    assert plots.plot(pca).svg == plots.plot(pca, "scree").svg
    posterior = plots.plot(ProbabilisticPCA(2).fit(spread), "posterior", spread)
    assert "60 of the 200 samples" in posterior.note


def test_what_cannot_be_drawn_is_said(spread):
    pca = PCA(3).fit(spread)
    for kind, options, words in [
        ("scores", {}, "give `X`"),
        ("sores", {}, "there are scree, scores"),
        ("scree", {"color": np.arange(200)}, "leave out `color`"),
        ("scores", {"X": spread, "color": np.arange(3)}, "one for each of 200 samples"),
        ("scores", {"X": spread, "components": (0, 3)}, "two different ones of 3"),
        ("images", {}, "image_size"),
        ("images", {"image_size": (4, 2)}, "are not the 6 features"),
        ("path", {}, "no path"),
    ]:
        with pytest.raises(ValueError, match=words):
            plots.plot(pca, kind, **options)
    with pytest.raises(TypeError, match="no model"):
        plots.plot(RBFSampler(n_components=2).fit(spread))


def test_the_axes_are_named_by_the_model(spread):
    groups = np.arange(200) % 3
    model = SupervisedPCA(2).fit(spread, groups)
    share = 100 * model.explained_variance_ratio_[0]
    assert f"SPC1 ({share:.1f} % of the variance)" in plots.plot(model, "scores", spread).svg


def test_variances_that_overflow_leave_their_shares(spread):
    pca = PCA(3).fit(spread * 1e160)
    assert np.isinf(pca.explained_variance_).all()
    share = 100 * pca.explained_variance_ratio_.sum()
    assert f"{share:.1f} % of the variance" in plots.plot(pca, "scree").svg
    assert "<svg" in pca._repr_html_()
