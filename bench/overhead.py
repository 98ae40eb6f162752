"""What a call from Python costs beside the fit, and whether arrays are copied:
`cargo xtask bench overhead`.

Every fit from Python is taken apart: the time within the compiled fit, and the overhead around it.
Two fits of one array differ by more than the overhead, one fit and its part do not. Copies show as
growth of the process's memory while it fits and transforms, beyond the scores.
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from peer import MemoryPeak

from eigenlens import PCA, _core

ROWS, COLUMNS, K = 100_000, 50, 10


def overhead(dtype: str, order: str, runs: int) -> dict[str, Any]:
    """Fits from Python, and the compiled fits within them."""
    X = array(dtype, order)
    pca = PCA(K, n_jobs=2)
    whole, compiled = [], []
    _core.fit = timed(_core.fit, compiled)
    fit = timed(pca.fit, whole)
    for _ in range(runs + 1):
        fit(X)
    _core.fit = _core.fit.__wrapped__
    # The first run warms up.
    whole, compiled = whole[1:], compiled[1:]
    return {
        "array": f"{dtype} {order}",
        "fit": median(whole),
        "compiled": median(compiled),
        "overhead": median(a / b - 1 for a, b in zip(whole, compiled, strict=True)),
    }


def timed(work: Callable[..., Any], times: list[float]) -> Callable[..., Any]:
    """The same work, which writes down how long it takes."""

    @functools.wraps(work)
    def measured(*given: Any) -> Any:
        start = time.perf_counter()
        found = work(*given)
        times.append(time.perf_counter() - start)
        return found

    return measured


def growth(dtype: str, order: str) -> float:
    """Memory beyond array and scores while fitting and transforming, as a share of the array."""
    X = array(dtype, order)
    PCA(K).fit(X[:1000])  # what is loaded once is loaded
    peak = MemoryPeak(mapped_file=False)
    scores = PCA(K).fit(X).transform(X)
    return (peak.stop() - scores.nbytes) / X.nbytes


def array(dtype: str, order: str) -> np.ndarray:
    """The data."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS)) * np.geomspace(10, 1, COLUMNS)
    return np.asarray(X, dtype=dtype, order=order)


def main() -> None:
    """Measures every type and order and prints a table."""
    parser = argparse.ArgumentParser(prog="cargo xtask bench overhead", description=__doc__)
    parser.add_argument("--program", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, default=31, help="measured runs of each")
    parser.add_argument("--growth", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.growth:
        print(growth(*arguments.growth))
        return
    results = []
    for dtype in ("float64", "float32"):
        for order in ("C", "F"):
            result = overhead(dtype, order, arguments.runs)
            # In a process of its own, so that nothing else has grown before.
            command = [sys.executable, __file__, "--growth", dtype, order]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            result["growth"] = float(done.stdout)
            results.append(result)
    print(f"| {ROWS} × {COLUMNS}, k = {K} | fit from Python | compiled fit | overhead | memory beyond the data |")
    print("| --- | --- | --- | --- | --- |")
    for r in results:
        print(
            f"| {r['array']} | {1e3 * r['fit']:.2f} ms | {1e3 * r['compiled']:.2f} ms "
            f"| {100 * r['overhead']:.1f} % | {100 * r['growth']:.0f} % of the array |"
        )
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        (arguments.output / "overhead.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
