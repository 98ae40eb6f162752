"""Sparse PCA beside scikit-learn's, side by side: `cargo xtask bench sparse`.

Every run is a fresh process; the programs take turns. All have two threads. eigenlens gets the
numbers of non-zeros that its peer arrived at, component by component, so that the variances can be
compared; the adjusted variance (Zou, Hastie & Tibshirani 2006) is computed here, for all alike.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peer import MemoryPeak
from peers import call, tell

Array = NDArray[np.float64]
# Rows, columns, components, groups of features that move together.
CASES = {"square": (2_000, 200, 10), "wide": (500, 20_000, 10)}
QUICK = {"square": (300, 40, 4), "wide": (60, 1_200, 3)}
OURS = {"square": ["cardinality", "regression"], "wide": ["cardinality", "thresholding"]}
PEERS = {"square": ["MiniBatchSparsePCA", "SparsePCA"], "wide": []}
# Non-zeros of each component where there is no peer to match.
WIDE_COUNT = 50


def generate(path: Path, rows: int, columns: int, k: int) -> None:
    """Groups of features that share a score, of falling strength, under noise."""
    random = np.random.default_rng(7)
    data = random.standard_normal((rows, columns))
    size = max(columns // (2 * k), 2) if columns < 1_000 else 50
    for group in range(k):
        weights = 0.5 + random.random(size)
        score = (3.0 - 1.5 * group / k) * random.standard_normal(rows)
        data[:, group * size : (group + 1) * size] += np.outer(score, weights)
    np.save(path, data)


def run_peer(name: str, data: Path, k: int, output: Path) -> dict[str, Any]:
    """One run of scikit-learn in this process."""
    from sklearn import decomposition

    matrix = np.load(data)
    model = getattr(decomposition, name)(k, random_state=0)
    peak = MemoryPeak(mapped_file=False)
    start = time.perf_counter()
    model.fit(matrix)
    model.transform(matrix)
    seconds = time.perf_counter() - start
    np.save(output, model.components_)
    return {"seconds": seconds, "peak_bytes": peak.stop()}


def adjusted_share(data: Array, components: Array) -> float:
    """The share of the variance that the components explain together."""
    lengths = np.linalg.norm(components, axis=1, keepdims=True)
    unit = components / np.where(lengths > 0, lengths, 1)
    centered = data - data.mean(axis=0)
    triangle = np.linalg.qr(centered @ unit.T, mode="r")
    return float((np.diag(triangle) ** 2).sum() / (centered**2).sum())


def compare(program: Path, folder: Path, case: str, quick: bool, runs: int) -> list[list[str]]:
    """Rows of the table for one case."""
    rows, columns, k = (QUICK if quick else CASES)[case]
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / f"{case}.npy"
    generate(data, rows, columns, k)
    matrix = np.load(data)
    found: list[list[str]] = []

    def once(name: str, counts: list[int]) -> tuple[dict[str, Any], Array]:
        output = folder / f"{case}-{name}.npy"
        if name in PEERS[case]:
            text = call([sys.executable, __file__, "--peer", name, data, str(k), output])
        else:
            numbers = ",".join(str(count) for count in counts)
            shape = [str(rows), str(columns)]
            text = call([program, "sparse-pca", name, data, *shape, numbers, output])
        return json.loads(text), np.load(output)

    counts = [min(WIDE_COUNT, columns)] * k
    for peer in PEERS[case] or [None]:
        if peer is not None:
            _, components = once(peer, [])
            counts = [max(int(count), 1) for count in np.count_nonzero(components, axis=1)]
        programs = [*OURS[case], *([peer] if peer else [])]
        measured: dict[str, list[dict[str, Any]]] = {name: [] for name in programs}
        components_of: dict[str, Array] = {}
        for turn in range(runs + 1):
            for name in programs:
                run, components_of[name] = once(name, counts)
                tell(f"{case}: {name} {run['seconds']:.3f} s{' (warm-up)' if turn == 0 else ''}")
                if turn > 0:
                    measured[name].append(run)
        for name in programs:
            times = [run["seconds"] for run in measured[name]]
            peak = max(run["peak_bytes"] for run in measured[name])
            components = components_of[name]
            found.append(
                [
                    f"{rows} × {columns}, k = {k}",
                    name if name == peer else f"eigenlens {name}",
                    f"{median(times):.4f} ({min(times):.4f}–{max(times):.4f})",
                    f"{peak / 2**20:.1f} MiB",
                    str(int(np.count_nonzero(components))),
                    f"{100 * adjusted_share(matrix, components):.3f} %",
                ]
            )
    return found


def main() -> None:
    """Runs the comparison, or one peer."""
    if sys.argv[1:2] == ["--peer"]:
        name, data, k, output = sys.argv[2:6]
        print(json.dumps(run_peer(name, Path(data), int(k), Path(output))))
        return
    parser = argparse.ArgumentParser(prog="cargo xtask bench sparse", description=__doc__)
    parser.add_argument("--program", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--case", action="append", choices=CASES, help="only this case")
    parser.add_argument("--runs", type=int, default=5, help="measured runs of each program")
    parser.add_argument("--quick", action="store_true", help="small data: a smoke test")
    arguments = parser.parse_args()
    folder = arguments.output / "data" / "sparse"
    headings = ["data", "program", "seconds (min–max)", "memory", "non-zeros", "adjusted variance"]
    rows = [headings, ["---"] * len(headings)]
    for case in arguments.case or CASES:
        rows += compare(arguments.program, folder, case, arguments.quick, arguments.runs)
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    (arguments.output / "sparse.md").write_text(table)
    print(table, end="")


if __name__ == "__main__":
    main()
