"""Compares whole jobs on files, side by side: `cargo xtask bench files`.

A job is one process: read a table, fit, write the scores. Ours is timed from start to end; theirs
without the start of the interpreter and the imports, which would favour us. The programs take turns
after one round to warm up; all have two threads and find the files in the page cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np
import polars

COMPONENTS = 5
PEERS = {"csv": ["polars", "pandas"], "parquet": ["polars"]}
SHAPES = {"csv": (1_000_000, 20), "parquet": (200_000, 100)}
QUICK_SHAPES = {"csv": (20_000, 20), "parquet": (5_000, 100)}


@dataclass(frozen=True)
class Run:
    """One job: its time, and the most memory of its own it held."""

    seconds: float
    peak_bytes: int


def generate(directory: Path, kind: str, shape: tuple[int, int]) -> Path:
    """The table of a case, made from a seed unless it is there."""
    rows, columns = shape
    path = directory / f"table-{rows}x{columns}.{kind}"
    if path.exists():
        return path
    directory.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(rows)
    factors = rng.standard_normal((rows, 8)) * (0.7 ** np.arange(8))
    table = factors @ rng.standard_normal((8, columns)) + 0.1 * rng.standard_normal((rows, columns))
    frame = polars.DataFrame(table, schema=[f"x{j + 1}" for j in range(columns)])
    part = path.with_suffix(".part")
    if kind == "csv":
        frame.write_csv(part)
    else:
        frame.write_parquet(part, compression="snappy")
    part.rename(path)
    return path


def command(program: str, ours: dict[str, Path], table: Path, scores: Path) -> list[str]:
    """What a user would run; `ours` are the builds of ours by name."""
    if program in ours:
        model = scores.with_suffix(".safetensors")
        options = ["--components", str(COMPONENTS), "--threads", "2", "--quiet"]
        files = ["--scores", str(scores), "--output", str(model)]
        return [str(ours[program]), "fit", "pca", str(table), *options, *files]
    job = Path(__file__).with_name("files_peer.py")
    return [sys.executable, str(job), program, str(table), str(scores), str(COMPONENTS)]


def run(arguments: list[str]) -> Run:
    """One job in a process of its own."""
    threads = {f"{name}_NUM_THREADS": "2" for name in ("OMP", "OPENBLAS")}
    environment = {**os.environ, **threads, "POLARS_MAX_THREADS": "2"}
    start = time.perf_counter()
    with subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True) as process:
        watch = Watch(process.pid)
        watch.start()
        printed, _ = process.communicate()
        seconds = time.perf_counter() - start
        watch.join()
    if process.returncode != 0:
        raise SystemExit(f"error: `{' '.join(arguments)}` ended with {process.returncode}")
    return Run(float(printed) if arguments[0] == sys.executable else seconds, watch.peak)


class Watch(threading.Thread):
    """Looks at a process's anonymous memory: mapped files are the page cache's, not its own."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self.status = Path(f"/proc/{pid}/status")
        self.peak = 0

    def run(self) -> None:
        """Looks until the process is gone."""
        while True:
            try:
                lines = self.status.read_text().splitlines()
            except OSError:
                return
            held = [line.split()[1] for line in lines if line.startswith("RssAnon")]
            if not held:
                return
            self.peak = max(self.peak, 1024 * int(held[0]))
            time.sleep(0.005)


def agreement(ours: Path, theirs: Path) -> float:
    """The largest difference of the scores' columns, up to sign, relative to the largest score."""
    a, b = (polars.read_csv(path).to_numpy()[:, -COMPONENTS:] for path in (ours, theirs))
    signs = np.sign((a * b).sum(axis=0))
    return float(np.abs(a * signs - b).max() / np.abs(b).max())


def main() -> None:
    """Runs all cases and prints the table."""
    parser = argparse.ArgumentParser(prog="cargo xtask bench files")
    parser.add_argument("--program", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--before", type=Path, help="an earlier `eigenlens` to take turns with")
    parser.add_argument("--ours", action="store_true", help="without the peers")
    parser.add_argument("--quick", action="store_true", help="small tables: a smoke test")
    args = parser.parse_args()
    ours = {"eigenlens": args.program} | ({"before": args.before} if args.before else {})
    shapes = QUICK_SHAPES if args.quick else SHAPES
    lines = [
        "| table | program | seconds (min–max) | × ours | peak memory | scores differ by |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    kept = []
    for kind, peers in PEERS.items():
        directory = args.output / "files"
        table = generate(directory, kind, shapes[kind])
        programs = [*ours, *([] if args.ours else peers)]
        scores = {program: directory / f"scores-{kind}-{program}.csv" for program in programs}
        runs: dict[str, list[Run]] = {program: [] for program in programs}
        for turn in range(args.runs + 1):
            for program in programs:
                done = run(command(program, ours, table, scores[program]))
                if turn > 0:
                    runs[program].append(done)
                print(f"{kind}: {program} {done.seconds:.3f} s", file=sys.stderr)
        base = median(r.seconds for r in runs["eigenlens"])
        for program in programs:
            seconds = [r.seconds for r in runs[program]]
            middle, peak = median(seconds), max(r.peak_bytes for r in runs[program])
            differ = agreement(scores["eigenlens"], scores[program])
            rows, columns = shapes[kind]
            lines.append(
                f"| {rows} × {columns} {kind} | {program} | {middle:.3f}"
                f" ({min(seconds):.3f}–{max(seconds):.3f}) | {middle / base:.2f}"
                f" | {peak / 2**20:.0f} MiB | {differ:.1e} |"
            )
            runs_of = [asdict(r) for r in runs[program]]
            kept.append({"table": kind, "program": program, "runs": runs_of})
    text = "\n".join(lines) + "\n"
    print(text)
    (args.output / "files.md").write_text(text)
    (args.output / "files.json").write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
