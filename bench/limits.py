"""What the machine allows: the rate of NumPy's matrix products and of reading memory.

Run by `peers.py` in a process of its own, with the threads the programs have; prints one line of
JSON. A product is timed at a size where it is at its best, and memory far beyond every cache.
"""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import numpy as np

RUNS = 5
SIDE = 3000
READ = 100_000_000  # numbers of 8 bytes


def products(dtype: type) -> float:
    """Operations a second of a square matrix product."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((SIDE, SIDE)).astype(dtype) for _ in range(2))
    out = a @ b
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        np.matmul(a, b, out=out)
        times.append(time.perf_counter() - start)
    return 2 * SIDE**3 / median(times)


def reading(threads: int) -> float:
    """Bytes a second of sums over memory, a part of it in every thread."""
    parts = np.array_split(np.ones(READ), threads)
    times = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(RUNS + 1):
            start = time.perf_counter()
            list(pool.map(np.sum, parts))
            times.append(time.perf_counter() - start)
    return 8 * READ / median(times[1:])


if __name__ == "__main__":
    found = {
        "float64": products(np.float64),
        "float32": products(np.float32),
        "read": reading(int(os.environ["OMP_NUM_THREADS"])),
    }
    print(json.dumps(found))
