"""Operators that get nothing but tensors of the host, also those that a loader gives."""

from __future__ import annotations

import pytest

from xlamig.facts import ApiUse, Interest
from xlamig.flow import facts_of
from xlamig.syntax import module_from_text

from .said import IMPORTS

PROGRAM = """
from torch.utils.data import DataLoader

def count(hard, prob, y):
    low = prob.gather(1, y[:, None]).squeeze(1) < 0.1
    hard += torch.bincount(COUNTED, minlength=10)

def main(dataset):
    model = nn.Linear(8, 10).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    hard = torch.zeros(10)
    for x, y in DataLoader(dataset, 8):
        x, moved = x.cuda(), y.cuda()
        out = model(x)
        loss = F.cross_entropy(out, moved)
        loss.backward()
        optimizer.step()
        count(GIVEN)

main([torch.ones(8)] * 4)
"""


def is_on_host(given: str, counted: str = "y[low]") -> bool:
    whole = IMPORTS + PROGRAM.replace("GIVEN", given).replace("COUNTED", counted)
    interest = Interest(names=frozenset({"torch.bincount"}))
    found = facts_of(module_from_text(whole), whole, "train", False, interest, {}).facts
    (use,) = (fact for fact in found if isinstance(fact, ApiUse) and fact.name == "torch.bincount")
    return "on-host" in use.proofs


@pytest.mark.parametrize("counted", ["y[low]", "y", "y[prob.argmax(1) != y]"])
def test_labels_stay_on_the_host_until_they_are_moved(counted: str) -> None:
    assert is_on_host("hard, out.detach().softmax(1).cpu(), y", counted)


@pytest.mark.parametrize(
    "given", ["hard, out.softmax(1), moved", "hard.cuda(), out.softmax(1), y.to(x.device)"]
)
def test_moved_labels_are_on_the_device(given: str) -> None:
    assert not is_on_host(given)
