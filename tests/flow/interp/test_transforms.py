"""A module without parameters or parts is a transform: a loop that calls it is no loop of model calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

LOAD = """import torch
from torch import nn
class Crop(nn.Module):
    def __init__(self, size: int, step=2):
        super().__init__()
        {init}
    def forward(self, videos):
        return [video[..., :4] for video in videos]
def load(paths, device):
    outputs = []
    for path in paths:
        clips = decode(path)
        clips = Crop(224)(clips)
        outputs.append(torch.stack(clips, dim=0))
    return torch.stack(outputs, dim=0).to(device)
"""


def reported(folder: Path, text: str) -> list[str]:
    (folder / "data.py").write_text(text)
    options = engine.Options({"select": ["XLA402"]}, isolated=True, jobs=1, cache=False)
    return [finding.code for finding in engine.check([folder], options).findings]


@pytest.mark.parametrize(
    "init",
    [
        "self.net = nn.Linear(size, size)",
        "self.weight = nn.Parameter(torch.ones(size))",
        "self.parts = [nn.Linear(size, size) for _ in range(3)]",
        "self.register_buffer('mean', torch.zeros(size))",
        "self.net = make(size)",
        "self.net = other",
        "add_layers(self, size)",
        "setattr(self, 'net', nn.Linear(size, size))",
    ],
)
def test_reports_a_loop_that_calls_a_module_with_parts(tmp_path: Path, init: str) -> None:
    assert reported(tmp_path, LOAD.format(init=init)) == ["XLA402"]


def test_reports_a_loop_that_calls_a_module_with_an_unknown_base(tmp_path: Path) -> None:
    text = LOAD.format(init="self.size = size").replace("(nn.Module)", "(other.Net)")
    assert reported(tmp_path, f"import other\n{text}") == ["XLA402"]


@pytest.mark.parametrize(
    "init",
    [
        "self.size = size",
        "self.size, self.step = size, step",
        "self.crops = [0, 1, 2]",
        "self.step = step",
        "super(Crop, self).__init__()",
        "print(self)",
    ],
)
def test_reports_nothing_for_a_module_without_parts(tmp_path: Path, init: str) -> None:
    assert reported(tmp_path, LOAD.format(init=init)) == []
