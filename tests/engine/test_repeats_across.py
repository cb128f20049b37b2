"""How often a loop runs may be an option that another file defines."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

OPTIONS = """import argparse
def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default={default})
    return parser.parse_args()
"""
TRAIN = """import torch
from torch import nn
from options import parse_args

def main():
    args = parse_args()
    device = torch.device("xla")
    actor, critic = nn.Linear(3, 1).to(device), nn.Linear(3, 1).to(device)
    a_opt, c_opt = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
    for step, x in enumerate(torch.randn(100, 8, 3, device=device)):
        c_opt.zero_grad()
        critic(x).mean().backward()
        c_opt.step()
        if step % 2 == 0:
            for _ in range(args.updates):
                a_opt.zero_grad()
                actor(x).mean().backward()
                a_opt.step()

main()
"""


def loops_without_boundary(folder: Path, default: int, more: dict[str, str]) -> int:
    write({"options.py": OPTIONS.format(default=default), "train.py": TRAIN, **more}, folder)
    options = engine.Options({"select": ["XLA401"]}, isolated=True, jobs=1, cache=False)
    return sum(len(finding.places) for finding in engine.check([folder], options).findings)


@pytest.mark.parametrize(
    ("default", "more"),
    [(200, {}), (2, {"run.sh": "python train.py --updates 200\n"})],
    ids=["default", "set"],
)
def test_a_loop_that_may_run_often_is_one_of_steps(
    tmp_path: Path, default: int, more: dict[str, str]
) -> None:
    assert loops_without_boundary(tmp_path, default, more) == 2


def test_a_loop_that_runs_twice_by_default_is_a_part_of_a_step(tmp_path: Path) -> None:
    assert loops_without_boundary(tmp_path, 2, {}) == 1


def test_a_number_that_callers_pass_on_may_be_another_one(tmp_path: Path) -> None:
    helper = TRAIN.replace("def main():", "def main(updates):").replace("args.updates", "updates")
    started = helper.replace("    args = parse_args()\n", "").replace(
        "\nmain()", "\nmain(parse_args().updates)"
    )
    assert loops_without_boundary(tmp_path, 2, {"train.py": started}) == 2
