"""Classes that load batches, move them to the device and compute with them: each batch is a step."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import facts

LOADER = """
from torch.utils.data import DataLoader

device = torch_xla.device()

class Prefetcher:
    def __init__(self, loader, norm):
        self.loader = loader
        self.norm = norm

    def NAME(self):
        BODY

    def preload(self, it):
        self.batch = next(it).to(device)

    def next(self, it):
        batch = self.batch
        self.preload(it)
        return batch

class Norm:
    def __init__(self):
        self.mean = torch.ones(3).to(device)

    def __call__(self, image):
        if torch.max(image) > 1:
            image = image / 255
        return image - self.mean

def train(data, model, optimizer):
    for i, batch in enumerate(Prefetcher(DataLoader(data), Norm())):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""
MOVED = """
        it = iter(self.loader)
        self.preload(it)
        batch = self.next(it)
        while batch is not None:
            yield self.norm(batch)
            batch = self.next(it)
"""
DIRECT = """
        for batch in self.loader:
            yield self.norm(batch.to(device))
"""
ON_HOST = """
        for batch in self.loader:
            yield self.norm(batch)
"""
SETUP = """
        table = self.norm(torch.ones(3).to(device))
        for batch in self.loader:
            yield batch, table
"""


def often(body: str, name: str = "__iter__") -> set[str]:
    text = LOADER.replace("BODY", body.strip()).replace("NAME", name)
    return {fact.frequency for fact in facts(text) if isinstance(fact, HostRead)}


@pytest.mark.parametrize("body", [MOVED, DIRECT])
def test_each_batch_is_a_step(body: str) -> None:
    assert "step" in often(body)


@pytest.mark.parametrize("body", [ON_HOST, SETUP])
def test_what_is_not_computed_for_each_batch_is_none(body: str) -> None:
    assert "step" not in often(body)
