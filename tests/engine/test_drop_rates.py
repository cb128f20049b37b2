"""A seed is for what draws: dropout with a rate that nothing in the program sets to more than 0 does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TRAIN = """import argparse, torch
from torch import nn
from net import Net
parser = argparse.ArgumentParser()
parser.add_argument("--dropout", type=float, default=DEFAULT)
args = parser.parse_args()
torch.manual_seed(args.seed)
model = Net(MADE).cuda()
optimizer = torch.optim.Adam(model.parameters())
optimizer.step()
"""
NET = """import torch, torch.nn.functional as F
from torch import nn
class Net(nn.Module):
    def __init__(self, PARAMETERS):
        super().__init__()
        self.rate = RATE
        self.drop = LAYER
    def forward(self, x):
        return BODY
"""
PLAIN = {
    "PARAMETERS": "width=3, rate=0.0",
    "RATE": "rate",
    "LAYER": "nn.Dropout(rate)",
    "BODY": "self.drop(x)",
}
PASSED = {"MADE": "8, args.dropout"}
COMMAND = "Run it:\n\n    python train.py"
DROP_PATH = """import torch
def drop_path(x, drop_prob=0.0, training=False):
    if drop_prob == 0.0 or not training:
        return x
    return x * torch.rand(x.shape[0], device=x.device).add(1 - drop_prob).floor()
"""
WIDE = """from net import Net
class Wide(Net):
    def __init__(self):
        super().__init__(8, rate=0.5)
"""


def severity(folder: Path, parts: dict[str, str], files: dict[str, str]) -> str:
    """Return how severe it is that a program does not seed XLA, with these parts of its texts."""
    texts = {"train.py": TRAIN, "net.py": NET}
    for part, text in {"DEFAULT": "0.0", "MADE": "8", **PLAIN, **parts}.items():
        texts = {name: whole.replace(part, text) for name, whole in texts.items()}
    write({**texts, **files}, folder)
    options = engine.Options({"select": ["XLA408"]}, isolated=True, jobs=1, cache=False)
    (found,) = engine.check([folder], options).findings
    return found.severity


@pytest.mark.parametrize(
    ("parts", "files"),
    [
        ({}, {}),
        ({"MADE": "8, rate=0"}, {}),
        (PASSED, {"README.md": COMMAND}),
        ({**PASSED, "DEFAULT": "'0'"}, {"README.md": COMMAND}),
        (PASSED, {"a.yaml": "dropout: 0.\n"}),
        ({"LAYER": "nn.Dropout(p=rate) if rate > 0 else nn.Identity()"}, {}),
        ({"LAYER": "nn.Identity()", "BODY": "F.dropout(x, self.rate, self.training)"}, {}),
        ({"LAYER": "nn.LSTM(3, 3, dropout=rate)"}, {}),
        ({"LAYER": "nn.TransformerEncoderLayer(8, 2, 8, rate)"}, {}),
        ({"LAYER": "nn.TransformerEncoderLayer(8, 2, dropout=0.0)"}, {}),
        ({"PARAMETERS": "width=3, noisy=False", "RATE": "0", "LAYER": "nn.Dropout() if noisy else None"}, {}),
        (
            {
                "LAYER": "None",
                "BODY": "drop_path(x, self.rate)",
                "import torch,": "from drops import drop_path\nimport torch,",
            },
            {"drops.py": DROP_PATH},
        ),
        (
            {"RATE": "cfg.MODEL.DROP", "LAYER": "nn.Dropout(cfg.MODEL.DROP)"},
            {
                "config.py": "cfg = CN()\ncfg.MODEL = CN()\ncfg.MODEL.DROP = 0.0\n",
                "a.yaml": "MODEL:\n  WIDTH: 3\n",
            },
        ),
    ],
)
def test_a_rate_of_zero_draws_nothing(tmp_path: Path, parts: dict[str, str], files: dict[str, str]) -> None:
    assert severity(tmp_path, parts, files) == "info"


@pytest.mark.parametrize(
    ("parts", "files"),
    [
        ({"LAYER": "nn.Dropout()"}, {}),
        ({"PARAMETERS": "width=3, rate=0.1"}, {}),
        ({"MADE": "8, 0.1"}, {}),
        ({"MADE": "8, rate=0.1"}, {}),
        ({"MADE": "8, rate=args.rates[0]"}, {}),
        ({"MADE": "**{'rate': 0.5}"}, {}),
        ({"MADE": "*sizes"}, {}),
        ({**PASSED, "DEFAULT": "0.1"}, {"README.md": COMMAND}),
        ({**PASSED, "DEFAULT": "'0.1'"}, {"README.md": COMMAND}),
        (PASSED, {"README.md": COMMAND + " --dropout 0.3"}),
        (PASSED, {"run.sh": "python train.py --dropout=0.3\n"}),
        (PASSED, {"a.yaml": "dropout: 0.3\n"}),
        (PASSED, {"a.json": '{"dropout": 0.3}\n'}),
        (PASSED, {"a.yaml": "parameters:\n  dropout:\n    values: [0.1, 0.3]\n"}),
        ({}, {"other.py": "from net import Net\nNet(8, 0.5)\n"}),
        (
            {},
            {"wide.py": WIDE},
        ),
        ({}, {"config.py": "model = dict(type='Net', rate=0.5)\n"}),
        ({}, {"other.py": "import net\ndef f(trial):\n    net.Net(8, trial.suggest_float('rate', 0, 1))\n"}),
        ({"LAYER": "nn.Dropout(1 - rate)"}, {}),
        ({"LAYER": "nn.TransformerEncoderLayer(8, 2)"}, {}),
        ({"RATE": "rate\n        self.layer = nn.Dropout"}, {}),
        ({"PARAMETERS": "width=3, noisy=True", "RATE": "0", "LAYER": "nn.Dropout() if noisy else None"}, {}),
        (
            {
                "LAYER": "None",
                "BODY": "drop_path(x, 0.1)",
                "import torch,": "from drops import drop_path\nimport torch,",
            },
            {"drops.py": DROP_PATH},
        ),
        (
            {"RATE": "cfg.MODEL.DROP", "LAYER": "nn.Dropout(cfg.MODEL.DROP)"},
            {
                "config.py": "cfg = CN()\ncfg.MODEL = CN()\ncfg.MODEL.DROP = 0.0\n",
                "a.yaml": "MODEL:\n  DROP: 0.3\n",
            },
        ),
    ],
)
def test_a_rate_that_something_sets_draws(
    tmp_path: Path, parts: dict[str, str], files: dict[str, str]
) -> None:
    assert severity(tmp_path, parts, files) == "warning"
