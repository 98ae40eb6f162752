"""Compares eigenlens with its peers, side by side: `cargo xtask bench peers`.

Every run is a fresh process. The programs take turns (ours, theirs, ours, theirs, …), so that a
change in the machine's load meets all of them; each is run once to warm up before it is measured.
All have two threads.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from reference import Accuracy, Answer, accuracy, reference

OURS = "eigenlens"
# The same through Python, so that both sides pay for the interpreter.
OURS_IN_PYTHON = "eigenlens-python"
# An earlier build of ours, if one is named.
BEFORE = "before"
OURS_ALL = [OURS, BEFORE, OURS_IN_PYTHON]
THREADS = "2"
PEERS_OF_CASE = {
    "tall-f64": ["sklearn"],
    "tall-f32": ["sklearn"],
    "square-f64": ["sklearn", "sklearn-arpack"],
    "wide-f64": ["sklearn-randomized", "numpy-dual"],
    "mnist-f64": ["sklearn"],
    "mnist-f32": ["sklearn"],
    "sparse-f64": ["sklearn-arpack"],
    "streamed-f64": ["sklearn-incremental"],
    "flat-f64": ["sklearn", "sklearn-arpack"],
    "flat-f32": ["sklearn", "sklearn-arpack"],
    "offset-f32": ["sklearn"],
}
HEADINGS = [
    "case",
    "program",
    "seconds (min–max)",
    "× ours",
    "memory beyond data",
    "eigenvalue error",
    "component angle",
    "subspace angle",
    "certificate",
]


@dataclass(frozen=True)
class Result:
    """All that one program showed on one case."""

    case: str
    program: str
    seconds: list[float]
    peak_bytes: int
    accuracy: Accuracy
    certificate: float | None
    plan: str | None

    @property
    def median(self) -> float:
        """The median time."""
        return median(self.seconds)


@dataclass(frozen=True)
class Bench:
    """Where things are."""

    program: Path  # eigenlens-bench
    output: Path
    quick: bool
    before: Path | None = None  # an earlier eigenlens-bench

    def cases(self) -> list[dict[str, Any]]:
        """Every case, as the program that makes the data knows it."""
        lines = self._ours("cases").splitlines()
        return [json.loads(line) for line in lines]

    def directory(self, case: dict[str, Any]) -> Path:
        """Where the data of a case are."""
        return self.output / "data" / ("quick" if self.quick else "full") / case["data"]

    def generate(self, case: dict[str, Any]) -> None:
        """Makes the data of a case, unless they are there."""
        self._ours("generate", case["data"], str(self.directory(case)))

    def run(self, case: dict[str, Any], program: str) -> dict[str, Any]:
        """One run in a process of its own."""
        directory = self.directory(case)
        if program in (OURS, BEFORE):
            built = self.before if program == BEFORE else self.program
            found = json.loads(self._ours("run", case["name"], str(directory), program=built))
            # Every build writes to the same place, from which each must go to its own.
            written = self.directory(case) / f"components-{OURS}.npy"
            written.replace(self.components_path(case, program))
            return found
        peer = Path(__file__).with_name("peer.py")
        components = self.components_path(case, program)
        arguments = [sys.executable, peer, program, directory, components, json.dumps(case)]
        return json.loads(call(arguments))

    def components_path(self, case: dict[str, Any], program: str) -> Path:
        """Where a program leaves the components it found."""
        name = "now" if program == OURS else program
        return self.directory(case) / f"components-{name}.npy"

    def _ours(self, *arguments: str, program: Path | None = None) -> str:
        quick = ["--quick"] if self.quick else []
        return call([program or self.program, *arguments, *quick])


def call(arguments: list[Any]) -> str:
    """Runs a program with two threads and returns what it prints."""
    limits = {"OMP_NUM_THREADS": THREADS, "OPENBLAS_NUM_THREADS": THREADS}
    done = subprocess.run(
        [str(argument) for argument in arguments],
        env={**os.environ, **limits},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def compare(
    bench: Bench, case: dict[str, Any], programs: list[str], runs: int, slow: float
) -> list[Result]:
    """Runs the programs in turn on one case."""
    tell(f"{case['name']}: data")
    bench.generate(case)
    tell(f"{case['name']}: reference")
    exact = reference(bench.directory(case), case["spec"], case["k"])

    measured: dict[str, list[dict[str, Any]]] = {program: [] for program in programs}
    for turn in range(runs + 1):
        for program in programs:
            kept = measured[program]
            # A program this slow is measured once.
            if turn > 1 and kept[0]["seconds"] > slow:
                continue
            if turn == 1:
                kept.clear()
            kept.append(bench.run(case, program))
            warm_up = " (warm-up)" if turn == 0 else ""
            tell(f"{case['name']}: {program} {kept[-1]['seconds']:.3f} s{warm_up}")

    results = []
    for program in programs:
        kept = measured[program]
        components = np.load(bench.components_path(case, program))
        found = Answer(np.array(kept[-1]["explained_variance"]), components)
        results.append(
            Result(
                case=case["name"],
                program=program,
                seconds=[run["seconds"] for run in kept],
                peak_bytes=max(run["peak_bytes"] for run in kept),
                accuracy=accuracy(found, exact),
                certificate=kept[-1].get("relative_residual"),
                plan=kept[-1].get("plan"),
            )
        )
    return results


def row(result: Result, ours: Result | None) -> list[str]:
    """A result as a row of the table."""
    times = result.seconds
    spread = f" ({min(times):.3f}–{max(times):.3f})" if len(times) > 1 else " (one run)"
    return [
        result.case,
        result.program,
        f"{result.median:.3f}{spread}",
        f"{result.median / ours.median:.2f}" if ours else "",
        f"{result.peak_bytes / 2**20:.1f} MiB",
        f"{result.accuracy.eigenvalue_error:.1e}",
        f"{result.accuracy.component_angle:.1e}",
        f"{result.accuracy.subspace_angle:.1e}",
        "" if result.certificate is None else f"{result.certificate:.1e}",
    ]


def table(results: list[Result]) -> str:
    """The results as a markdown table, aligned so that it reads well in a terminal too."""
    ours = {result.case: result for result in results if result.program == OURS}
    rows = [HEADINGS, *(row(result, ours.get(result.case)) for result in results)]
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(HEADINGS))]

    def line(cells: list[str]) -> str:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        return f"| {' | '.join(padded)} |"

    rule = line(["-" * width for width in widths])
    return "\n".join([line(HEADINGS), rule, *(line(cells) for cells in rows[1:])]) + "\n"


def limits_table(bench: Bench, results: list[Result]) -> str:
    """How near to the machine's limits our times are, for dense data on routes with a known limit.

    The work of the covariance and dual routes at the rate of NumPy's products: half of a Gram
    matrix in the elements' type, in f64 the scores and the certificate (the way back from every
    score, or there and back for eight probes). Two reads of the data may go on meanwhile. Only
    whole numbers that are multiplied as bytes, as in images, can take less.
    """
    rates = json.loads(call([sys.executable, Path(__file__).with_name("limits.py")]))
    cases = {case["name"]: case for case in bench.cases()}
    headings = ["case", "ours", "Gram matrix", "scores, certificate", "two reads", "limit ÷ ours"]
    lines = [
        f"products {rates['float64'] / 1e9:.0f} GFLOP/s in f64 and {rates['float32'] / 1e9:.0f} in "
        f"f32 (NumPy), reading {rates['read'] / 1e9:.1f} GB/s\n",
        f"| {' | '.join(headings)} |",
        "| --- " * len(headings) + "|",
    ]
    for result in results:
        spec, k = cases[result.case]["spec"], cases[result.case]["k"]
        known = (result.plan or "").startswith(("covariance", "dual"))
        if result.program != OURS or spec["storage"] != "dense" or not known:
            continue
        n, d, scalar = spec["rows"], spec["columns"], spec["scalar"]
        gram = n * d * min(n, d) / rates[scalar]
        rest = 2 * n * d * (k + min(k + 1, 16)) / rates["float64"]
        reads = 2 * n * d * np.dtype(scalar).itemsize / rates["read"]
        share = max(gram + rest, reads) / result.median
        lines.append(
            f"| {result.case} | {result.median:.3f} | {gram:.3f} | {rest:.3f} | {reads:.3f} "
            f"| {share:.0%} |"
        )
    return "\n".join(lines) + "\n"


def as_json(result: Result) -> dict[str, Any]:
    """A result for the JSON file."""
    return {**asdict(result), "median_seconds": result.median}


def tell(message: str) -> None:
    """Progress, apart from the table."""
    print(message, file=sys.stderr, flush=True)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="cargo xtask bench peers", description=__doc__)
    parser.add_argument("--program", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument(
        "--case", action="append", choices=PEERS_OF_CASE, help="only this case (repeatable)"
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=list(dict.fromkeys([*OURS_ALL, *chain(*PEERS_OF_CASE.values())])),
        help="only this program (repeatable)",
    )
    parser.add_argument(
        "--before", type=Path, help="an earlier `eigenlens-bench`, which takes turns with this one"
    )
    parser.add_argument("--runs", type=int, default=5, help="measured runs of each program")
    parser.add_argument(
        "--slow", type=float, default=30.0, help="measure a program once if it takes longer"
    )
    parser.add_argument("--quick", action="store_true", help="small data: a smoke test")
    parsed = parser.parse_args(arguments)
    if parsed.runs < 1:
        parser.error(f"`--runs` is {parsed.runs}, but it must be at least 1")
    return parsed


def main() -> None:
    """Runs the comparison."""
    arguments = parse()
    bench = Bench(arguments.program, arguments.output, arguments.quick, arguments.before)
    arguments.output.mkdir(parents=True, exist_ok=True)
    name = "peers-quick" if arguments.quick else "peers"

    results: list[Result] = []
    for case in bench.cases():
        if arguments.case and case["name"] not in arguments.case:
            continue
        programs = [
            program
            for program in [*OURS_ALL, *PEERS_OF_CASE[case["name"]]]
            if not arguments.only or program in arguments.only
            if program != BEFORE or arguments.before
        ]
        if not programs:
            continue
        results += compare(bench, case, programs, arguments.runs, arguments.slow)
        # After every case, so that an interrupted run leaves what it has found.
        (arguments.output / f"{name}.md").write_text(table(results))
        (arguments.output / f"{name}.json").write_text(
            json.dumps([as_json(result) for result in results], indent=2) + "\n"
        )
    found = table(results)
    if any(result.program == OURS for result in results):
        found += "\n" + limits_table(bench, results)
    (arguments.output / f"{name}.md").write_text(found)
    print(found, end="")


if __name__ == "__main__":
    main()
