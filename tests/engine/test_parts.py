"""The parts of a file in a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.findings import Part, Size

SOURCE = """\
import torch

class Net(torch.nn.Module):
    def __init__(self, d_model=768):
        self.proj = torch.nn.Linear(d_model, d_model)
"""


def test_parts_and_sizes_with_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net.py").write_text(SOURCE, "utf-8")
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # fresh, then from the cache
        (file,) = engine.check([Path()], engine.Options(isolated=True, jobs=1)).files
        calls = (("torch.nn.Linear", 1),)
        assert file.parts == (Part("Net", "class", ("torch.nn.Module",), ("__init__",), (), calls, 3, 5),)
        assert file.sizes == (Size("hidden", "d_model", 768, "Net", 4, "default"),)
