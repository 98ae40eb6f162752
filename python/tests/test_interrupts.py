"""Ctrl-C ends a fit: a signal that comes while the library works is seen there."""

import subprocess
import sys
import textwrap

import pytest

# What would go on for hours; each ends long before the time allowed, or the test fails.
ENDLESS = {
    "expectation maximisation": """
        x[rng.random(x.shape) < 0.3] = np.nan
        ProbabilisticPCA(n_components=5, max_iter=10**9, tol=1e-300).fit(x)
    """,
    "distances along a graph": """
        while True:
            Isomap(n_neighbors=10).fit(x[:8000])
    """,
    "passes over the data": """
        while True:
            PCA(n_components=3).fit(x)
    """,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_an_interrupt_ends_a_fit(name):
    program = textwrap.dedent("""
        import signal, threading
        import numpy as np
        from eigenlens import PCA, Isomap, ProbabilisticPCA
        rng = np.random.default_rng(0)
        x = rng.normal(size=(20_000, 40))
        threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
        try:
            fit()
        except KeyboardInterrupt:
            print("interrupted")
    """)
    fit = "def fit():\n" + textwrap.indent(textwrap.dedent(ENDLESS[name]).strip(), "    ") + "\n"
    ran = subprocess.run(
        [sys.executable, "-c", program.replace("try:", fit.rstrip() + "\ntry:")],
        capture_output=True, text=True, timeout=120, check=False,
    )
    assert ran.stdout == "interrupted\n", ran.stderr
