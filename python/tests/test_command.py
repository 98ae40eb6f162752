"""The `eigenlens` command that comes with the wheel: the same program, with no Rust toolchain to be found."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

NAME = "eigenlens.exe" if os.name == "nt" else "eigenlens"
COMMAND = Path(sys.executable).parent / NAME
PROGRAM = os.environ.get("EIGENLENS_PROGRAM")

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="the package is not installed")


def run(folder: Path, *words: str, by: tuple[str, ...] = (str(COMMAND),)):
    """What the command says, with nothing on the path but itself."""
    alone = {"PATH": str(COMMAND.parent), "HOME": str(folder), "SYSTEMROOT": os.environ.get("SYSTEMROOT", "")}
    return subprocess.run([*by, *words], cwd=folder, env=alone, capture_output=True, timeout=300)


def test_the_demo_runs(tmp_path):
    done = run(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} >= {"iris.csv", "iris.model.safetensors", "iris.svg"}
    assert b"2 components keep 97.77 % of the variance" in done.stdout + done.stderr


def test_python_m_is_the_same(tmp_path):
    by_module = run(tmp_path, "--version", by=(sys.executable, "-m", "eigenlens"))
    assert by_module.stdout == run(tmp_path, "--version").stdout
    assert metadata.version("eigenlens").encode() in by_module.stdout


def test_numpy_is_not_imported_for_it(tmp_path):
    look = "import sys, eigenlens_command as c; sys.argv[1:] = ['methods']; c.main(); print('numpy' in sys.modules)"
    done = run(tmp_path, "-c", look, by=(sys.executable,))
    assert done.stdout.decode().strip().endswith("False"), done.stderr


def test_exit_codes_are_those_of_the_program(tmp_path):
    np.save(tmp_path / "wide.npy", np.random.default_rng(0).normal(size=(2000, 2000)))
    assert run(tmp_path, "no-such-command").returncode == 64
    assert run(tmp_path, "fit", "pca", "no-such-file.csv").returncode == 66
    refused = run(tmp_path, "fit", "pca", "wide.npy", "--components", "1500", "--memory", "40MiB")
    assert refused.returncode == 71, refused.stderr
    (tmp_path / "words.csv").write_text("a,b\n1,2\n3,x\n4,5\n")
    assert run(tmp_path, "fit", "pca", "words.csv", "--columns", "a,b").returncode == 65


@pytest.mark.skipif(PROGRAM is None, reason="EIGENLENS_PROGRAM is not set")
@pytest.mark.parametrize("words", ["methods", "--help", "fit pca --help", "completions bash", "fit"])
def test_it_says_what_the_program_says(tmp_path, words):
    ours, theirs = run(tmp_path, *words.split()), run(tmp_path, *words.split(), by=(PROGRAM,))
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


@pytest.mark.skipif(PROGRAM is None, reason="EIGENLENS_PROGRAM is not set")
def test_scores_are_the_same_bytes(tmp_path):
    assert run(tmp_path, "example", "iris").returncode == 0
    fit = ["fit", "pca", "iris.csv", "-k", "2", "--scores"]
    assert run(tmp_path, *fit, "ours.csv", "-o", "ours.safetensors").returncode == 0
    assert run(tmp_path, *fit, "theirs.csv", "-o", "theirs.safetensors", by=(PROGRAM,)).returncode == 0
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()


def test_the_licences_come_along():
    files = [str(file) for file in metadata.files("eigenlens")]
    assert any(file.endswith("LICENSE-MIT") for file in files)
    assert any(file.endswith("LICENSE-APACHE") for file in files)
