"""Moves of modules that hold no tensor."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import ApiUse, DeviceChoice

HEAD = "import torch\nfrom torch import nn\n"


def is_empty(source: str) -> bool:
    """Return whether the last move moves nothing."""
    use = [use for use in facts_in(HEAD + source, ApiUse) if use.name.endswith(".cuda")][-1]
    return "empty" in use.proofs


@pytest.mark.parametrize(
    "source",
    [
        "nn.Linear(1, 1).cuda()",
        "nn.CrossEntropyLoss(torch.ones(3)).cuda()",
        "nn.BCEWithLogitsLoss(pos_weight=w).cuda()",
        "nn.Sequential(nn.ReLU()).cuda()",
        "nn.NLLLoss(*args).cuda()",
        "m = nn.ReLU()\nm = nn.PReLU()\nm.cuda()",
        "class Loss(nn.Module): pass\nLoss().cuda()",
        "nn.TransformerEncoder(layer, 2).cuda()",
    ],
)
def test_a_move_of_something(source: str) -> None:
    assert not is_empty(source)


@pytest.mark.parametrize(
    "source",
    [
        "nn.CrossEntropyLoss().cuda()",
        "nn.CrossEntropyLoss(ignore_index=0).cuda(3)",
        "nn.Softmax(1).train().cuda()",
        "m = nn.MSELoss()\nm.cuda()",
        "m = nn.MSELoss()\nm = m.cuda()",
        "class A(nn.Module):\n def __init__(self): self.loss = nn.L1Loss()\n def f(self): self.loss.cuda()",
    ],
)
def test_a_move_of_nothing(source: str) -> None:
    assert is_empty(source)


@pytest.mark.parametrize(("module", "asked"), [("nn.Linear(1, 1)", 1), ("nn.L1Loss()", 0)])
def test_asks_for_a_gpu_of_a_number(module: str, asked: int) -> None:
    assert len(facts_in(f"{HEAD}def f(args):\n {module}.cuda(args.gpu)", DeviceChoice)) == asked
