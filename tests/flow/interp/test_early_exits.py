"""How often the code below an early exit runs."""

from __future__ import annotations

import pytest

from .said import facts

PROGRAM = """
EVERY = 100
net = nn.Linear(3, 3).to(torch_xla.device())
optimizer = torch.optim.SGD(net.parameters(), 0.1)

class Meter:
    def log(self, loss, step, every=DEFAULT):
        IN_METHOD
        self.write(loss, step)
    def write(self, loss, step):
        print(loss.item())

class Board:
    def __init__(self):
        self.meter = Meter()
    def log(self, loss, step):
        IN_CALLER
        self.meter.log(loss, step)

def train(loader, rank, world_size):
    board = Board()
    for step, x in enumerate(loader):
        IN_LOOP
        loss = net(x.to(torch_xla.device())).sum()
        loss.backward()
        optimizer.step()
        board.log(loss, step)

train([], 0, 8)
"""


def frequency(
    in_method: str = "pass", in_caller: str = "pass", in_loop: str = "pass", default: str = "EVERY"
) -> list[str]:
    """Return how often the loss is read."""
    text = PROGRAM.replace("IN_METHOD", in_method).replace("IN_CALLER", in_caller)
    text = text.replace("IN_LOOP", in_loop).replace("DEFAULT", default)
    return [fact.frequency for fact in facts(text) if fact.kind == "host-read"]


@pytest.mark.parametrize(
    "test", ["step % every != 0", "step % every", "not step % 50 == 0", "loss is None or step % every != 0"]
)
def test_past_an_exit_for_most_steps_a_method_runs_in_some(test: str) -> None:
    assert frequency(f"if {test}: return") == ["interval"]
    assert frequency(in_caller=f"if {test.replace('every', 'EVERY')}: return") == ["interval"]


def test_past_a_continue_for_most_steps_an_iteration_runs_in_some() -> None:
    assert frequency(in_loop="if step % 10 != 0: continue") == ["interval"]


@pytest.mark.parametrize(
    "exit_",
    [
        "if step % every == 0: return",
        "if step < every: return",
        "if step % every != 0: print(step)",
        "if loss is not None and step % every != 0: return",
    ],
)
def test_other_exits_keep_the_frequency(exit_: str) -> None:
    assert frequency(exit_) == ["step"]


@pytest.mark.parametrize("test", ["step % world_size != rank", "step % 10 == 0"])
def test_an_iteration_past_other_exits_is_a_step(test: str) -> None:
    assert frequency(in_loop=f"if {test}: continue") == ["step"]


def test_what_follows_the_block_of_an_exit_runs_as_often_as_before() -> None:
    inner = "for k in range(2):\n            if step % every != 0: continue\n            pass"
    assert frequency(inner) == ["step"]


@pytest.mark.parametrize("test", ["step % every != 0", "not self.should_log(step, every)"])
@pytest.mark.parametrize(("default", "found"), [("1", "step"), ("50", "interval"), ("None", "interval")])
def test_an_interval_of_one_step_leaves_none_out(test: str, default: str, found: str) -> None:
    past = f"if {test}: return\n        print(loss.item())"
    assert frequency(past, default=default)[0] == found
    inside = f"if not ({test}): print(loss.item())"
    assert frequency(inside, default=default)[0] == found
