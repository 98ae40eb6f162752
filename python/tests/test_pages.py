"""The examples of the written pages, run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("sklearn")
pytest.importorskip("polars")
pytest.importorskip("matplotlib").use("Agg")


PAGES = ["docs/drop-in.md", "docs/from-scikit-learn.md", "docs/python.md", "python/README.md", "README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.S | re.M)
    assert blocks
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
