"""Advice for training is for the scripts that train, not for those beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

MODEL = "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
DEMO = "import torch\nfrom model import Net\nnet = torch.nn.DataParallel(Net())\nprint(net(torch.ones(2)))\n"
STEP = (
    "import torch\ndef step(loss, parameters):\n    loss.backward()\n    torch.optim.SGD(parameters).step()\n"
)
TRAIN = "import torch\nfrom step import step\nfrom model import Net\nstep(Net()(torch.ones(2)), [])\n"


@pytest.mark.parametrize(
    ("demo", "severity"),
    [(DEMO, "info"), (DEMO + "from step import step\nstep(net(torch.ones(2)), [])\n", "warning")],
)
def test_a_script_beside_the_training_only_serves_its_model(tmp_path: Path, demo: str, severity: str) -> None:
    main = 'if __name__ == "__main__":\n    pass\n'
    files = {"model.py": MODEL, "demo.py": demo + main, "step.py": STEP, "train.py": TRAIN + main}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    report = engine.check([tmp_path], Options({}, isolated=True, jobs=1, cache=False))
    assert [f.severity for f in report.findings if f.code == "XLA704"] == [severity]


LEAF = """import torch
net = torch.nn.Linear(2, 2).to("xla")
def run(loader):
    {around}
        for x in loader:
            target = torch.zeros(2, requires_grad=True)
            y = net(target.to("xla"))
            {after}
            torch_xla.sync()
run(torch.utils.data.DataLoader([]))
"""


@pytest.mark.parametrize(
    ("around", "after", "told"),
    [("with torch.no_grad():", "print(y.sum().item())", []), ("if True:", "y.sum().backward()", ["warning"])],
)
def test_a_leaf_needs_gradients(tmp_path: Path, around: str, after: str, told: list[str]) -> None:
    (tmp_path / "a.py").write_text(LEAF.format(around=around, after=after), encoding="utf-8")
    report = engine.check([tmp_path], Options({}, isolated=True, jobs=1, cache=False))
    assert [f.severity for f in report.findings if f.code == "XLA908"] == told
