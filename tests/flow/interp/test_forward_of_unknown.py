"""`forward` of an object that is not known is a model call if it is given something."""

from __future__ import annotations

import pytest

from .said import said

TEXT = """
class Renderer:
    def __init__(self, env):
        self.env = env

    def show(self, state):
        self.env.state[:] = state
        self.env.sim.FORWARD
        return self.env.render(512)

    def shows(self, states):
        images = []
        for state in states:
            images.append(self.show(state))
        return images

Renderer(make("env")).shows(load("x"))
"""


@pytest.mark.parametrize(
    ("forward", "found"), [("forward()", []), ("forward(state)", ["step-boundary none"])]
)
def test_a_loop_of_forwards(forward: str, found: list[str]) -> None:
    boundaries = said(TEXT.replace("FORWARD", forward), "step-boundary")
    assert [line.partition(":")[0] for line in boundaries] == found
