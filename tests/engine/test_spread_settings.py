"""Settings that a call spreads, `Net(**settings)`, give what no default does."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

NET = """import torch
class Net(torch.nn.Module):
    def __init__(self, width, norm):
        super(Net, self).__init__()
        self.norm = norm
        self.layer = torch.nn.Linear(width, width)
    def forward(self, x):
        if TEST:
            return self.layer(x).cuda()
        return self.layer(x)
"""
SPREAD = """import torch, yaml
from net import Net
settings = yaml.safe_load(open("a.yaml"))
net = Net(**settings["net"])
print(net(torch.ones(3)))
"""
CALLED = """import torch
from net import Net
class Other(torch.nn.Module):
    def __init__(self, norm):
        super(Other, self).__init__()
        self.norm = norm
nets = Net(3, CALL), Other("group")
"""


def severities(folder: Path, test: str, files: dict[str, str]) -> list[str]:
    write({"net.py": NET.replace("TEST", test), **files}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    return [finding.severity for finding in engine.check([folder], options).findings]


@pytest.mark.parametrize(
    ("test", "files"),
    [
        ("self.norm == 'group'", {}),
        ("self.norm == 'group'", {"a.yaml": "net:\n  width: 3\n"}),
        ("self.norm == 'group'", {"a.yaml": "net:\n  norm: batch\n", "b.yaml": "net:\n  norm: group\n"}),
        ("self.norm == 'group'", {"a.yaml": "net:\n  norm: batch\n", "run.sh": "python a.py norm=group\n"}),
        ("self.norm == 'group'", {"a.yaml": "net:\n  norm: batch\n", "more.py": "Net(**{'norm': x})\n"}),
        (
            "self.norm == 'group'",
            {"a.yaml": "net:\n  norm: batch\n", "more.py": "def f(s): s.norm = 'group'"},
        ),
        ("self.norm == 'group'", {"a.yaml": "net:\n  norm: '0'\n", "run.sh": "python a.py --norm\n"}),
        ("self.norm == '0'", {"a.yaml": "net:\n  norm: '0'\n"}),
        ("self.norm == 'off'", {"a.yaml": "net:\n  norm: 'off'\n"}),
        ("self.norm == 'none'", {"a.yaml": "net:\n  norm: none\n"}),
        ("self.norm != 'group'", {"a.yaml": "net:\n  norm: '0'\n"}),
    ],
)
def test_lists_what_settings_may_ask_for(tmp_path: Path, test: str, files: dict[str, str]) -> None:
    assert severities(tmp_path, test, {"train.py": SPREAD, **files}) == ["error"]


@pytest.mark.parametrize(
    ("test", "files"),
    [
        ("self.norm == 'group'", {"a.yaml": "net:\n  norm: batch\n"}),
        ("self.norm == 'group'", {"a.yaml": "net:\n  norm: batch\n", "b.yaml": "net:\n  norm: layer\n"}),
        ("self.norm == 'group'", {"a.yaml": "net:\n  norm: '0'\n"}),
        ("self.norm in ('group', 'layer')", {"a.yaml": "net:\n  norm: '0'\n"}),
        ("self.norm", {"a.yaml": "net:\n  norm: false\n"}),
    ],
)
def test_lowers_what_all_settings_leave(tmp_path: Path, test: str, files: dict[str, str]) -> None:
    assert severities(tmp_path, test, {"train.py": SPREAD, **files}) == ["info"]


@pytest.mark.parametrize(("call", "expected"), [("'batch'", "info"), ("'group'", "error"), ("x", "error")])
def test_a_call_of_super_hands_on_no_class(tmp_path: Path, call: str, expected: str) -> None:
    files = {"train.py": CALLED.replace("CALL", call)}
    assert severities(tmp_path, "self.norm == 'group'", files) == [expected]


@pytest.mark.parametrize(("call", "expected"), [("'batch'", "info"), ("'group'", "error"), ("x", "error")])
def test_a_choice_that_only_calls_make_is_known(tmp_path: Path, call: str, expected: str) -> None:
    """Users choose between modes; not between those of a function that the program alone calls."""
    net = "import torch\ndef run(x, mode):\n    return x.cuda() if mode == 'group' else x\n"
    files = {"part.py": net, "train.py": f"import torch\nfrom part import run\nrun(torch.ones(3), {call})\n"}
    assert severities(tmp_path, "False", files) == [expected]
