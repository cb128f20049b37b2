"""A method of a model that joins what it gets with more of it hands no state on: its loop grows (XLA302)."""

import pytest

from xlamig.facts import StepBoundary

from .said import facts

PROGRAM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRUCell(8, 8), nn.Linear(8, 8)

    def forward(self, state):
        return self.head(self.cell(state, state))

    def step(self, state):
        out = self(state)
        METHOD
        return state, out

    @torch.no_grad()
    def sample(self, state, count):
        for _ in range(count):
            state, out = self.step(state)
            if (out == 3).all():
                break
        return state

model = Model().to("xla")
model.sample(torch.zeros(4, 8, device="xla"), 500)
"""


def states_left(method: str) -> list[str]:
    found = facts(PROGRAM.replace("METHOD", method))
    return [fact.state for fact in found if isinstance(fact, StepBoundary)]


@pytest.mark.parametrize("method", ["state = out", "state = self.head(torch.cat((state, out), dim=1))"])
def test_a_state_that_the_model_gives_back_is_left(method: str) -> None:
    assert states_left(method) == ["state"]


@pytest.mark.parametrize(
    "method", ["state = torch.cat((state, out))", "state = torch.cat([state, out], dim=1)"]
)
def test_what_grows_is_no_state(method: str) -> None:
    assert states_left(method) == [""]
