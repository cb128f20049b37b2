"""Wrappers such as DistributedDataParallel around objects that are no modules."""

from __future__ import annotations

import pytest

from .projects import facts_by_module

SOLVER = """
import torch
class Solver{base}:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), 0.1)
    def fit(self, loader):
        for x in loader:
            loss = self.net(x.cuda()).sum()
            loss.backward()
            self.opt.step()
    def report(self):
        torch.ones(2, device="cuda").sum().item()
"""
MAIN = """
import sys, torch
from solver import Solver
from torch.nn.parallel import DistributedDataParallel
solver = Solver(torch.nn.Linear(2, 2).cuda())
if "--distributed" in sys.argv:
    {wrap}
solver.report()
"""


def frequencies(wrap: str, base: str = "") -> set[str]:
    """Return how often the method of the object reads a tensor."""
    texts = {"solver": SOLVER.format(base=base), "main": MAIN.format(wrap=wrap)}
    return {fact.frequency for fact in facts_by_module(texts)["solver"] if fact.kind == "host-read"}


@pytest.mark.parametrize(
    "wrap",
    [
        "solver.net = DistributedDataParallel(solver.net)",
        "solver = DistributedDataParallel(solver)",
        "solver = torch.nn.DataParallel(solver)",
    ],
)
def test_keeps_the_class_of_what_a_branch_wraps_by_mistake(wrap: str) -> None:
    assert frequencies(wrap) == {"once"}


def test_knows_nothing_of_an_object_that_another_call_replaces() -> None:
    assert frequencies("solver = wrapped(solver)") == {"unknown"}


def test_takes_an_object_whose_base_was_not_read_for_a_module() -> None:
    assert frequencies("solver = DistributedDataParallel(solver)", "(Unread)") == {"unknown"}
