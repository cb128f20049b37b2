"""Batches that are objects of their own move in place, tensors do not."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import Transfer

from .said import said

SOURCE = """import torch
from torch import nn
from torch.utils.data import DataLoader

device = torch.device("xla")
net = nn.Linear(3, 3).to(device)
for batch in DataLoader(graphs):
    {moved}
    net({given})
"""


def left(moved: str, given: str) -> list[str]:
    facts = facts_in(SOURCE.format(moved=moved, given=given), Transfer)
    return [fact.tensor for fact in facts if fact.via == "missing"]


@pytest.mark.parametrize("move", ["batch.to(device)", "batch.cuda()"])
def test_a_batch_whose_move_gives_nothing_to_a_name_moves_itself(move: str) -> None:
    assert left(move, "batch.x") == []


@pytest.mark.parametrize(
    ("moved", "given"),
    [("pass", "batch.x"), ("batch.to('cpu')", "batch.x"), ("x = torch.ones(3); x.to(device)", "x")],
)
def test_what_does_not_move_is_on_the_host(moved: str, given: str) -> None:
    assert left(moved, given) == [given]


UNKNOWN = """
from graphs import load

device = torch_xla.device()
net = nn.Linear(3, 3).to(device)
for batch in load():
    {moved}
    net(batch.x).sum().backward()
    print(batch.y.cpu())
"""


@pytest.mark.parametrize("moved", ["batch.to('cpu')", "other.to(device)", "x = batch.to(device)"])
def test_a_batch_of_unknown_type_that_stays_is_not_read(moved: str) -> None:
    assert said(UNKNOWN.format(moved=moved), "host-read") == []


@pytest.mark.parametrize("moved", ["batch.to(device)", "batch.cuda()"])
def test_a_batch_of_unknown_type_moves_itself(moved: str) -> None:
    assert said(UNKNOWN.format(moved=moved), "host-read") == ["host-read copy: batch.y.cpu()"]
