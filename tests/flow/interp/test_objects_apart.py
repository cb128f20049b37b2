"""Two objects of one class: what the methods of one get says nothing of the other."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

class Meter:
    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.val = self.sum = self.count = self.avg = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count
        self.kept = torch.ones(1, device=device) * n

    @property
    def mean(self):
        return self.sum / self.count

def more(meter, value):
    meter.update(value)

def train(loader):
    losses, times, parts = Meter("loss"), Meter("time"), Meter("part")
    numbers = Meter("number")
    accuracy = Meter("accuracy")
    handed = Meter("handed")
    either = Meter("either")
    either = Meter("either")
    end = time.time()
    for i, batch in enumerate(loader):
        x = batch.to(device)
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        numbers.update(time.time() - end, len(batch))
        accuracy.update(loss)
        either.update(3)
        more(handed, loss)
        SHOWN

train([torch.ones(2, 8)] * 9)
"""


def reads(shown: str) -> list[str]:
    """Return what the host reads in the line that shows meters."""
    return [line for line in said(PROGRAM.replace("SHOWN", shown)) if line.startswith("host-read")]


@pytest.mark.parametrize(
    "shown",
    [
        "print(f'{numbers.avg:.3f} {numbers.val} {numbers.mean}')",
        "print(numbers.avg, numbers.name)",
        "if numbers.sum > 3: print('many')",
    ],
)
def test_an_object_that_gets_numbers_holds_no_tensors(shown: str) -> None:
    assert reads(shown) == []


@pytest.mark.parametrize(
    "shown",
    [
        "print(f'{accuracy.avg:.3f}')",
        "print(f'{accuracy.mean:.3f}')",
        "print(f'{handed.avg:.3f}')",  # another function updates it
        "print(f'{either.avg:.3f}')",  # the name stands for two objects
        "print(f'{numbers.kept}')",  # no argument decides it
    ],
)
def test_any_other_object_holds_what_one_of_its_class_holds(shown: str) -> None:
    assert len(reads(shown)) == 1
