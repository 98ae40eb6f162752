"""One measured run of one peer, in a process of its own; prints one line of JSON.

What is measured is what `eigenlens-bench run` measures: fit and scores, with the data in memory
(streamed: in a mapped file) before the clock starts.
"""

from __future__ import annotations

import argparse
import importlib
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from reference import load_csr
from sklearn.decomposition import PCA, IncrementalPCA

BATCH = 10_000

Data: TypeAlias = NDArray[Any] | scipy.sparse.csr_matrix
# Explained variances, components, scores.
Found: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
Peer: TypeAlias = Callable[[Data, int], Found]


def sklearn_pca(solver: str) -> Peer:
    """`PCA` of scikit-learn with this solver."""

    def run(data: Data, k: int) -> Found:
        model = PCA(k, svd_solver=solver, random_state=0)
        scores = model.fit_transform(data)
        return model.explained_variance_, model.components_, scores

    return run


def incremental(data: NDArray[Any], k: int) -> Found:
    """`IncrementalPCA` of scikit-learn, batch by batch from a mapped file."""
    starts = range(0, data.shape[0], BATCH)
    model = IncrementalPCA(k, batch_size=BATCH)
    for start in starts:
        model.partial_fit(data[start : start + BATCH])
    scores = np.empty((data.shape[0], k), dtype=data.dtype)
    for start in starts:
        scores[start : start + BATCH] = model.transform(data[start : start + BATCH])
    return model.explained_variance_, model.components_, scores


def numpy_dual(data: NDArray[Any], k: int) -> Found:
    """What a careful user writes by hand for wide data: centre, Gram matrix, eigenvectors."""
    n = data.shape[0]
    centered = data - data.mean(axis=0)
    values, vectors = scipy.linalg.eigh(centered @ centered.T, subset_by_index=(n - k, n - 1))
    lengths = np.sqrt(values[::-1])
    left = vectors[:, ::-1]
    return lengths**2 / (n - 1), (left / lengths).T @ centered, left * lengths


def eigenlens() -> Any:
    """The package, which only some comparisons have installed."""
    return importlib.import_module("eigenlens")


def eigenlens_pca(data: Data, k: int) -> Found:
    """`PCA` of eigenlens, as scikit-learn's users call it."""
    model = eigenlens().PCA(k, n_jobs=2)
    scores = model.fit_transform(data)
    return model.explained_variance_, model.components_, scores


PEERS: dict[str, Peer] = {
    "eigenlens-python": eigenlens_pca,
    "sklearn": sklearn_pca("auto"),
    "sklearn-arpack": sklearn_pca("arpack"),
    "sklearn-randomized": sklearn_pca("randomized"),
    "sklearn-incremental": incremental,
    "numpy-dual": numpy_dual,
}


class MemoryPeak:
    """Peak growth of this process's memory, from construction to `stop`, in bytes.

    The kernel's own high-water mark, reset at the start. It counts pages of mapped files too, which
    can be dropped at any time; so for a mapped file the anonymous memory is sampled instead.
    """

    def __init__(self, mapped_file: bool) -> None:
        self._sampler: threading.Thread | None = None
        if mapped_file:
            self._start = self._peak = status_bytes("RssAnon")
            self._stopped = threading.Event()
            self._sampler = threading.Thread(target=self._sample)
            self._sampler.start()
            return
        try:
            Path("/proc/self/clear_refs").write_text("5")
            self._start = status_bytes("VmRSS")
        except OSError:
            self._start = status_bytes("VmHWM")

    def _sample(self) -> None:
        while not self._stopped.wait(0.005):
            self._peak = max(self._peak, status_bytes("RssAnon"))

    def stop(self) -> int:
        """The growth so far."""
        if self._sampler is None:
            return max(status_bytes("VmHWM") - self._start, 0)
        self._stopped.set()
        self._sampler.join()
        return max(self._peak, status_bytes("RssAnon")) - self._start


def status_bytes(field: str) -> int:
    """A size from `/proc/self/status`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def main() -> None:
    """Runs the peer named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("directory", type=Path, help="where the data are")
    parser.add_argument("output", type=Path, help="where the components go (.npy)")
    parser.add_argument(
        "case", type=json.loads, help="the case, as `eigenlens-bench cases` says it"
    )
    arguments = parser.parse_args()
    case, directory = arguments.case, arguments.directory

    if case["spec"]["storage"] == "csr":
        data = load_csr(directory, case["spec"])
    else:
        data = np.load(directory / "data.npy", mmap_mode="r" if case["streamed"] else None)

    if arguments.peer == "eigenlens-python":
        eigenlens()  # loaded before the clock starts, as the others are
    peak = MemoryPeak(mapped_file=case["streamed"])
    start = time.perf_counter()
    variances, components, scores = PEERS[arguments.peer](data, case["k"])
    seconds = time.perf_counter() - start
    peak_bytes = peak.stop()
    if scores.shape != (case["spec"]["rows"], case["k"]):
        raise ValueError(f"the scores have the shape {scores.shape}")

    np.save(arguments.output, components)
    result = {
        "seconds": seconds,
        "peak_bytes": peak_bytes,
        "explained_variance": [float(variance) for variance in variances],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
