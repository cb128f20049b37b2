"""Events that callers in other files find in a file, after a fix has changed its text."""

from __future__ import annotations

import pytest

from xlamig.facts import Fact, HostRead, StepBoundary
from xlamig.flow.interp.visits import SentEvent, Visit, relocated

OLD = """def train(net, loader, optimizer):
    for x in loader:
        net(x).sum().backward()
        optimizer.step()


def test(net):
    return net
"""
STEP = "optimizer.step()"


def events(fact: type[Fact], new: str) -> list[str]:
    """Return the text of what is still known of the update, after the text has changed."""
    start = OLD.index(STEP)
    spot = ("Expr", start, start + len(STEP))
    event = SentEvent(fact, spot, spot, (), 3, "step", (), (), (), (), 0, ())
    return [new[slice(*one.node[1:])] for one in relocated(Visit((event,)), OLD, new).events]


@pytest.mark.parametrize(
    "added",
    [
        f"{STEP}\n        step_boundary()",
        f"{STEP}\n    step_boundary()",
        f"{STEP}\n        wait_for_device()",
        f"{STEP}\n        torch_xla.sync()",
    ],
)
def test_a_boundary_may_be_there_now(added: str) -> None:
    new = OLD.replace(STEP, added)
    assert events(StepBoundary, new) == []
    assert events(HostRead, new) == [STEP]


@pytest.mark.parametrize(
    "new",
    [
        OLD,
        f"from xla_compat import step_boundary\n{OLD}",
        OLD.replace("    for x", "    net.train()\n    for x"),
        OLD.replace("    return net", "    step_boundary()\n    return net"),
        OLD.replace(STEP, f"{STEP}\n        total += x.to(default_device())"),
    ],
)
def test_lines_elsewhere_are_no_boundary_of_the_loop(new: str) -> None:
    assert events(StepBoundary, new) == [STEP]


def test_a_changed_line_is_left_out() -> None:
    assert events(HostRead, OLD.replace(STEP, "optimizer.step(None)")) == []
