"""Scripts that define options of one name by parsers of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

SCRIPT = """import argparse, torch
{more}
parser = argparse.ArgumentParser()
parser.add_argument('--save_every', type=int, default={default})
def main(args):
    {set}
    for epoch in range(9):
        if args.save_every != -1 and epoch % args.save_every == 0:
            torch.ones(2).cuda()
if __name__ == '__main__':
    main(parser.parse_args())
"""
READER = """import torch
def save(args, x):
    if args.save_every != -1:
        return x.cuda()
"""
FLAG = """import argparse, torch
parser = argparse.ArgumentParser()
parser.add_argument('--half', dest='amount', action='store_{}')
args = parser.parse_args()
if args.amount:
    torch.ones(2).cuda()
"""


def script(default: object, more: str = "", set: str = "pass") -> str:
    return SCRIPT.format(default=default, more=more, set=set)


def severities(folder: Path, files: dict[str, str]) -> dict[str, str]:
    write(files, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    return {Path(f.filename).name: f.severity for f in engine.check([folder], options).findings}


def test_a_script_has_the_default_of_its_own_parser(tmp_path: Path) -> None:
    files = {"gan/a.py": script(-1), "gan/b.py": script(5), "c.py": script(-1)}
    assert severities(tmp_path, files) == {"a.py": "info", "b.py": "error", "c.py": "info"}


@pytest.mark.parametrize(
    "more",
    [
        {"b.py": script(5, more="import a", set="a.main(args)")},
        {"b.py": script(5, more="from a import main as run", set="run(args)")},
        {"b.py": script(5), "run.sh": "python a.py --save_every 2\n"},
        {"b.py": script(5), "README.md": "    python a.py --save-every=2\n"},
        {"b.py": script(5), "conf.yaml": "save_every: 2\n"},
        {"b.py": script(5, set="args.save_every = 2")},
        {"b.py": "SETTINGS = {'save_every': 2}\n"},
    ],
)
def test_others_may_give_a_script_another_value(tmp_path: Path, more: dict[str, str]) -> None:
    assert severities(tmp_path, {"a.py": script(-1), **more})["a.py"] == "error"


def test_a_module_that_scripts_share_has_the_options_of_all(tmp_path: Path) -> None:
    imports = {"more": "from common import save", "set": "save(args, torch.ones(2))"}
    files = {"common.py": READER, "a.py": script(-1, **imports), "b.py": script(5, **imports)}
    assert severities(tmp_path, files) == {"common.py": "error", "a.py": "info", "b.py": "error"}
    off = {**files, "b.py": script(-1, **imports)}
    assert severities(tmp_path, off) == {"common.py": "info", "a.py": "info", "b.py": "info"}


def test_a_flag_that_turns_off_is_known_by_its_name(tmp_path: Path) -> None:
    files = {"a.py": FLAG.format("false"), "b.py": FLAG.format("false"), "run.sh": "python a.py --amount\n"}
    assert severities(tmp_path, files) == {"a.py": "error", "b.py": "error"}
