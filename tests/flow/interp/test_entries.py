"""Entries of the mappings that models return: numbers of Python among tensors."""

from __future__ import annotations

from textwrap import indent

import pytest
from tests.flow.interp.said import said

PROGRAM = """
class Net(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.k = k

    def forward(self, x):
BODY

device = torch_xla.device()
model = Net(3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in [torch.ones(2, 4)] * 9:
    out = model(x.to(device))
    for i in range(out["k"]):
        print(i)
    out["loss"].backward()
    optimizer.step()
    torch_xla.sync()
"""


def reads(body: str) -> list[str]:
    """Return the reads of the host in a program whose model does this."""
    return said(PROGRAM.replace("BODY", indent(body, " " * 8)), "host-read")


@pytest.mark.parametrize(
    "body",
    [
        "out = {'loss': self.lin(x).mean()}\nout.update(k=self.k)\nreturn out",
        "out = {'loss': self.lin(x).mean()}\nout.update({'k': self.k}, n=x)\nreturn out",
        "out = {'loss': self.lin(x).mean(), 'k': x}\nout.update({'k': len(x)})\nreturn out",
        "out = {}\nout['loss'] = self.lin(x).mean()\nout['k'] = self.k\nreturn out",
        "return dict(loss=self.lin(x).mean(), k=self.k)",
    ],
)
def test_a_number_that_a_model_returns_is_no_tensor(body: str) -> None:
    assert not reads(body)


@pytest.mark.parametrize(
    "body",
    [
        "out = {'loss': self.lin(x).mean()}\nout.update(k=x.sum().long())\nreturn out",
        "out = {'loss': self.lin(x).mean(), 'k': 3}\nout.update({'k': x.sum().long()})\nreturn out",
    ],
)
def test_a_tensor_that_a_model_returns_is_read(body: str) -> None:
    assert reads(body) == ['host-read builtin: range(out["k"])']


UNKNOWN = """
def train(model, loader, optimizer, device):
    model = model.to(device)
    for x in loader:
        out = model(x.to(device))
        USE
        out["loss"].backward()
        optimizer.step()
        torch_xla.sync()
"""


@pytest.mark.parametrize(
    ("use", "sure"),
    [
        ("for i in range(out['n']): pass", False),
        ("if out['n'] in (1, 2): pass", False),
        ("y = [1, 2][out['n']]", False),
        ("for i in range(out): pass", True),
        ("print(out['loss'].item())", True),
    ],
)
def test_an_integer_of_an_unknown_result_is_only_possibly_a_tensor(use: str, sure: bool) -> None:
    text = UNKNOWN.replace("USE", use)
    assert said(text, "host-read", sure=False)
    assert bool(said(text, "host-read")) is sure
