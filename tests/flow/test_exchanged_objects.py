"""Advice on sizes of bytes that processes exchange."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

PROGRAM = """import pickle
import torch
import torch.distributed as dist

def gather(data, world):
    {0}
    size = torch.tensor([tensor.numel()], device="xla")
    sizes = [torch.zeros_like(size) for _ in range(world)]
    dist.all_gather(sizes, size)
    largest = max([int(one.item()) for one in sizes])
    parts = [torch.empty((largest,), dtype=torch.uint8, device="xla") for _ in sizes]
    dist.all_gather(parts, tensor)
    return parts
"""


@pytest.mark.parametrize(
    ("made", "pickled"),
    [
        ("tensor = torch.frombuffer(pickle.dumps(data), dtype=torch.uint8).to('xla')", True),
        ("tensor = data.flatten().to('xla')", False),
    ],
)
def test_objects_are_exchanged_without_tensors(made: str, pickled: bool) -> None:
    text = PROGRAM.format(made)
    options = engine.Options({"select": ["XLA205"]}, isolated=True, stdin=("train.py", text.encode()))
    helps = [f.help or "" for f in engine.check([Path("train.py")], options).findings]
    assert helps and all(("pickle.loads" in text) is pickled for text in helps)
