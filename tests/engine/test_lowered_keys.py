"""A program that writes the keys of its settings in lower case has the values of those in capitals."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

DEFAULTS = """from yacs.config import CfgNode
cfg = CfgNode()
cfg.LOSS = CfgNode()
cfg.LOSS.WAY = 'focal'
cfg.LOSS.WEIGHT = 1.0
"""
LOSS = """import torch
class Loss(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.way = config['way']
    def forward(self, x):
        if {test}:
            return x.cuda().sum()
        return x.mean()
"""
LOWER = """def lower(settings):
    if not isinstance(settings, CfgNode):
        return settings
    return {k.lower(): lower(v) for k, v in settings.items()}
"""
SAME = "def lower(x):\n    return {k: v for k, v in x.items()}\n"
VALUES = "def lower(x):\n    return {k: v.lower() for k, v in x.items()}\n"
SET = "def lower(x):\n    for k, v in x.items():\n        setattr(x, k.lower(), v)\n"
OTHER = {"big.py": "from defaults import cfg\ncfg.LOSS.WAY = 'cross'\n"}
TRAIN = """import torch
from yacs.config import CfgNode
from defaults import cfg
from loss import Loss
{lower}
cfg.merge_from_file('a.yaml')
loss = Loss(lower(cfg)['loss'])
loss(torch.ones(2)).backward()
"""


def severities(folder: Path, test: str, lower: str, more: dict[str, str]) -> list[str]:
    train = TRAIN.format(lower=lower)
    write({"defaults.py": DEFAULTS, "loss.py": LOSS.format(test=test), "train.py": train, **more}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    return [finding.severity for finding in engine.check([folder], options).findings]


@pytest.mark.parametrize(
    ("test", "lower", "more"),
    [
        ("self.config['way'] == 'focal'", LOWER, {}),
        ("self.config['way'] != 'cross'", LOWER, {}),
        ("self.config['way'] == 'cross'", LOWER, {"a.yaml": "LOSS:\n  WAY: cross\n"}),
        ("self.config['way'] == 'cross'", LOWER, OTHER),
        ("self.config['way'] == 'cross'", LOWER, {"run.sh": "python train.py LOSS.WAY cross\n"}),
        ("self.config['way'] == 'cross'", LOWER, {"big.py": "config = {'way': 'cross'}\n"}),
        ("self.config['way'] == 'cross'", LOWER, {"big.py": "make(way='cross')\n"}),
        ("self.way == 'cross'", LOWER, {"big.py": "def change(loss):\n    loss.way = 'cross'\n"}),
        ("self.config['way'] == 'cross'", SAME, {}),
        ("self.config['way'] == 'cross'", VALUES, {}),
        ("self.config['other'] == 'cross'", LOWER, {}),
    ],
)
def test_lists_what_settings_in_capitals_may_ask_for(
    tmp_path: Path, test: str, lower: str, more: dict[str, str]
) -> None:
    assert severities(tmp_path, test, lower, more) == ["error"]


@pytest.mark.parametrize(
    ("test", "lower", "more"),
    [
        ("self.config['way'] == 'cross'", LOWER, {}),
        ("self.way == 'cross'", LOWER, {}),
        ("self.way == 'cross'", LOWER, {"a.yaml": "LOSS:\n  WAY: focal\n  WEIGHT: 2.0\n"}),
        ("self.way == 'cross'", SET, {}),
    ],
)
def test_lowers_what_settings_in_capitals_keep_off(
    tmp_path: Path, test: str, lower: str, more: dict[str, str]
) -> None:
    assert severities(tmp_path, test, lower, more) == ["info"]
