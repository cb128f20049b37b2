"""Classes of a module that derive from torch's wrappers for several devices."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import ApiUse, Interest

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n"
NAMES = ("torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel")


def wrapped(source: str) -> list[str]:
    uses = facts_in(
        HEAD + source, ApiUse, interest=Interest(kinds=frozenset({"api-use"}), names=frozenset(NAMES))
    )
    return [f"{use.spelled} {use.name}" for use in uses if use.via == "call" and use.name in NAMES]


@pytest.mark.parametrize(
    "source",
    [
        "class A(nn.Module): pass\nA(m)",
        "class A(nn.DataParallel):\n def forward(self, x): return x\nA(m)",
        "class A(DDP):\n def __init__(self, m): super().__init__(m)\nA(m)",
        "class A(Base, nn.DataParallel): pass\nA(m)",
        "class A(nn.DataParallel): pass\nA = other\nA(m)",
        "class A(nn.DataParallel): pass\nisinstance(m, A)",
    ],
)
def test_leaves_other_classes_alone(source: str) -> None:
    assert wrapped(source) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("class A(nn.DataParallel):\n def gather(self, *x): return x\nA(m)", "A torch.nn.DataParallel"),
        ("class A(nn.DataParallel): pass\nA(m)", "A torch.nn.DataParallel"),
        ("class A(DDP): pass\nA(m, device_ids=[rank])", "A torch.nn.parallel.DistributedDataParallel"),
        (
            "class A(torch.nn.DataParallel):\n def __getattr__(self, n): return 1\ndef f(): A(m).cuda()",
            "A torch.nn.DataParallel",
        ),
    ],
)
def test_finds_subclasses_that_run_as_their_base(source: str, found: str) -> None:
    assert wrapped(source) == [found]
