"""A tensor that is made for a default is where torch makes it, for calls that leave the argument out."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
class Target(nn.Module):
    def __init__(self, scale=DEFAULT):
        super().__init__()
        self.register_buffer("scale", scale)

    def sample(self, n):
        z = self.scale * torch.rand((n, 2), device=self.scale.device)
        return z[z[:, 0] > 0.5]

def main(model, given):
    device = torch.device("cuda")
    model = nn.Linear(2, 2).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    target = MADE
    for i in range(9):
        x = target.sample(64).to(device)
        model(x).mean().backward()
        optimizer.step()

main(None, None)
"""


def sizes(default: str, made: str) -> list[str]:
    return said(PROGRAM.replace("DEFAULT", default).replace("MADE", made), "dynamic-shape")


@pytest.mark.parametrize("default", ["torch.tensor(6.0)", "torch.tensor([1.0, -2.0])", "torch.ones(2)"])
def test_is_on_the_host_where_the_object_stays(default: str) -> None:
    assert sizes(default, "Target()") == []


@pytest.mark.parametrize(
    ("default", "made"),
    [
        ("torch.tensor(6.0)", "Target().to(device)"),
        ("torch.tensor(6.0)", "Target(given)"),
        ("torch.ones(2, device='cuda')", "Target()"),
        ("made(6.0)", "Target()"),
    ],
)
def test_is_on_the_device_otherwise(default: str, made: str) -> None:
    assert len(sizes(default, made)) == 1
