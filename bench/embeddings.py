"""Compares spectral embeddings with scikit-learn, side by side: `cargo xtask bench embeddings`.

The data are a Swiss roll, drawn with a seed. Every run is a fresh process that reports the time of
its fit; the programs take turns after one round to warm up, and all have two threads. Accuracy is
the residual of the coordinates in the method's own eigenproblem, which is formed here with NumPy and
SciPy alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
import scipy.spatial
from numpy.typing import NDArray

Array = NDArray[np.float64]
COMPONENTS = 2
HEADINGS = ["case", "program", "seconds (min–max)", "× ours", "memory", "residual"]


@dataclass(frozen=True)
class Case:
    """A method on so many samples."""

    name: str
    method: str
    rows: int
    neighbors: int


CASES = [
    Case("isomap-5000", "isomap", 5000, 10),
    Case("isomap-2000", "isomap", 2000, 10),
    Case("mds-2000", "mds", 2000, 0),
    Case("lle-2000", "lle", 2000, 10),
    Case("laplacian-2000", "laplacian", 2000, 10),
    # A tenth of the samples, scikit-learn's default.
    Case("laplacian-2000-wide", "laplacian", 2000, 200),
]


def swiss_roll(rows: int) -> Array:
    """A rolled-up sheet in three dimensions."""
    rng = np.random.default_rng(rows)
    t = 1.5 * np.pi * (1 + 2 * rng.random(rows))
    return np.column_stack([t * np.cos(t), 21 * rng.random(rows), t * np.sin(t)])


def run(case: Case, program: str, ours: Path, directory: Path) -> dict[str, Any]:
    """One measured run in a process of its own."""
    numbers = ["3", str(case.neighbors), str(COMPONENTS)]
    if program == "eigenlens":
        command = [str(ours), "embed", case.method, *numbers, str(directory)]
    else:
        peer = Path(__file__).with_name("embeddings_peer.py")
        command = [sys.executable, str(peer), case.method, *numbers[1:], str(directory)]
    threads = {f"{name}_NUM_THREADS": "2" for name in ("OMP", "OPENBLAS")}
    environment = {**os.environ, **threads}
    printed = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(printed)


def residual(case: Case, data: Array, y: Array, program: str) -> float:
    """The largest residual of a coordinate, relative to the operator's norm."""
    y = y / np.linalg.norm(y, axis=0)
    if case.method in ("mds", "isomap"):
        return kernel_residual(squared_distances(case, data), y)
    if case.method == "lle":
        rows = identity_minus_weights(data, case.neighbors)
        product = rows.T @ (rows @ y)
        norm = scipy.sparse.linalg.norm(rows, 2 if rows.shape[0] < 500 else "fro") ** 2
        norm = min(norm, abs(rows).sum(axis=0).max() * abs(rows).sum(axis=1).max())
        return rest(product, y) / norm
    # Generalised: the coordinates are D^{-1/2} v.
    half = 0.5 if program == "scikit-learn" else 1.0
    near = neighbor_graph(data, case.neighbors)
    mutual = near.minimum(near.T)
    affinity = near.maximum(near.T) * half + mutual * (1 - half)
    degree = np.asarray(affinity.sum(axis=1)).ravel()
    v = y * np.sqrt(degree)[:, None]
    v /= np.linalg.norm(v, axis=0)
    scale = scipy.sparse.diags(1 / np.sqrt(degree))
    return rest(v - scale @ (affinity @ (scale @ v)), v) / 2


def rest(product: Array, y: Array) -> float:
    """What is left of A y beside y."""
    return float(np.linalg.norm(product - y * np.sum(product * y, axis=0), axis=0).max())


def kernel_residual(squared: Array, y: Array) -> float:
    """Of the double-centred squared distances."""
    product = squared @ (y - y.mean(axis=0))
    product = -0.5 * (product - product.mean(axis=0))
    norm = np.abs(np.sum(product * y, axis=0)).max()
    return rest(product, y) / norm


def squared_distances(case: Case, data: Array) -> Array:
    """Euclidean or geodesic distances, squared."""
    if case.method == "mds":
        return scipy.spatial.distance.cdist(data, data, "sqeuclidean")
    distances, indices = scipy.spatial.cKDTree(data).query(data, case.neighbors + 1)
    n = data.shape[0]
    starts = np.arange(0, n * case.neighbors + 1, case.neighbors)
    graph = scipy.sparse.csr_matrix(
        (distances[:, 1:].ravel(), indices[:, 1:].ravel(), starts), shape=(n, n)
    )
    return scipy.sparse.csgraph.shortest_path(graph, directed=False) ** 2


def neighbor_graph(data: Array, neighbors: int) -> scipy.sparse.csr_matrix:
    """1 from every sample to its neighbours."""
    n = data.shape[0]
    indices = scipy.spatial.cKDTree(data).query(data, neighbors + 1)[1][:, 1:]
    starts = np.arange(0, n * neighbors + 1, neighbors)
    return scipy.sparse.csr_matrix((np.ones(n * neighbors), indices.ravel(), starts), shape=(n, n))


def identity_minus_weights(data: Array, neighbors: int) -> scipy.sparse.csr_matrix:
    """I − W with the usual regularisation."""
    n = data.shape[0]
    indices = scipy.spatial.cKDTree(data).query(data, neighbors + 1)[1][:, 1:]
    off = data[:, None, :] - data[indices]
    gram = off @ off.transpose(0, 2, 1)
    trace = np.trace(gram, axis1=1, axis2=2)
    gram += 1e-3 * trace[:, None, None] * np.eye(neighbors)
    weights = np.linalg.solve(gram, np.ones((n, neighbors, 1)))[..., 0]
    weights /= weights.sum(axis=1, keepdims=True)
    starts = np.arange(0, n * neighbors + 1, neighbors)
    w = scipy.sparse.csr_matrix((weights.ravel(), indices.ravel(), starts), shape=(n, n))
    return (scipy.sparse.identity(n) - w).tocsr()


def compare(case: Case, ours: Path, output: Path, runs: int) -> list[list[str]]:
    """Runs both programs in turn; the rows of the table."""
    directory = output / "data" / "embeddings" / case.name
    directory.mkdir(parents=True, exist_ok=True)
    data = swiss_roll(case.rows)
    np.save(directory / "data.npy", data)
    programs = ["eigenlens", "scikit-learn"]
    measured: dict[str, list[dict[str, Any]]] = {program: [] for program in programs}
    for turn in range(runs + 1):
        for program in programs:
            found = run(case, program, ours, directory)
            print(f"{case.name}: {program} {found['seconds']:.3f} s", file=sys.stderr)
            if turn > 0:
                measured[program].append(found)
    rows = []
    first = median(found["seconds"] for found in measured["eigenlens"])
    for program in programs:
        times = [found["seconds"] for found in measured[program]]
        y = np.load(directory / f"coordinates-{program}.npy")
        rows.append(
            [
                case.name,
                program,
                f"{median(times):.3f} ({min(times):.3f}–{max(times):.3f})",
                f"{median(times) / first:.2f}",
                f"{max(found['peak_bytes'] for found in measured[program]) / 2**20:.0f} MiB",
                f"{residual(case, data, y, program):.1e}",
            ]
        )
    return rows


def table(rows: list[list[str]]) -> str:
    """A markdown table, aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]

    def line(cells: list[str]) -> str:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        return f"| {' | '.join(padded)} |"

    rule = line(["-" * width for width in widths])
    return "\n".join([line(rows[0]), rule, *(line(row) for row in rows[1:])]) + "\n"


def main() -> None:
    """Runs the cases asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, required=True, help="eigenlens-bench")
    parser.add_argument("--output", type=Path, required=True, help="where data and tables go")
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small data, one run")
    arguments = parser.parse_args()
    rows = [HEADINGS]
    for case in CASES:
        if arguments.case and case.name not in arguments.case:
            continue
        if arguments.quick:
            case = Case(case.name + "-quick", case.method, 400, case.neighbors)
        runs = 1 if arguments.quick else arguments.runs
        rows += compare(case, arguments.program, arguments.output, runs)
    text = table(rows)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "embeddings.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
