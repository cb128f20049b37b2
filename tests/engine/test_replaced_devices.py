"""A CUDA device that takes the place of None, and the calls that give another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

NET = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, n, device=None):
        super().__init__()
        REPLACED
        self.out = nn.Linear(n, 10).to(device)
"""
MAIN = """import argparse
import torch
from net import Net

parser = argparse.ArgumentParser()
parser.add_argument("--device")
args = parser.parse_args()
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
CALLS
"""
REPLACED = [
    "device = device or 'cuda'",
    "device = device or torch.device('cuda:0')",
    "device = device if device is not None else 'cuda'",
    "device = 'cuda' if device is None else device",
    "if device is None: device = 'cuda'",
    "if not device: device = torch.device('cuda')",
]


def severities(folder: Path, replaced: str, calls: str) -> list[str]:
    (folder / "net.py").write_text(NET.replace("REPLACED", replaced))
    (folder / "main.py").write_text(MAIN.replace("CALLS", calls))
    select = {"select": ["XLA001"]}
    report = engine.check([folder], Options(select, isolated=True, jobs=1, cache=False))
    return [f.severity for f in report.findings if f.filename.endswith("net.py")]


@pytest.mark.parametrize("replaced", REPLACED)
def test_calls_that_all_give_one_leave_nothing_to_do(replaced: str, tmp_path: Path) -> None:
    calls = "Net(3, device)\nNet(3, device='cpu')\nNet(3, device=torch.device('cpu'))"
    assert severities(tmp_path, replaced, calls) in ([], ["info"])


@pytest.mark.parametrize("call", ["Net(3)", "Net(3, args.device)", "Net(3, None)"])
@pytest.mark.parametrize("replaced", REPLACED)
def test_a_call_that_may_give_none_takes_it(replaced: str, call: str, tmp_path: Path) -> None:
    assert severities(tmp_path, replaced, f"Net(3, device)\n{call}") == ["error"]
