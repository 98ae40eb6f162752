"""The interactive page from Python: the numbers of the model, in notebooks and files."""

import base64
import json
import re

import numpy as np
import pytest

from eigenlens import PCA, KernelPCA, explore

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4)) @ np.diag([5, 2, 1, 0.5])


def block(html, name):
    return re.search(rf'<script type="[^"]*" id="{name}">([^<]*)</script>', html).group(1)


def data(html):
    return json.loads(block(html, "data"))


def numbers(html, ref):
    raw = base64.b64decode(block(html, ref["id"]))
    codes = np.frombuffer(raw, {"u8": "u1", "u16": "<u2", "f32": "<f4", "f64": "<f8"}[ref["form"]])
    return codes * ref["step"] + ref["first"] if ref["form"][0] == "u" else codes


def test_the_page_holds_the_scores():
    pca = PCA(2).fit(X)
    html = pca.explore(X, labels={"group": ["a", "b"] * 15, "age": np.arange(30) / 7}).html
    page = data(html)
    scores = np.column_stack([numbers(html, ref) for ref in page["samples"]["scores"]])
    np.testing.assert_allclose(scores, pca.transform(X), rtol=1e-6, atol=1e-6)
    assert [column["name"] for column in page["samples"]["columns"]] == ["group", "age"]
    assert page["samples"]["columns"][0]["groups"] == ["a", "b"]


def test_labels_of_every_kind():
    pca = PCA(2).fit(X)
    for labels in (["a", "b"] * 15, np.array(["a", "b"] * 15)):
        assert data(explore(pca, X, labels=labels).html)["samples"]["columns"][0]["name"] == "label"
    with pytest.raises(ValueError, match="one column"):
        explore(pca, X, labels=np.zeros((30, 2)))
    with pytest.raises(ValueError, match="no `X`"):
        explore(pca, labels=["a"])
    with pytest.raises(ValueError, match="labels"):
        explore(pca, X, labels=["a"])


def test_notebooks_show_it_apart_and_files_hold_it(tmp_path):
    page = explore(KernelPCA(2).fit(X), X, names=[f"<b>{i}</b>" for i in range(30)])
    shown = page._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in shown
    assert "<script" not in shown
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert explore(KernelPCA(2).fit(X), X, names=[f"<b>{i}</b>" for i in range(30)]).html == page.html
