"""Tests of a parameter that callers may leave out: whether one passes a tensor is seen at the calls."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import facts

MODEL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, weights=DEFAULT):
        if weights:
            x = x * weights.view(1, 8)
        return self.fc(x)

model = Net().to("cuda")
optimizer = torch.optim.SGD(model.parameters())

def train(loader):
    for x in loader:
        x = x.cuda()
        model(ARGUMENTS).sum().backward()
        optimizer.step()
        torch_xla.sync()
"""


def reading_tests(default: str, arguments: str, text: str = MODEL) -> int:
    """Return how many tests read a tensor on the host."""
    found = facts(text.replace("DEFAULT", default).replace("ARGUMENTS", arguments))
    return sum(isinstance(f, HostRead) and f.via == "truth" and f.confidence != "possible" for f in found)


@pytest.mark.parametrize("default", ["None", "False"])
def test_what_the_branch_does_with_a_parameter_is_no_caller(default: str) -> None:
    assert reading_tests(default, "x") == 0
    assert reading_tests(default, "", MODEL[: MODEL.index("model =")]) == 0


@pytest.mark.parametrize("default", ["None", "False"])
def test_a_tensor_that_a_caller_passes_is_read(default: str) -> None:
    assert reading_tests(default, "x, weights=(x > 0).any()") == 1
    assert reading_tests(default, "x, x.sum()") == 1
