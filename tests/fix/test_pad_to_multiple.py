"""Batches that are padded to their longest sample get one of few lengths."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

HEAD = """import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD = 1
device = torch.device("cuda")
"""
COLLATE = """
def collate(samples):
    batch = {made}
    {more}
    return batch

loader = DataLoader(data, 8, collate_fn=collate)
for batch in loader:
    {step}
"""
STEP = "loss = net(batch.to(device), batch != PAD)"


def fixed(made: str, more: str = "", step: str = STEP) -> list[str]:
    source = HEAD + COLLATE.format(made=made, more=more, step=step)
    options = engine.Options(
        {"select": ["XLA904"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe", "unsafe"}), write=False)
    assert outcome.stdin is not None
    again = engine.Options(
        {"select": ["XLA904"]},
        isolated=True,
        jobs=1,
        cache=False,
        stdin=("a.py", outcome.stdin.text.encode()),
    )
    if outcome.stdin.text != source:
        left = engine.check([Path("a.py")], again).findings
        assert [f.message for f in left if f.severity != "info"] == []
    old = source.splitlines()
    return [line.strip() for line in outcome.stdin.text.splitlines() if line not in old]


@pytest.mark.parametrize(
    ("made", "axis", "value"),
    [
        ("pad_sequence(samples, batch_first=True, padding_value=PAD)", 1, "PAD"),
        ("pad_sequence(samples, True)", None, None),
        ("pad_sequence(samples, padding_value=PAD)", 0, "PAD"),
        ("pad_sequence([s['x'] for s in samples], batch_first=True)", 1, "0"),
        ("pad_sequence(samples, batch_first=first)", None, None),
        ("pad_sequence(samples, batch_first=True, padding_side='left')", None, None),
    ],
)
def test_a_batch_is_padded_below(made: str, axis: int | None, value: str | None) -> None:
    amounts = f"[0, 0] * (batch.dim() - {(axis or 0) + 1}) + [0, -batch.size({axis}) % 128]"
    line = f"batch = torch.nn.functional.pad(batch, {amounts}, value={value})"
    assert fixed(made, step=STEP.replace("PAD", value or "PAD")) == ([line] if value else [])


@pytest.mark.parametrize(
    ("more", "step"),
    [
        ("lengths = max(len(s) for s in samples)", STEP),
        ("", "loss = net(batch.to(device))"),
        ("", "net(torch.nn.utils.rnn.pack_padded_sequence(batch.to(device), n), batch != PAD)"),
    ],
)
def test_more_padding_may_matter(more: str, step: str) -> None:
    assert fixed("pad_sequence(samples, batch_first=True, padding_value=PAD)", more, step) == []


def test_a_tokenizer_pads_to_a_multiple() -> None:
    call = "tokenizer(samples, padding=True, return_tensors='pt')"
    assert fixed(call) == [f"batch = {call[:-1]}, pad_to_multiple_of=128)"]


PADS = """import torch
from torch.nn.utils.rnn import pad_sequence


def collate(samples):
    texts, labels = zip(*samples)
    lengths = torch.tensor([len(text) for text in texts])
    batch = pad_sequence([torch.tensor(text) for text in texts], batch_first=True)
    return batch, lengths, torch.tensor(labels)
"""
TRAINS = """import torch
from data import collate
from model import Net
from torch.utils.data import DataLoader

device = torch.device("cuda")
net = Net().to(device)
for batch, lengths, labels in DataLoader(torch.load("rows.pt"), 8, collate_fn=collate):
    loss = net(batch.to(device), lengths.to(device), labels.to(device))
"""
MASKS = "mask = torch.arange(x.size(1), device=x.device)[None] < lengths[:, None]"


@pytest.mark.parametrize(
    ("line", "padded"),
    [
        (MASKS, True),
        ("embedding = torch.nn.Embedding(99, 8, padding_idx=0)", True),
        ("hidden = self.rnn(x)", False),
        ("mask = torch.arange(max(lengths))[None] < lengths[:, None]", False),
        ("mask = torch.arange(lengths.max())[None] < lengths[:, None]", False),
        ("mask, x = None, pack_padded_sequence(x, lengths, batch_first=True)", False),
    ],
)
def test_another_file_says_what_becomes_of_the_padding(
    line: str, padded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    net = f"import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x, lengths):\n        {line}\n"
    files = {
        "data.py": PADS,
        "train.py": TRAINS,
        "model.py": net,
        "other.py": f"def other(x):\n    {MASKS}\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    options = engine.Options({"select": ["XLA904"]}, isolated=True, jobs=1, cache=False)
    outcome = engine.fix([Path()], options, frozenset({"safe", "unsafe"}), write=False)
    lines = [line for file in outcome.files for line in file.new.splitlines() if "functional.pad(" in line]
    assert len(lines) == padded
    assert not engine.fix([Path()], options, frozenset({"safe"}), write=False).files


NAMED = "[0, 0] * ({0}.dim() - 2) + [0, -{0}.size(1) % 128], value=0)"


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("return pad_sequence(samples, True) if samples else None", ""),
        ("return (lambda: pad_sequence(samples, batch_first=True))()", ""),
        ("return [pad_sequence(s, batch_first=True) for s in samples]", ""),
        ("return pad_sequence(samples, batch_first=True)", "return padded"),
        ("return pad_sequence(samples, batch_first=True).long(), mask", "return padded.long(), mask"),
        ("return {'x': pad_sequence(samples, batch_first=True)}", "return {'x': padded}"),
        (
            "samples = {'x': pad_sequence(samples, batch_first=True)}\n    return samples",
            "samples = {'x': padded}",
        ),
    ],
)
def test_a_result_without_a_name_gets_one(line: str, written: str) -> None:
    more = f"mask = [s != 0 for s in samples]\n    {line}"
    call = "pad_sequence(samples, batch_first=True)"
    padded = f"padded = torch.nn.functional.pad(padded, {NAMED.format('padded')}"
    found = fixed("None", more, "loss = net(batch, batch != 0)")
    assert found == ([f"padded = {call}", padded, written] if written else [])


def test_each_of_two_results_gets_its_name() -> None:
    line = "return pad_sequence(samples, batch_first=True), pad_sequence(mask, batch_first=True)"
    found = fixed("None", f"mask = [s != 0 for s in samples]\n    {line}", "loss = net(*batch)")
    assert found[-1] == "return padded, padded2" and len(found) == 5
