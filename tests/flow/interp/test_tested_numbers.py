"""Parameters of a forward pass that a test compares with a number: the step of an agent, or a tensor."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, t, **kwargs):
        if TEST:
            self.state = None
        USE

agent = Agent().to(torch_xla.device())
for i in range(100):
    agent(GIVEN)
    torch_xla.sync()
"""


def reads(test: str, use: str, given: str = "i") -> list[str]:
    """Return what the host tests of tensors."""
    text = PROGRAM.replace("TEST", test).replace("USE", use).replace("GIVEN", given)
    return said(text, "host-read")


@pytest.mark.parametrize("test", ["t == 0", "t > 0", "t != 3", "t <= 2"])
def test_a_parameter_that_is_only_compared_with_a_number_is_one(test: str) -> None:
    assert reads(test, "self.set(('action', t), self.lin(self.get(('obs', t))))") == []


@pytest.mark.parametrize("test", ["t == 0", "t > 0"])
def test_a_parameter_that_a_layer_gets_is_a_tensor(test: str) -> None:
    assert reads(test, "return self.lin(t)", "torch.ones(8, device=torch_xla.device())") == [
        f"host-read truth: {test}"
    ]
