"""Tables in files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eigenlens import _core


@dataclass(frozen=True)
class Table:
    """Files as one table, with what is known about them.

    A path alone will do where everything can be found out. The format is found by content: text
    tables (compressed or not), Parquet, Arrow, NPY, NPZ, folders of images; Matrix Market and SciPy's
    sparse NPZ, which stay sparse.

    Parameters
    ----------
    path : path-like or list of path-like
        The file, or files with the same columns.
    columns : sequence of str
        Features by name, range (`"a..c"`) or pattern (`"gene_*"`), each taken out by a `!` before
        it; nothing: every column of numbers.
    array : str, optional
        Which array of an NPZ archive.
    delimiter, header, decimal, missing
        About text tables, where they are not found out.
    samples : "rows" or "columns", optional
        Where the samples of a Matrix Market file or a sparse NPZ are; nothing: the rows, unless files
        with customary names beside it say otherwise.
    row_names, column_names : path-like, optional
        Names of its rows and columns, one per line; nothing: found beside it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlens import PCA, Table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "points.csv")
    ...     _ = path.write_text("id;x;y\\n1;0,5;1\\n2;1,5;3\\n3;2,5;5\\n")
    ...     pca = PCA(1).fit(Table(path, columns=["!id"]))
    >>> pca.feature_names_in_
    array(['x', 'y'], dtype=object)
    >>> pca.components_.round(3)
    array([[0.447, 0.894]])
    """

    path: Any
    columns: Sequence[str] = ()
    array: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None
    missing: Sequence[str] = field(default=())
    samples: str | None = None
    row_names: Any = None
    column_names: Any = None

    def open(
        self,
        memory: int | None = None,
        names: list[str] | None = None,
        policy: str = "error",
    ) -> _core.Files:
        """The files, looked at but not read; with `names`, the features of a model.

        Unless the policy for missing values is `"error"`, cells that are no numbers in a column of
        numbers are taken for missing, with a warning.
        """
        several = isinstance(self.path, list | tuple)
        paths = [os.fspath(path) for path in (self.path if several else [self.path])]
        reading = {
            "columns": list(self.columns),
            "array": self.array,
            "delimiter": self.delimiter,
            "header": self.header,
            "decimal": self.decimal,
            "missing": list(self.missing),
            "samples": self.samples,
            "row_names": self.row_names,
            "column_names": self.column_names,
            "bad_cells_are_missing": policy != "error",
            "memory": memory,
        }
        return _core.Files(paths, reading, names)


def as_table(X: Any) -> Table | None:
    """The table that a path, a list of paths or a table means; `None` for anything else."""
    if isinstance(X, np.ndarray):
        return None  # at once: to ask whether it is a path takes longer
    if isinstance(X, Table):
        return X
    if isinstance(X, str | os.PathLike):
        return Table(X)
    if isinstance(X, list | tuple) and X and all(isinstance(x, str | os.PathLike) for x in X):
        return Table(list(X))
    return None
