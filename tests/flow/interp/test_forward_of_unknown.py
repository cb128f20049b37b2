"""`forward` of an object that is not known is a model call if it is given something."""

from __future__ import annotations

import pytest

from .said import facts, said

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


@pytest.mark.parametrize("call", ["model(x)", "model.forward(x)"])
def test_forward_of_a_model_makes_a_step_as_its_call_does(call: str) -> None:
    text = f"""
class Held(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
    def evaluate(self, sets):
        for rows in sets:
            for x in rows:
                print(self.{call}.sum().item())
Held(nn.Linear(3, 3).cuda()).evaluate(load("x"))
"""
    assert [fact.frequency for fact in facts(text) if fact.kind == "host-read"] == ["step"]
