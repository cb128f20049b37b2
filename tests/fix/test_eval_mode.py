"""A model in evaluation mode whose input gets a gradient gets one on XLA too."""

from __future__ import annotations

import pytest
from tests.fix.test_flow_fixes import fixed

CODE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x):
        return self.norm(x)

def attack(model, x):
    {mode}
    x.requires_grad_()
    model(x).sum().backward()
    return x.grad

attack(Net().to(device), batch.to(device))
"""


def mode(code: str) -> list[str]:
    """Return the line that chooses the mode, if the fix changes it; without the definition in the file."""
    lines = fixed(CODE.format(mode=code), "XLA510")
    return [line for line in lines if "eval_mode(" in line and not line.startswith("def ")]


@pytest.mark.parametrize(
    ("before", "after"), [("model.eval()", "eval_mode(model)"), ("m = model.eval()", "m = eval_mode(model)")]
)
def test_the_helper_puts_it_into_evaluation_mode(before: str, after: str) -> None:
    assert mode(before) == [after]


@pytest.mark.parametrize("before", ["model.train()", "model.train(False)", "make(model).eval()"])
def test_other_modes_stay(before: str) -> None:
    assert mode(before) == []
