"""Batches that are padded by hand to their longest sample get one of few lengths."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

CODE = """import torch
from torch.utils.data import DataLoader

PAD = 0
device = torch.device("cuda")


def collate(batch):
    {length}
    rows = torch.full((len(batch), longest), PAD)
    {more}
    for i, row in enumerate(batch):
        rows[i, : len(row)] = torch.tensor(row)
    return rows


for rows in DataLoader(data, 8, collate_fn=collate):
    {step}
"""
LENGTH = "longest = max(len(row) for row in batch)"
STEP = "loss = net(rows.to(device), (rows != PAD).to(device))"


def fixed(length: str = LENGTH, more: str = "pass", step: str = STEP) -> list[str]:
    source = CODE.format(length=length, more=more, step=step)
    options = engine.Options(
        {"select": ["XLA904"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode())
    )
    assert not engine.fix([Path("a.py")], options, frozenset({"safe"}), write=False).files
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe", "unsafe"}), write=False)
    assert outcome.stdin is not None
    if outcome.stdin.text != source:
        assert not [f for f in outcome.after.findings if f.severity != "info"]
    old = source.splitlines()
    return [line.strip() for line in outcome.stdin.text.splitlines() if line not in old]


@pytest.mark.parametrize(
    ("more", "step"),
    [
        ("pass", "loss = net(rows.to(device))"),
        ("rows = pad_sequence(list(map(torch.tensor, batch)), batch_first=True)", STEP),
        ("pass", "net(torch.nn.utils.rnn.pack_padded_sequence(rows.to(device), n), rows != PAD)"),
        ("lengths = torch.tensor(list(map(len, batch)))\n    mask = torch.arange(lengths.max())", STEP),
    ],
)
def test_more_padding_may_matter(more: str, step: str) -> None:
    assert fixed(more=more, step=step) == []


def test_a_length_in_the_model_may_have_to_be_equal() -> None:
    net = "class Net(torch.nn.Module):\n    def forward(self, x, lengths):\n        return make(max(lengths))"
    assert fixed(step=f"{STEP}\n\n{net}") == []


@pytest.mark.parametrize(
    ("length", "written"),
    [
        (LENGTH, "longest = -(-max(len(row) for row in batch) // 128) * 128"),
        (
            "lengths = [len(row) for row in batch]\n    longest = max(lengths)",
            "longest = -(-max(lengths) // 128) * 128",
        ),
        ("longest = max(map(len, batch)) + 1", None),
    ],
)
def test_the_length_is_rounded_up(length: str, written: str | None) -> None:
    assert fixed(length) == ([written] if written else [])


def test_each_place_that_computes_the_length_is_rounded_up() -> None:
    found = fixed(more="mask = torch.zeros(len(batch), max(len(row) for row in batch))")
    length = "-(-max(len(row) for row in batch) // 128) * 128"
    assert found == [f"longest = ({length})", f"mask = torch.zeros(len(batch), ({length}))"]


def test_a_function_that_another_file_calls_is_changed_once(tmp_path: Path) -> None:
    head, _, loop = CODE.format(length=LENGTH, more="pass", step=STEP).partition("\n\nfor")
    (tmp_path / "data.py").write_text(head.replace("import torch\n", "import torch\nmask = None\n", 1) + "\n")
    train = "import torch\nfrom data import DataLoader, collate, device, PAD\n\nfor"
    (tmp_path / "train.py").write_text(train + loop)
    options = engine.Options({"select": ["XLA904"]}, isolated=True, jobs=1, cache=False)
    outcome = engine.fix([tmp_path], options, frozenset({"safe", "unsafe"}), write=False)
    assert not outcome.problems and [Path(file.filename).name for file in outcome.files] == ["data.py"]
    assert outcome.files[0].new.count("// 128") == 1
