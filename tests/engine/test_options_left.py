"""Options without a default that the commands on a project's pages leave out: they are off."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TRAIN = """import argparse, torch
parser = argparse.ArgumentParser()
parser.add_argument({option})
args = parser.parse_args()
for step in range(9):
    x = torch.ones(2)
    if {test}:
        x = x.cuda()
    print(x)
"""
TEXT = "'--board', type=str, default=None"
COMMAND = {"README.md": "Run it:\n\n    python train.py\n"}


def severity(folder: Path, option: str, test: str, files: dict[str, str]) -> str:
    write({"train.py": TRAIN.format(option=option, test=test), **files}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    (found,) = engine.check([folder], options).findings
    return found.severity


@pytest.mark.parametrize(
    ("option", "test", "files"),
    [
        (TEXT, "args.board", COMMAND),
        (TEXT, "args.board is not None", COMMAND),
        ("'--board'", "args.board", COMMAND),
        ("'--board', metavar='DIR', help='where to'", "args.board", COMMAND),
        ("'--board', type=int", "args.board", COMMAND),
        ("'--checkpoint', type=str", "args.checkpoint is not None", COMMAND),
        ("'--resume', type=str, default=''", "args.resume", COMMAND),
        ("'--eval_file'", "args.eval_file", COMMAND),
        (TEXT, "args.board", {"README.md": "`torchrun --nproc_per_node 8 train.py --lr 1`\n"}),
        (TEXT, "args.board", {"run.sh": "python -u train.py \\\n  --lr 1\n"}),
    ],
)
def test_what_no_command_gives_is_off(tmp_path: Path, option: str, test: str, files: dict[str, str]) -> None:
    assert severity(tmp_path, option, test, files) == "info"


@pytest.mark.parametrize(
    ("option", "test", "files"),
    [
        (TEXT, "args.board", {}),  # nobody says how the program is run
        (TEXT, "args.board", {"README.md": "A program.\n"}),
        (TEXT, "args.board", {"README.md": "Run `python train.py --board runs`\n"}),
        (TEXT, "args.board", {**COMMAND, "run.sh": "python train.py \\\n  --board=runs\n"}),
        (TEXT, "args.board", {**COMMAND, "a.yaml": "board: runs\n"}),
        (TEXT, "not args.board", COMMAND),
        ("'board'", "args.board", COMMAND),
        ("'-b', '--board'", "args.board", {"a.sh": "python train.py -b runs\n"}),
        ("'--board', required=True", "args.board", COMMAND),
        ("'--board', nargs='?', const='runs'", "args.board", COMMAND),
        ("'--board', type=str, default='runs'", "args.board", COMMAND),
        ("'--loss'", "args.loss != 'plain'", COMMAND),  # users choose between them
        ("'--dataset'", "args.dataset != 'small'", COMMAND),
        ("'--resume', type=str, default=''", "args.resume", {}),
        ("'--resume', type=str, default=''", "args.resume", {"a.sh": "python train.py --resume a.pt\n"}),
        ("'--evaluate', action='store_true'", "args.evaluate", COMMAND),  # a way to run the program
        ("'--seed', type=int, default=None", "args.seed is not None", COMMAND),
    ],
)
def test_what_is_given_has_to_be_given_or_is_chosen_is_listed(
    tmp_path: Path, option: str, test: str, files: dict[str, str]
) -> None:
    assert severity(tmp_path, option, test, files) == "error"
