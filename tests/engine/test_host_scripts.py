"""Scripts that choose no device and train nothing run on the host: their reads cost nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

DEMO = """import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        y = x[::2]
        print(y)
        return y

if __name__ == "__main__":
    model = Net()
    x = torch.tensor([1, 2, 3])
    print(model(x))
"""
TRAIN = """import torch
model = torch.nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(9):
    model(torch.ones(2, 2).cuda()).sum().backward()
    optimizer.step()
"""


def reads(folder: Path, monkeypatch: pytest.MonkeyPatch, **texts: str) -> list[str]:
    """Return the files in which a host read is reported."""
    monkeypatch.chdir(folder)
    for name, text in {"train": TRAIN, **texts}.items():
        Path(f"{name}.py").write_text(text)
    report = engine.check([Path()], Options({}, isolated=True, jobs=1, cache=False))
    return sorted({one.filename for one in report.findings if one.code == "XLA104"})


def test_its_reads_cost_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reads(tmp_path, monkeypatch, demo=DEMO) == []
    assert reads(tmp_path, monkeypatch, demo=DEMO, train=f"# see demo.py\n{TRAIN}") == []


@pytest.mark.parametrize(
    "texts",
    [
        {"demo": DEMO, "evaluate": "from demo import Net\nmodel = Net().cuda()\n"},
        {"demo": DEMO, "evaluate": "import importlib\nm = importlib.import_module('lib.demo')\n"},
        {"demo": DEMO.replace("Net()\n", "Net().to('cuda')\n")},
        {"demo": DEMO.replace("Net()\n", "Net().to(cfg.DEVICE)\n")},
        {"demo": DEMO, "train": "import torch\nmodel = torch.nn.Linear(2, 2)\n"},
        {"demo": DEMO.replace("import torch\n", "import torch, setup\n", 1), "setup": "GPU = 1\n"},
    ],
)
def test_what_may_run_on_a_device_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: dict[str, str]
) -> None:
    assert reads(tmp_path, monkeypatch, **texts) == ["demo.py"]
