"""Writes the model files of this folder and the scores they give: see README.md.

    python make.py PROGRAM FOLDER

PROGRAM is the command line's; the package `eigenlens` that this Python finds writes the others.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd

from eigenlens import (
    PCA,
    BayesianPCA,
    ClassicalMDS,
    IncrementalPCA,
    Isomap,
    KernelPCA,
    KernelSupervisedPCA,
    LocallyLinearEmbedding,
    MiniBatchSparsePCA,
    ProbabilisticPCA,
    ProbabilisticPCAMixture,
    SparsePCA,
    SupervisedPCA,
    TruncatedSVD,
)

# By folder, the command line's: the name of the file and what comes after `fit`, before the table.
COMMAND_LINE = {
    "iris": {
        "pca": "pca -k 2",
        "pca-scale": "pca -k 3 --scale",
        "pca-whiten": "pca -k 2 --whiten",
        "pca-scale-whiten": "pca -k 2 --scale --whiten",
        "pca-no-center": "pca -k 2 --no-center",
        "pca-all": "pca -k all",
        "pca-share": "pca -k 90%",
        "pca-rule": "pca -k rule:broken-stick",
        "pca-dual": "pca -k 2 --solver dual",
        "pca-svd": "pca -k 2 --solver svd",
        "pca-iterative": "pca -k 2 --solver iterative",
        "pca-randomized": "pca -k 2 --solver randomized",
        "lsa": "lsa -k 2",
        "ppca": "ppca -k 2",
        "ppca-scale": "ppca -k 2 --scale",
        "ppca-em": "ppca -k 1 --em",
        "bayesian-pca": "bayesian-pca",
        "bayesian-pca-scale": "bayesian-pca -k 2 --scale",
        "ppca-mixture": "ppca-mixture -k 1 --parts 2",
        "ppca-mixture-scale": "ppca-mixture -k 2 --parts 2 --scale",
        "ppca-mixture-best": "ppca-mixture -k 1 --parts 3 --best",
        "sparse-pca": "sparse-pca -k 2 --cardinality 2",
        "sparse-pca-exact": "sparse-pca -k 2 --cardinality 3,2 --exact",
        "sparse-pca-path": "sparse-pca -k 2 --cardinality 2 --path 3",
        "sparse-pca-non-negative": "sparse-pca -k 2 --cardinality 2 --non-negative",
        "sparse-pca-deflation": "sparse-pca -k 2 --cardinality 2 --deflation schur",
        "sparse-pca-penalty": "sparse-pca -k 2 --penalty 0.1,0.2 --scale",
        "sparse-pca-penalty-path": "sparse-pca -k 1 --penalty 0.1 --path 3",
        "sparse-pca-ridge": "sparse-pca -k 2 --penalty 0.1 --ridge infinite",
        "sparse-pca-non-zeros": "sparse-pca -k 2 --non-zeros 2 --projection product",
        "sparse-pca-dictionary": "sparse-pca -k 2 --dictionary 0.5 --no-center",
        "kernel-pca-rbf": "kernel-pca -k 3",
        "kernel-pca-linear": "kernel-pca -k 2 --kernel linear",
        "kernel-pca-laplacian": "kernel-pca -k 2 --kernel laplacian --sigma 2",
        "kernel-pca-polynomial": "kernel-pca -k 2 --kernel polynomial --degree 3 --coef0 0.5",
        "kernel-pca-sigmoid": "kernel-pca -k 2 --kernel sigmoid --gamma 0.01",
        "kernel-pca-cosine": "kernel-pca -k 2 --kernel cosine",
        "kernel-pca-delta": "kernel-pca -k 2 --kernel delta --columns petal_width",
        "kernel-pca-nystrom": "kernel-pca -k 2 --landmarks 8",
        "kernel-pca-nystrom-uniform": "kernel-pca -k 2 --landmarks 8 --selection uniform",
        "kernel-pca-random-features": "kernel-pca -k 2 --random-features 16",
        "kernel-pca-orthogonal": "kernel-pca -k 2 --random-features 16 --orthogonal",
        "kernel-pca-subset": "kernel-pca -k 2 --subset 10",
        "supervised-pca": "supervised-pca --target species",
        "supervised-pca-scale": "supervised-pca -k 2 --target species --scale --supervision 0.5",
        "supervised-pca-linear": "supervised-pca -k 1 --target petal_width --label-kernel linear",
        "supervised-pca-gaussian": "supervised-pca -k 2 --target petal_width --no-center",
        "kernel-supervised-pca": "kernel-supervised-pca -k 2 --target species",
        "kernel-supervised-pca-number": "kernel-supervised-pca -k 2 --target petal_width --no-center",
        "kernel-supervised-pca-linear": "kernel-supervised-pca -k 2 --target species --kernel linear",
        "mds": "mds",
        "mds-manhattan": "mds --metric manhattan",
        "mds-chebyshev": "mds -k 3 --metric chebyshev",
        "mds-cosine": "mds --metric cosine",
        "isomap": "isomap --neighbors 5 --bridges",
        "isomap-radius": "isomap --radius 1.5 --bridges",
        "isomap-landmarks": "isomap --neighbors 6 --bridges --landmarks 8",
        "laplacian": "laplacian --neighbors 5 --bridges",
        "laplacian-heat": "laplacian --neighbors 5 --bridges --heat --normalization symmetric",
        "laplacian-commute": "laplacian --radius 1.5 --bridges --commute-time",
        "laplacian-unnormalized": "laplacian --neighbors 6 --bridges --normalization unnormalized",
        "lle": "lle --neighbors 6 --bridges",
        "lle-kernel-scaling": "lle --radius 1.5 --bridges --kernel-scaling --regularization 0.01",
    },
    "weights": {
        "pca": "pca -k 2 --weights urban_pop",
        "pca-relative": "pca -k 2 --scale --weights urban_pop --weight-kind relative",
        "ppca": "ppca -k 1 --weights urban_pop",
        "sparse-pca": "sparse-pca -k 1 --cardinality 2 --weights urban_pop",
    },
    "holes": {
        "pca-em": "pca -k 2 --missing em",
        "pca-mean": "pca -k 2 --missing mean",
        "pca-drop-rows": "pca -k 2 --missing drop-rows --scale",
        "ppca": "ppca -k 2 --missing em",
        "bayesian-pca": "bayesian-pca -k 2 --missing em",
        "ppca-mixture": "ppca-mixture -k 1 --parts 2 --missing em",
    },
    "filled": {
        "kernel-pca": "kernel-pca -k 2 --missing mean",
        "supervised-pca": "supervised-pca -k 2 --target species --missing mean",
    },
    "iris-f32": {
        "pca": "pca -k 2",
        "pca-scale-whiten": "pca -k 2 --scale --whiten",
        "ppca": "ppca -k 1",
        "bayesian-pca": "bayesian-pca -k 2",
        "ppca-mixture": "ppca-mixture -k 1",
        "sparse-pca": "sparse-pca -k 2 --cardinality 2",
        "kernel-pca": "kernel-pca -k 2",
        "kernel-pca-nystrom": "kernel-pca -k 2 --landmarks 8",
        "kernel-pca-random-features": "kernel-pca -k 2 --random-features 16",
        "mds-manhattan": "mds --metric manhattan",
        "isomap": "isomap --neighbors 5 --bridges",
        "laplacian": "laplacian --neighbors 5 --bridges",
        "lle": "lle --neighbors 6 --bridges",
    },
    "counts": {
        "lsa": "lsa -k 2",
        "lsa-tf-idf": "lsa -k 2 --weighting tf-idf",
        "lsa-log-entropy": "lsa -k 2 --weighting log-entropy",
        "pca": "pca -k 2",
        "ppca": "ppca -k 2",
        "sparse-pca": "sparse-pca -k 2 --cardinality 3",
        "kernel-pca": "kernel-pca -k 2",
        "kernel-pca-linear": "kernel-pca -k 2 --kernel linear",
    },
    "distances": {"mds": "mds --distances"},
    "kernel": {"kernel-pca": "kernel-pca -k 2 --kernel precomputed"},
    "images": {"pca": "pca -k 2", "kernel-pca": "kernel-pca -k 2"},
}

# The same by the Python package.
PYTHON = {
    "iris": {
        "pca": PCA(2),
        "pca-scale-whiten": PCA(2, standardize=True, whiten=True),
        "incremental-pca": IncrementalPCA(2, batch_size=10),
        "truncated-svd": TruncatedSVD(2, random_state=0),
        "ppca": ProbabilisticPCA(2),
        "bayesian-pca": BayesianPCA(),
        "ppca-mixture": ProbabilisticPCAMixture(2, 1, random_state=0),
        "sparse-pca": SparsePCA(2, alpha=0.5, ridge_alpha=0),
        "sparse-pca-ridge": SparsePCA(2, alpha=0.5),
        "sparse-pca-certified": SparsePCA(
            2, ridge_alpha=0, formulation="cardinality", non_zeros=2, certify=True
        ),
        "mini-batch-sparse-pca": MiniBatchSparsePCA(2, alpha=0.5, ridge_alpha=0, random_state=0),
        "kernel-pca": KernelPCA(2),
        "kernel-pca-rbf": KernelPCA(2, kernel="rbf", gamma=0.1, fit_inverse_transform=True),
        "supervised-pca": SupervisedPCA(2),
        "kernel-supervised-pca": KernelSupervisedPCA(2, gamma=0.1),
        "mds-manhattan": ClassicalMDS(2, metric="manhattan"),
        "isomap": Isomap(n_neighbors=12),
        "lle": LocallyLinearEmbedding(n_neighbors=12),
    },
    "iris-array": {
        "pca": PCA(2),
        "pca-share": PCA(0.9, svd_solver="full"),
        "pca-randomized": PCA(2, svd_solver="randomized", random_state=0),
        "ppca-em": ProbabilisticPCA(1, algorithm="em", standardize=True),
        "ppca-mixture-choose": ProbabilisticPCAMixture(3, 1, choose=True, random_state=0),
        "sparse-pca-regression": SparsePCA(2, ridge_alpha=0, formulation="regression", alpha=0.1),
        "kernel-pca-polynomial": KernelPCA(2, kernel="poly", degree=2, gamma=0.1),
        "kernel-pca-sigmoid": KernelPCA(2, kernel="sigmoid", gamma=0.01),
        "kernel-pca-cosine": KernelPCA(2, kernel="cosine"),
        "kernel-pca-laplacian": KernelPCA(2, kernel="laplacian", gamma=0.2),
        "kernel-pca-nystrom": KernelPCA(
            2, kernel="rbf", gamma=0.1, approximation="nystrom", n_landmarks=8, random_state=0
        ),
        "kernel-pca-random-features": KernelPCA(
            2, kernel="rbf", gamma=0.1, approximation="random_features", n_landmarks=16, random_state=0
        ),
        "supervised-pca-scale": SupervisedPCA(2, supervision=0.5, standardize=True),
        "mds": ClassicalMDS(2),
        "isomap-landmarks": Isomap(n_neighbors=12, n_landmarks=8, random_state=0),
    },
    "iris-f32": {
        "pca": PCA(2),
        "incremental-pca": IncrementalPCA(2),
        "truncated-svd": TruncatedSVD(2, random_state=0),
        "ppca": ProbabilisticPCA(1),
        "kernel-pca": KernelPCA(2, kernel="rbf", gamma=0.1),
        "sparse-pca": SparsePCA(2, alpha=0.5, ridge_alpha=0),
        "lle": LocallyLinearEmbedding(n_neighbors=12),
    },
    "weights": {
        "pca": PCA(2),
        "pca-relative": PCA(2, weight_kind="relative"),
        "ppca": ProbabilisticPCA(1),
    },
    "holes": {
        "pca-em": PCA(2, missing="em"),
        "pca-mean": PCA(2, missing="mean"),
        "ppca": ProbabilisticPCA(2),
        "bayesian-pca": BayesianPCA(2),
        "ppca-mixture": ProbabilisticPCAMixture(2, 1, random_state=0),
    },
    "distances": {"mds": ClassicalMDS(2, metric="precomputed")},
    "kernel": {"kernel-pca": KernelPCA(2, kernel="precomputed")},
}

FEATURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def main(program: str, folder: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as made:
        tables = write_tables(program, pathlib.Path(made), folder)
        for name, (training, new) in tables.items():
            for model, words in COMMAND_LINE.get(name, {}).items():
                by_program(program, words, training, new, folder / name / f"cli-{model}")
            for model, estimator in PYTHON.get(name, {}).items():
                by_package(estimator, training, new, folder / name / f"python-{model}")


def by_program(program, words, training, new, stem) -> None:
    """The command line fits a model and says the scores of the new samples."""
    model, scores = f"{stem}.safetensors", f"{stem}.scores.csv"
    method, *options = words.split()
    run(program, "fit", method, training, *options, "--quiet", "-o", model)
    missing = ["--missing", "em"] if "holes" in stem.parts else []
    written = stem.parent / "scores.npy"
    run(program, "transform", model, new, *missing, "--quiet", "-o", written)
    write(scores, np.load(written))
    written.unlink()


def by_package(estimator, training, new, stem) -> None:
    """The package fits a model and says the scores of the new samples."""
    X, beside = samples(training)
    if isinstance(estimator, SupervisedPCA | KernelSupervisedPCA):
        estimator.fit(X, beside["species"])
    elif "urban_pop" in beside:
        estimator.fit(X, sample_weight=beside["urban_pop"])
    else:
        estimator.fit(X)
    estimator.save(f"{stem}.safetensors")
    write(f"{stem}.scores.csv", estimator.transform(samples(new)[0]))


def samples(path):
    """The features of a table, with names or as an array, and what else is in it."""
    if path.suffix == ".npy":
        species = pd.read_csv(path.parent / "iris.csv")["species"] if path.name == "iris.npy" else None
        return np.load(path), {"species": species}
    table = pd.read_csv(path)
    beside = {name: table.pop(name) for name in ("species", "urban_pop") if name in table}
    # Without names where columns are samples: a kernel matrix has none.
    return (table.to_numpy() if "x1" in table else table), beside


def write_tables(program: str, made: pathlib.Path, folder: pathlib.Path):
    """By folder, the table that models are fitted to and that of the new samples."""
    iris = [line.split(",") for line in run(program, "example", "iris", "-o", "-").split()]
    names, rows = iris[0], iris[1:]
    some, others = rows[::6], [rows[i] for i in (3, 40, 77, 101, 147)]
    states = [line.split(",") for line in run(program, "example", "usarrests", "-o", "-").splitlines()]
    arrests = [states[0], *states[1::2]]
    values = np.array([row[:4] for row in some], float)
    new = np.array([row[:4] for row in others], float)
    tables = {}

    def table(name, training, samples):
        paths = made / f"{name}.csv", folder / name / "new.csv"
        paths[1].parent.mkdir(parents=True, exist_ok=True)
        for path, lines in zip(paths, (training, samples), strict=True):
            path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
        tables[name] = paths

    table("iris", [names, *some], [FEATURES, *(row[:4] for row in others)])
    three = [1, 2, 4]
    table(
        "weights",
        [[row[i] for i in (*three, 3)] for row in arrests],
        [[row[i] for i in three] for row in [states[0], *states[2:12:2]]],
    )
    for name in ("holes", "filled"):
        table(name, [names, *with_holes(some)], [FEATURES, *with_holes([row[:4] for row in others])])
    for name, matrix in (("distances", distances), ("kernel", kernel)):
        header = [f"x{i + 1}" for i in range(len(values))]
        pair = matrix(values, values), matrix(new, values)
        table(name, *([header, *rows.tolist()] for rows in pair))
    terms = [f"term{j + 1}" for j in range(12)]
    counts = np.array([[max((7 * i + 5 * j + i * j) % 11 - 6, 0) for j in range(12)] for i in range(25)])
    table("counts", [terms, *counts[:20].tolist()], [terms, *counts[20:].tolist()])
    tables["counts"] = matrix_market(made, counts[:20], terms), tables["counts"][1]
    for name, kind, stem in (("iris-array", np.float64, "iris"), ("iris-f32", np.float32, "iris-f32")):
        tables[name] = made / f"{stem}.npy", folder / name / "new.npy"
        tables[name][1].parent.mkdir(parents=True, exist_ok=True)
        for path, numbers in zip(tables[name], (values, new), strict=True):
            np.save(path, numbers.astype(kind))
    tables["images"] = made / "images", folder / "images" / "new"
    for path, first in zip(tables["images"], (0, 100), strict=True):
        path.mkdir(parents=True, exist_ok=True)
        for i in range(first, first + (12 if first == 0 else 3)):
            pixels = " ".join(str((i * i + 31 * i * p + 17 * p * p) % 256) for p in range(12))
            (path / f"{i:03}.pgm").write_text(f"P2\n4 3\n255\n{pixels}\n")
    return tables


def with_holes(rows):
    """Every eleventh number is missing."""
    return [
        ["" if (4 * i + j) % 11 == 5 and j < 4 else cell for j, cell in enumerate(row)]
        for i, row in enumerate(rows)
    ]


def distances(a, b):
    return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


def kernel(a, b):
    return np.exp(-0.1 * distances(a, b) ** 2)


def matrix_market(made, counts, terms):
    """The counts as a sparse file, a row for each document, with the names of the terms."""
    path = made / "counts.mtx"
    entries = [(i + 1, j + 1, int(counts[i, j])) for i, j in np.argwhere(counts)]
    lines = ["%%MatrixMarket matrix coordinate integer general"]
    lines.append(f"{counts.shape[0]} {counts.shape[1]} {len(entries)}")
    lines += [f"{i} {j} {count}" for i, j, count in entries]
    path.write_text("\n".join(lines) + "\n")
    path.with_suffix(".columns").write_text("\n".join(terms) + "\n")
    return path


def write(path, scores) -> None:
    """Every digit that is needed to read the same numbers again."""
    names = ",".join(f"score{i + 1}" for i in range(scores.shape[1]))
    rows = "".join(",".join(str(v) for v in row) + "\n" for row in scores)
    pathlib.Path(path).write_text(f"{names}\n{rows}")


def run(*command) -> str:
    ran = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{ran.stderr}")
    return ran.stdout


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
