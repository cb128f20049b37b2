"""Moves that only a test for CUDA lets through: which of them XLA003 reports, and what it says of an
optimizer that was made before."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.findings import Finding

MOVE = "Move it without the test"
HEAD = "import torch\nfrom torch import nn\nnet, other = nn.Linear(2, 2), nn.Linear(2, 2)\n"
UNDER = "if torch.cuda.is_available():\n    "
ADAM = "optimizer = torch.optim.Adam({}.parameters())\n"


def moves(text: str, files: dict[str, str] | None = None, folder: Path | None = None) -> list[Finding]:
    if folder is None:
        source = ("train.py", (HEAD + text).encode())
        options = engine.Options({"select": ["XLA003"]}, isolated=True, stdin=source)
        return list(engine.check([Path("train.py")], options).findings)
    for name, content in {**(files or {}), "train.py": text}.items():
        (folder / name).write_text(content)
    options = engine.Options({"select": ["XLA003"]}, isolated=True, cache=False, jobs=1)
    return list(engine.check([folder], options).findings)


@pytest.mark.parametrize(
    "text",
    [
        f"{ADAM.format('net')}{UNDER}net.cuda()\n",
        f"{ADAM.format('net')}{UNDER}net = nn.DataParallel(net).cuda()\n",
        f"{ADAM.format('net')}{UNDER}print('moves')\n    net.to('cuda')\n",
        f"{ADAM.format('net')}dev = torch.device('cuda')\n{UNDER}net.to(dev)\n",
        f"{ADAM.format('net')}net = net.cuda() if torch.cuda.is_available() else net\n",
    ],
)
def test_names_the_optimizer_that_was_made_before(text: str) -> None:
    (finding,) = (f for f in moves(text) if (f.help or "").startswith(MOVE))
    assert (finding.help or "").startswith(
        f"{MOVE}, before the optimizer of line 4 is created: `.to(device)`"
    )
    (reason,) = (why for why in finding.reasons if "the optimizer is created here" in why.message)
    assert reason.place is not None and reason.place.location.row == 4


@pytest.mark.parametrize(
    "text",
    [
        f"{UNDER}net.cuda()\n{ADAM.format('net')}",
        f"{ADAM.format('other')}{UNDER}net.cuda()\n",
        f"{ADAM.format('net')}x = torch.ones(2)\n{UNDER}x = x.cuda()\n",
    ],
)
def test_names_no_optimizer_that_keeps_the_parameters(text: str) -> None:
    found = [f.help or "" for f in moves(text) if (f.help or "").startswith(MOVE)]
    assert found and all("optimizer" not in text for text in found)


def test_names_the_file_of_an_optimizer_that_another_file_makes(tmp_path: Path) -> None:
    make = "import torch\ndef make(net):\n    return torch.optim.Adam(net.parameters())\n"
    text = f"from build import make\n{HEAD}optimizer = make(net)\n{UNDER}net.cuda()\n"
    (finding,) = moves(text, {"build.py": make}, tmp_path)
    assert f"{MOVE}, before the optimizer of build.py is created" in (finding.help or "")


@pytest.mark.parametrize("device", ["device", "self.device", "args.device", "main_device"])
def test_a_move_to_a_name_for_a_device_depends_on_cuda(device: str) -> None:
    assert len(moves(f"def f(x, self, args, device, main_device):\n    {UNDER}    x = x.to({device})\n")) == 1


def test_a_move_to_the_program_s_device_depends_on_cuda_where_that_is_xla() -> None:
    assert len(moves(f"import torch_xla\ndev = torch_xla.device()\n{UNDER}net.to(dev)\n")) == 1


@pytest.mark.parametrize("to", ["dtype", "torch.float16", "host", "'cpu'", "other"])
def test_a_move_to_a_type_or_the_cpu_does_not(to: str) -> None:
    assert not moves(f"host = torch.device('cpu')\ndef f(x, dtype, other):\n    {UNDER}    x = x.to({to})\n")
