"""An evaluation reads in each of its batches, however seldom training calls it."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import facts

PROGRAM = """
def evaluate(model, loader):
    BODY

def train(loader, valid_loader):
    model = nn.Linear(8, 8).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step, x in enumerate(loader):
        model(x.to("cuda")).sum().backward()
        optimizer.step()
        if step % 100 == 0:
            evaluate(model, valid_loader)

train(torch.utils.data.DataLoader(a), torch.utils.data.DataLoader(b))
"""


@pytest.mark.parametrize(
    ("body", "frequency"),
    [
        ("print(model(next(iter(loader)).to('cuda')).mean().item())", "interval"),
        ("for i in range(4): print(model(i).mean().item())", "interval"),
        ("for k in range(count): print(model(batch(k)).mean().item())", "step"),
        ("for x in loader: print(model(x.to('cuda')).mean().item())", "step"),
        ("for i, x in enumerate(loader):\n        if i % 9 == 0: print(model(x.to('cuda')).mean().item())",
         "interval"),
    ],
)  # fmt: skip
def test_frequency_of_reads(body: str, frequency: str) -> None:
    read = [fact for fact in facts(PROGRAM.replace("BODY", body)) if isinstance(fact, HostRead)]
    assert {fact.frequency for fact in read if fact.via == "item"} == {frequency}
