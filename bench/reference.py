"""Reference answers, and how far an answer lies from them.

The references share no code with the programs compared: plain NumPy and LAPACK in float64 on the
stored values, with the data centred exactly before anything is multiplied.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]
BLOCK = 10_000


@dataclass(frozen=True)
class Answer:
    """The leading components of some data."""

    explained_variance: Array  # k, descending
    components: Array  # k × d, unit rows


@dataclass(frozen=True)
class Accuracy:
    """How far an answer lies from the reference; angles in radians."""

    eigenvalue_error: float  # largest |λ − λ_ref| / λ_ref
    component_angle: float  # largest angle between a component and its reference
    subspace_angle: float  # largest principal angle between the two spans


def reference(directory: Path, spec: dict[str, Any], k: int) -> Answer:
    """The exact answer for the data in `directory`, computed once and kept beside them."""
    path = directory / f"reference-{k}.npz"
    key = json.dumps(spec, sort_keys=True)
    if path.exists():
        with np.load(path) as kept:
            if str(kept["spec"]) == key:
                return Answer(kept["explained_variance"], kept["components"])
    if spec["storage"] == "csr":
        answer = sparse_reference(load_csr(directory, spec), k)
    else:
        data = np.load(directory / "data.npy", mmap_mode="r")
        tall = data.shape[0] >= data.shape[1]
        answer = covariance_reference(data, k) if tall else gram_reference(data, k)
    # Written in full under another name first: an interrupted run leaves no half reference.
    unfinished = path.with_suffix(".unfinished.npz")
    np.savez(
        unfinished,
        spec=key,
        explained_variance=answer.explained_variance,
        components=answer.components,
    )
    unfinished.replace(path)
    return answer


def load_csr(directory: Path, spec: dict[str, Any]) -> scipy.sparse.csr_matrix:
    """The sparse data, with 32-bit indices throughout: what scikit-learn's own code wants."""
    indptr = np.load(directory / "indptr.npy").astype(np.int32)
    parts = (np.load(directory / "data.npy"), np.load(directory / "indices.npy"), indptr)
    return scipy.sparse.csr_matrix(parts, shape=(spec["rows"], spec["columns"]))


def covariance_reference(data: NDArray[Any], k: int) -> Answer:
    """Eigenvectors of the covariance matrix of centred blocks of rows."""
    n, d = data.shape
    mean = exact_mean(data)
    scatter = np.zeros((d, d))
    for start in range(0, n, BLOCK):
        block = data[start : start + BLOCK].astype(np.float64) - mean
        scatter += block.T @ block
    values, vectors = scipy.linalg.eigh(scatter / (n - 1), subset_by_index=(d - k, d - 1))
    return Answer(values[::-1], vectors.T[::-1])


def gram_reference(data: NDArray[Any], k: int) -> Answer:
    """Eigenvectors of the Gram matrix of the centred rows, carried over to the features."""
    n = data.shape[0]
    centered = data.astype(np.float64) - exact_mean(data)
    values, vectors = scipy.linalg.eigh(centered @ centered.T, subset_by_index=(n - k, n - 1))
    components = vectors.T[::-1] @ centered
    components /= np.linalg.norm(components, axis=1, keepdims=True)
    return Answer(values[::-1] / (n - 1), components)


def sparse_reference(data: scipy.sparse.csr_matrix, k: int) -> Answer:
    """Lanczos to working precision on the covariance operator, never formed."""
    n, d = data.shape
    transposed = data.T.tocsr()
    mean = np.asarray(data.sum(axis=0)).ravel() / n

    def apply(vector: Array) -> Array:
        vector = vector.ravel()
        image = data @ vector - mean @ vector
        return (transposed @ image - mean * image.sum()) / (n - 1)

    operator = scipy.sparse.linalg.LinearOperator((d, d), matvec=apply, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(d)
    values, vectors = scipy.sparse.linalg.eigsh(operator, k, ncv=4 * k, tol=0, v0=start)
    order = np.argsort(values)[::-1]
    return Answer(values[order], vectors.T[order])


def exact_mean(data: NDArray[Any]) -> Array:
    """The means of the columns, summed about a first guess so that no digits are lost."""
    guess = data[:BLOCK].astype(np.float64).mean(axis=0)
    rest = np.zeros(data.shape[1])
    for start in range(0, data.shape[0], BLOCK):
        rest += (data[start : start + BLOCK].astype(np.float64) - guess).sum(axis=0)
    return guess + rest / data.shape[0]


def accuracy(found: Answer, exact: Answer) -> Accuracy:
    """Compares an answer with the reference; signs do not matter."""
    components = found.components.astype(np.float64)
    components /= np.linalg.norm(components, axis=1, keepdims=True)
    cosines = np.sum(components * exact.components, axis=1, keepdims=True)
    signs = np.where(cosines < 0, -1.0, 1.0)
    # From the distance between the ends of unit vectors: exact for small angles, arccos is not.
    distances = np.linalg.norm(components - signs * exact.components, axis=1)
    angles = 2 * np.arcsin(np.minimum(distances / 2, 1))
    errors = np.abs(found.explained_variance / exact.explained_variance - 1)
    subspace = scipy.linalg.subspace_angles(components.T, exact.components.T)
    return Accuracy(float(errors.max()), float(angles.max()), float(subspace.max()))
