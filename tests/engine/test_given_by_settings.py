"""Parameters that are None unless the settings of a class give them a value."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

NET = """import torch
class Net(torch.nn.Module):
    def __init__(self, width, fuser={default}):
        super().__init__()
        if fuser == 'wide':
            self.part = Wide()
        else:
            self.part = torch.nn.Linear(width, width)
class Wide(torch.nn.Module):
    def forward(self, x):
        return x.cuda()
"""
MAIN = """import torch, yaml
import importlib
def build(config):
    module, name = config['target'].rsplit('.', 1)
    return getattr(importlib.import_module(module), name)(**config['params'])
if __name__ == '__main__':
    net = build(yaml.safe_load(open('a.yaml')))
    net(torch.ones(2))
"""
SPREAD = """import torch, json
from net import Net
if __name__ == '__main__':
    net = Net(**json.load(open('a.json')))
    net(torch.ones(2))
"""
SETTINGS = "model:\n  target: net.Net\n  params:\n    width: 3\n    fuser: {}\n"


def severity(folder: Path, files: dict[str, str], default: str) -> str:
    write({"net.py": NET.format(default=default), "main.py": MAIN, **files}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    (found,) = engine.check([folder], options).findings
    return found.severity


@pytest.mark.parametrize(
    ("files", "default"),
    [
        ({"a.yaml": SETTINGS.format("plain")}, "None"),
        ({"a.yaml": SETTINGS.format("plain"), "b.yaml": SETTINGS.format("other")}, "None"),
        ({"a.yaml": SETTINGS.format("plain")}, "'plain'"),
        ({"a.yaml": SETTINGS.format("plain"), "main.py": SPREAD}, "None"),
    ],
)
def test_settings_that_choose_something_else_keep_a_class_off(
    tmp_path: Path, files: dict[str, str], default: str
) -> None:
    assert severity(tmp_path, files, default) == "info"


@pytest.mark.parametrize(
    ("files", "default"),
    [
        ({"a.yaml": SETTINGS.format("wide")}, "None"),
        ({"a.yaml": SETTINGS.format("plain"), "b.yaml": SETTINGS.format("wide")}, "None"),
        ({"a.yaml": SETTINGS.format("plain")}, "'wide'"),
        ({"a.yaml": SETTINGS.replace("    fuser: {}\n", "")}, "None"),  # who knows
        ({"a.yaml": SETTINGS.format("${kind}")}, "None"),
        ({"main.py": SPREAD}, "None"),
        ({"a.yaml": SETTINGS.format("plain"), "main.py": SPREAD + "    Net(2, 'wide')\n"}, "None"),
        ({"a.yaml": SETTINGS.format("plain"), "README.md": "    python main.py --fuser wide\n"}, "None"),
    ],
)
def test_settings_that_may_choose_a_class_keep_it(
    tmp_path: Path, files: dict[str, str], default: str
) -> None:
    assert severity(tmp_path, files, default) == "error"
