"""Functions of other files: what they are given and what their callers learn of them."""

from __future__ import annotations

import pytest

from .projects import facts_by_module, said_of

TRAIN = """
import torch
from lib import Net, Trainer, branch, halve, loader, mask, update
def train(ds, n):
    net = Net().to("cuda")
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for i, (x, y) in enumerate(torch.utils.data.DataLoader(ds, shuffle=True, drop_last=True)):
        out = net(x.to("cuda"))
        loss = out.sum()
        BODY
        loss.backward()
        opt.step()
"""
LIB = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(9, 9))
    def forward(self, x, at=0):
        return self.cache[:at] + x
class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), 0.1)
    def step(self, batch):
        loss = self.model(batch.cuda()).sum()
        loss.backward()
        self.optimizer.step()
def branch(value):
    if value > 0:
        return 1
    return 0
def mask(x, m):
    return x[m]
def halve(n):
    return torch.zeros(4)[: n]
def update(model, opt, x):
    loss = model(x).sum()
    loss.backward()
    opt.step()
    return loss
def loader(ds):
    return torch.utils.data.DataLoader(ds, batch_size=4)
"""


def in_lib(body: str) -> list[str]:
    return said_of("lib", train=TRAIN.replace("BODY", body), lib=LIB)


@pytest.mark.parametrize(
    "body",
    [
        "branch(3)",
        "branch(x.shape[0])",
        "mask(x, x > 0)",  # the batch is on the host
        "halve(4)",
        "halve(n)",
        "branch",
        "branch = print; branch(loss)",
    ],
)
def test_reports_nothing_for_what_the_callee_may_be_given(body: str) -> None:
    assert in_lib(body) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("branch(loss)", ["host-read truth: value > 0"]),
        ("branch(value=loss * 2)", ["host-read truth: value > 0"]),
        ("mask(out, out > 0)", ["dynamic-shape mask-read: x[m]"]),
        ("net(x.cuda(), i)", ["changing-constant length: at"]),
        ("net.forward(x.cuda(), at=i)", ["changing-constant length: at"]),
    ],
)
def test_reports_in_the_callee_what_a_caller_gives(body: str, expected: list[str]) -> None:
    found = in_lib(body)
    assert found == expected


def test_names_the_call_in_the_reasons() -> None:
    facts = facts_by_module({"train": TRAIN.replace("BODY", "branch(loss)"), "lib": LIB})["lib"]
    (read,) = [fact for fact in facts if fact.kind == "host-read" and fact.confidence != "possible"]
    assert read.frequency == "step"
    assert read.reasons[0].message == "`branch` is called in train.py, line 10"


LOOPS = """
from lib import Trainer, update
def main(model, opt, batches):
    trainer = Trainer(model)
    for batch in batches:
        BODY
"""


@pytest.mark.parametrize("body", ["trainer.step(batch)", "update(model, opt, batch)"])
def test_a_loop_trains_if_what_it_calls_does(body: str) -> None:
    assert said_of("main", main=LOOPS.replace("BODY", body), lib=LIB) == ["step-boundary none: " + body]


@pytest.mark.parametrize("body", ["print(batch)", "trainer.other(batch)", "trainer.step"])
def test_a_loop_that_only_prints_is_no_training_loop(body: str) -> None:
    assert said_of("main", main=LOOPS.replace("BODY", body), lib=LIB) == []


def test_a_loop_over_a_loader_that_another_file_makes() -> None:
    text = """
    import torch
    from lib import Net, loader
    @torch.no_grad()
    def infer(ds):
        net, kept = Net().to("cuda"), []
        for x in loader(ds):
            kept.append(net(x.to("cuda")))
    """
    assert "step-boundary none: for x in loader(ds)" in said_of("main", main=text, lib=LIB)


BASE = """
import torch
class Base(torch.nn.Module):
    def pick(self, x, m):
        return x[m]
"""
MIDDLE = """
from base import Base
def pick(x, m):
    return Base().pick(x, m)
class Child(Base):
    pass
"""


@pytest.mark.parametrize("call", ["Child().pick(x, x > 0)", "pick(x, x > 0)"])
def test_follows_inheritance_and_chains_over_three_files(call: str) -> None:
    main = f"""
    import torch
    from middle import Child, pick
    x = torch.randn(4, device="cuda")
    for i in range(9):
        {call}
    """
    assert said_of("base", main=main, middle=MIDDLE, base=BASE) == ["dynamic-shape mask-read: x[m]"]


def test_modules_that_call_each_other_come_to_an_end() -> None:
    a = "import torch, b\ndef f(x, n):\n    return b.g(x * 2, n + 1)\nf(torch.ones(2).cuda(), 0)\n"
    b = "import torch, a\ndef g(x, n):\n    return a.f(x, n + 1)\n"
    assert set(facts_by_module({"a": a, "b": b})) == {"a", "b"}


def test_a_callee_with_ten_thousand_callers_is_bounded() -> None:
    calls = "\n".join(f"branch(x + {i}.5)" for i in range(2000))
    main = f"import torch\nfrom lib import branch\nx = torch.ones(1).cuda()\n{calls}\n"
    assert facts_by_module({"main": main, "lib": LIB})["lib"]


@pytest.mark.parametrize(("framework", "trains"), [("mxnet", False), ("json", True)])
def test_a_loop_of_another_framework_is_no_step(framework: str, trains: bool) -> None:
    other = f"""
        import {framework}

        def train(model, loader):
            for batch in loader:
                loss = model(batch)
                loss.backward()
                model.update()
    """
    script = """
        import torch, other
        device = torch.device("cuda")
        other.train(torch.nn.Linear(2, 2).to(device), torch.utils.data.DataLoader(torch.ones(4, 2)))
    """
    assert (
        any(fact.startswith("step-boundary") for fact in said_of("other", other=other, script=script))
        == trains
    )
