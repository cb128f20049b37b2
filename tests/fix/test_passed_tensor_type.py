"""A tensor type of torch.cuda that is handed to a function, perhaps of another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

TRAIN = """import torch
from utils import penalty

cuda = torch.cuda.is_available()
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
net = torch.nn.Linear(2, 2)
if cuda:
    net.cuda()
for x in torch.utils.data.DataLoader(torch.randn(8, 2)):
    loss = net(x.type(Tensor)).mean()
    {call}
"""
UTILS = "def penalty(net, Tensor):\n    return {made}\n"
CALL = "loss += penalty(net, Tensor)"


def line_of(call: str, made: str, grades: frozenset[str], tmp_path: Path) -> str:
    """Return what becomes of the line that calls; of its text alone, the files are not written."""
    files = {"train.py": TRAIN.format(call=call), "utils.py": UTILS.format(made=made)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    options = engine.Options({"select": ["XLA003", "XLA011"]}, isolated=True, jobs=1, cache=False)
    outcome = engine.fix([tmp_path], options, grades, write=False)
    new = [file.new for file in outcome.files if file.filename.endswith("train.py")]
    return new[0].splitlines()[-1].strip() if new else call


@pytest.mark.parametrize(
    ("call", "made"),
    [
        (CALL, "net.weight.type(Tensor)"),
        (CALL, "1 if isinstance(net.weight, Tensor) else 2"),
        ("print(Tensor)", "1"),
        ("isinstance(x, Tensor)", "1"),
        ("torch.set_default_tensor_type(Tensor)", "1"),
        ("penalty(*Tensor)", "1"),
        ("types = [Tensor]", "1"),
    ],
)
def test_a_type_may_be_needed(call: str, made: str, tmp_path: Path) -> None:
    assert line_of(call, made, frozenset({"safe", "unsafe"}), tmp_path) == call


@pytest.mark.parametrize("call", [CALL, "penalty(net=net, Tensor=Tensor)"])
def test_a_function_may_make_tensors_with_it(call: str, tmp_path: Path) -> None:
    made = "Tensor(3, 1).fill_(1.0).mean()"
    assert line_of(call, made, frozenset({"safe"}), tmp_path) == call
    given = "lambda *data: Tensor(*data).to(default_device())"
    expected = call[: call.rindex("Tensor")] + f"{given})"
    assert line_of(call, made, frozenset({"safe", "unsafe"}), tmp_path) == expected


DEFAULT = """import numpy as np
import torch

CUDA = torch.cuda.is_available()
FLOAT = torch.cuda.FloatTensor if CUDA else torch.FloatTensor


def tensor(array, dtype=FLOAT):
    {body}
"""
AGENT = """import torch
from agents import *

net = torch.nn.Linear(2, 2)
if CUDA:
    net.cuda()
for x in range(8):
    loss = net(tensor(np.ones((2, 2)))).mean()
    {more}
    loss.backward()
"""


def body_of(body: str, grades: frozenset[str], tmp_path: Path, more: str = "pass") -> str:
    """Return what becomes of the last line of the function whose default is a type."""
    files = {"agents.py": DEFAULT.format(body=body), "train.py": AGENT.format(more=more)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    options = engine.Options({"select": ["XLA003"]}, isolated=True, jobs=1, cache=False)
    outcome = engine.fix([tmp_path], options, grades, write=False)
    new = [file.new for file in outcome.files if file.filename.endswith("agents.py")]
    return new[0].splitlines()[-1].strip() if new else body


@pytest.mark.parametrize(
    ("body", "more"),
    [
        ("return cast(torch.from_numpy(array), dtype)", "pass"),
        ("return dtype(array)", "pass"),  # of a tensor, perhaps
        ("dtype = dtype or None; return torch.from_numpy(array).type(dtype)", "pass"),
        ("return torch.from_numpy(array).type(dtype)", "loss = loss.type(FLOAT)"),
    ],
)
def test_a_default_type_may_mean_more(body: str, more: str, tmp_path: Path) -> None:
    assert body_of(body, frozenset({"safe", "unsafe"}), tmp_path, more) == body


@pytest.mark.parametrize("made", ["torch.from_numpy(array).type(dtype)", "dtype(2, 3)"])
def test_a_default_type_is_the_host_s_and_its_tensors_move(made: str, tmp_path: Path) -> None:
    assert body_of(f"return {made}", frozenset({"safe"}), tmp_path) == f"return {made}"
    moved = f"return {made}.to(default_device())"
    assert body_of(f"return {made}", frozenset({"safe", "unsafe"}), tmp_path) == moved
