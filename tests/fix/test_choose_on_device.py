"""A random choice between two tensors in a loop becomes `torch.where`."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from xlamig import engine

CODE = """import random

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.rnn = nn.GRUCell(8, 8)
        self.fc = nn.Linear(8, 20)

    def forward(self, trg, h, ratio=0.5):
        tok = trg[:, 0]
        loss = 0
        once = random.random() < ratio
        for t in range(1, trg.shape[1]):
            h = self.rnn(self.embedding(tok), h)
            out = self.fc(h)
            loss = loss + nn.functional.cross_entropy(out, trg[:, t])
            top1 = out.argmax(1)
{choice}
        return loss


model = Decoder().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    loss = model(x.to(device), torch.zeros(4, 8, device=device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
DRAWN = "random.random() < ratio"


def written(choice: str, *grades: str) -> str:
    """Return what becomes of the lines that choose."""
    source = CODE.format(choice=textwrap.indent(choice, " " * 12))
    options = engine.Options(
        {"select": ["XLA305"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset(grades or ("safe", "unsafe")), write=False)
    assert outcome.stdin is not None and not outcome.problems
    head, _, rest = outcome.stdin.text.partition("top1 = out.argmax(1)\n")
    assert "run_on_host" not in head
    return textwrap.dedent(rest.partition("        return loss")[0]).rstrip("\n")


@pytest.mark.parametrize(
    "choice",
    [
        f"tok = self.fc(h).argmax(1) if {DRAWN} else top1",  # work on one side
        f"tok = out if {DRAWN} else top1",  # other shapes
        f"tok = out[:, 0] if {DRAWN} else top1",  # other types
        f"tok = top1 if ratio or {DRAWN} else trg[:, t]",  # may be no bool
        f"tok = top1 if ratio > 0 and len(trg) > 1 and {DRAWN} else trg[:, t]",
        "tok = trg[:, t] if once else top1",  # drawn once: two programs
        f"if {DRAWN}:\n    tok = trg[:, t]\n    loss = loss * 2\nelse:\n    tok = top1",
        f"tok = top1\nif {DRAWN}:\n    h = h * 2",
    ],
)
def test_other_choices_stay(choice: str) -> None:
    assert written(choice) == choice


@pytest.mark.parametrize(
    ("choice", "flag"),
    [
        (f"tok = trg[:, t] if {DRAWN} else top1", DRAWN),
        (f"force = {DRAWN}\ntok = trg[:, t] if force else top1", "force"),
        ("tok = trg[:, t] if np.random.rand() < 0.5 else top1", "np.random.rand() < 0.5"),
        (f"tok = top1 if not {DRAWN} else trg[:, t]", DRAWN),
        (f"if {DRAWN}:\n    tok = trg[:, t]\nelse:\n    tok = top1", DRAWN),
        (f"tok = trg[:, t] if {DRAWN} else top1.detach()", DRAWN),
    ],
)
def test_the_device_chooses(choice: str, flag: str) -> None:
    other = "top1.detach()" if "detach" in choice else "top1"
    expected = f"tok = torch.where(torch.tensor([{flag}], device={other}.device), trg[:, t], {other})"
    above = f"{choice.partition(chr(10))[0]}\n" if choice.startswith("force") else ""
    assert written(choice) == above + expected
    assert written(choice, "safe") == choice


def test_a_flag_without_dimensions_fits_tensors_without() -> None:
    found = written(f"best = top1\nlast = trg[:, t]\ntok = last if {DRAWN} else best")
    assert found.endswith(f"torch.where(torch.tensor([{DRAWN}], device=best.device).squeeze(0), last, best)")


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (
            f"if trg is not None and {DRAWN}:\n    tok = trg[:, t]\nelse:\n    tok = out.argmax(-1)",
            f"tok = torch.where(torch.tensor([{DRAWN}], device=out.device), trg[:, t], out.argmax(-1)) "
            "if trg is not None else out.argmax(-1)",
        ),
        (
            f"tok = trg[:, t] if ratio and {DRAWN} else top1",
            f"tok = torch.where(torch.tensor([{DRAWN}], device=top1.device), trg[:, t], top1) "
            "if ratio else top1",
        ),
        (
            f"tok = out.argmax(1) if {DRAWN} else trg[:, t]",
            f"tok = torch.where(torch.tensor([{DRAWN}], device=trg[:, t].device), out.argmax(1), trg[:, t])",
        ),
    ],
)
def test_what_python_asks_first_stays_a_branch(choice: str, expected: str) -> None:
    assert written(choice) == expected
