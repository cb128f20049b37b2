"""Defaults of look-ups: `getattr(args, "wide", False)` says nothing of an option that the parser defines."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TRAIN = """import argparse
import torch
from checks import check
parser = argparse.ArgumentParser()
{defines}
args = parser.parse_args()
check(args)
x = torch.ones(2)
if args.wide:
    print(x)
else:
    x.cuda()
"""
LOOKS = {
    "getattr": "def check(args):\n    assert args.size or getattr(args, 'wide', False)\n",
    "get": "def check(args):\n    assert args.size or vars(args).get('wide', False)\n",
}
DEFINED = "parser.add_argument('--wide', type=bool, default=True)"


def severity(folder: Path, defines: str, looks: str) -> str:
    write({"train.py": TRAIN.format(defines=defines), "checks.py": looks}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    (found,) = engine.check([folder], options).findings
    return found.severity


@pytest.mark.parametrize("looks", LOOKS.values(), ids=LOOKS)
def test_a_defined_option_has_no_default_of_a_look_up(tmp_path: Path, looks: str) -> None:
    assert severity(tmp_path, DEFINED, looks) == "info"


@pytest.mark.parametrize("looks", LOOKS.values(), ids=LOOKS)
def test_an_option_that_nothing_defines_may_be_missing(tmp_path: Path, looks: str) -> None:
    assert severity(tmp_path, "", looks + "\n\ndef fill(args):\n    args.wide = True\n") == "error"


def test_another_value_counts(tmp_path: Path) -> None:
    turns_off = "def check(args):\n    args.wide = False\n"
    assert severity(tmp_path, DEFINED, turns_off) == "error"
