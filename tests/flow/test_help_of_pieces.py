"""Advice for pieces that are made one by one, for reads in one process, and for what a mask drops."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.findings import Finding


def found(text: str, code: str) -> list[Finding]:
    options = engine.Options({"select": [code]}, isolated=True, stdin=("run.py", text.encode()))
    return list(engine.check([Path("run.py")], options).findings)


STEP = """import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
def train(model, loader, optimizer, gru, rank):
    model.to("xla")
    for step, (x, lengths, bounds) in enumerate(loader):
        x, lengths = x.to("xla"), lengths.to("xla")
        y = model(x)
        counts = y.round().long()
        mask = lengths > 0
        kept = []
        {line}
        loss = y.sum()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""


def help_of(line: str, code: str) -> str:
    (finding,) = found(STEP.format(line=line.replace("\n", "\n        ")), code)
    return finding.help or ""


JOINED = "If the pieces are joined"


@pytest.mark.parametrize(
    ("line", "is_joined"),
    [
        ("for i, row in enumerate(x):\n    kept.append(row.expand(int(counts[i].item()), -1))", True),
        ("kept = torch.cat([row.repeat(int(n.item()), 1) for row, n in zip(x, counts)])", True),
        (
            "for i, row in enumerate(x):\n    kept.append(torch.zeros(int(counts[i].item()), device='xla'))",
            False,
        ),
        ("y = x[0].expand(int(counts.max()), -1)", False),
    ],
)
def test_repeated_pieces_are_taken_by_indices(line: str, is_joined: bool) -> None:
    assert help_of(line, "XLA205").startswith(JOINED) == is_joined


REGULATOR = """import torch
from torch import nn
class Regulator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)
    def forward(self, x):
        counts = self.fc(x).round()
        kept = []
        for i, row in enumerate(x):
            n = counts[i].item()
            kept.append({piece})
        return torch.cat(kept)
def train(loader):
    model = Regulator().to("xla")
    for x in loader:
        model(x.to("xla")).sum().backward()
        torch_xla.sync()
"""


@pytest.mark.parametrize(
    ("piece", "is_joined"),
    [("row.expand(max(int(n), 0), -1)", True), ("row.new_zeros(max(int(n), 0))", False)],
)
def test_pieces_of_a_module_are_taken_by_indices(piece: str, is_joined: bool) -> None:
    (finding,) = found(REGULATOR.format(piece=piece), "XLA205")
    assert (finding.help or "").startswith(JOINED) == is_joined


@pytest.mark.parametrize(
    ("line", "is_packed"),
    [
        ("n = lengths[mask]\nz = gru(pack_padded_sequence(x, n.cpu(), batch_first=True))", True),
        ("z = gru(pack_padded_sequence(x[mask], bounds, batch_first=True))", True),
        ("n = lengths[mask]\nz = gru(x, n)", False),
        ("n = lengths[mask]\nz = gru(pack_padded_sequence(x, bounds, batch_first=True))", False),
    ],
)
def test_rows_that_are_dropped_before_packing_stay(line: str, is_packed: bool) -> None:
    assert help_of(line, "XLA202").startswith("Keep all rows") == is_packed


PIECES = "kept = [y[start:end] for start, end in bounds]\n"
LONGEST = "longest = max(len(t) for t in kept)\n"


@pytest.mark.parametrize(
    ("line", "help_"),
    [
        (
            f"{PIECES}{LONGEST}kept = [F.pad(t, (0, 0, 0, longest - len(t))) for t in kept]",
            "take the pieces of a device tensor all at once",
        ),
        ("y = F.pad(y, (0, step))", "Pass the same number every step"),
    ],
)
def test_padding_that_makes_pieces_alike_is_an_index(line: str, help_: str) -> None:
    assert help_ in help_of(line, "XLA304")


ONE = "before the `if` that only one process enters"
EVERY = "if step % 100 == 0"


@pytest.mark.parametrize(
    ("line", "code", "help_"),
    [
        (f"{EVERY} and rank == 0:\n    print(f'{{y}}')", "XLA104", ONE),
        (f"{EVERY} and rank == 0:\n    print(y.item())", "XLA101", ONE),
        (f"{EVERY} and rank == 0:\n    kept.append(y.cpu())", "XLA102", ONE),
        (
            f"{EVERY}:\n    print(f'{{y}}')",
            "XLA104",
            "before this line, in every process if there are several",
        ),
        (f"{EVERY}:\n    kept.append(y.item())", "XLA101", "Call `torch_xla.sync()` before the read"),
        (f"{EVERY}:\n    kept.append(y.sum().item())", "XLA101", "Compute `y.sum()` before"),
        (
            f"{EVERY}:\n    kept.append(y.detach().item())",
            "XLA101",
            "Call `torch_xla.sync()` before the read",
        ),
        (
            f"{EVERY}:\n    kept = [p.norm().item() for p in model.parameters()]",
            "XLA101",
            "Compute one tensor from all parameters",
        ),
    ],
)
def test_a_read_in_some_steps_says_where_the_boundary_belongs(line: str, code: str, help_: str) -> None:
    updated = STEP.replace("        {line}\n", "").replace("torch_xla.sync()", "{line}")
    (finding,) = found(updated.format(line=line.replace("\n", "\n        ")), code)
    assert help_ in (finding.help or "")


@pytest.mark.parametrize("code", ["XLA101", "XLA102", "XLA104"])
@pytest.mark.parametrize("test", [EVERY, f"{EVERY} and rank == 0"])
def test_a_read_before_the_backward_pass_moves_below_the_update(test: str, code: str) -> None:
    read = {"XLA101": "print(y.item())", "XLA102": "kept.append(y.cpu())", "XLA104": "print(y)"}[code]
    assert "below the optimizer's update" in help_of(f"{test}:\n    {read}", code)


@pytest.mark.parametrize(
    ("corners", "is_kept"),
    [
        (", align_corners=True", True),
        (", align_corners=c", True),
        (", align_corners=False", False),
        ("", False),
    ],
)
def test_a_replacement_keeps_align_corners(corners: str, is_kept: bool) -> None:
    line = f'y = F.interpolate(y, size=8, mode="linear"{corners})'
    assert ("with the same `align_corners`" in help_of(line, "XLA502")) == is_kept
