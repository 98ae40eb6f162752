"""One engine for the PCA family: certified answers behind scikit-learn's interface.

>>> import numpy as np
>>> from eigenlens import PCA
>>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
>>> pca = PCA(n_components=2).fit(X)
>>> pca.explained_variance_ratio_.round(4)
array([0.9924, 0.0076])
>>> pca.certificate_.relative_residual < 1e-12
True
"""

from eigenlens import plots
from eigenlens._bayesian_pca import BayesianPCA
from eigenlens._choose import Choice, choose_n_components
from eigenlens._classical_mds import ClassicalMDS
from eigenlens._compat import ConvergenceWarning, NotFittedError
from eigenlens._core import __version__
from eigenlens._associations import Associations, associations
from eigenlens._explore import Explorer, explore
from eigenlens._hsic import Dependence, hsic
from eigenlens._incremental_pca import IncrementalPCA
from eigenlens._isomap import Isomap
from eigenlens._kernel_pca import KernelPCA
from eigenlens._kernel_supervised_pca import KernelSupervisedPCA
from eigenlens._linear_discriminant_analysis import LinearDiscriminantAnalysis
from eigenlens._load import load
from eigenlens._locally_linear import LocallyLinearEmbedding
from eigenlens._mini_batch_sparse_pca import MiniBatchSparsePCA
from eigenlens._moments import Moments
from eigenlens._nystroem import Nystroem
from eigenlens._pca import PCA
from eigenlens._probabilistic_pca import ProbabilisticPCA
from eigenlens._probabilistic_pca_mixture import ProbabilisticPCAMixture
from eigenlens._rbf_sampler import RBFSampler
from eigenlens._results import Certificate, Plan, Verification
from eigenlens._sparse_pca import SparsePCA
from eigenlens._spectral_embedding import SpectralEmbedding
from eigenlens._supervised_pca import SupervisedPCA
from eigenlens._table import Table
from eigenlens._truncated_svd import TruncatedSVD
from eigenlens._verify import verify

__all__ = [
    "PCA",
    "BayesianPCA",
    "Certificate",
    "Choice",
    "ClassicalMDS",
    "ConvergenceWarning",
    "Dependence",
    "Explorer",
    "IncrementalPCA",
    "Isomap",
    "KernelPCA",
    "KernelSupervisedPCA",
    "LinearDiscriminantAnalysis",
    "LocallyLinearEmbedding",
    "MiniBatchSparsePCA",
    "Moments",
    "NotFittedError",
    "Nystroem",
    "Plan",
    "ProbabilisticPCA",
    "ProbabilisticPCAMixture",
    "RBFSampler",
    "SparsePCA",
    "SpectralEmbedding",
    "SupervisedPCA",
    "Table",
    "TruncatedSVD",
    "Verification",
    "__version__",
    "choose_n_components",
    "Associations",
    "associations",
    "explore",
    "hsic",
    "load",
    "plots",
    "verify",
]
