"""Flags of whether CUDA is available that decide on pinned memory and on no device."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import DeviceChoice

ITERATOR = """
import torch
class Iterator:
    def __init__(self, loader):
        self.NAME = loader.NAME and torch.cuda.is_available()
        if self.NAME:
            self.index = torch.cuda.current_device()
    def start(self, model):
        if self.NAME:
            BODY
"""
LOADER = """
import torch
from torch.utils.data import DataLoader
def load(data, args, model):
    NAME = args.NAME and torch.cuda.is_available()
    if NAME:
        BODY
    if NAME:
        print("CUDA")
    return DataLoader(data, 4, pin_memory=NAME)
"""


def flags(text: str, name: str, body: str) -> int:
    facts = facts_in(text.replace("NAME", name).replace("BODY", body), DeviceChoice)
    return sum(fact.via == "flag" for fact in facts)


@pytest.mark.parametrize("text", [ITERATOR, LOADER])
@pytest.mark.parametrize("name", ["pin_memory", "use_pin_memory", "pinned", "non_blocking"])
@pytest.mark.parametrize("body", ["stream = torch.cuda.Stream()", "torch.cuda.synchronize()", "pass"])
def test_pinned_memory_decides_no_device(text: str, name: str, body: str) -> None:
    assert flags(text, name, body) == 0


@pytest.mark.parametrize("text", [ITERATOR, LOADER])
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("use_cuda", "stream = torch.cuda.Stream()"),
        ("pin_memory", "model.cuda()"),
        ("pin_memory", "model.to(torch.device('cuda'))"),
        ("pin_memory", "device = 'cuda:0'"),
        ("pinned_to_gpu", "model.cuda()"),
    ],
)
def test_other_flags_do(text: str, name: str, body: str) -> None:
    assert flags(text, name, body) == 1
