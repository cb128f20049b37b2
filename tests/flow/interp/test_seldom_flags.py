"""A flag that holds in some steps lets what it asks for run in those steps only, in functions too."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import facts

PROGRAM = """
def update(model, x, log=False, every=100):
    loss = model(x).sum()
    loss.backward()
    TEST
        print(loss.item())

def train(loader, config):
    model = nn.Linear(8, 8).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step, x in enumerate(loader):
        SET
        update(model, x.to("cuda"), GIVEN)
        optimizer.step()

train(torch.utils.data.DataLoader([]), None)
"""
TRUE = "if step % config.every == 0: log = True\n        else: log = False"


def often(given: str, set_to: str = "pass", test: str = "if log:") -> set[str]:
    """Return how often the loss is read."""
    text = PROGRAM.replace("GIVEN", given).replace("SET", set_to).replace("TEST", test)
    return {fact.frequency for fact in facts(text) if isinstance(fact, HostRead) and fact.via == "item"}


@pytest.mark.parametrize(
    ("given", "set_to"),
    [
        ("True", "pass"),
        ("log", "log = True"),
        ("log", "log = step > 100"),
        ("log", "if config.log: log = True\n        else: log = False"),
        ("log", "log = True\n        if step % 100 == 0: log = False"),
    ],
)
def test_other_flags_hold_every_step(given: str, set_to: str) -> None:
    assert often(given, set_to) == {"step"}


def test_what_runs_where_the_flag_does_not_hold_runs_every_step() -> None:
    assert often("step % 100 == 0", test="if not log:") == {"step"}


@pytest.mark.parametrize(
    ("given", "set_to"),
    [
        ("step % 100 == 0", "pass"),
        ("log=step % 100 == 0 and config.log", "pass"),
        ("log", "log = step % config.every == 0"),
        ("log", TRUE),
        ("log=log", "log = False\n        if step % 100 == 0: log = True"),
    ],
)
@pytest.mark.parametrize("test", ["if log:", "if log and every:"])
def test_flags_of_some_steps(given: str, set_to: str, test: str) -> None:
    assert often(given, set_to, test) == {"interval"}
