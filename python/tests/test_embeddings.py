"""Isomap, classical MDS, spectral and locally linear embedding beside scikit-learn's."""

from __future__ import annotations

import os
import pickle
import subprocess
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from sklearn import datasets, manifold
from sklearn.metrics import pairwise_distances

import eigenlens
from eigenlens import ClassicalMDS, Isomap, LocallyLinearEmbedding, SpectralEmbedding, load


def roll(n=250, seed=0):
    X, _ = datasets.make_swiss_roll(n, random_state=seed)
    return X


DATA = {
    "roll": roll(),
    "wine": datasets.load_wine().data / datasets.load_wine().data.std(axis=0),
    # Distances between the pixels' whole numbers are often equal; a little noise settles who is
    # nearest.
    "digits": datasets.load_digits().data[:250]
    + 1e-3 * np.random.default_rng(0).normal(size=(250, 64)),
    "random": np.random.default_rng(3).normal(size=(90, 5)) * np.geomspace(3, 1, 5),
}


def close(ours, theirs, tolerance=1e-7):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * np.abs(theirs).max())


def up_to_sign(ours, theirs, tolerance):
    signs = np.sign(np.sum(ours * theirs, axis=0))
    close(ours * signs, theirs, tolerance)


def angle(ours, theirs):
    """The sine of the largest angle between the spans of centred columns."""
    a, b = (np.linalg.qr(Z - Z.mean(axis=0))[0] for Z in (ours, theirs))
    return np.linalg.norm(b - a @ (a.T @ b), 2)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("parameters", [{"n_neighbors": 10}, {"radius": "auto"}], ids=str)
def test_isomap(name, parameters):
    X = DATA[name]
    train, new = X[::2], X[1::2]
    if "radius" in parameters:
        # Wide enough for one piece.
        radius = 1.05 * np.sort(pairwise_distances(train), axis=1)[:, 12].max()
        parameters = {"n_neighbors": None, "radius": radius}
    given = {"n_components": 3, **parameters}
    ours = Isomap(**given)
    theirs = manifold.Isomap(**given, eigen_solver="dense")
    close(ours.fit_transform(train), theirs.fit_transform(train))
    close(ours.embedding_, theirs.embedding_)
    close(ours.dist_matrix_, theirs.dist_matrix_, 1e-12)
    close(ours.transform(new), theirs.transform(new))
    close(ours.eigenvalues_, theirs.kernel_pca_.eigenvalues_)
    assert ours.reconstruction_error() == pytest.approx(theirs.reconstruction_error(), rel=1e-7)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert ours.certificate_.relative_residual < 1e-9


METRICS = [
    {"metric": "manhattan"},
    {"metric": "chebyshev"},
    {"metric": "cosine"},
    {"metric": "minkowski", "p": 3},
    {"metric": "minkowski", "p": 1},
    {"metric": "canberra"},
    {"metric": "minkowski", "metric_params": {"w": np.array([1.0, 2, 3, 4, 5])}},
]


@pytest.mark.parametrize("parameters", METRICS, ids=str)
def test_isomap_by_other_metrics(parameters):
    X = DATA["random"] + 2
    ours, theirs = (module.Isomap(n_neighbors=8, **parameters) for module in (eigenlens, manifold))
    close(ours.fit_transform(X[:60]), theirs.fit_transform(X[:60]), 1e-6)
    close(ours.dist_matrix_, theirs.dist_matrix_)
    close(ours.transform(X[60:]), theirs.transform(X[60:]), 1e-6)
    with pytest.raises(NotImplementedError, match="pickle"):
        ours.save("nowhere")
    again = pickle.loads(pickle.dumps(ours))
    assert np.array_equal(again.transform(X), ours.transform(X))


def test_isomap_of_given_distances():
    X = DATA["roll"]
    D = pairwise_distances(X[:150])
    D_new = pairwise_distances(X[150:], X[:150])
    theirs = manifold.Isomap(n_neighbors=8, metric="precomputed").fit(D)
    ours = Isomap(n_neighbors=8, metric="precomputed").fit(D)
    close(ours.embedding_, theirs.embedding_)
    close(ours.transform(D_new), theirs.transform(D_new))
    assert ours.reconstruction_error() == pytest.approx(theirs.reconstruction_error(), rel=1e-7)
    called = Isomap(n_neighbors=8, metric=lambda a, b: np.linalg.norm(a - b)).fit(X[:150])
    close(called.embedding_, theirs.embedding_)
    # A sparse matrix of distances to neighbours.
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(X[:150], 12, mode="distance")
    close(Isomap(n_neighbors=8, metric="precomputed").fit(graph).embedding_, theirs.embedding_)
    with pytest.raises(ValueError, match="square"):
        Isomap(metric="precomputed").fit(D_new)


def test_a_disconnected_graph_is_a_warning_and_is_joined():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 3)), 50 + rng.normal(size=(30, 3))])
    for metric in ("euclidean", "manhattan"):
        for module in (eigenlens, manifold):
            model = module.Isomap(n_neighbors=4, metric=metric)
            with pytest.warns(UserWarning, match="number of connected components .* is 2 > 1"):
                embedding = model.fit_transform(X)
            assert np.isfinite(embedding).all()
            # The first coordinate tells the parts apart.
            assert embedding[:30, 0].max() < embedding[30:, 0].min() or (
                embedding[:30, 0].min() > embedding[30:, 0].max()
            )
    # One bridge between two parts is what scikit-learn adds too.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (module.Isomap(n_neighbors=4).fit(X) for module in (eigenlens, manifold))
    close(ours.embedding_, theirs.embedding_)
    sparse = scipy.sparse.csr_matrix(np.where(pairwise_distances(X) < 9, pairwise_distances(X), 0))
    for module in (eigenlens, manifold):
        with pytest.raises(RuntimeError, match="cannot be completed"):
            module.Isomap(n_neighbors=3, metric="precomputed").fit(sparse)


def test_isomap_refuses_what_scikit_learn_refuses():
    X = DATA["wine"]
    for parameters, words in (
        ({"n_neighbors": 5, "radius": 2.0}, "Both n_neighbors and radius"),
        ({"n_neighbors": 500}, "Expected n_neighbors < n_samples_fit"),
        ({"n_components": 0}, "n_components"),
        ({"path_method": "A"}, "path_method"),
    ):
        for module in (eigenlens, manifold):
            with pytest.raises(ValueError, match=words):
                module.Isomap(**parameters).fit(X)
    with pytest.raises(ValueError, match="n_neighbors and radius"):
        Isomap(n_neighbors=None).fit(X)
    with pytest.raises(NotImplementedError, match="metric='euclidean'"):
        Isomap(metric="manhattan", n_landmarks=20).fit(X)


def test_isomap_by_landmarks():
    X = roll(600)
    all_of_them = Isomap(n_neighbors=10).fit(X)
    some = Isomap(n_neighbors=10, n_landmarks=80, random_state=3).fit(X)
    assert angle(some.embedding_, all_of_them.embedding_) < 0.2


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "sqeuclidean"])
def test_classical_mds(name, metric):
    X = DATA[name]
    ours = ClassicalMDS(3, metric=metric)
    theirs = manifold.ClassicalMDS(3, metric=metric)
    close(ours.fit_transform(X), theirs.fit_transform(X), 1e-6)
    close(ours.eigenvalues_, theirs.eigenvalues_)
    close(ours.dissimilarity_matrix_, theirs.dissimilarity_matrix_)
    # New samples go where they would have gone: those of the training to their own place.
    close(ours.transform(X), ours.embedding_, 1e-6)
    assert ours.certificate_.relative_residual < 1e-9


def test_classical_mds_of_given_distances():
    X = DATA["wine"]
    D = pairwise_distances(X, metric="manhattan")
    given = ClassicalMDS(2, metric="precomputed").fit(D)
    close(given.embedding_, manifold.ClassicalMDS(2, metric="precomputed").fit_transform(D))
    assert np.array_equal(given.dissimilarity_matrix_, D)
    close(given.transform(D[:5]), given.embedding_[:5])
    parameters = {"metric": "minkowski", "metric_params": {"p": 1}}
    close(ClassicalMDS(2, **parameters).fit_transform(X), given.embedding_)
    called = ClassicalMDS(2, metric=lambda a, b: np.abs(a - b).sum()).fit(X)
    close(called.embedding_, given.embedding_)
    for module in (eigenlens, manifold):
        with pytest.raises(ValueError, match="symmetric"):
            module.ClassicalMDS(metric="precomputed").fit(np.triu(D))
    # Beyond the rank there is nothing, where scikit-learn has the root of rounding.
    flat = ClassicalMDS(4).fit_transform(X[:, :2])
    assert np.array_equal(flat[:, 2:], np.zeros((len(X), 2)))


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("parameters", [{"n_neighbors": 20}, {}, {"affinity": "rbf"}], ids=str)
def test_spectral_embedding(name, parameters):
    X = DATA[name]
    if parameters.get("affinity") == "rbf":
        parameters = {**parameters, "gamma": 0.5 / np.median(pairwise_distances(X)) ** 2}
    ours = SpectralEmbedding(3, **parameters)
    theirs = manifold.SpectralEmbedding(3, **parameters, random_state=0)
    Z, Y = ours.fit_transform(X), theirs.fit_transform(X)
    assert abs(ours.affinity_matrix_ - theirs.affinity_matrix_).max() < 1e-12
    up_to_sign(Z, Y, 1e-6)
    assert getattr(ours, "n_neighbors_", None) == getattr(theirs, "n_neighbors_", None)
    assert np.array_equal(ours.transform(X), Z)
    assert ours.certificate_.relative_residual < 1e-9


def test_spectral_embedding_of_given_affinities():
    X = DATA["wine"]
    K = np.exp(-0.05 * pairwise_distances(X) ** 2)
    usual = SpectralEmbedding(2, affinity="rbf", gamma=0.05).fit(X)
    close(SpectralEmbedding(2, affinity="precomputed").fit_transform(K), usual.embedding_)
    sparse = scipy.sparse.csr_matrix(K)
    close(SpectralEmbedding(2, affinity="precomputed").fit_transform(sparse), usual.embedding_)
    called = SpectralEmbedding(2, affinity=lambda X: np.exp(-0.05 * pairwise_distances(X) ** 2))
    close(called.fit_transform(X), usual.embedding_)
    D = pairwise_distances(X)
    given = {"affinity": "precomputed_nearest_neighbors", "n_neighbors": 15}
    ours = SpectralEmbedding(2, **given).fit_transform(D)
    up_to_sign(ours, manifold.SpectralEmbedding(2, **given).fit_transform(D), 1e-6)
    # Sparse data fall back to the rbf kernel, and say so.
    with pytest.warns(UserWarning, match="falling back to rbf"):
        fallen = SpectralEmbedding(2, gamma=0.05).fit(scipy.sparse.csr_matrix(X))
    close(fallen.embedding_, usual.embedding_)
    with pytest.warns(UserWarning, match="not symmetric"):
        SpectralEmbedding(1, affinity="precomputed").fit(np.triu(K))
    again = pickle.loads(pickle.dumps(usual))
    assert np.array_equal(again.embedding_, usual.embedding_)
    # A sparse matrix of distances to neighbours, with and without those to the samples themselves.
    from sklearn.neighbors import kneighbors_graph

    for include_self in (True, False):
        graph = kneighbors_graph(X, 20, mode="distance", include_self=include_self)
        theirs = manifold.SpectralEmbedding(2, **given).fit_transform(graph)
        up_to_sign(SpectralEmbedding(2, **given).fit_transform(graph), theirs, 1e-6)


def test_given_affinities_go_to_files_but_place_nobody(tmp_path):
    X = DATA["wine"]
    K = np.exp(-0.05 * pairwise_distances(X) ** 2)
    given = SpectralEmbedding(2, affinity="precomputed").fit(K)
    called = SpectralEmbedding(2, affinity=lambda X: K).fit(X)
    for model in (given, called):
        assert not hasattr(model, "transform")
        assert model.affinity_matrix_ is K
    given.save(tmp_path / "model.safetensors")
    back = load(tmp_path / "model.safetensors")
    assert np.array_equal(back.embedding_, given.embedding_) and not hasattr(back, "transform")
    with pytest.raises(AttributeError, match="fit it again"):
        _ = back.affinity_matrix_
    with pytest.raises(NotImplementedError, match="pickle"):
        called.save(tmp_path / "other.safetensors")
    by_distances = SpectralEmbedding(2, affinity="precomputed_nearest_neighbors", n_neighbors=15)
    D = pairwise_distances(X)
    by_samples = SpectralEmbedding(2, n_neighbors=15).fit(X[:150])
    by_distances.fit(D[:150, :150]).save(tmp_path / "distances.safetensors")
    placed = load(tmp_path / "distances.safetensors").transform(D[150:, :150])
    close(placed, by_samples.transform(X[150:]))


BOTH = [
    (LocallyLinearEmbedding(n_neighbors=9), "lle --neighbors 9 --bridges"),
    *(
        (
            LocallyLinearEmbedding(method=method, n_neighbors=9),
            f"lle --neighbors 9 --variant {method} --bridges",
        )
        for method in ("modified", "hessian", "ltsa")
    ),
    (
        SpectralEmbedding(n_neighbors=10),
        "laplacian --neighbors 9 --affinity averaged --keep-parts",
    ),
    (SpectralEmbedding(affinity="rbf", gamma=0.01), "laplacian --affinity rbf --gamma 0.01"),
]


@pytest.mark.parametrize(("model", "arguments"), BOTH, ids=str)
def test_the_command_line_fits_the_same_and_reads_our_models(model, arguments, tmp_path):
    program = os.environ.get("EIGENLENS_PROGRAM", "")
    if not os.path.exists(program):
        pytest.skip("EIGENLENS_PROGRAM does not name the program")

    def run(command, *more):
        command = [program, *command.split(), *more]
        subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)

    X, new = DATA["roll"][:200], DATA["roll"][200:]
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "new.npy", new)
    ours = pickle.loads(pickle.dumps(model)).fit(X)
    ours.save(tmp_path / "ours.safetensors")
    run("transform ours.safetensors new.npy -o ours.npy")
    assert np.array_equal(np.load(tmp_path / "ours.npy"), ours.transform(new))
    run(f"fit {arguments} -o theirs.safetensors --scores theirs.npy -k 2", "x.npy")
    theirs = load(tmp_path / "theirs.safetensors")
    assert repr(theirs) == repr(model)
    assert np.array_equal(np.load(tmp_path / "theirs.npy"), ours.embedding_)
    assert np.array_equal(theirs.embedding_, ours.embedding_)
    assert np.array_equal(theirs.transform(new), ours.transform(new))


def test_parts_of_a_spectral_embedding_are_told_apart():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 3)), 50 + rng.normal(size=(30, 3))])
    for module in (eigenlens, manifold):
        with pytest.warns(UserWarning, match="Graph is not fully connected"):
            embedding = module.SpectralEmbedding(1, n_neighbors=6).fit_transform(X)
        assert np.ptp(embedding[:30]) < 1e-6 and np.ptp(embedding[30:]) < 1e-6
        assert abs(embedding[0] - embedding[-1]) > 1e-3


def test_many_samples_take_the_iteration():
    X = roll(900, 2)
    ours = SpectralEmbedding(2, affinity="rbf", gamma=0.05).fit_transform(X)
    theirs = manifold.SpectralEmbedding(2, affinity="rbf", gamma=0.05).fit_transform(X)
    up_to_sign(ours, theirs, 1e-6)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("reg", [1e-3, 1e-1])
def test_locally_linear_embedding(name, reg):
    X = DATA[name]
    train, new = X[::2], X[1::2]
    given = {"n_neighbors": 10, "n_components": 2, "reg": reg}
    ours = LocallyLinearEmbedding(**given).fit(train)
    theirs = manifold.LocallyLinearEmbedding(**given, eigen_solver="dense").fit(train)
    # Nearly equal eigenvalues leave a direction open: the span is compared.
    assert angle(ours.embedding_, theirs.embedding_) < 1e-5
    assert ours.reconstruction_error_ == pytest.approx(theirs.reconstruction_error_, rel=1e-6)
    assert angle(ours.transform(new), theirs.transform(new)) < 1e-4
    assert np.array_equal(ours.transform(train), ours.embedding_)


@pytest.mark.parametrize("method", ["hessian", "modified", "ltsa"])
@pytest.mark.parametrize("name", DATA)
def test_variants_of_locally_linear_embedding(name, method):
    X = DATA[name]
    # An even number: of an odd one, the modified method compares a sample with itself, and rounding
    # decides.
    train, new = X[:-30:2], X[-30:]
    assert len(train) % 2 == 0
    given = {"n_neighbors": 14, "n_components": 2, "method": method}
    ours = LocallyLinearEmbedding(**given).fit(train)
    theirs = manifold.LocallyLinearEmbedding(**given, eigen_solver="dense").fit(train)
    up_to_sign(ours.embedding_, theirs.embedding_, 1e-7)
    assert ours.reconstruction_error_ == pytest.approx(theirs.reconstruction_error_, rel=1e-6)
    up_to_sign(ours.transform(new), theirs.transform(new), 1e-7)
    assert np.array_equal(ours.transform(train), ours.embedding_)
    assert ours.certificate_.relative_residual < 1e-9


def test_locally_linear_embedding_refuses_what_it_has_not():
    X = DATA["wine"]
    with pytest.raises(ValueError, match="reg=1e-12"):
        LocallyLinearEmbedding(reg=0).fit(X)
    for parameters, words in (
        ({"n_components": 14}, "output dimension must be less"),
        ({"n_neighbors": 178}, "Expected n_neighbors"),
        ({"method": "other"}, "method"),
        ({"method": "hessian", "n_neighbors": 5}, "n_neighbors must be greater"),
        ({"method": "modified", "n_neighbors": 1}, "requires n_neighbors >= n_components"),
    ):
        for module in (eigenlens, manifold):
            with pytest.raises(ValueError, match=words):
                module.LocallyLinearEmbedding(**parameters).fit(X)


def test_parameters_and_defaults():
    for name in ("Isomap", "ClassicalMDS", "SpectralEmbedding", "LocallyLinearEmbedding"):
        theirs = getattr(manifold, name)().get_params()
        ours = getattr(eigenlens, name)().get_params()
        assert {key: ours.get(key, "missing") for key in theirs} == theirs


STORED = [
    Isomap(n_neighbors=10),
    Isomap(n_neighbors=None, radius=9.0),
    ClassicalMDS(2),
    ClassicalMDS(2, metric="chebyshev"),
    LocallyLinearEmbedding(n_neighbors=10),
    LocallyLinearEmbedding(n_neighbors=10, method="modified"),
    LocallyLinearEmbedding(n_neighbors=10, method="hessian"),
    LocallyLinearEmbedding(n_neighbors=10, method="ltsa"),
    SpectralEmbedding(n_neighbors=10),
    SpectralEmbedding(affinity="rbf", gamma=0.01),
]


@pytest.mark.parametrize("model", STORED, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_models_go_to_files_and_pickles_and_back(model, dtype, tmp_path):
    X = DATA["roll"].astype(dtype)
    fitted = pickle.loads(pickle.dumps(model)).fit(X[:200])
    assert fitted.embedding_.dtype == dtype
    new = fitted.transform(X[200:])
    assert new.dtype == dtype
    fitted.save(tmp_path / "model.safetensors")
    for back in (load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(fitted))):
        assert repr(back) == repr(fitted)
        assert np.array_equal(back.embedding_, fitted.embedding_)
        assert back.embedding_.dtype == dtype
        assert np.array_equal(back.transform(X[200:]), new)
        assert not hasattr(back, "inverse_transform")
    html = fitted._repr_html_()
    assert "trustworthiness" in html and type(model).__name__ in html


def test_sparse_data():
    X = scipy.sparse.random(60, 12, 0.5, random_state=0, format="csr")
    for model in (Isomap(n_neighbors=8), ClassicalMDS(), LocallyLinearEmbedding(n_neighbors=8)):
        close(model.fit_transform(X), model.fit_transform(X.toarray()))
        close(model.transform(X[:5]), model.transform(X[:5].toarray()))


def test_distances_of_a_model_from_a_file_are_gone(tmp_path):
    ClassicalMDS().fit(DATA["wine"]).save(tmp_path / "model.safetensors")
    with pytest.raises(AttributeError, match="fit it again"):
        _ = load(tmp_path / "model.safetensors").dissimilarity_matrix_
    Isomap().fit(DATA["roll"]).save(tmp_path / "isomap.safetensors")
    back = load(tmp_path / "isomap.safetensors")
    close(back.dist_matrix_, Isomap().fit(DATA["roll"]).dist_matrix_)


def test_models_that_no_estimator_saved(tmp_path):
    X = DATA["roll"]
    for model in (
        Isomap(n_neighbors=9),
        ClassicalMDS(metric="chebyshev"),
        ClassicalMDS(),
        LocallyLinearEmbedding(n_neighbors=9),
        LocallyLinearEmbedding(method="ltsa", n_neighbors=9),
        SpectralEmbedding(n_neighbors=9),
        SpectralEmbedding(affinity="rbf", gamma=0.01),
    ):
        fitted = model.fit(X)
        fitted._model.save(tmp_path / "model.safetensors", {})
        back = load(tmp_path / "model.safetensors")
        assert repr(back) == repr(model)
        assert np.array_equal(back.embedding_, fitted.embedding_)


@pytest.mark.parametrize("model", [ClassicalMDS(2), Isomap(n_neighbors=8)])
def test_data_whose_squares_overflow(model):
    X = np.random.default_rng(0).normal(size=(40, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        usual = model.fit(X).embedding_
        huge = model.fit(X * 2.0**600)
    np.testing.assert_allclose(huge.embedding_ * 2.0**-600, usual, rtol=1e-9, atol=1e-12)
    assert np.isinf(huge.eigenvalues_).all()
