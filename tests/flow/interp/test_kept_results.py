"""Functions that keep their results by their arguments run once for each, whoever calls them."""

from __future__ import annotations

import pytest

from xlamig.facts import DynamicShape

from .said import facts

TABLE = """
import functools

DECORATOR
def table(size, device):
    made = torch.linspace(-1, 1, size, device=device)
    return made[made > 0]

model = nn.Linear(8, 8).to("cuda")
for x in loader:
    x = x.cuda()
    y = model(x) * table(ARGUMENT, "cuda").sum()
    y.sum().backward()
    torch_xla.sync()
"""


def often(decorator: str, argument: str) -> set[str]:
    """Return how often the table selects by a mask."""
    found = facts(TABLE.replace("DECORATOR", decorator).replace("ARGUMENT", argument))
    return {fact.frequency for fact in found if isinstance(fact, DynamicShape)}


@pytest.mark.parametrize(
    ("decorator", "argument"),
    [("@torch.no_grad()", "8"), ("@functools.wraps(len)", "8"), ("@functools.lru_cache", "x.sum()")],
)
def test_runs_every_step(decorator: str, argument: str) -> None:
    assert often(decorator, argument) == {"step"}


@pytest.mark.parametrize("decorator", ["@functools.cache", "@functools.lru_cache(maxsize=2)"])
def test_runs_once_for_the_same_arguments(decorator: str) -> None:
    assert often(decorator, "8") == {"once"}
