"""Fitting and transforming straight from files, within a budget."""

from __future__ import annotations

import os
import subprocess

import numpy as np
import pytest

import eigenlens
from eigenlens import (
    PCA,
    IncrementalPCA,
    Moments,
    SparsePCA,
    Table,
    TruncatedSVD,
    choose_n_components,
)


@pytest.fixture
def csv(spread, tmp_path):
    path = tmp_path / "table.csv"
    lines = ["name,a,b,c,d,e,f"]
    lines += [f"row{i}," + ",".join(repr(float(v)) for v in row) for i, row in enumerate(spread)]
    path.write_text("\n".join(lines))
    return path


def test_a_path_is_data(spread, csv, tmp_path):
    npy = tmp_path / "table.npy"
    np.save(npy, spread)
    expected = PCA(3).fit(spread)
    for path in (csv, str(csv), npy):
        pca = PCA(3).fit(path)
        assert np.array_equal(pca.components_, expected.components_)
        assert np.array_equal(pca.transform(path), expected.transform(spread))
    pca = PCA(3).fit(csv)
    assert list(pca.feature_names_in_) == list("abcdef")
    assert pca.n_samples_ == 200
    assert np.array_equal(PCA(3).fit_transform(csv), expected.transform(spread))


def test_parquet_and_single_precision(spread, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "table.parquet"
    columns = {name: pa.array(spread[:, f], pa.float32()) for f, name in enumerate("abcdef")}
    parquet.write_table(pa.table(columns), path)
    pca = PCA(2).fit(path)
    assert pca.components_.dtype == pca.transform(path).dtype == np.float32
    assert np.array_equal(pca.components_, PCA(2).fit(spread.astype(np.float32)).components_)


def test_columns_are_found_by_name(spread, csv, tmp_path):
    pca = PCA(2).fit(csv)
    other = tmp_path / "other.csv"
    order = [3, 0, 5, 1, 4, 2]
    lines = [",".join("abcdef"[f] for f in order) + ",more"]
    lines += [",".join(repr(float(row[f])) for f in order) + ",1" for row in spread]
    other.write_text("\n".join(lines))
    assert np.array_equal(pca.transform(other), pca.transform(csv))
    other.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="no column matches `c`"):
        pca.transform(other)


def test_a_table_says_what_is_in_the_file(spread, csv, tmp_path):
    chosen = PCA(2).fit(Table(csv, columns=["a..c"]))
    assert np.array_equal(chosen.components_, PCA(2).fit(spread[:, :3]).components_)
    both = PCA(2).fit(Table([csv, csv]))
    twice = PCA(2).fit(np.vstack([spread, spread]))
    assert np.array_equal(both.components_, twice.components_)
    german = tmp_path / "german.csv"
    german.write_text("a;b\n1,5;2\n3,5;5\n4,5;2\n")
    shown = PCA(1).fit(Table(german, delimiter=";", decimal=","))
    np.testing.assert_allclose(shown.mean_, [9.5 / 3, 3.0])


@pytest.mark.parametrize("at", [20_000, 99_999])
def test_a_bad_cell_does_not_make_a_feature_vanish(tmp_path, at):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 3)).round(3)
    lines = ["a,b,c", *(",".join(map(repr, row)) for row in X.tolist())]
    first, _, last = lines[at + 1].split(",")
    lines[at + 1] = f"{first},$1.5,{last}"
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    place = rf"line {at + 2}, column `b`: `\$1.5` is not a number"
    for memory in (None, "48MiB"):
        with pytest.raises(ValueError, match=place):
            PCA(2, memory=memory).fit(path)
        with pytest.warns(UserWarning, match=place):
            pca = PCA(2, memory=memory, missing="mean").fit(path)
        holed = X.copy()
        holed[at, 1] = np.nan
        expected = PCA(2, missing="mean").fit(holed)
        np.testing.assert_allclose(pca.components_, expected.components_, atol=1e-12)
    # What the message says works.
    named = PCA(2, missing="mean").fit(Table(path, missing=["$1.5"]))
    assert np.array_equal(named.components_, expected.components_)
    assert PCA(2).fit(Table(path, columns=["!b"])).n_features_in_ == 2


def test_a_column_without_values_is_left_out_of_every_format(tmp_path):
    X = np.array([[1.0, np.nan, 3.0], [2.0, np.nan, 1.0], [3.0, np.nan, 5.0]])
    npy = tmp_path / "table.npy"
    np.save(npy, X)
    csv = tmp_path / "table.csv"
    csv.write_text("x1,x2,x3\n1,,3\n2,,1\n3,,5\n")
    for path in (npy, csv):
        assert list(PCA(1).fit(path).feature_names_in_) == ["x1", "x3"]


def test_a_budget_is_kept_by_streaming(spread, tmp_path):
    path = tmp_path / "large.npy"
    large = np.tile(spread, (2000, 4))  # 77 MB
    np.save(path, large)
    pca = PCA(3, memory="64MiB")
    assert "passes" in pca.plan(path)
    streamed = pca.fit(path)
    assert np.array_equal(streamed.components_, PCA(3).fit(large).components_)
    with pytest.raises(MemoryError, match="budget"):
        PCA(3, memory="1MiB").fit(path)
    with pytest.raises(ValueError, match="512MiB"):
        PCA(3, memory="much").fit(path)


def test_a_cell_is_named_by_file_and_line(csv):
    text = csv.read_text().splitlines()
    fields = text[5].split(",")
    fields[3] = ""
    text[5] = ",".join(fields)
    csv.write_text("\n".join(text))
    with pytest.raises(ValueError, match=r"table.csv, line 6, column `c`"):
        PCA(2).fit(csv)
    with pytest.raises(FileNotFoundError):
        PCA(2).fit(csv.with_name("nowhere.csv"))


def test_functions_read_files_too(spread, csv):
    assert Moments(csv).n_samples == 200
    assert np.allclose(Moments(csv).covariance, np.cov(spread.T))
    rules = ["minka", "elbow"]
    on_file, on_array = choose_n_components(csv, rules=rules), choose_n_components(spread, rules=rules)
    assert [on_file[r].n_components for r in rules] == [on_array[r].n_components for r in rules]
    assert eigenlens.verify(PCA(2).fit(csv), csv)
    svd = TruncatedSVD(2).fit(csv)
    assert np.array_equal(svd.components_, TruncatedSVD(2).fit(spread).components_)


def test_moments_of_a_file_know_its_columns_and_weights(spread, csv, tmp_path):
    moments = Moments(csv)
    assert moments.feature_names == list("abcdef")
    pca = PCA(2).fit(moments)
    np.testing.assert_allclose(pca.transform(csv), PCA(2).fit(spread).transform(spread), atol=1e-9)
    assert eigenlens.verify(pca, csv)
    # Weights count rows.
    weights = np.arange(200) % 4
    found = Moments(csv, sample_weight=weights)
    repeated = np.repeat(spread, weights, axis=0)
    assert found.n_samples == len(repeated)
    np.testing.assert_allclose(found.covariance, np.cov(repeated.T), rtol=1e-12)
    header = tmp_path / "header.csv"
    header.write_text("name,a,b,c,d,e,f\n")
    assert (Moments(header) + moments).n_samples == (moments + Moments(header)).n_samples == 200
    with pytest.raises(ValueError, match="no rows"):
        Moments(header, sample_weight=[1.0])
    for wrong in (weights[:7], np.append(weights, 1)):
        with pytest.raises(ValueError, match="weights"):
            Moments(csv, sample_weight=wrong)
    with pytest.raises(ValueError, match="1D"):
        Moments(csv, sample_weight=2.0)


def test_a_pca_of_moments_transforms_the_parquet_file(spread, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({name: spread[:, f] for f, name in enumerate("abcdef")})
    whole, part, none = (tmp_path / f"{name}.parquet" for name in ("whole", "part", "none"))
    parquet.write_table(table, whole)
    parquet.write_table(table.select(list("fedcba"))[150:], part)
    parquet.write_table(table[:0], none)
    expected = PCA(2).fit(spread).transform(spread)
    np.testing.assert_allclose(PCA(2).fit(Moments(whole)).transform(whole), expected, atol=1e-9)
    both = Moments(table[:150]) + Moments(none) + Moments(part)
    np.testing.assert_allclose(both.covariance, np.cov(spread.T), rtol=1e-12)
    np.testing.assert_allclose(PCA(2).fit(both).transform(part), expected[150:], atol=1e-9)


def test_batches_may_be_files(spread, csv, tmp_path):
    more = tmp_path / "more.csv"
    lines = csv.read_text().splitlines()
    csv.write_text("\n".join(lines[:81]))
    more.write_text("\n".join([lines[0], *lines[81:]]))
    model = IncrementalPCA(2).partial_fit(csv)
    assert model.n_samples_seen_ == 80
    model.partial_fit(str(more))
    assert model.n_samples_seen_ == 200
    expected = PCA(2).fit(spread)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-12)
    np.testing.assert_allclose(model.transform(more), expected.transform(spread)[80:], atol=1e-9)
    assert list(model.feature_names_in_) == list("abcdef")
    csv.write_text("\n".join(lines[:3]))
    with pytest.raises(ValueError, match="batch number of samples 2"):
        IncrementalPCA(3).partial_fit(csv)


def test_matrix_market_stays_sparse(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    from scipy.io import mmwrite

    X = sparse.random(60, 12, density=0.3, random_state=0, format="csr")
    path = tmp_path / "counts.mtx"
    mmwrite(path, X, precision=17)
    for model in (PCA(3), PCA(3, memory="1GiB"), TruncatedSVD(3), IncrementalPCA(3), SparsePCA(2)):
        expected = type(model)(**model.get_params()).fit(X)
        assert np.array_equal(model.fit(path).components_, expected.components_)
        assert np.array_equal(model.transform(str(path)), expected.transform(X))
    assert list(model.feature_names_in_)[:2] == ["x1", "x2"]
    dense = X.toarray()
    moments = Moments(path, sample_weight=np.arange(60) % 3)
    repeated = np.repeat(dense, np.arange(60) % 3, axis=0)
    np.testing.assert_allclose(moments.covariance, np.cov(repeated.T), atol=1e-14)
    assert eigenlens.verify(PCA(3).fit(path), path)
    assert choose_n_components(path, rules=["elbow"])["elbow"].n_components > 0
    assert "iterative" in PCA(2).plan(path) or "covariance" in PCA(2).plan(path)
    # Names lie beside it; features are found by name.
    (tmp_path / "counts.columns").write_text("\n".join(f"term{f}" for f in range(12)))
    named = PCA(3).fit(path)
    assert named.feature_names_in_[11] == "term11"
    other = tmp_path / "other.mtx"
    mmwrite(other, sparse.csr_matrix(dense[:, ::-1]), precision=17)
    (tmp_path / "other.columns").write_text("\n".join(f"term{11 - f}" for f in range(12)))
    np.testing.assert_allclose(named.transform(other), named.transform(path), atol=1e-13)
    (tmp_path / "other.columns").write_text("\n".join(f"word{f}" for f in range(12)))
    with pytest.raises(ValueError, match="no column matches `term0`"):
        named.transform(other)
    # What does not fit is refused.
    with pytest.raises(ValueError, match="`delimiter` does not fit"):
        PCA(2).fit(Table(path, delimiter=","))
    with pytest.raises(ValueError, match="there is no column"):
        PCA(2).fit(Table([path, other]))
    with pytest.raises(TypeError, match="sparse"):
        PCA(2, svd_solver="full").fit(path)
    with pytest.raises(TypeError, match="sparse"):
        IncrementalPCA(2).partial_fit(path)
    # Columns are chosen, files put together, samples said to be columns, as of any table.
    chosen = PCA(2).fit(Table(path, columns=["term2..term7"]))
    assert np.array_equal(chosen.components_, PCA(2).fit(X[:, 2:8]).components_)
    twice = TruncatedSVD(2).fit(Table([path, path]))
    assert np.array_equal(twice.components_, TruncatedSVD(2).fit(sparse.vstack([X, X])).components_)
    (tmp_path / "counts.columns").unlink()
    turned = TruncatedSVD(2).fit(Table(path, samples="columns"))
    assert np.array_equal(turned.components_, TruncatedSVD(2).fit(X.T.tocsr()).components_)
    with pytest.raises(ValueError, match="`samples` is `up`"):
        PCA(2).fit(Table(path, samples="up"))
    # All entries: a dense matrix.
    mmwrite(path, dense, precision=17)
    assert np.array_equal(PCA(3).fit(path).components_, PCA(3).fit(dense).components_)


def test_sparse_archives_of_scipy_stay_sparse(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.random(60, 12, density=0.3, random_state=0, format="csr")
    path = tmp_path / "x.npz"
    for matrix in (X, X.tocsc(), X.astype(np.float32), sparse.csr_array(X)):
        for compressed in (True, False):
            sparse.save_npz(path, matrix, compressed=compressed)
            expected = PCA(3).fit(matrix.tocsr())
            found = PCA(3).fit(path)
            assert np.array_equal(found.components_, expected.components_)
            assert np.array_equal(found.transform(path), expected.transform(matrix.tocsr()))
    sparse.save_npz(path, X.tocoo())
    with pytest.raises(ValueError, match="stored as `coo`"):
        PCA(2).fit(path)


def test_the_command_line_reads_our_models_and_we_read_its(spread, csv, tmp_path):
    program = os.environ.get("EIGENLENS_PROGRAM", "")
    if not os.path.exists(program):
        pytest.skip("EIGENLENS_PROGRAM does not name the program")

    def run(*arguments):
        command = [program, *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)

    npy, scores, ours, theirs = (
        tmp_path / name for name in ("x.npy", "scores.npy", "ours.safetensors", "theirs.safetensors")
    )
    np.save(npy, spread)
    for X, shown in ((spread, npy), (csv, csv)):
        pca = PCA(2, whiten=True).fit(X)
        pca.save(ours)
        run("transform", ours, shown, "-o", scores)
        assert np.array_equal(np.load(scores), pca.transform(X))
        scores.unlink()
    run("fit", "pca", csv, "--components", "2", "--scale", "--whiten", "-o", theirs)
    back = eigenlens.load(theirs)
    assert repr(back) == "PCA(n_components=2, standardize=True, whiten=True)"
    expected = PCA(2, standardize=True, whiten=True).fit(csv)
    assert np.array_equal(back.transform(csv), expected.transform(csv))
    assert list(back.feature_names_in_) == list("abcdef")
    run("fit", "lsa", csv, "--components", "2", "--weighting", "none", "-o", theirs)
    assert np.array_equal(eigenlens.load(theirs).transform(csv), TruncatedSVD(2).fit_transform(csv))
