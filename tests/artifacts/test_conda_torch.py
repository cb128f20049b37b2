"""Conda's CUDA packages matter where Conda installs torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

HEAD = "name: env\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.9\n  - cudatoolkit=11.1\n"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("  - pytorch=2.9\n", "warning"),
        ("  - conda-forge::pytorch\n", "warning"),
        ("  - pytorch-gpu\n", "warning"),
        ("  - pip:\n    - torch\n", "info"),
        ("  - numpy\n", "info"),
    ],
)
def test_lists_cudatoolkit_beside_torch(tmp_path: Path, more: str, expected: str) -> None:
    (tmp_path / "environment.yml").write_text(HEAD + more)
    options = engine.Options({"select": ["XLA909"]}, isolated=True, jobs=1, cache=False)
    found = [f for f in engine.check([tmp_path], options).findings if "cudatoolkit" in f.message]
    assert [finding.severity for finding in found] == [expected]
