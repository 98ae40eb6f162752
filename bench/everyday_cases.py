"""The calls of `cargo xtask bench everyday`: every class that scikit-learn has too, on data of every kind."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse
from embeddings import swiss_roll


@dataclass(frozen=True)
class Table:
    """Data drawn from a seed."""

    kind: str
    rows: int
    columns: int
    dtype: str = "f64"
    # C, F, or a view of every second row of a larger array.
    layout: str = "C"

    def __str__(self) -> str:
        layout = "" if self.layout == "C" else f" {self.layout}"
        return f"{self.rows:,} × {self.columns:,} {self.dtype}{layout}, {self.kind}"

    def draw(self) -> Any:
        """The numbers."""
        if self.kind == "sparse":
            return counts(self.rows, self.columns)
        rows = 2 * self.rows if self.layout == "strided" else self.rows
        x = KINDS[self.kind](np.random.default_rng(self.columns), rows, self.columns, self.real)
        if self.layout == "strided":
            return x[::2]
        return np.asarray(x, dtype=self.real, order="F" if self.layout == "F" else "C")

    @property
    def real(self) -> Any:
        """The element type."""
        return np.float32 if self.dtype == "f32" else np.float64


def rotated(rng: Any, n: int, d: int, real: Any, scales: Any) -> Any:
    """Gaussian rows with these standard deviations along axes that are no features' (a reflection)."""
    x = rng.standard_normal((n, d), dtype=real)
    x *= np.asarray(scales, dtype=real)
    u = rng.standard_normal(d).astype(real)
    u /= np.linalg.norm(u)
    for part in np.array_split(x, max(1, n // 10_000)):
        part -= np.outer(part @ u, 2 * u)
    return x


def decaying(rng: Any, n: int, d: int, real: Any) -> Any:
    """Variances that fall as those of measurements do."""
    return rotated(rng, n, d, real, 10 / (1 + np.arange(d)) ** 0.7)


def flat(rng: Any, n: int, d: int, real: Any) -> Any:
    """Nothing but noise."""
    return rng.standard_normal((n, d), dtype=real)


def steep(rng: Any, n: int, d: int, real: Any) -> Any:
    """Standard deviations over five orders of magnitude."""
    return rotated(rng, n, d, real, np.geomspace(10, 1e-4, d))


def offset(rng: Any, n: int, d: int, real: Any) -> Any:
    """Far from the origin."""
    return decaying(rng, n, d, real) + np.linspace(100, 1000, d, dtype=real)


def whole(rng: Any, n: int, d: int, real: Any) -> Any:
    """Whole numbers from 0 to 255, a third of them 0, as in images."""
    x = decaying(rng, n, d, real)
    x *= 100
    x += 20
    np.rint(x, out=x)
    return np.clip(x, 0, 255, out=x)


def groups(rng: Any, n: int, d: int, real: Any) -> Any:
    """Five groups, of which sample i belongs to the (i mod 5)-th."""
    return decaying(rng, n, d, real) + 3 * rng.standard_normal((5, d)).astype(real)[np.arange(n) % 5]


def roll(rng: Any, n: int, d: int, real: Any) -> Any:
    """A rolled-up sheet."""
    return swiss_roll(n)


KINDS = {
    "real": decaying,
    "flat": flat,
    "steep": steep,
    "offset": offset,
    "whole": whole,
    "groups": groups,
    "roll": roll,
}


def counts(n: int, d: int) -> scipy.sparse.csr_matrix:
    """Words in documents: one entry in 200, a few columns far more often than most."""
    rng = np.random.default_rng(d)
    stored = n * d // 200
    rows = rng.integers(0, n, stored)
    columns = (d * rng.random(stored) ** 2).astype(np.int32)
    table = scipy.sparse.coo_matrix((1.0 + rng.poisson(1, stored), (rows, columns)), shape=(n, d))
    return table.tocsr()


@dataclass(frozen=True)
class Estimator:
    """A class and its parameters."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = ", ".join(
            f"{name}={value!r}" for name, value in self.params.items() if name != "random_state"
        )
        return f"{self.name}({shown})"


def e(name: str, **params: Any) -> Estimator:
    """An estimator, in short."""
    return Estimator(name, params)


@dataclass(frozen=True)
class Case:
    """One call of both programs."""

    ours: Estimator
    call: str
    table: Table
    # Where scikit-learn says it differently.
    theirs: Estimator | None = None
    # Left to `--large`.
    large: bool = False

    @property
    def peer(self) -> Estimator:
        """What scikit-learn is asked for."""
        return self.ours if self.theirs is None else self.theirs

    def __str__(self) -> str:
        other = "" if self.theirs is None else f" beside {self.theirs}"
        return f"{self.ours}.{self.call}{other} | {self.table}"


def pca(k: Any = None, **params: Any) -> Estimator:
    """PCA, in short."""
    return Estimator("PCA", params if k is None else {"n_components": k, **params})


def seeded(name: str, **params: Any) -> Estimator:
    """An estimator that draws random numbers."""
    return Estimator(name, {**params, "random_state": 0})


T = Table
IRIS, WINE = T("real", 150, 4), T("offset", 178, 13)
TALL, TALL32 = T("real", 200_000, 200), T("real", 200_000, 200, "f32")
MEDIUM, MEDIUM32 = T("real", 20_000, 500), T("real", 20_000, 500, "f32")
NARROW, NARROW32 = T("real", 300_000, 37), T("offset", 300_000, 37, "f32")
IMAGES, IMAGES32 = T("real", 60_000, 784), T("real", 60_000, 784, "f32")
TERMS, FEW_TERMS = T("sparse", 200_000, 5_000), T("sparse", 5_000, 2_000)
ROLL, CURVED = T("roll", 2_000, 3), T("real", 20_000, 50)

CASES = [
    # PCA: small.
    Case(pca(2), "fit", IRIS),
    Case(pca(2), "fit_transform", IRIS),
    Case(pca(2), "transform", IRIS),
    Case(pca(2), "inverse_transform", IRIS),
    Case(pca(), "fit", WINE),
    Case(pca(0.95), "fit_transform", T("whole", 1_797, 64)),
    Case(pca(10), "fit_transform", T("real", 1_000, 50, "f32")),
    Case(pca(5), "fit", T("steep", 100, 2_000)),
    Case(pca(2, whiten=True), "fit_transform", T("real", 500, 20, layout="F")),
    # Medium.
    Case(pca(0.95), "fit", MEDIUM),
    Case(pca(), "fit_transform", MEDIUM),
    Case(pca(10), "fit_transform", MEDIUM),
    Case(pca(), "fit_transform", MEDIUM32),
    Case(pca(10), "fit_transform", MEDIUM32),
    Case(pca(), "fit_transform", T("flat", 5_000, 300)),
    Case(pca(20), "fit", T("flat", 5_000, 1_000)),
    Case(pca(20), "fit", T("steep", 10_000, 300, layout="strided")),
    Case(pca("mle"), "fit", T("real", 5_000, 100)),
    Case(pca(), "fit", T("real", 1_000, 1_000)),
    Case(pca(50), "fit_transform", T("real", 500, 20_000)),
    Case(pca(50), "fit_transform", T("whole", 500, 20_000, "f32")),
    # Large.
    Case(pca(), "fit", NARROW32),
    Case(pca(), "fit_transform", NARROW32),
    Case(pca(5), "fit_transform", NARROW),
    Case(pca(10), "fit_transform", TALL),
    Case(pca(10), "transform", TALL),
    Case(pca(10), "inverse_transform", TALL),
    Case(pca(), "transform", TALL),
    Case(pca(10), "transform", TALL32),
    Case(pca(10), "inverse_transform", TALL32),
    Case(pca(), "transform", TALL32),
    Case(pca(3), "fit", T("real", 1_000_000, 20)),
    Case(pca(10), "fit", T("real", 200_000, 100, layout="F")),
    Case(pca(10), "fit_transform", T("real", 1_000_000, 100, "f32")),
    Case(pca(50), "fit", IMAGES),
    Case(pca(50), "fit_transform", IMAGES),
    Case(pca(50), "fit_transform", IMAGES32),
    Case(pca(50), "fit_transform", T("whole", 60_000, 784)),
    Case(pca(), "fit", T("real", 3_000, 3_000), large=True),
    Case(pca(), "fit", T("real", 8_000, 4_000), large=True),
    Case(pca(20), "fit", TERMS, theirs=pca(20, svd_solver="arpack")),
    # Moments: the eigenproblem alone, beside LAPACK.
    Case(pca(), "fit(Moments)", T("real", 3_000, 1_000), theirs=e("eigh")),
    Case(pca(), "fit(Moments)", T("real", 4_000, 2_000), theirs=e("eigh")),
    Case(pca(), "fit(Moments)", T("real", 8_000, 4_000), theirs=e("eigh"), large=True),
    # The other linear classes.
    Case(e("IncrementalPCA", n_components=10, batch_size=1_000), "fit", T("real", 50_000, 100)),
    Case(e("IncrementalPCA", n_components=5), "fit", WINE),
    Case(e("IncrementalPCA", n_components=10), "transform", T("real", 50_000, 100, "f32")),
    Case(seeded("TruncatedSVD", n_components=50), "fit_transform", TERMS),
    Case(
        seeded("TruncatedSVD", n_components=50),
        "fit",
        TERMS,
        theirs=seeded("TruncatedSVD", n_components=50, algorithm="arpack"),
    ),
    Case(seeded("TruncatedSVD", n_components=50), "transform", TERMS),
    Case(seeded("TruncatedSVD", n_components=10), "fit_transform", FEW_TERMS),
    Case(seeded("TruncatedSVD", n_components=10), "fit_transform", T("real", 20_000, 200)),
    Case(e("ProbabilisticPCA", n_components=2), "fit", IRIS, theirs=pca(2)),
    Case(e("ProbabilisticPCA", n_components=10), "fit", MEDIUM, theirs=pca(10)),
    Case(e("LinearDiscriminantAnalysis"), "fit", T("groups", 300, 10)),
    Case(e("LinearDiscriminantAnalysis"), "fit", T("groups", 50_000, 100)),
    Case(e("LinearDiscriminantAnalysis"), "transform", T("groups", 50_000, 100)),
    Case(seeded("SparsePCA", n_components=3, max_iter=20), "fit", T("real", 100, 30)),
    Case(seeded("SparsePCA", n_components=5, max_iter=20), "fit", T("real", 400, 100)),
    Case(seeded("SparsePCA", n_components=5), "transform", T("real", 400, 100)),
    Case(seeded("MiniBatchSparsePCA", n_components=3, max_iter=20), "fit", T("real", 300, 30)),
    # Kernels.
    Case(e("KernelPCA", n_components=2, kernel="rbf"), "fit_transform", T("real", 300, 5)),
    Case(e("KernelPCA", kernel="rbf"), "fit", T("real", 1_000, 10)),
    Case(e("KernelPCA", n_components=5, kernel="poly"), "fit", T("real", 1_000, 10)),
    Case(e("KernelPCA", n_components=10, kernel="rbf"), "fit", T("real", 3_000, 50)),
    Case(e("KernelPCA", n_components=10, kernel="rbf"), "fit", T("real", 3_000, 50, "f32")),
    Case(e("KernelPCA", n_components=10, kernel="rbf"), "transform", T("real", 3_000, 50)),
    Case(seeded("Nystroem", n_components=100), "fit_transform", T("real", 2_000, 20)),
    Case(seeded("Nystroem", n_components=300), "fit_transform", CURVED),
    Case(seeded("Nystroem", n_components=300), "transform", CURVED),
    Case(seeded("Nystroem", n_components=300), "transform", replace(CURVED, dtype="f32")),
    Case(seeded("RBFSampler", n_components=100), "fit_transform", T("real", 2_000, 20)),
    Case(seeded("RBFSampler", n_components=300), "transform", CURVED),
    Case(seeded("RBFSampler", n_components=300), "transform", replace(CURVED, dtype="f32")),
    # Embeddings.
    Case(e("ClassicalMDS", n_components=2), "fit_transform", T("real", 300, 5)),
    Case(e("ClassicalMDS", n_components=2), "fit_transform", ROLL),
    Case(e("Isomap", n_neighbors=10), "fit", T("roll", 300, 3)),
    Case(e("Isomap", n_neighbors=10), "fit", ROLL),
    Case(e("Isomap", n_neighbors=10), "transform", ROLL),
    Case(seeded("LocallyLinearEmbedding", n_neighbors=10), "fit", T("roll", 300, 3)),
    Case(seeded("LocallyLinearEmbedding", n_neighbors=10), "fit", ROLL),
    Case(
        seeded("SpectralEmbedding", affinity="nearest_neighbors", n_neighbors=10),
        "fit",
        T("roll", 300, 3),
    ),
    Case(seeded("SpectralEmbedding", affinity="nearest_neighbors", n_neighbors=10), "fit", ROLL),
    Case(seeded("SpectralEmbedding", affinity="rbf"), "fit", T("real", 1_000, 10)),
]
