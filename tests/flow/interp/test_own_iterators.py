"""Objects of the project's classes yield what `__next__` or a position gives."""

from __future__ import annotations

import pytest

from .said import said

PADS = """
        part = self.docs[:4]
        longest = LONGEST
        batch = torch.zeros(4, longest).long()
        for i, doc in enumerate(part):
            batch[i, : len(doc)] = torch.tensor(doc)
        return batch
"""
NEXT = f"""
class Batches:
    def __init__(self, docs):
        self.docs = docs
    def __iter__(self):
        return self
    def __next__(self):{PADS}
"""
APART = f"""
class Iterator:
    def __init__(self, docs):
        self.docs = docs
    def __next__(self):{PADS}
class Batches:
    def __init__(self, docs):
        self.docs = docs
    def __iter__(self):
        return Iterator(self.docs)
"""
POSITIONS = f"""
class Batches:
    def __init__(self, docs):
        self.docs = docs
    def __len__(self):
        return len(self.docs)
    def __getitem__(self, number):{PADS}
"""
TRAINS = """
from tqdm import tqdm
def train(docs, model, optimizer):
    model.cuda()
    for x in LOADER:
        loss = model(x.cuda()).sum()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""
LONGEST = "max(len(doc) for doc in part)"


def changing(
    classes: str, longest: str = LONGEST, trains: str = TRAINS, loader: str = "Batches(docs)"
) -> bool:
    program = classes.replace("LONGEST", longest) + trains.replace("LOADER", loader)
    return bool(said(program, "changing-shape"))


@pytest.mark.parametrize("classes", [NEXT, APART, POSITIONS])
@pytest.mark.parametrize("longest", ["64", "SIZE", "min(64, self.size)"])
def test_batches_of_a_fixed_length_are_silent(classes: str, longest: str) -> None:
    assert not changing(classes, longest)


@pytest.mark.parametrize("classes", [NEXT, APART, POSITIONS])
def test_what_no_step_takes_is_silent(classes: str) -> None:
    assert not changing(classes, trains="def count(docs):\n    return sum(x.size(0) for x in LOADER)\n")


@pytest.mark.parametrize("classes", [NEXT, APART, POSITIONS])
@pytest.mark.parametrize("loader", ["Batches(docs)", "tqdm(Batches(docs))", "iter(Batches(docs))"])
def test_batches_of_an_own_loader_differ_in_length(classes: str, loader: str) -> None:
    assert changing(classes, loader=loader)


def test_next_takes_a_batch_of_an_own_loader() -> None:
    trains = TRAINS.replace(
        "for x in LOADER:", "batches = LOADER\n    for _ in range(99):\n        x = next(batches)"
    )
    assert changing(NEXT, trains=trains)


def test_numbered_batches_of_an_own_loader_differ_in_length() -> None:
    trains = TRAINS.replace("for x in LOADER", "for i, x in enumerate(LOADER)")
    assert changing(NEXT, trains=trains)
