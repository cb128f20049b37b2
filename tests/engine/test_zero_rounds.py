"""Loops that an option gives no iteration: `for _ in range(self.n)` where everything leaves `n` at 0."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

ALGORITHM = """import torch
class Algorithm:
    def __init__(self, n_validation=0):
        self.n_validation = n_validation
    def validate(self, x):
        for _ in range({rounds}):
            x.cuda()
        {after}
"""
RUN = """import torch
from algorithm import Algorithm
Algorithm({arguments}).validate(torch.ones(2))
"""


def severity(folder: Path, rounds: str, arguments: str = "", after: str = "", **more: str) -> str:
    files = {
        "algorithm.py": ALGORITHM.format(rounds=rounds, after=after),
        "run.py": RUN.format(arguments=arguments),
    }
    write({**files, **{name.replace("_", "."): text for name, text in more.items()}}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    (found,) = engine.check([folder], options).findings
    return found.severity


@pytest.mark.parametrize("arguments", ["", "0", "n_validation=0"])
def test_lowers_the_body_of_a_loop_without_iterations(tmp_path: Path, arguments: str) -> None:
    assert severity(tmp_path, "self.n_validation", arguments) == "info"


@pytest.mark.parametrize(
    ("rounds", "arguments", "after", "more"),
    [
        ("self.n_validation", "3", "", {}),
        ("self.n_validation", "n_validation=len('ab')", "", {}),
        ("self.n_validation", "", "", {"config_yaml": "n_validation: 4\n"}),
        ("self.n_validation", "", "", {"README_md": "python run.py --n_validation 4\n"}),
        ("self.n_validation + 1", "", "", {}),
        ("self.n_validation, 3", "", "", {}),
        ("max(self.n_validation, 1)", "", "", {}),
        ("len(x)", "", "", {}),
        ("9", "", "if self.n_validation:\n            x.cpu()", {}),
    ],
)
def test_reports_the_body_of_a_loop_that_may_run(
    tmp_path: Path, rounds: str, arguments: str, after: str, more: dict[str, str]
) -> None:
    assert severity(tmp_path, rounds, arguments, after, **more) == "error"


CRITIC = """import torch
def critic_step(x):
    return x.cuda()
"""
STEPS = """import argparse
import torch
from critic import critic_step
parser = argparse.ArgumentParser()
parser.add_argument("--n-critic", type=int, default=0)
args = parser.parse_args()
for _ in range({rounds}):
    {body}
{after}
"""


@pytest.mark.parametrize(
    ("rounds", "body", "after", "expected"),
    [
        ("args.n_critic", "critic_step(torch.ones(2))", "", "info"),
        ("args.n_critic", "print()", "critic_step(torch.ones(2))", "error"),
        ("args.n_critic + 1", "critic_step(torch.ones(2))", "", "error"),
    ],
)
def test_lowers_what_only_such_a_loop_calls(
    tmp_path: Path, rounds: str, body: str, after: str, expected: str
) -> None:
    write(
        {"critic.py": CRITIC, "run.py": STEPS.format(rounds=rounds, body=body, after=after)},
        tmp_path,
    )
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    (found,) = engine.check([tmp_path], options).findings
    assert found.severity == expected


def test_reports_what_follows_the_loop(tmp_path: Path) -> None:
    text = ALGORITHM.format(rounds="self.n_validation", after="x.cuda()").replace("x.cuda()", "pass", 1)
    write({"algorithm.py": text, "run.py": RUN.format(arguments="")}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [found.severity for found in engine.check([tmp_path], options).findings] == ["error"]
