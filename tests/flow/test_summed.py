"""Advice on copies that the host only adds up."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

PROGRAM = """import torch

net = torch.nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)

def evaluate(loader):
    total, kept = 0, []
    for x, t in loader:
        with torch.no_grad():
            y = net(x.cuda())
        hits = y.argmax(1).eq(t.cuda())
        BODY
    return total

def train(loader):
    total = 0
    for x, t in loader:
        y = net(x.cuda())
        y.sum().backward()
        optimizer.step()
        hits = y.argmax(1).eq(t.cuda())
        total += hits.cpu().sum().item()
    return total

START
"""


def advice(*body: str, start: str = "evaluate([])", code: str = "XLA102") -> str:
    text = PROGRAM.replace("BODY", "\n        ".join(body)).replace("START", start)
    options = engine.Options({"select": [code]}, isolated=True, stdin=("train.py", text.encode()))
    return next(f.help or "" for f in engine.check([Path("train.py")], options).findings)


@pytest.mark.parametrize(
    "body",
    [
        ("total += hits.cpu().sum().item()",),
        ("total += float(hits.cpu().sum())",),
        ("total = total + hits.cpu().sum().item() / 2",),
        ("n = hits.cpu().sum()", "total += n.item()"),
        ("n = hits.cpu()", "m = n.float().mean()", "total += m.item() * x.size(0)"),
    ],
)
def test_a_total_is_added_up_on_the_device(body: tuple[str, ...]) -> None:
    assert advice(*body).startswith("Add up on the device")


@pytest.mark.parametrize(
    "body",
    [
        ("total += hits.cpu().sum().item()", "kept.append(y.cpu())"),
        ("n = hits.cpu().sum()", "total += n.item()", "print(n)"),
        ("total += score(hits.cpu())",),
        ("total = hits.cpu().sum().item()",),
        ("kept += [hits.cpu().sum()]",),
        ("n = hits.cpu()", "print(n[0])"),
        ("total += hits.cpu().median().item()",),
        ("total -= y[0].cpu()[0].item()",),
    ],
)
def test_other_copies_are_read_in_each_iteration(body: tuple[str, ...]) -> None:
    assert not advice(*body).startswith("Add up on the device")


def test_a_loop_that_trains_keeps_its_advice() -> None:
    assert "Add up on the device" not in advice("pass", start="train([])")


@pytest.mark.parametrize(
    ("body", "adds"),
    [
        (("total += hits.sum().item()",), True),
        (("total = total + int(hits.sum())",), True),
        (("total += hits.sum().item()", "kept.append(y.max().item())"), True),
        (("n = hits.sum().item()", "total += n", "print(n)"), False),
        (("total = hits.sum().item()",), False),
    ],
)
def test_a_number_that_is_only_added_up_is_added_up_on_the_device(body: tuple[str, ...], adds: bool) -> None:
    assert advice(*body, code="XLA101").startswith("Add up on the device") is adds
