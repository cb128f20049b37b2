"""Functions that variables, parameters, containers, objects and `functools.partial` hold."""

from __future__ import annotations

from textwrap import indent

import pytest

from .projects import facts_by_module

HELPERS = """
import torch
def read(loss, scale=1):
    return loss.item() * scale
def call(function, loss):
    return function(loss)
class Holder:
    def __init__(self, function):
        self.function = function
class Trainer:
    def __init__(self, model, opt):
        self.model, self.opt = model, opt
    def fit(self, loader):
        for x in loader:
            loss = self.model(x.cuda()).sum()
            loss.backward()
            self.opt.step()
            self.process(loss)
    def process(self, loss):
        raise NotImplementedError
"""
LOOP = """
import functools, torch
from functools import partial
from helpers import Holder, Trainer, call, read
def plain(function):
    function.tag = 1
    return function
def wrapping(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner
@plain
def marked(loss): return read(loss)
@wrapping
def wrapped(loss): return read(loss)
class Mine({base}):
    def process(self, loss): return read(loss)
def train(loader, name):
    model = torch.nn.Linear(2, 2).cuda()
    opt = torch.optim.SGD(model.parameters(), 0.1)
{setup}
    for x in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        opt.step()
{step}
"""


def frequencies(setup: str, step: str) -> set[str]:
    """Return how often `read` reads the loss."""
    base = "Trainer" if "Mine(" in setup else "object"  # the steps of a trainer run what replaces its methods
    program = LOOP.format(setup=indent(setup, " " * 4), step=indent(step, " " * 8), base=base)
    facts = facts_by_module({"helpers": HELPERS, "train": program})["helpers"]
    return {fact.frequency for fact in facts if fact.kind == "host-read"}


@pytest.mark.parametrize(
    ("setup", "step"),
    [
        ("f = read", "f(loss)"),
        ("readers = {'a': read, 'b': marked}", "readers[name](loss)"),
        ("readers = [read]", "for f in readers: f(loss)"),
        ("", "call(read, loss)"),
        ("f = partial(read, scale=2)", "f(loss)"),
        ("f = functools.partial(functools.partial(read, scale=2), scale=3)", "f(loss)"),
        ("", "partial(read, loss)()"),
        ("holder = Holder(read)", "holder.function(loss)"),
        ("holder = Holder(partial(read, scale=2))", "holder.function(loss)"),
        ("", "marked(loss)"),
        ("", "wrapped(loss)"),
        ("Mine(model, opt).fit(loader)", "pass"),
    ],
)
def test_follows_a_function_that_a_value_holds(setup: str, step: str) -> None:
    assert "step" in frequencies(setup, step)


@pytest.mark.parametrize(
    ("setup", "step"),
    [
        ("f = partial(read, scale=2)", "pass"),
        ("f = partial(read, scale=2)", "kept = f"),
        ("partial(read, loss)", "partial(read, loss)"),
        ("holder = Holder(read)", "holder"),
        ("readers = {'a': read}", "readers['a']"),
    ],
)
def test_a_function_that_is_only_held_does_not_run(setup: str, step: str) -> None:
    assert "step" not in frequencies(setup, step)


TWO = """def other(x, y, flag=True): return x
f = read if name else other
"""


@pytest.mark.parametrize("call", ["f(loss, loss, False)", "f(loss, y=loss)", "f(loss, loss, flag=name)"])
def test_a_function_that_does_not_take_the_arguments_is_not_meant(call: str) -> None:
    assert "step" not in frequencies(TWO, call)


@pytest.mark.parametrize("call", ["f(loss, 2)", "f(loss, *name)", "f(loss)", "f(loss, scale=2)"])
def test_a_function_that_takes_the_arguments_may_be_meant(call: str) -> None:
    assert "step" in frequencies(TWO, call)


FLAG = """
import torch
def plain(x, w, flag=True):
    if flag:
        return x * w
    return x
def split(x, w, v, other=False):
    return x * w * v
class Net(torch.nn.Module):
    def __init__(self, quadratic=True):
        super().__init__()
        self.fn = plain
        if quadratic:
            self.fn = split
    def forward(self, x):
        return self.fn(x, x, x)
def run(loader):
    net = Net().cuda()
    for x in loader:
        net(x.cuda()).sum().backward()
"""


def test_a_tensor_is_no_flag_of_one_of_two_functions() -> None:
    assert "host-read" not in {fact.kind for fact in facts_by_module({"net": FLAG})["net"]}


@pytest.mark.parametrize("module", ["builtins", "six.moves", "future.builtins"])
def test_a_builtin_may_be_imported(module: str) -> None:
    assert "step" in frequencies(f"from {module} import map, zip", "[*map(read, [loss])]")
    assert "step" in frequencies(f"import {module}", f"[*{module}.map(read, [loss])]")


@pytest.mark.parametrize("module", ["other.moves", "pathos.multiprocessing"])
def test_a_function_called_like_a_builtin_is_another(module: str) -> None:
    assert "step" not in frequencies(f"from {module} import map", "map(read, [loss])")
