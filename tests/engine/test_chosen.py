"""Functions and classes that a computed name may lead to, and that nothing in the program chooses."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TRAIN = """import argparse, json, torch
{imports}
parser = argparse.ArgumentParser()
parser.add_argument("--loss", default="{default}")
args = parser.parse_args()
if __name__ == "__main__":
    {look_up}(torch.ones(2))
"""
TWO = """import torch
{first}def margin(x):
    return x.cuda()
{second}def focal(x):
    return x.cuda()
"""
NEITHER = TWO.format(first="", second="")
TABLE = NEITHER + 'LOSSES = {"margin": margin, "focal": focal}\n'
COMMAND = {"run.sh": "python train.py --loss margin\n"}


def train(look_up: str, imports: str = "import losses", default: str = "ce") -> dict[str, str]:
    return {"train.py": TRAIN.format(imports=imports, look_up=look_up, default=default)}


def severities(folder: Path, files: dict[str, str]) -> list[str]:
    write(files, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    found = engine.check([folder], options).findings
    return [f.severity for f in found if f.filename.endswith("losses.py")]


KEYED = "from registry import register\n" + TWO.format(
    first='@register("margin")\n', second='@register("focal")\n'
)
REGISTRY = {
    "registry.py": "HELD = {}\ndef register(key):\n    return lambda one: HELD.setdefault(key, one)\n"
}


@pytest.mark.parametrize(
    "files",
    [
        {**train("getattr(losses, args.loss)"), "losses.py": NEITHER},
        {**train("losses.LOSSES[args.loss]"), "losses.py": TABLE},
        {**train("LOSSES.get(args.loss)", "from losses import LOSSES"), "losses.py": TABLE},
        {
            **train('{"margin": losses.margin, "focal": losses.focal}[args.loss]'),
            "losses.py": NEITHER,
        },
        {**train("losses.find(args.loss)"), "losses.py": NEITHER + "def find(n):\n    return globals()[n]\n"},
        {
            **train("HELD[args.loss]", "import losses\nfrom registry import HELD"),
            "losses.py": KEYED,
            **REGISTRY,
        },
        {
            **train("losses.find(args.loss)"),
            "losses.py": NEITHER
            + "def find(n):\n    return {f.__name__.lower(): f for f in (margin, focal)}[n]\n",
        },
    ],
)
def test_lowers_what_no_text_chooses_beside_what_one_does(tmp_path: Path, files: dict[str, str]) -> None:
    assert severities(tmp_path, {**files, **COMMAND}) == ["error", "info"]


@pytest.mark.parametrize(
    "more",
    [
        {"run.sh": "python train.py\n"},  # no text chooses any
        {
            "run.sh": "python train.py\n",
            "notes.md": "A state-of-the-art loss, margin or not.\n- margin first\n",
        },
        {"notes.md": "Losses: margin, focal.\n"},
        {"exp/a.toml": 'loss = "focal"\n'},
        {"other.py": 'import losses\nlosses.LOSSES["focal"](1)\n'},
        {"other.py": "import losses\nfor one in losses.LOSSES.values():\n    one(1)\n"},
        {"other.py": "import losses\nlosses.focal(1)\n"},
        {"other.py": "from losses import LOSSES\ntry_all(LOSSES)\n"},
        {"other.py": 'WEIGHTS = {"margin": 1.0, "focal": 0.5}\n'},
        train("losses.LOSSES[args.loss]", default="focal"),
    ],
)
def test_reports_what_any_text_or_code_may_choose(tmp_path: Path, more: dict[str, str]) -> None:
    files = {**train("losses.LOSSES[args.loss]"), "losses.py": TABLE}
    assert severities(tmp_path, {**files, **COMMAND, **more}) == ["error", "error"]


@pytest.mark.parametrize("name", ['"%s_loss" % args.loss', 'f"{args.loss}_loss"', 'args.loss + "_loss"'])
def test_knows_the_constant_part_of_a_computed_name(tmp_path: Path, name: str) -> None:
    losses = NEITHER.replace("(x):", "_loss(x):")
    files = {**train(f"getattr(losses, {name})"), "losses.py": losses}
    assert severities(tmp_path, {**files, **COMMAND}) == ["error", "info"]


def test_follows_methods_and_what_only_unchosen_code_uses(tmp_path: Path) -> None:
    losses = """import torch
class Step:
    def run(self, kind, x):
        return getattr(self, "step_" + kind)(x)
    def step_margin(self, x):
        return x.cuda()
    def step_focal(self, x):
        return helper(x)
def helper(x):
    return x.cuda()
"""
    files = {**train("losses.Step().run(args.loss, 1) or print"), "losses.py": losses}
    assert severities(tmp_path, {**files, **COMMAND}) == ["error", "info"]


def test_says_what_would_choose_it(tmp_path: Path) -> None:
    write({**train("losses.LOSSES[args.loss]"), "losses.py": TABLE, **COMMAND}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    found = [f for f in engine.check([tmp_path], options).findings if f.severity == "info"]
    assert [f.message.partition(" (")[2] for f in found] == ['only where `LOSSES["focal"]` is chosen)']


def test_counts_what_a_registry_of_own_names_holds_and_nothing_names(tmp_path: Path) -> None:
    """As before: no text names the function, whatever else the registry holds."""
    losses = "from registry import LOSSES\n" + TWO.format(
        first="@LOSSES.register()\n", second="@LOSSES.register()\n"
    )
    registry = (
        "class Registry:\n    def register(self):\n        return self.held.append\nLOSSES = Registry()\n"
    )
    files = {**train("LOSSES.held[args.loss]", "import losses\nfrom registry import LOSSES")}
    assert severities(tmp_path, {**files, "losses.py": losses, "registry.py": registry, **COMMAND}) == [
        "error"
    ]
