"""How far answers of `bench everyday` are off, by plain float64 arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import embeddings
import numpy as np
import scipy.sparse
import scipy.spatial
from everyday_cases import Case
from sklearn.metrics.pairwise import pairwise_kernels

# As many rows of an output and as many components are looked at.
ROWS, COMPONENTS = 5_000, 40

GRAPHS = {"Isomap": "isomap", "LocallyLinearEmbedding": "lle", "SpectralEmbedding": "laplacian"}


def error(case: Case, model: Any, make: Callable[[], Any], found: Any, x: Any) -> float | None:
    """Relative: the residual of pairs in their own eigenproblem, or the error of an output."""
    name = case.ours.name
    if case.call == "transform":
        return transformed(name, model, found, x)
    if case.call == "inverse_transform":
        exact = model.transform(x[:ROWS]).astype("f8") @ model.components_.astype("f8") + model.mean_
        return relative(found[:ROWS], exact)
    if case.call == "fit_transform":
        if name in ("Nystroem", "RBFSampler"):
            return features_error(make().fit(x), x)
        model = make()
        scores = model.fit_transform(x)
    else:
        model, scores = found, None
    if name in GRAPHS:
        y = model.embedding_
        if case.table.kind != "roll":
            return None
        graph = embeddings.Case("", GRAPHS[name], len(x), case.ours.params["n_neighbors"])
        return embeddings.residual(graph, x, y.astype("f8"), "scikit-learn")
    if name == "KernelPCA":
        return kernel_residual(case, model, x)
    if name == "ClassicalMDS":
        squared = scipy.spatial.distance.cdist(x, x, "sqeuclidean")
        y = scores.astype("f8")
        return embeddings.kernel_residual(squared, y / np.linalg.norm(y, axis=0))
    if name in ("PCA", "TruncatedSVD", "ProbabilisticPCA", "IncrementalPCA"):
        centered = name != "TruncatedSVD"
        return residual(model.components_, x, centered)
    return None


def relative(found: Any, exact: Any) -> float:
    """The largest difference beside the largest entry."""
    return float(np.abs(found - exact).max() / np.abs(exact).max())


def residual(components: Any, x: Any, centered: bool) -> float:
    """The largest ‖S v − (vᵀ S v) v‖ of a component, beside the largest vᵀ S v."""
    chosen = np.unique(np.linspace(0, len(components) - 1, COMPONENTS).astype(int))
    v = components[chosen].astype("f8").T
    mean = np.asarray(x.mean(axis=0, dtype="f8")).ravel() if centered else np.zeros(x.shape[1])
    product = np.zeros_like(v)
    for first in range(0, x.shape[0], 10_000):
        part = x[first : first + 10_000]
        if scipy.sparse.issparse(part):
            scores = part @ v - mean @ v
            product += part.T @ scores - np.outer(mean, scores.sum(axis=0))
        else:
            part = part.astype("f8") - mean
            product += part.T @ (part @ v)
    values = np.sum(product * v, axis=0)
    rest = np.linalg.norm(product - v * values, axis=0)
    return float(rest.max() / values.max())


def transformed(name: str, model: Any, found: Any, x: Any) -> float | None:
    """New samples' coordinates."""
    if name in ("PCA", "IncrementalPCA", "TruncatedSVD"):
        part = x[:ROWS]
        part = part.toarray() if scipy.sparse.issparse(part) else part.astype("f8")
        exact = (part - getattr(model, "mean_", 0)) @ model.components_.astype("f8").T
        return relative(found[:ROWS], exact)
    if name in ("Nystroem", "RBFSampler"):
        return features_error(model, x)
    return None


def features_error(model: Any, x: Any) -> float:
    """Inner products of features beside the kernel they stand for."""
    part = x[:500]
    features = model.transform(part).astype("f8")
    gamma = 1 / x.shape[1] if getattr(model, "gamma", None) is None else model.gamma
    exact = pairwise_kernels(part.astype("f8"), metric="rbf", gamma=gamma)
    return float(np.linalg.norm(features @ features.T - exact) / np.linalg.norm(exact))


def kernel_residual(case: Case, model: Any, x: Any) -> float:
    """Of the centred kernel."""
    kernel = case.ours.params["kernel"]
    given = {"gamma": 1 / x.shape[1]} | ({"degree": 3, "coef0": 1} if kernel == "poly" else {})
    gram = pairwise_kernels(x.astype("f8"), metric=kernel, **given)
    v = model.eigenvectors_[:, :COMPONENTS].astype("f8")
    v = v - v.mean(axis=0)
    product = gram @ v
    product -= product.mean(axis=0)
    values = np.sum(product * v, axis=0)
    return float(np.linalg.norm(product - v * values, axis=0).max() / values.max())
