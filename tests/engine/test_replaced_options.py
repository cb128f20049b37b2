"""Options that a script sets again by a test for CUDA, right after it has parsed its command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

WORK = """import torch
class Work:
    def __init__(self, args):
        self.args = args
    def run(self, x):
        if self.args.use_gpu:
            return x.cuda()
        return x
"""
RUN = """import argparse
import torch
from work import Work
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--use_gpu", type=bool, default=True)
    parser.add_argument("--fast", action="store_true")
    args = parser.parse_args()
    {again}
    Work(args).run(torch.zeros(3))
main()
"""
AGAIN = "args.use_gpu = True if torch.cuda.is_available() and args.use_gpu else False"


def severities(folder: Path, files: dict[str, str]) -> list[str]:
    write({"work.py": WORK, **files}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    return [finding.severity for finding in engine.check([folder], options).findings]


@pytest.mark.parametrize(
    "files",
    [
        {"run.py": RUN.format(again="pass")},
        {"run.py": RUN.format(again="args.use_gpu = args.use_gpu or args.fast")},
        {"run.py": RUN.format(again=f"if args.fast: {AGAIN}")},
        {"run.py": RUN.format(again=f"{AGAIN}; args.use_gpu = args.use_gpu or args.fast")},
        {"run.py": RUN.format(again=AGAIN), "test.py": RUN.format(again="pass")},
        {"run.py": RUN.format(again=AGAIN).replace("parser.parse_args()", "make(parser)")},
    ],
)
def test_lists_what_a_command_line_may_turn_on(tmp_path: Path, files: dict[str, str]) -> None:
    assert severities(tmp_path, files) == ["error"]


@pytest.mark.parametrize(
    "files",
    [
        {"run.py": RUN.format(again=AGAIN)},
        {"run.py": RUN.format(again="args.use_gpu = args.use_gpu and torch.cuda.is_available()")},
        {"run.py": RUN.format(again=AGAIN), "run.sh": "python run.py --use_gpu True\n"},
        {"run.py": RUN.format(again=AGAIN), "test.py": RUN.format(again=AGAIN)},
    ],
)
def test_lowers_what_needs_cuda_on_any_command_line(tmp_path: Path, files: dict[str, str]) -> None:
    assert severities(tmp_path, files) == ["info"]
