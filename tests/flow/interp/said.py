"""The interpreter's events for a few lines."""

from __future__ import annotations

from textwrap import dedent

from xlamig.facts import Fact, Interest
from xlamig.flow import facts_of
from xlamig.syntax import module_from_text

KINDS = frozenset(
    {
        "host-read", "dynamic-shape", "changing-constant", "changing-shape", "changing-path",
        "negative-slice", "step-boundary", "module-move", "transfer", "timing",
    }
)  # fmt: skip
IMPORTS = """import math, random, time, torch, torch_xla
import torch.nn.functional as F
from torch import nn
"""


def facts(text: str) -> list[Fact]:
    """The interpreter's facts of a module."""
    whole = IMPORTS + dedent(text)
    found = facts_of(module_from_text(whole), whole, "train", False, Interest(), {}).facts
    return [fact for fact in found if fact.kind in KINDS]


def said(text: str, kind: str = "", sure: bool = True) -> list[str]:
    """Kind, `via` and text of each fact, of those that are at least likely."""
    whole = IMPORTS + dedent(text)
    return [
        f"{fact.kind} {getattr(fact, 'via', getattr(fact, 'boundary', ''))}: {whole[slice(*fact.span)]}"
        for fact in facts(text)
        if fact.kind.startswith(kind) and (not sure or fact.confidence != "possible")
    ]


STEP = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(loader, extra):
    for i, batch in enumerate(loader):
        x = batch.to(device)
        loss = model(x).sum()
        BODY
        loss.backward()
        optimizer.step()
        torch_xla.sync()

train([torch.ones(2, 8)] * 9, None)
"""


def in_step(body: str, kind: str = "", sure: bool = True) -> list[str]:
    """Return the events of lines in a training step, without its loop and the copy of the batch."""
    lines = dedent(body).strip("\n").replace("\n", "\n        ")
    found = said(STEP.replace("BODY", lines), kind, sure)
    return [line for line in found if not line.startswith(("step-boundary", "transfer batch"))]
