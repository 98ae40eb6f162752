"""Dependence between two sets of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from eigenlens import _core, _kernels, _options
from eigenlens._data import alone
from eigenlens._standalone import is_sparse


@dataclass(frozen=True)
class Dependence:
    """What :func:`hsic` found.

    Attributes
    ----------
    statistic : float
        The biased estimate `tr(K H L H)/(n − 1)²`: at least 0, and above it even under independence.
    pvalue : float
        The probability of so large a value under independence.
    method : str
        The test.
    unbiased : float or None
        The unbiased estimate (Song et al. 2012); None for fewer than four samples.
    alignment : float
        Centred kernel alignment, between 0 and 1.
    null_mean : float
        The mean of the statistic over all permutations.
    n_samples : int
    """

    statistic: float
    pvalue: float
    method: str
    unbiased: float | None
    alignment: float
    null_mean: float
    n_samples: int


def hsic(
    X: Any,
    Y: Any,
    *,
    kernel_x: str = "auto",
    kernel_y: str = "auto",
    gamma_x: float | None = None,
    gamma_y: float | None = None,
    degree_x: int | None = None,
    degree_y: int | None = None,
    coef0_x: float | None = None,
    coef0_y: float | None = None,
    method: Literal["permutation", "gamma"] = "permutation",
    n_permutations: int = 1000,
    random_state: Any = None,
    memory: int | str | None = None,
    n_jobs: int | None = None,
) -> Dependence:
    """The Hilbert-Schmidt independence criterion, and a test of independence.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples,) or (n_samples, n_columns), or sparse matrix
        Numbers, or one column of text.
    kernel_x, kernel_y : str, default='auto'
        `'rbf'`, `'laplacian'`, `'chi2'`, `'linear'`, `'poly'`, `'sigmoid'`, `'cosine'`, `'delta'` (1 for
        equal rows) or `'precomputed'`; `'auto'`: rbf for numbers, delta for text.
    gamma_x, gamma_y : float or None, default=None
        γ; None: by the median distance for rbf, laplacian and chi2, 1 for poly, 1/n_columns for sigmoid.
    degree_x, degree_y : int or None, default=None
        Of poly; None: 2.
    coef0_x, coef0_y : float or None, default=None
        Of poly and sigmoid; None: 1 and 0.
    method : {'permutation', 'gamma'}, default='permutation'
        `'gamma'` takes a gamma distribution with the exact mean and variance over all permutations.
    n_permutations : int, default=1000
    random_state, memory, n_jobs
        As in :class:`PCA`.

    Returns
    -------
    Dependence

    Examples
    --------
    A parabola: uncorrelated, and yet dependent.

    >>> import numpy as np
    >>> from eigenlens import hsic
    >>> x = np.linspace(-1, 1, 60)
    >>> hsic(x, x**2).pvalue < 0.01
    True
    >>> hsic(x, x**2, kernel_x="linear", kernel_y="linear").statistic < 1e-12
    True
    """
    if method not in ("permutation", "gamma"):
        raise ValueError(f"`method` is {method!r}, but it must be 'permutation' or 'gamma'")
    x, kernel = _side(X, kernel_x, {"gamma": gamma_x, "degree": degree_x, "coef0": coef0_x}, "x")
    y, other = _side(Y, kernel_y, {"gamma": gamma_y, "degree": degree_y, "coef0": coef0_y}, "y")
    options = _options.options(n_jobs=n_jobs, memory=memory, random_state=random_state)
    permutations = int(n_permutations) if method == "permutation" else None
    found = _core.hsic(alone(x).given, alone(y).given, (kernel, other), permutations, options)
    test = "gamma approximation" if permutations is None else f"{permutations} permutations"
    return Dependence(method=test, **found)


def _side(
    values: Any, name: str, parameters: dict[str, Any], side: str
) -> tuple[Any, dict[str, Any]]:
    """One set of columns as float64, with its kernel."""
    if is_sparse(values):
        values = values.astype(np.float64)
    else:
        values = np.asarray(values)
        values = values[:, None] if values.ndim == 1 else values
        if values.dtype.kind in "OUS":
            values = _codes(values, name, side)
            name = "delta"
        values = values.astype(np.float64)
    name = "rbf" if name == "auto" else name
    if name not in _kernels.COMPILED:
        known = ", ".join(repr(kernel) for kernel in ("auto", *_kernels.COMPILED))
        raise ValueError(f"`kernel_{side}` is {name!r}, but it must be one of {known}")
    given = {of: value for of, value in parameters.items() if value is not None}
    for of in given:
        if of not in _kernels.COMPILED[name]:
            raise ValueError(f"`{of}_{side}` does not fit the {name} kernel")
    return values, {"kernel": "polynomial" if name == "poly" else name, **given}


def _codes(values: np.ndarray, name: str, side: str) -> np.ndarray:
    """Numbers, or texts as numbers that only say whether they are equal."""
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        pass
    if name not in ("auto", "delta"):
        raise ValueError(f"text has the delta kernel only; leave out `kernel_{side}`")
    codes = [np.unique(column.astype(str), return_inverse=True)[1] for column in values.T]
    return np.column_stack(codes)
