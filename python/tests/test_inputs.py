"""Every kind of data gives the same answer, without copies where none is needed."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from eigenlens import PCA, IncrementalPCA, TruncatedSVD


class OnlyArrow:
    """A table that speaks Arrow and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def bits(model):
    return model.components_.tobytes(), model.explained_variance_.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_layout_gives_the_same_bits(spread, dtype):
    X = spread.astype(dtype)
    expected = bits(PCA(3).fit(X))
    wide = np.zeros((400, 12), dtype=dtype)
    wide[::2, 1::2] = X
    fields = np.zeros(len(X), dtype=[("mark", "u1"), ("x", dtype, (6,))])
    fields["x"] = X
    layouts = {
        "columns": np.asfortranarray(X),
        "strided": wide[::2, 1::2],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "transposed": X.T.copy().T,
        "unaligned": fields["x"],
        "swapped": X.astype(X.dtype.newbyteorder()),
    }
    for name, layout in layouts.items():
        assert np.array_equal(layout, X), name
        if name == "swapped" and dtype == np.float32:
            continue  # another type than float32 becomes float64, as in scikit-learn
        assert bits(PCA(3).fit(layout)) == expected, name


def test_whole_numbers_are_converted(spread):
    X = (10 * spread).astype(np.int64)
    assert bits(PCA(2).fit(X)) == bits(PCA(2).fit(X.astype(float)))
    assert bits(PCA(2).fit(X.tolist())) == bits(PCA(2).fit(X.astype(float)))


def test_data_are_not_written_to(spread):
    spread.flags.writeable = False
    before = spread.copy()
    PCA(2, copy=False).fit_transform(spread)
    IncrementalPCA(2, copy=False).partial_fit(spread)
    assert np.array_equal(spread, before)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_bring_their_names(spread, library):
    names = list("uvwxyz")
    module = pytest.importorskip(library)
    columns = dict(zip(names, spread.T, strict=True))
    table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    pca = PCA(2).fit(table)
    np.testing.assert_allclose(pca.components_, PCA(2).fit(spread).components_, atol=1e-12)
    assert list(pca.feature_names_in_) == names
    expected = PCA(2).fit_transform(spread)
    np.testing.assert_allclose(pca.transform(table), expected, atol=1e-12)
    if library != "pyarrow":
        other = table[names[::-1]]
        with pytest.raises(ValueError, match="feature names should match"):
            pca.transform(other)


def test_any_table_that_speaks_arrow(spread):
    pa = pytest.importorskip("pyarrow")
    names = list("uvwxyz")
    table = pa.table(dict(zip(names, spread.T, strict=True)))
    pieces = pa.concat_tables([table.slice(0, 70), table.slice(70)])
    pca = PCA(2).fit(OnlyArrow(pieces))
    assert bits(pca) == bits(PCA(2).fit(spread))
    assert list(pca.feature_names_in_) == names
    assert np.array_equal(pca.transform(OnlyArrow(table)), PCA(2).fit(spread).transform(spread))
    with pytest.raises(ValueError, match="feature names should match"):
        pca.transform(OnlyArrow(table.select(names[::-1])))
    with pytest.raises(ValueError, match="`city` should hold numbers"):
        PCA(1).fit(OnlyArrow(pa.table({"city": ["a", "b"], "x": [1.0, 2.0]})))
    with pytest.raises(ValueError, match="NaN"):
        PCA(1).fit(OnlyArrow(pa.table({"x": [1.0, None, 3.0], "y": [1.0, 2.0, 4.0]})))
    single = pa.table({"x": pa.array(spread[:, 0], pa.float32()), "y": pa.array([1] * 200, pa.int8())})
    assert PCA(1).fit(OnlyArrow(single)).components_.dtype == np.float32


def test_sparse_matrices_stay_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    # Dense, this would be 16 terabytes.
    rng = np.random.default_rng(0)
    n, d, stored = 1_000_000, 2_000, 50_000
    X = sparse.coo_matrix(
        (rng.random(stored), (rng.integers(0, n, stored), rng.integers(0, d, stored))), (n, d)
    )
    svd = TruncatedSVD(3).fit(X)
    assert svd.components_.shape == (3, d)
    small = sparse.random(50, 20, 0.3, random_state=0)
    for kind in ("csr", "csc", "coo", "lil", "dok"):
        shown = small.asformat(kind)
        expected = PCA(3).fit(small.toarray()).components_
        np.testing.assert_allclose(PCA(3).fit(shown).components_, expected, atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_arrays_are_not_copied(order, dtype):
    """The memory of the process does not grow by another array while fitting and transforming."""
    script = f"""
        import numpy as np
        from pathlib import Path
        from eigenlens import PCA

        def status(field):
            lines = Path("/proc/self/status").read_text().splitlines()
            return next(int(l.split()[1]) for l in lines if l.startswith(field + ":")) * 1024

        X = np.empty((600_000, 20), dtype="{dtype}", order="{order}")
        X[:] = np.random.default_rng(0).normal(size=(1000, 20)).repeat(600, axis=0)
        PCA(2).fit(X[:1000])  # what is loaded once is loaded
        Path("/proc/self/clear_refs").write_text("5")
        before = status("VmRSS")
        scores = PCA(2).fit(X).transform(X)
        print((status("VmHWM") - before - scores.nbytes) / X.nbytes)
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("the high-water mark is Linux's")
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # Room for the threads' stacks and panels; a copy would be 1 or more.
    assert float(done.stdout) < 0.25


def test_a_system_without_memory_is_a_memory_error():
    """Where the address space is limited the interpreter lives, and small fits go on."""
    script = """
        import resource
        import numpy as np
        from pathlib import Path
        from eigenlens import PCA, ClassicalMDS, Isomap, KernelPCA

        X = np.random.default_rng(0).normal(size=(12_000, 5))
        PCA(2).fit(X)  # what is loaded once is loaded
        lines = Path("/proc/self/status").read_text().splitlines()
        used = next(int(l.split()[1]) for l in lines if l.startswith("VmSize:")) * 1024
        resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), resource.RLIM_INFINITY))
        for estimator in (
            KernelPCA(2),
            Isomap(),
            ClassicalMDS(2, metric="cosine"),
        ):
            try:
                estimator.fit(X)
            except MemoryError as error:
                assert "which the system does not give" in str(error), error
                print("refused")
        PCA(2).fit(X)
        print("alive")
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("the limit is Linux's")
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refused"] * 3 + ["alive"]


def test_what_cannot_be_right_is_named(spread):
    bad = spread.copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*row 7, column 2"):
        PCA(2).fit(bad)
    bad[7, 2] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*row 7, column 2"):
        PCA(2).fit(bad)
    with pytest.raises(ValueError, match="2D array"):
        PCA(1).fit(spread[0])
    with pytest.raises(ValueError, match="1 sample"):
        PCA(1).fit(spread[:1])
    with pytest.raises(ValueError, match="6 features"):
        PCA(2).fit(spread).transform(spread[:, :4])
    with pytest.raises(ValueError, match="weight of row 1 is -1"):
        PCA(2).fit(spread[:3], sample_weight=[1, -1, 2])
    with pytest.raises(ValueError, match="omplex"):
        PCA(2).fit(spread * 1j)
    with pytest.raises(ValueError):
        PCA(2).fit([["a", "b"], ["c", "d"], ["e", "f"]])


def test_weights_count_samples(spread):
    weights = np.arange(len(spread)) % 4
    ours = PCA(3).fit(spread, sample_weight=weights)
    repeated = PCA(3).fit(np.repeat(spread, weights, axis=0))
    np.testing.assert_allclose(ours.components_, repeated.components_, atol=1e-12)
    np.testing.assert_allclose(ours.explained_variance_, repeated.explained_variance_)
    np.testing.assert_allclose(ours.noise_variance_, repeated.noise_variance_)
    relative = PCA(3, weight_kind="relative").fit(spread, sample_weight=weights / 1e6)
    np.testing.assert_allclose(relative.components_, repeated.components_, atol=1e-9)
    # The hint works when pasted.
    with pytest.raises(ValueError, match="use `weight_kind='relative'`"):
        PCA(3).fit(spread, sample_weight=weights / 1e6)


def test_defaults_of_a_class_of_ones_own_are_checked(spread):
    class Mine(PCA):
        def __init__(self, n_components=None, *, tol=-1.0):
            super().__init__(n_components, tol=tol)

    with pytest.raises(ValueError, match="The 'tol' parameter of Mine must be a float"):
        Mine().fit(spread)
    assert Mine(2, tol=0.0).fit(spread).n_components_ == 2


@pytest.mark.parametrize("estimator", [PCA(4), IncrementalPCA(4), TruncatedSVD(4)])
def test_certificates_are_of_the_components_as_they_are_rounded(spread, estimator):
    fitted = estimator.fit(spread.astype(np.float32))
    components = fitted.components_
    assert components.dtype == np.float32
    wide = components.astype(np.float64)
    off = np.abs(wide @ wide.T - np.eye(4)).max()
    stated = fitted.certificate_.orthogonality
    assert off <= stated + 1e-15 and stated <= off + 1e-14
    assert fitted.certificate_.angles.min() > 1e-9


class OnlyArrayApi:
    """An array of another library: it can be asked for its memory, and NumPy does not know it."""

    def __init__(self, values):
        self._values = values

    def __array_namespace__(self):
        raise NotImplementedError

    def __dlpack__(self, **asked):
        return self._values.__dlpack__(**asked)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


def test_arrays_of_other_libraries_are_converted(spread):
    pca = PCA(2).fit(OnlyArrayApi(spread))
    assert bits(pca) == bits(PCA(2).fit(spread))
    assert np.array_equal(pca.transform(OnlyArrayApi(spread)), pca.transform(spread))


def test_a_lazy_frame_is_collected(spread):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(spread, schema=list("abcdef"))
    pca = PCA(2).fit(frame.lazy().with_columns(pl.col("a") * 1))
    assert bits(pca) == bits(PCA(2).fit(frame))
    assert list(pca.feature_names_in_) == list("abcdef")
    assert np.array_equal(pca.transform(frame.lazy()), pca.transform(frame))


def test_a_record_batch_has_its_names(spread):
    pa = pytest.importorskip("pyarrow")
    batch = pa.RecordBatch.from_arrays(list(spread.T.copy()), names=list("abcdef"))
    pca = PCA(2).fit(batch)
    assert list(pca.feature_names_in_) == list("abcdef")
    assert bits(pca) == bits(PCA(2).fit(pa.Table.from_batches([batch])))


@pytest.mark.parametrize("kind", [str, None])
def test_a_list_of_paths_is_one_table(spread, tmp_path, kind):
    paths = [tmp_path / f"{part}.csv" for part in "ab"]
    for path, rows in zip(paths, np.array_split(spread, 2), strict=True):
        np.savetxt(path, rows, delimiter=",", header="u,v,w,x,y,z", comments="", fmt="%.17g")
    pca = PCA(2).fit([kind(path) if kind else path for path in paths])
    assert pca.n_samples_ == 200 and list(pca.feature_names_in_) == list("uvwxyz")
    assert np.allclose(pca.components_, PCA(2).fit(spread).components_)
