"""Pages that quote the help of a command: it names an option, and only a command sets one."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TRAIN = """import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--half", action="store_true")
parser.add_argument("--kind", default="flat")
args = parser.parse_args()
x = torch.ones(2)
if args.half and args.kind == "flat":
    x.cuda()
"""
USAGE = "usage: train.py [-h] [--half]\n                [--kind KIND]\n"
HELP = "options:\n  -h, --help  show this help message and exit\n  --half\n  --kind KIND\n"


def severity(folder: Path, page: str) -> str:
    write({"train.py": TRAIN, "README.md": page}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    (found,) = engine.check([folder], options).findings
    return found.severity


@pytest.mark.parametrize(
    "page",
    [
        "",
        f"```\n{USAGE}```\n",
        f"```\n{USAGE}\n{HELP}```\n",
        "```\n" + HELP.replace("options:", "optional arguments:") + "\nreader:\n  --half\n```\n",
    ],
)
def test_a_page_that_lists_an_option_does_not_set_it(tmp_path: Path, page: str) -> None:
    assert severity(tmp_path, page) == "info"


@pytest.mark.parametrize(
    "page",
    [
        "python train.py --half\n",
        "usage:\n    python train.py \\\n      --half\n",
        f"```\n{USAGE}\n{HELP}```\n\nRun `python train.py --half`.\n",
        f"{HELP}\nAs in:\n\n    python train.py --half\n",
    ],
)
def test_a_command_on_a_page_sets_its_options(tmp_path: Path, page: str) -> None:
    assert severity(tmp_path, page) == "error"
