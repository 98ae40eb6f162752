"""Compares kernel PCA with scikit-learn, side by side: `cargo xtask bench kernels`.

Gaussian kernel, 50 features, 10 components: fit, and transform of 10,000 new points. Every run is a
fresh process with two threads; the programs take turns after one round to warm up. `--large` runs
ours alone on sizes whose kernel matrix fits no memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

COLUMNS = 50
COMPONENTS = 10
THREADS = "2"
CASES = [(5_000, "f64"), (10_000, "f64"), (10_000, "f32")]
QUICK_CASES = [(600, "f64"), (600, "f32")]
PEERS = ["sklearn-arpack", "sklearn-randomized"]


def generate(directory: Path, rows: int, new: int, scalar: str) -> float:
    """Rows around a few curved factors, made from a seed unless they are there; γ by the median."""
    stamp = directory / "gamma.json"
    if stamp.exists():
        return json.loads(stamp.read_text())
    directory.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(rows)
    mix = rng.standard_normal((12, COLUMNS)) * (0.8 ** np.arange(12))[:, None]
    gamma = 0.0
    for name, count in [("train", rows), ("new", new)]:
        if count == 0:
            continue
        factors = rng.standard_normal((count, 6))
        curved = np.hstack([factors, factors**2 - 1])
        table = curved @ mix + 0.1 * rng.standard_normal((count, COLUMNS))
        np.save(directory / f"{name}.npy", table.astype("f4" if scalar == "f32" else "f8"))
        if name == "train":
            some = table[:1000]
            squares = ((some[:, None, :] - some[None, :, :]) ** 2).sum(axis=2)
            gamma = 0.5 / float(np.median(squares[np.triu_indices(len(some), 1)]))
    stamp.write_text(json.dumps(gamma))
    return gamma


def call(arguments: list[Any]) -> dict[str, Any]:
    """Runs a program with two threads and returns what it prints."""
    limits = {"OMP_NUM_THREADS": THREADS, "OPENBLAS_NUM_THREADS": THREADS}
    done = subprocess.run(
        [str(argument) for argument in arguments],
        env={**os.environ, **limits},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def peer(program: str, directory: Path, gamma: float) -> None:
    """One measured run of scikit-learn, in this process; prints one line of JSON."""
    import resource
    import time

    from sklearn.decomposition import KernelPCA

    train, new = np.load(directory / "train.npy"), np.load(directory / "new.npy")
    model = KernelPCA(
        COMPONENTS,
        kernel="rbf",
        gamma=gamma,
        eigen_solver=program.removeprefix("sklearn-"),
        random_state=0,
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model.fit(train)
    fitted = time.perf_counter()
    scores = model.transform(new)
    done = time.perf_counter()
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    values = [float(v) for v in model.eigenvalues_]
    found = {
        "fit": fitted - start,
        "transform": done - fitted,
        "peak_bytes": peak,
        "eigenvalues": values,
        "scores": float((scores.astype("f8") ** 2).sum()),
    }
    print(json.dumps(found))


def compare(options: argparse.Namespace) -> None:
    """Every case, the programs in turn."""
    lines = ["| case | program | fit | transform | together | × ours | memory | eigenvalues off |"]
    lines.append("| --- " * 8 + "|")
    for rows, scalar in QUICK_CASES if options.quick else CASES:
        new = 600 if options.quick else 10_000
        directory = options.output / "kernels" / f"{rows}-{scalar}"
        gamma = generate(directory, rows, new, scalar)
        commands = {
            "eigenlens": [options.program, "kernel", directory, scalar, rows, new, COLUMNS]
            + [COMPONENTS, gamma]
        }
        if options.before:
            commands["before"] = [options.before, *commands["eigenlens"][1:]]
        for name in [] if options.ours else PEERS:
            commands[name] = [sys.executable, __file__, "--peer", name, directory, gamma]
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in commands}
        for turn in range(options.runs + 1):
            for name, command in commands.items():
                found = call(command)
                if turn > 0:
                    runs[name].append(found)
                together = found["fit"] + found["transform"]
                print(f"{rows} {scalar} {name} {together:.3f} s", file=sys.stderr, flush=True)
        exact = np.array(runs["eigenlens" if options.ours else PEERS[0]][-1]["eigenvalues"])
        ours = median(r["fit"] + r["transform"] for r in runs["eigenlens"])
        for name, found in runs.items():
            fit, transform = (median(r[part] for r in found) for part in ("fit", "transform"))
            values = np.array(found[-1]["eigenvalues"])
            off = float(np.abs(values - exact).max() / exact[0])
            memory = max(r["peak_bytes"] for r in found) / 2**20
            lines.append(
                f"| {rows} {scalar} | {name} | {fit:.3f} | {transform:.3f} | {fit + transform:.3f} "
                f"| {(fit + transform) / ours:.1f} | {memory:.0f} MiB | {off:.1e} |"
            )
    report(options, "kernels.md", lines)


def large(options: argparse.Namespace) -> None:
    """Ours alone: exact beyond memory, and landmarks beyond patience."""
    lines = ["| rows | how | budget | seconds | memory | residual | accuracy |"]
    lines.append("| --- " * 7 + "|")
    sizes = [(3_000, 100_000)] if options.quick else [(50_000, 1_000_000)]
    for exact, landmarks in sizes:
        tasks = [(exact, "f64", 2 << 30, []), (landmarks, "f32", 1 << 30, [options.landmarks])]
        for rows, scalar, budget, more in tasks:
            directory = options.output / "kernels" / f"{rows}-{scalar}"
            gamma = generate(directory, rows, 0, scalar)
            sizes_of = [rows, 0, COLUMNS, COMPONENTS, gamma, budget, *more]
            found = call([options.program, "kernel", directory, scalar, *sizes_of])
            lines.append(
                f"| {rows} {scalar} | {found['plan'].split(' route')[0]} | {budget >> 30} GiB "
                f"| {found['fit']:.1f} | {found['peak_bytes'] / 2**20:.0f} MiB "
                f"| {found['relative_residual']:.1e} | {found['accuracy']} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
    report(options, "kernels-large.md", lines)


def report(options: argparse.Namespace, name: str, lines: list[str]) -> None:
    """Prints a table and keeps it."""
    text = "\n".join(lines) + "\n"
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / name).write_text(text)
    print(text)


def main() -> None:
    """Reads the options and runs."""
    if sys.argv[1:2] == ["--peer"]:
        peer(sys.argv[2], Path(sys.argv[3]), float(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--before", type=Path, help="an earlier `eigenlens-bench`, which takes turns with this one"
    )
    parser.add_argument("--ours", action="store_true", help="without the peers")
    parser.add_argument("--landmarks", type=int, default=512)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    (large if options.large else compare)(options)


if __name__ == "__main__":
    main()
