"""Every operation that Python offers, on the small table on which Rust and the command line are compared."""

from __future__ import annotations

import csv
import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import eigenlens
from eigenlens import _core, _kernels

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "parity"
NEW = 5

# The class of every method, told what the other surfaces are told.
CLASSES = {
    "pca": lambda: eigenlens.PCA(2),
    "lsa": lambda: eigenlens.TruncatedSVD(2),
    "ppca": lambda: eigenlens.ProbabilisticPCA(2),
    "bayesian-pca": lambda: eigenlens.BayesianPCA(2),
    "ppca-mixture": lambda: eigenlens.ProbabilisticPCAMixture(2, n_components=1),
    "sparse-pca": lambda: eigenlens.SparsePCA(
        2, formulation="cardinality", non_zeros=2, path=4, ridge_alpha=0
    ),
    "kernel-pca": lambda: eigenlens.KernelPCA(2, kernel="rbf", gamma=0.5),
    "supervised-pca": lambda: eigenlens.SupervisedPCA(2),
    "kernel-supervised-pca": lambda: eigenlens.KernelSupervisedPCA(2, kernel="rbf", gamma=0.5),
    "lda": lambda: eigenlens.LinearDiscriminantAnalysis(n_components=2),
    "mds": lambda: eigenlens.ClassicalMDS(2),
    "isomap": lambda: eigenlens.Isomap(n_neighbors=8, n_components=2),
    # A sample counts as its own first neighbour here.
    "laplacian": lambda: eigenlens.SpectralEmbedding(2, n_neighbors=9),
    "lle": lambda: eigenlens.LocallyLinearEmbedding(n_neighbors=8, n_components=2),
}
SUPERVISED = ("supervised-pca", "kernel-supervised-pca", "lda")


def _rows(name: str) -> list[list[str]]:
    with (FOLDER / name).open(newline="") as file:
        return list(csv.reader(file))[1:]


def _expected() -> dict[tuple[str, str], np.ndarray]:
    found = {}
    for method, operation, rows, columns, values in _rows("expected.csv"):
        numbers = np.array([float(v) for v in values.split()])
        found[method, operation] = numbers.reshape(int(rows), int(columns))
    return found


EXPECTED = _expected()
SAMPLES = _rows("samples.csv")
X = np.array([[float(v) for v in row[:4]] for row in SAMPLES])
Y = np.array([row[4] for row in SAMPLES])
C = np.array([[float(v) for v in row] for row in _rows("covariance.csv")])


class InPython:
    """The operations, by their names in the library's table."""

    def __init__(self, method: str, folder: Path) -> None:
        self.method, self.folder = method, folder
        self.estimator = CLASSES[method]()
        self.target = (Y,) if method in SUPERVISED else ()
        self.scores = self.estimator.fit_transform(X, *self.target)
        self.new = X[:NEW]

    def plan(self):
        estimator = CLASSES[self.method]()
        if self.method == "ppca":
            # This class expects missing entries where nothing is said; the others do not.
            estimator.set_params(missing="error")
        text = estimator.plan(X, *self.target)
        return [[int(re.search(r"(\d+) pass", text)[1])]]

    def training_scores(self):
        return self.scores

    def transform(self):
        return self.estimator.transform(self.new)

    def inverse_transform(self):
        return self.estimator.inverse_transform(self.transform())

    def reconstruct(self):
        return self.estimator.inverse_transform(self.estimator.transform(self.new))

    def pre_image(self):
        return self.estimator.pre_image(self.new, method="fixed-point")

    def components(self):
        return self.estimator.components_

    def loadings(self):
        return self.estimator.loadings_

    def shares(self):
        return [self.estimator.explained_variance_ratio_]

    def certificate(self):
        return [[self.estimator.certificate_.rank]]

    def verify(self):
        return [[float(eigenlens.verify(self.estimator, X, *self.target).passed)]]

    def save(self):
        path = self.folder / "model.safetensors"
        self.estimator.save(path)
        return eigenlens.load(path).transform(self.new)

    def log_likelihood(self):
        return self.estimator.score_samples(self.new)[:, None]

    def sample(self):
        drawn = self.estimator.sample(3, random_state=0)
        return drawn[0] if isinstance(drawn, tuple) else drawn

    def impute(self):
        holes = self.new.copy()
        holes[1, 2] = holes[3, 0] = np.nan
        return self.estimator.impute(holes)

    def predict(self):
        return self.estimator.predict_proba(self.new)

    def standard_errors(self):
        scores, errors = self.estimator.transform_with_errors(self.new)
        assert scores.shape == errors.shape
        return errors

    def posterior_covariance(self):
        means, covariances = self.estimator.posterior(self.new)
        np.testing.assert_allclose(means, self.transform(), atol=1e-12)
        return covariances[0]

    def sampling_errors(self):
        return [self.estimator.sampling_errors_]

    def varimax(self):
        loadings, rotation = self.estimator.varimax()
        np.testing.assert_allclose(self.estimator.loadings_ @ rotation, loadings, atol=1e-10)
        return loadings

    def fit_covariance(self):
        estimator = CLASSES[self.method]()
        if "path" in estimator.get_params():
            estimator.set_params(path=None)
        return estimator.fit_covariance(C, n_samples=36).loadings_

    def fit_moments(self):
        estimator = CLASSES[self.method]()
        if "path" in estimator.get_params():
            estimator.set_params(path=None)
        moments = eigenlens.Moments(X[:20]).merge(eigenlens.Moments(X[20:]))
        return estimator.fit(moments).loadings_

    def path(self):
        return [[np.sum(point["adjusted_variance_ratio"]) for point in self.estimator.path_]]

    def implied_kernel(self):
        return CLASSES[self.method]().implied_kernel(X).kernel[:NEW]

    def picture(self):
        drawn = eigenlens.plots.plot(self.estimator, "scores", X)
        return [[float(drawn.svg.startswith("<svg"))]]


@pytest.mark.parametrize("method", _core.method_names())
def test_every_operation_gives_the_same_numbers(method, tmp_path):
    python = InPython(method, tmp_path)
    for name, words, reason in _core.operations(method):
        if words is None:
            assert reason
            continue
        wanted = EXPECTED[method, name]
        found = np.asarray(getattr(python, name)(), dtype=float)
        if (method, name) == ("lsa", "shares"):
            # scikit-learn shares out the variance of the scores, not the sum of squares.
            assert found.shape == wanted.shape
            continue
        assert found.shape == wanted.shape, name
        size = max(1e-3, np.abs(wanted).max())
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-7 * size, err_msg=name)


# Options of the library that a class does not have, and why.
PLAN = "the plan decides it; the answer does not depend on it"
UNSAID = {
    ("pca", "center"): "`TruncatedSVD` is the PCA without centring",
    ("lsa", "weighting"): "scikit-learn's `TfidfTransformer` weighs terms in a pipeline",
    ("sparse-pca", "node_limit"): "`time_limit` ends a proof",
    ("sparse-pca", "gap"): "`time_limit` ends a proof",
    ("sparse-pca", "starts"): "the usual number is tried",
    ("sparse-pca", "center"): "scikit-learn's class always centres",
    ("kernel-pca", "sigma"): "`gamma` is 1 / (2 σ²)",
    ("kernel-pca", "selection"): "landmarks are always found by pivoted Cholesky",
    ("kernel-pca", "storage"): PLAN,
    ("supervised-pca", "solver"): PLAN,
    ("supervised-pca", "oversampling"): PLAN,
    ("supervised-pca", "power_iterations"): PLAN,
    ("kernel-supervised-pca", "sigma"): "`gamma` is 1 / (2 σ²)",
    ("lda", "unlabelled"): "scikit-learn's class refuses samples without a class",
    ("laplacian", "radius"): "scikit-learn's class has the nearest, or all",
    ("laplacian", "bridges"): "scikit-learn's class keeps the parts of a graph",
    ("laplacian", "normalization"): "scikit-learn's class has the generalised one",
    ("laplacian", "heat"): "`affinity='rbf'` weighs all pairs",
    ("laplacian", "commute_time"): "kernel PCA of `implied_kernel(X)` has this scaling",
    ("lle", "radius"): "scikit-learn's class has the nearest",
    ("lle", "kernel_scaling"): "kernel PCA of `implied_kernel(X)` has this scaling",
}


@pytest.mark.parametrize("method", _core.method_names())
def test_every_option_is_said_or_has_a_reason(method):
    ours = [cls for cls in type(CLASSES[method]()).__mro__ if cls.__module__.startswith("eigenlens.")]
    text = "".join(inspect.getsource(sys.modules[cls.__module__]) for cls in ours)
    text += inspect.getsource(_kernels)
    left_out = {(method, name) for name in _core.option_names(method) if f'"{name}"' not in text}
    assert left_out == {key for key in UNSAID if key[0] == method}


def test_every_row_of_the_file_is_an_operation():
    known = {(method, name) for method in _core.method_names() for name, *_ in _core.operations(method)}
    assert set(EXPECTED) <= known
