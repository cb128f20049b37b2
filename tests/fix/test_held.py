"""The reason why `--fix` leaves a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.report.changes import remaining_findings

HEAD = "import argparse\nimport torch\nfrom torch import nn\n"
LOOP = """def train(net, opt, data):
    net.to("cuda")
    for x in data:
        net(x.to("cuda")).sum().backward()
        opt.step()
        torch.cuda.synchronize()
"""


def told(code: str, rule: str) -> list[str]:
    source = (HEAD + code).encode()
    options = engine.Options({"select": [rule]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source))
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe"}), write=False)
    return list(remaining_findings(outcome.after, {}, unsafe_fixes=True))[1:]


@pytest.mark.parametrize(
    ("code", "rule", "why"),
    [
        ("def f(m, opt):\n    m.cuda(opt.card)", "XLA002", "it depends on `opt.card`, an argument"),
        (
            "opt = argparse.ArgumentParser().parse_args()\nx = torch.ones(1).cuda(opt.card)",
            "XLA002",
            "it depends on `opt.card`, an argument",
        ),
        ("N = choose()\nx = torch.ones(1).cuda(N)", "XLA002", "it depends on `N`"),
        ("x = torch.ones(1).to('cuda:3')", "XLA001", "it means `cuda:3`, not the first device"),
        (
            "def f(x=torch.ones(1).to('cuda')):\n    pass",
            "XLA001",
            "it runs at import, too early to select a device",
        ),
        (LOOP, "XLA401", "the fix of `torch.cuda.synchronize()` ends the step there (XLA005)"),
    ],
)
def test_why_nothing_was_written(code: str, rule: str, why: str) -> None:
    lines = told(code, rule)
    assert len(lines) == 1 and f"by hand, {why}: " in lines[0]


def test_sites_of_one_rule_are_counted_by_their_causes() -> None:
    code = (
        "def f(m, opt):\n    m.cuda(opt.card)\n    m.cuda(opt.card)\n    m.to('cuda')\n    m.cuda(opt.other)"
    )
    lines = told(code, "XLA002")
    assert [line.strip().partition(":")[0] for line in lines[1:]] == [
        "2 x by hand, it depends on `opt.card`, an argument",
        "1 x by hand, it depends on `opt.other`, an argument",
    ]


PARTS = {
    "train.py": "from models.net import Net\nNet().run(1)\n",
    "models/net.py": "import torch\nclass Net:\n    def run(self, x):\n        return x.to('cuda')\n",
}


def written(files: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The files that fixing a folder makes."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    options = engine.Options({"select": ["XLA001"]}, isolated=True, jobs=1, cache=False)
    return {f.filename for f in engine.fix([Path()], options, frozenset({"safe"}), write=True).created}


def test_the_helper_lies_where_others_find_a_module_of_a_plain_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written(PARTS, tmp_path, monkeypatch) == {"xla_compat.py"}
    assert "from xla_compat import default_device" in (tmp_path / "models" / "net.py").read_text()


def test_a_helper_that_is_there_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(PARTS, tmp_path, monkeypatch)
    assert written({"models/other.py": PARTS["models/net.py"]}, tmp_path, monkeypatch) == set()
    assert "default_device" in (tmp_path / "models" / "other.py").read_text()


@pytest.mark.parametrize(
    "more",
    [
        {"models/run.py": "from net import Net\n"},  # found from two places
        {"models/net.py": PARTS["models/net.py"] + "if __name__ == '__main__':\n    Net().run(1)\n"},
    ],
    ids=["two ways", "started itself"],
)
def test_no_helper_where_it_may_not_be_found(
    more: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written({**PARTS, **more}, tmp_path, monkeypatch) == set()
