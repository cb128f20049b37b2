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
