"""A function that performs one update runs every step, though nothing in sight calls it."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import facts, said

AGENT = """
from framework import Base, build_loss

class Agent(Base):
    def __init__(self, options):
        super().__init__(options)
        self.net = nn.Linear(4, 4).cuda()
        self.optimizer_g = torch.optim.Adam(self.net.parameters())
        self.pixel = build_loss(options["pixel"]).cuda() if options else None

    def update(self, x: torch.Tensor):
        BODY
        self.seen = loss.item()
"""


def frequencies(body: str, after: str = "") -> set[str]:
    text = AGENT.replace("BODY", body.replace("\n", "\n        ")) + after
    return {fact.frequency for fact in facts(text) if isinstance(fact, HostRead)}


LOSS = "loss = self.net(x.cuda()).sum()\n"
UPDATE = "loss.backward()\nself.optimizer_g.step()"


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (LOSS + "loss.backward()", ""),
        (LOSS + "self.optimizer_g.step()", ""),
        (LOSS + "loss.backward()\nself.game.step()", ""),  # of no optimizer
        (LOSS + "made = torch.optim.SGD(self.net.parameters(), 0.1)\nloss.backward()\nmade.step()", ""),
        (LOSS + UPDATE, "\nAgent({}).update(torch.ones(2, 4))"),  # once
    ],
)
def test_other_functions_do_not_run_every_step(body: str, after: str) -> None:
    assert "step" not in frequencies(body, after)


@pytest.mark.parametrize(
    "body",
    [
        LOSS + UPDATE,
        LOSS
        + "if self.scaler:\n    self.scaler.scale(loss).backward()\n    self.scaler.step(self.optimizer_g)",
    ],
)
def test_an_update_runs_every_step(body: str) -> None:
    assert frequencies(body) == {"step"}


@pytest.mark.parametrize(("use", "read"), [("self.pixel(loss, x)", False), ("loss * self.pixel", True)])
def test_what_is_called_is_no_tensor_where_it_is_tested(use: str, read: bool) -> None:
    body = f"{LOSS}if self.pixel:\n    loss = {use}\n{UPDATE}"
    text = AGENT.replace("BODY", body.replace("\n", "\n        "))
    assert any("truth" in fact for fact in said(text)) is read


GAME = """
def pick(model, x, steps):
    for _ in range(steps):
        x = model(x)
    return x

def play(game):
    model = nn.Linear(8, 8).cuda()
    x = torch.randn(1, 8, device="cuda")
    while game.goes_on():
        x = pick(model, x, STEPS)
        game.move(x.cpu())

play(make())
"""


@pytest.mark.parametrize(("steps", "frequency"), [("20", "epoch"), ("1", "step")])
def test_a_loop_that_the_caller_asks_once_for_is_a_part_of_the_loop_around_it(
    steps: str, frequency: str
) -> None:
    reads = [fact for fact in facts(GAME.replace("STEPS", steps)) if isinstance(fact, HostRead)]
    assert [fact.frequency for fact in reads] == [frequency]
