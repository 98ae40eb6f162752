"""The examples of the written pages, run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("sklearn")
pytest.importorskip("polars")
pytest.importorskip("matplotlib").use("Agg")


PAGES = [
    "docs/drop-in.md",
    "docs/embeddings-are-kernel-pca.md",
    "docs/equations.md",
    "docs/from-scikit-learn.md",
    "docs/pca-as-a-network.md",
    "docs/python.md",
    "docs/when-kernel-pca-fails.md",
    "python/README.md",
    "README.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.S | re.M)
    assert blocks
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_the_table_of_equations_has_no_empty_cell():
    rows = [line for line in (ROOT / "docs/equations.md").read_text().splitlines() if line.startswith("| ")]
    table = [[cell.strip() for cell in row.replace(r"\|", "/").strip("|").split(" | ")] for row in rows]
    numbered = [row for row in table if row[0].isdigit()]
    assert [int(row[0]) for row in numbered] == list(range(1, len(numbered) + 1)) and len(numbered) > 30
    assert all(len(row) == 6 and all(row) for row in numbered)
    checked = re.findall(r"#\s*(\d+)", "".join(re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/equations.md").read_text(), re.S | re.M)))
    assert {int(number) for number in checked} == set(range(1, len(numbered) + 1))
