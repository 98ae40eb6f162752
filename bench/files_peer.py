"""One job of a peer: read a table, PCA, write the scores as CSV. Prints the seconds it took."""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas
import polars
from sklearn.decomposition import PCA


def with_polars(table: str, scores: str, components: int) -> None:
    """polars for the files, scikit-learn for the rest."""
    read = polars.read_parquet if table.endswith(".parquet") else polars.read_csv
    x = read(table).to_numpy()
    z = PCA(n_components=components).fit_transform(x)
    names = [f"pca{j}" for j in range(components)]
    polars.DataFrame(np.ascontiguousarray(z), schema=names).write_csv(scores)


def with_pandas(table: str, scores: str, components: int) -> None:
    """pandas for the files, scikit-learn for the rest."""
    x = pandas.read_csv(table).to_numpy()
    z = PCA(n_components=components).fit_transform(x)
    names = [f"pca{j}" for j in range(components)]
    pandas.DataFrame(z, columns=names).to_csv(scores, index=False)


if __name__ == "__main__":
    program, table, scores, components = sys.argv[1:]
    jobs = {"polars": with_polars, "pandas": with_pandas}
    start = time.perf_counter()
    jobs[program](table, scores, int(components))
    print(time.perf_counter() - start)
