"""Everyday calls of every class beside scikit-learn's, in one process: `cargo xtask bench everyday`.

The programs take turns, on as many cores as `--threads` says; after one turn to warm up (in which the
peak of memory is taken) every turn is timed, small calls by the mean of many. Between turns all
threads come to rest: those of OpenBLAS wait in a loop for a while after their work.
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib
import json
import math
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everyday_cases import Case, Estimator, Table

OURS, THEIRS = "eigenlens", "scikit-learn"
HEADINGS = ["call", "data", OURS, THEIRS, "×", "memory", "theirs", "error", "theirs"]
# A turn of small calls takes at least so long, and threads have so long to come to rest.
TURN, REST = 0.02, 0.06
# Samples that are enough to fit what then transforms.
FITTED = 20_000

MODULES = {
    "PCA": "decomposition",
    "IncrementalPCA": "decomposition",
    "TruncatedSVD": "decomposition",
    "SparsePCA": "decomposition",
    "MiniBatchSparsePCA": "decomposition",
    "KernelPCA": "decomposition",
    "Nystroem": "kernel_approximation",
    "RBFSampler": "kernel_approximation",
    "ClassicalMDS": "manifold",
    "Isomap": "manifold",
    "LocallyLinearEmbedding": "manifold",
    "SpectralEmbedding": "manifold",
    "LinearDiscriminantAnalysis": "discriminant_analysis",
}


class LapackEigh:
    """All eigenpairs of the covariance by LAPACK, the divide-and-conquer of `numpy.linalg.eigh`."""

    def fit(self, x: Any) -> LapackEigh:
        """Of a covariance."""
        import numpy as np

        values, vectors = np.linalg.eigh(x)
        self.mean_ = 0
        self.explained_variance_, self.components_ = values[::-1], vectors.T[::-1]
        return self


class Side:
    """One program's part of a case: the call, ready to be made again and again."""

    def __init__(self, case: Case, program: str, x: Any, y: Any) -> None:
        asked = case.ours if program == OURS else case.peer
        self.make = functools.partial(make, asked, program)
        self.model: Any = None
        if case.call == "fit(Moments)":
            moments = moments_of(x, program)
            self.call: Callable[[], Any] = lambda: self.make().fit(moments)
        elif case.call.startswith("fit"):
            self.call = lambda: getattr(self.make(), case.call)(x, y)
        else:
            self.model = self.make().fit(x[:FITTED], None if y is None else y[:FITTED])
            given = x if case.call == "transform" else self.model.transform(x)
            method = getattr(self.model, case.call)
            self.call = lambda: method(given)
        self.case, self.times = case, list[float]()
        self.repeats, self.peak = 1, 0
        self.found: Any = None

    def warm_up(self) -> None:
        """One call for the memory; small ones once more, to know how many make a turn."""
        from peer import MemoryPeak

        gc.collect()
        peak = MemoryPeak(mapped_file=False)
        start = time.perf_counter()
        self.found = self.call()
        seconds = time.perf_counter() - start
        self.peak = peak.stop()
        if seconds < TURN:
            start = time.perf_counter()
            self.call()
            seconds = max(time.perf_counter() - start, 1e-6)
            self.repeats = min(200, math.ceil(TURN / seconds))

    def turn(self) -> None:
        """One measurement."""
        time.sleep(REST)
        start = time.perf_counter()
        for _ in range(self.repeats):
            self.call()
        self.times.append((time.perf_counter() - start) / self.repeats)


def make(asked: Estimator, program: str) -> Any:
    """The estimator of one of the programs."""
    if asked.name == "eigh":
        return LapackEigh()
    where = "eigenlens" if program == OURS else f"sklearn.{MODULES[asked.name]}"
    return getattr(importlib.import_module(where), asked.name)(**asked.params)


def moments_of(x: Any, program: str) -> Any:
    """What is known of samples that are gone."""
    import eigenlens

    moments = eigenlens.Moments(x)
    return moments if program == OURS else moments.covariance


def compare(case: Case, x: Any, runs: int, patience: float) -> dict[str, Any]:
    """Both programs in turn; a case that takes long has fewer turns."""
    y = None
    if case.table.kind == "groups":
        import numpy as np

        y = np.arange(case.table.rows) % 5
    sides = {program: Side(case, program, x, y) for program in (OURS, THEIRS)}
    start = time.perf_counter()
    for side in sides.values():
        side.warm_up()
    for turn in range(runs):
        if turn > 0 and time.perf_counter() - start > patience:
            break
        for side in sides.values():
            side.turn()
    result: dict[str, Any] = {"call": case.call, "ours": str(case.ours), "theirs": str(case.peer)}
    result |= {"data": str(case.table), "class": case.ours.name}
    for program, side in sides.items():
        result[program] = {
            "seconds": median(side.times),
            "times": side.times,
            "peak_bytes": side.peak,
            "error": error(case, side, x),
        }
    result["ratio"] = result[THEIRS]["seconds"] / result[OURS]["seconds"]
    return result


def error(case: Case, side: Side, x: Any) -> float | None:
    """How far an answer is off, in float64 arithmetic that neither program does; None where nothing says it."""
    import everyday_errors

    return everyday_errors.error(case, side.model, side.make, side.found, x)


def run(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Every case that is asked for; tables that follow each other are drawn once."""
    from everyday_cases import CASES

    results, table, x = [], None, None
    for case in CASES:
        wanted = not arguments.case or any(part in str(case) for part in arguments.case)
        if not wanted or (case.large and not arguments.large):
            continue
        if arguments.quick:
            case = quick(case)
        if case.table != table:
            table, x = case.table, None
            x = case.table.draw()
        found = compare(case, x, arguments.runs, arguments.patience)
        results.append(found)
        print(f"{found['ratio']:6.2f}  {case}", file=sys.stderr, flush=True)
    return results


def quick(case: Case) -> Case:
    """The same on few samples."""
    from dataclasses import replace

    return replace(case, table=replace(case.table, rows=min(case.table.rows, 600)))


def rows_of_table(results: list[dict[str, Any]]) -> list[list[str]]:
    """What is shown of every case."""
    rows = [HEADINGS]
    for found in results:
        call = f"`{found['ours']}.{found['call']}`"
        if found["theirs"] != found["ours"]:
            call += f" beside `{found['theirs']}`"
        ours, theirs = found[OURS], found[THEIRS]
        rows.append(
            [
                call,
                found["data"],
                seconds(ours["seconds"]),
                seconds(theirs["seconds"]),
                f"{found['ratio']:.2f}",
                *(f"{side['peak_bytes'] / 2**20:.0f} MiB" for side in (ours, theirs)),
                *("" if s["error"] is None else f"{s['error']:.0e}" for s in (ours, theirs)),
            ]
        )
    return rows


def seconds(found: float) -> str:
    """A time in the unit that suits it."""
    return f"{1e3 * found:.2f} ms" if found < 0.1 else f"{found:.2f} s"


def geometric_mean(ratios: list[float]) -> float:
    """NaN of nothing."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def summary(results: list[dict[str, Any]], threads: int) -> str:
    """The run in two sentences."""
    ratios = [found["ratio"] for found in results]
    mean = geometric_mean([found["ratio"] for found in results if "SparsePCA" not in found["class"]])
    slower = sum(ratio < 1 for ratio in ratios)
    cores = "one core" if threads == 1 else f"{threads} cores"
    return (
        f"{len(ratios)} calls on {cores}; × is the time of scikit-learn through that of eigenlens. "
        f"The geometric mean without sparse PCA is {mean:.2f}; {slower} calls are slower here."
    )


def main() -> None:
    """Reads the options and runs."""
    parser = argparse.ArgumentParser(prog="cargo xtask bench everyday", description=__doc__)
    parser.add_argument("--program", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, required=True, help="where the tables go")
    parser.add_argument("--case", action="append", help="cases whose line has this in it")
    parser.add_argument("--runs", type=int, default=5, help="turns of each program")
    parser.add_argument("--patience", type=float, default=5, help="seconds for the turns of a case")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="few samples, for a smoke test")
    parser.add_argument("--large", action="store_true", help="and what takes minutes")
    parser.add_argument("--page", type=Path, help="write the table onto this page too")
    arguments = parser.parse_args()
    # Both programs take what they may have; BLAS reads it when it is loaded.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = str(arguments.threads)
    warnings.simplefilter("ignore")
    results = run(arguments)
    from embeddings import table

    name = "everyday" if arguments.threads == 2 else f"everyday-{arguments.threads}"
    text = f"{summary(results, arguments.threads)}\n\n{table(rows_of_table(results))}"
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / f"{name}.md").write_text(text)
    (arguments.output / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n")
    if arguments.page:
        page(arguments.page, name, text)
    print(text)


def page(path: Path, name: str, text: str) -> None:
    """The table between its marks on a page."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, _, rest = path.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"`{path}` has no `{begin.strip()}` … `{end.strip()}`")
    path.write_text(f"{before}{begin}{text}{end}{after}")


if __name__ == "__main__":
    main()
