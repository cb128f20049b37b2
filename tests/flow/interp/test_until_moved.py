"""Tensors that a program moves further down are on the host until then."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .projects import facts_by_module
from .said import said

LOOP = """
def to_cuda(*args):
    return [None if x is None else x.cuda() for x in args]

def evaluate(model, data, device):
    for step in range(9):
        x, y = data.get(step)
        torch.exp(y)
        BODY
        loss = F.cross_entropy(model(x), y)
        loss.backward()
"""

ON_HOST = [
    "n = y.max().item(); x, y = x.cuda(), y.cuda()",
    "n = y.max().item(); x, y = to_cuda(x, y)",
    "n = y.max().item(); x, y = [t.to(device) for t in (x, y)]",
    "n = y.max().item(); x, y = map(lambda t: t.cuda(), (x, y))",
    "n = y.max().item()\n        if torch.cuda.is_available(): y = y.cuda()",
    "mask = y > 0; n = mask.sum().item(); x, mask = to_cuda(x, mask)",
    "z = y[1:].masked_select(y[1:] > 0); n = z.sum().item(); x, z = x.cuda(), z.cuda()",
    "n = torch.arange(y.max()); y = y.to(device)",
    "n = y.max().item(); y = torch.autograd.Variable(y.cuda())",
    "from lib import move_to_cuda\n        n = y.max().item(); y = move_to_cuda(y)",
]
ON_DEVICE = [
    "n = y.max().item()",
    "x, y = to_cuda(x, y); n = y.max().item()",
    "n = y.max().item(); y = y.cpu()",
    "n = y.max().item(); y = y + 1; x = x.cuda()",
    "n = y.max().item(); y = torch.ones(3).cuda()",
    "n = y.max().item(); y = y.to(x.device)",
    "n = y.max().item()\n        if not y.is_cuda: y = y.cuda()",
    "y = nn.Linear(3, 3).cuda()(x); n = y.max().item(); y = y.cuda()",
    "n = y.max().item(); z = y.cpu().cuda()",
]


def reads(body: str) -> list[str]:
    found = said(LOOP.replace("BODY", body))
    return [one for one in found if one.startswith(("host-read", "dynamic-shape"))]


@pytest.mark.parametrize("body", ON_HOST)
def test_is_on_the_host_until_it_is_moved(body: str) -> None:
    assert reads(body) == []


@pytest.mark.parametrize("body", ON_DEVICE)
def test_another_tensor_may_be_on_the_device(body: str) -> None:
    assert reads(body) != []


HELPERS = """
def to_cuda(*args):
    return [None if x is None else x.cuda() for x in args]

def joined(x1, len1, x2, len2):
    lengths = len1 + len2
    torch.exp(len1)
    x = x1.new(lengths.max().item(), lengths.size(0)).fill_(0)
    x[: len1.max().item()].copy_(x1)
    return x, lengths
"""
STEP = """
import torch
from lib import load
from helpers import to_cuda, joined

class Trainer:
    def batch(self, data):
        (x1, len1), (x2, len2) = data.get()
        x, lengths = joined(x1, len1, x2, len2)
        return x, lengths

    def step(self, model, data):
        x, lengths = self.batch(data)
        MOVE
        model(x, lengths).sum().backward()

def main(model, data):
    trainer = Trainer()
    for step in range(10):
        trainer.step(model, data)

main(torch.nn.Linear(3, 3).cuda(), load())
"""


@pytest.mark.parametrize(
    ("move", "reads"),
    [
        ("x, lengths = to_cuda(x, lengths)", 0),
        ("x, lengths = x.cuda(), lengths.cuda()", 0),
        ("pass", 2),
        ("x, lengths = x.cpu(), lengths.cpu()", 2),
    ],
)
def test_a_helper_gets_what_its_callers_move_afterwards(move: str, reads: int) -> None:
    found = facts_by_module({"helpers": HELPERS, "train": STEP.replace("MOVE", move)})["helpers"]
    assert sum(isinstance(fact, HostRead) for fact in found) == reads


@pytest.mark.parametrize("count", [2, 6])
def test_what_is_selected_before_the_move_has_a_new_shape_every_step(count: int) -> None:
    names = ", ".join(["x", "z", *(f"n{i}" for i in range(count - 2))])
    body = f"z = y[1:].masked_select(y[1:] > 0); {names} = to_cuda({names.replace('n', '')})"
    shapes = said(LOOP.replace("BODY", body), "changing-shape")
    assert shapes == ["changing-shape batch: y[1:].masked_select(y[1:] > 0)"]
