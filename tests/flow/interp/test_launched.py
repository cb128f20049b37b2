"""Functions that a launcher starts a program or a process with."""

from __future__ import annotations

import pytest

from .projects import facts_by_module

READ = """
import torch
def read(loss):
    return loss.item()
def nothing(loss):
    return loss
"""
TRAIN = """
import absl.app, accelerate, threading, torch, torch_xla
import multiprocessing
import torch.multiprocessing as mp
from absl import app
from parts import nothing, read

def main(*given):
    report = next((one for one in given if callable(one)), None)
    torch.ones(2, device=torch_xla.device()).sum().item()

def steps(index, report=nothing):
    model = torch.nn.Linear(2, 2).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in [torch.ones(2, 2)] * 9:
        loss = model(x.cuda()).sum()
        report(loss)
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    """


OPTION = """1

def option(fast=False):
    if fast:
        torch.ones(2, device=torch_xla.device()).mean().item()

"""


def frequencies(start: str, module: str = "train") -> set[str]:
    """Return how often the host reads of a module happen."""
    facts = facts_by_module({"parts": READ, "train": TRAIN + start})[module]
    return {fact.frequency for fact in facts if fact.kind == "host-read"}


@pytest.mark.parametrize(
    "start",
    [
        "mp.spawn(main, args=(1,), nprocs=2)",
        "mp.spawn(fn=main, nprocs=2)",
        "mp.start_processes(main, (1,), 2)",
        "torch_xla.launch(main, args=())",
        "app.run(main)",
        "absl.app.run(main)",
        "accelerate.notebook_launcher(main, (1,), num_processes=2)",
        "multiprocessing.Process(target=main, args=(1,)).start()",
        "mp.Process(None, main, args=[1]).start()",
    ],
)
def test_runs_what_a_launcher_starts(start: str) -> None:
    assert frequencies(start) == {"once"}


@pytest.mark.parametrize(
    "start",
    [
        "print(main)",
        "mp.spawn(unknown, args=(main,))",
        "mp.spawn(args=(main,), nprocs=2)",
        "app.call_after_init(main)",
        "multiprocessing.Process(name=main)",
        "threading.Thread(target=main).start()",
    ],
)
def test_runs_nothing_that_is_not_started(start: str) -> None:
    assert frequencies(start) == {"unknown"}


@pytest.mark.parametrize(
    ("start", "read"),
    [
        ("mp.spawn(steps, args=(read,), nprocs=2)", {"step"}),
        ("mp.spawn(steps, args=(nothing,), nprocs=2)", {"unknown"}),
        ("mp.Process(target=steps, args=(0, read)).start()", {"step"}),
        ("accelerate.notebook_launcher(steps, (0, read))", {"step"}),
        ("given = (read,); mp.spawn(steps, given, 2)", {"step"}),
    ],
)
def test_gives_the_function_its_arguments(start: str, read: set[str]) -> None:
    assert frequencies(start, "parts") == read


@pytest.mark.parametrize(
    "start", ["mp.spawn(option, *options)", "mp.Process(target=option, args=options).start()"]
)
def test_takes_no_default_where_the_arguments_are_unknown(start: str) -> None:
    assert "once" in frequencies(OPTION + start)
