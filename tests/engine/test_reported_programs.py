"""Programs that a user of version 0.1 reported: the findings of each, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine
from xlamig.fix.helper_text import TEXT

HELPER = {"xla_compat.py": TEXT}
TIED = """
from torch import nn
class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        PARTS
        self.lm_head = nn.Linear(32, 64, bias=False)
        TIE
    def tie(self):
        self.EMBED.weight = self.lm_head.weight
"""


def found(folder: Path, files: dict[str, str]) -> set[tuple[str, int, str]]:
    """Return (file, row, code) of every finding."""
    write(files, folder)
    report = engine.check([folder], engine.Options({}, isolated=True, jobs=1, cache=False))
    names = {finding.filename for finding in report.findings}
    return {
        (Path(name).name, one.place.location.row, one.code)
        for name in names
        for one in report.findings
        if one.filename == name
    }


def model(parts: str, embed: str, tie: str) -> str:
    text = TIED.replace("PARTS", parts).replace("TIE", tie).replace("EMBED", embed)
    return text if "tie()" in tie else text.partition("    def tie")[0]


PLAIN = ("self.wte = nn.Embedding(64, 32)", "wte")
NAMED = ("self.transformer = nn.ModuleDict(dict(wte=nn.Embedding(64, 32)))", "transformer.wte")
LISTED = ("self.parts = nn.ModuleList([nn.Embedding(64, 32)])", "parts[0]")
MOVE = "import torch_xla\nfrom model import GPT\nm = GPT()\nm.to(torch_xla.device())\n"


@pytest.mark.parametrize("parts", [PLAIN, NAMED, LISTED])
@pytest.mark.parametrize("tie", ["self.tie()", "self.EMBED.weight = self.lm_head.weight"])
@pytest.mark.parametrize("another_file", [False, True])
def test_a_move_of_tied_weights(tmp_path: Path, parts: tuple[str, str], tie: str, another_file: bool) -> None:
    text = model(*parts, tie)
    if another_file:
        assert ("main.py", 4, "XLA406") in found(tmp_path, {"model.py": text, "main.py": MOVE})
    else:
        moved = MOVE.replace("from model import GPT\n", "")
        assert "XLA406" in {code for *_, code in found(tmp_path, {"main.py": text + moved})}


@pytest.mark.parametrize(
    ("tie", "move"),
    [
        ("pass", MOVE),
        ("self.lm_head.weight = nn.Parameter(self.wte.weight.clone())", MOVE),
        ("self.tie()", f"{MOVE}m.tie()\n"),
        ("self.tie()", MOVE.replace("torch_xla.device()", "'cpu'")),
    ],
)
@pytest.mark.parametrize("another_file", [False, True])
def test_weights_that_a_move_leaves_as_they_are(
    tmp_path: Path, tie: str, move: str, another_file: bool
) -> None:
    text = model(*PLAIN, tie)
    files = {"model.py": text, "main.py": move}
    if not another_file:
        files = {"main.py": text + move.replace("from model import GPT\n", "")}
    assert "XLA406" not in {code for *_, code in found(tmp_path, files)}


OTHERS = """
class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(64, 32)
class Other(Plain):
    pass
"""
EITHER_BLOCK = """
def run(args):
    if args.first:
        m = FIRST()
    else:
        m = SECOND()
    m.to(torch_xla.device())
"""
EITHER_VALUE = """
def run(args):
    m = FIRST() if args.first else SECOND()
    m.to(torch_xla.device())
"""


@pytest.mark.parametrize("choice", [EITHER_BLOCK, EITHER_VALUE])
@pytest.mark.parametrize(
    ("first", "second", "codes"),
    [("GPT", "Plain", {"XLA406"}), ("Plain", "GPT", {"XLA406"}), ("Plain", "Other", set())],
)
def test_a_move_of_either_of_two_models(
    tmp_path: Path, choice: str, first: str, second: str, codes: set[str]
) -> None:
    tied = model(*PLAIN, "self.tie()")
    text = f"import torch_xla{tied}{OTHERS}{choice}".replace("FIRST", first).replace("SECOND", second)
    assert {code for *_, code in found(tmp_path, {"main.py": text})} & {"XLA406"} == codes


def test_a_move_of_each_instance_of_a_tied_class(tmp_path: Path) -> None:
    moves = "".join(f"def run{n}():\n    m = GPT()\n    m.to(torch_xla.device())\n" for n in "ab")
    text = f"import torch_xla{model(*PLAIN, 'self.tie()')}{moves}"
    assert sum(code == "XLA406" for *_, code in found(tmp_path, {"main.py": text})) == 2


CHOSEN = """
import sys
import torch_xla
from model import GPT
if sys.argv[1] == "scratch":
    m = GPT()
elif sys.argv[1].startswith("gpt2"):
    m = GPT.METHOD(sys.argv[1])
m.to(torch_xla.device())
"""
LOADED = """
    @classmethod
    def METHOD(cls, name):
        return RETURNED
"""


@pytest.mark.parametrize(
    ("method", "returned", "base", "is_found"),
    [
        ("from_pretrained", "cls(name)", "nn.Module", True),
        ("from_name", "torch.load(name)", "nn.Module", True),
        ("describe", "name", "nn.Module", False),  # what it returns is not known
        ("from_name", "name", "object", False),
    ],
)
def test_tied_weights_of_a_model_that_branches_make(
    tmp_path: Path, method: str, returned: str, base: str, is_found: bool
) -> None:
    loaded = LOADED.replace("METHOD", method).replace("RETURNED", returned)
    text = model(*PLAIN, "self.wte.weight = self.lm_head.weight").replace("nn.Module", base) + loaded
    files = {"model.py": text, "main.py": CHOSEN.replace("METHOD", method)}
    assert (("main.py", 9, "XLA406") in found(tmp_path, files)) is is_found


WRAPPED = """
import copy
import torch
import torch_xla
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
class EMA(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.average = KEPT
model = MODEL
optimizer = torch.optim.Adam(model.parameters())
ema = EMA(model)
ema.to(torch_xla.device())
"""


@pytest.mark.parametrize("made", ["Net()", "nn.Linear(4, 4)"])
@pytest.mark.parametrize(("kept", "moves"), [("model", True), ("copy.deepcopy(model)", False)])
def test_a_wrapper_moves_the_model_it_holds_and_not_one_it_copied(
    tmp_path: Path, made: str, kept: str, moves: bool
) -> None:
    text = WRAPPED.replace("KEPT", kept).replace("MODEL", made)
    codes = {code for *_, code in found(tmp_path, {"main.py": text})}
    assert ("XLA405" in codes) is moves


NEGATED = """import torch
def f(device_type, x):
    if device_type != "cuda":
        print("no cuda")
    else:
        x = x.half()
    return x
def g(x):
    if not x.is_cuda:
        return x
    return x.half()
"""


def test_negated_tests_are_true_for_xla(tmp_path: Path) -> None:
    write({"neq.py": NEGATED}, tmp_path)
    report = engine.check([tmp_path], engine.Options({}, isolated=True, jobs=1, cache=False))
    messages = [one.message for one in report.findings if one.code == "XLA013"]
    assert messages and not any("False" in message for message in messages)


DEVICE = "import torch\nfrom xla_compat import default_device\ndevice = default_device()\n"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('assert str(device) in ("cuda", "cpu")', "XLA013"),
        ('kind = {"cuda": torch.bfloat16, "cpu": torch.float32}[str(device)]', "XLA013"),
        ('state = torch.load("x.pt", map_location=device)', "XLA907"),
        ("generator = torch.Generator(device=device)", "XLA513"),
        ("if not torch.cuda.is_available(): raise SystemExit(1)", "XLA003"),
        ('parser.add_argument("--device", choices=["cuda", "cpu"], default=str(device))', "XLA013"),
    ],
)
def test_what_refuses_the_device_of_the_helper(tmp_path: Path, line: str, code: str) -> None:
    assert ("train.py", 4, code) in found(tmp_path, {**HELPER, "train.py": f"{DEVICE}{line}\n"})


def test_a_program_that_ends_without_a_gpu(tmp_path: Path) -> None:
    text = """import sys, torch
def start(args):
    if args.rank:
        torch.cuda.set_device(args.rank)
    elif torch.cuda.is_available():
        args.rank = 0
    else:
        print("Does not support training without GPU.")
        sys.exit(1)
"""
    assert ("train.py", 5, "XLA003") in found(tmp_path, {"train.py": text})


def test_a_0d_tensor_of_the_host_in_an_update(tmp_path: Path) -> None:
    text = f"{DEVICE}rate = torch.tensor(0.9)\ntorch.ones(4, device=device).lerp_(OTHER, 1 - rate)\n"
    text = text.replace("OTHER", "torch.zeros(4, device=device)")
    assert ("train.py", 5, "XLA510") in found(tmp_path, {**HELPER, "train.py": text})
    kept = text.replace("torch.tensor(0.9)", "0.9")
    assert "XLA510" not in {code for *_, code in found(tmp_path, {**HELPER, "train.py": kept})}


def test_a_slice_that_starts_at_a_known_position_is_not_rewritten(tmp_path: Path) -> None:
    text = f"""{DEVICE}
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.ones(100, 4))
        self.head = torch.nn.Linear(4, 4)
    def forward(self, x, cache=None):
        start = 0 if cache is None else cache.length()
        return self.head(x) * self.table[start : start + x.size(0)]
net = Net().to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.utils.data.DataLoader(range(10)):
    net(x.to(device)).sum().backward()
    optimizer.step()
"""
    write({**HELPER, "train.py": text}, tmp_path)
    options = engine.Options({"select": ["XLA3"]}, isolated=True, jobs=1, cache=False)
    assert not engine.fix([tmp_path], options, frozenset({"safe", "unsafe"}), write=False).files


def test_autocast_takes_the_device_as_text(tmp_path: Path) -> None:
    text = f"{DEVICE}with torch.autocast(device_type=str(device), dtype=torch.bfloat16):\n    pass\n"
    assert not {row for name, row, _ in found(tmp_path, {**HELPER, "train.py": text}) if name == "train.py"}


def test_two_boundaries_in_an_iteration_are_reported(tmp_path: Path) -> None:
    text = """import torch
from xla_compat import default_device, step_boundary, wait_for_device
device = default_device()
fast, slow = torch.nn.Linear(8, 8).to(device), torch.nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(fast.parameters(), 0.1)
for i in range(12):
    loss = fast(torch.randn(4, 8).to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step_boundary()
    with torch.no_grad():
        for a, b in zip(fast.parameters(), slow.parameters()):
            b.mul_(0.9).add_(0.1 * a)
    wait_for_device()
"""
    assert ("train.py", 6, "XLA403") in found(tmp_path, {**HELPER, "train.py": text})


OPTIONAL = """
import argparse
import torch, torch_xla
from torch import nn
class GPT(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.wte, self.lm_head = nn.Embedding(64, 32), nn.Linear(32, 64, bias=False)
        if args.tied:
            self.lm_head.weight = self.wte.weight
parser = argparse.ArgumentParser()
parser.add_argument("--tied", OPTION)
model = GPT(parser.parse_args()).to(torch_xla.device())
USE
"""


@pytest.mark.parametrize(
    ("option", "use", "severity"),
    [
        ("action='store_true', default=True", "torch.optim.SGD(model.parameters())", "error"),
        ("type=int", "torch.optim.SGD(model.parameters())", "error"),
        ("action='store_true'", "torch.optim.SGD(model.parameters())", "info"),
        ("action='store_true', default=True", "model.eval()", "info"),
    ],
)
def test_ties_that_an_option_makes_or_nothing_trains(
    tmp_path: Path, option: str, use: str, severity: str
) -> None:
    write({"main.py": OPTIONAL.replace("OPTION", option).replace("USE", use)}, tmp_path)
    report = engine.check([tmp_path], engine.Options({}, isolated=True, jobs=1, cache=False))
    assert [one.severity for one in report.findings if one.code == "XLA406"] == [severity]
