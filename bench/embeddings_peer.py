"""One measured fit of scikit-learn for `embeddings.py`; prints one line of JSON."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from peer import MemoryPeak
from sklearn.manifold import ClassicalMDS, Isomap, LocallyLinearEmbedding, SpectralEmbedding


def main() -> None:
    """Fits the method named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=["mds", "isomap", "laplacian", "lle"])
    parser.add_argument("neighbors", type=int)
    parser.add_argument("components", type=int)
    parser.add_argument("directory", type=Path, help="where the data are")
    arguments = parser.parse_args()
    data = np.load(arguments.directory / "data.npy")
    near, k = arguments.neighbors, arguments.components
    model = {
        "mds": lambda: ClassicalMDS(k),
        "isomap": lambda: Isomap(n_neighbors=near, n_components=k, n_jobs=2),
        "laplacian": lambda: SpectralEmbedding(
            k, affinity="nearest_neighbors", n_neighbors=near + 1, random_state=0, n_jobs=2
        ),
        "lle": lambda: LocallyLinearEmbedding(
            n_neighbors=near, n_components=k, random_state=0, n_jobs=2
        ),
    }[arguments.method]()
    peak = MemoryPeak(mapped_file=False)
    start = time.perf_counter()
    coordinates = model.fit_transform(data)
    seconds = time.perf_counter() - start
    peak_bytes = peak.stop()
    np.save(arguments.directory / "coordinates-scikit-learn.npy", coordinates)
    print(json.dumps({"seconds": seconds, "peak_bytes": peak_bytes}))


if __name__ == "__main__":
    main()
