"""Scripts that choose GPUs for a program: one alone asks for no change."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options


def needs_change(folder: Path, line: str) -> bool:
    """Return whether a script with a line is reported as something to change."""
    (folder / "train.py").write_text("import torch\n\nx = torch.zeros(3).cuda()\n")
    (folder / "run.sh").write_text(f"#!/bin/bash\n{line}\n")
    every = Options({"extend-select": ["XLA912"], "include-no-action": True}, isolated=True)
    found = [f for f in engine.check([folder], every).findings if f.code == "XLA912"]
    assert found and all(f.severity == "info" for f in found)
    return any(not f.no_action for f in found)


@pytest.mark.parametrize("value", ["0", '"7"', "15"])
@pytest.mark.parametrize(
    "command", ["CUDA_VISIBLE_DEVICES={} python train.py", "export CUDA_VISIBLE_DEVICES={}"]
)
def test_one_gpu_asks_for_no_change(tmp_path: Path, value: str, command: str) -> None:
    assert not needs_change(tmp_path, command.format(value))


@pytest.mark.parametrize("value", ["0,1", '"2, 3"', "$1", "$(seq -s, 0 3)", '""', "-1"])
def test_other_values_do(tmp_path: Path, value: str) -> None:
    assert needs_change(tmp_path, f"CUDA_VISIBLE_DEVICES={value} python train.py")


def test_another_variable_does(tmp_path: Path) -> None:
    assert needs_change(tmp_path, "NCCL_P2P_DISABLE=1 CUDA_VISIBLE_DEVICES=0 python train.py")
