"""Findings that callers, guards and later lines decide: each with its look-alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

HEAD = """import torch
from torch import nn
from torch.utils.data import IterableDataset
"""
STEP = """def train(model, loader, optimizer, count, best):
    for x in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        optimizer.step()
"""
SYNC = "torch.cuda.synchronize()"
CUDA = "torch.cuda.is_available()"


def severities(text: str, code: str) -> list[str]:
    options = Options({"select": [code]}, isolated=True, stdin=("train.py", (HEAD + text).encode()))
    return [finding.severity for finding in engine.check([Path("train.py")], options).findings]


@pytest.mark.parametrize(
    ("lines", "severity"),
    [
        (f"    log = log and {CUDA}\n    if log:\n        {SYNC}", "info"),
        (f"    log = {CUDA} and log\n    x = f()\n    if log:\n        {SYNC}", "info"),
        (f"    log = log or {CUDA}\n    if log:\n        {SYNC}", "error"),
        (f"    log = log and {CUDA}\n    if x:\n        log = True\n    if log:\n        {SYNC}", "error"),
        (f"    if x:\n        log = log and {CUDA}\n    if log:\n        {SYNC}", "error"),
        (f"    if log:\n        {SYNC}\n    log = log and {CUDA}", "error"),
    ],
)
def test_a_flag_stands_for_the_last_test_that_it_was_set_to(lines: str, severity: str) -> None:
    assert severities(f"def timer(f, x, log=True):\n{lines}\n", "XLA005") == [severity]


PIXELS = 'def pixels(size, device="cuda"):\n    return torch.zeros(size, device=device)\n'


@pytest.mark.parametrize(
    ("calls", "severity"),
    [
        ("", "error"),  # for others to call
        ("pixels(3)", "error"),
        ("pixels(3, 'cpu'); pixels(3)", "error"),
        ("pixels(*sizes)", "error"),
        ("pixels(3, 'cpu')", "info"),
        ("def f(d): pixels(3, device=d)", "info"),
    ],
)
def test_callers_may_never_use_a_default(calls: str, severity: str) -> None:
    assert severities(f"{PIXELS}{calls}\n", "XLA001") == [severity]
    chosen = PIXELS.replace('"cuda"', f'"cuda" if {CUDA} else "cpu"')
    assert severities(f"{chosen}{calls}\n", "XLA003") == [severity]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("if loss > 12.: print(f'loss {loss}')", ["info"]),
        ("if loss > 12. or loss < 0: print(f'loss {loss}')", ["info"]),
        ("if loss > 12. or loss < best: print(f'loss {loss}')", ["warning"]),
        ("if loss > 12.:\n            print(f'loss {loss}')\n            count += 1", ["warning"]),
        ("if loss > best: print(f'loss {loss}')", ["warning"]),
        ("if count > 12.: print(f'loss {loss}')", ["warning"]),
        ("if loss > 12.: print(f'loss {loss}')\n        else: print(loss)", ["warning", "warning"]),
    ],
)
def test_a_warning_about_a_value_is_no_log_of_every_step(lines: str, expected: list[str]) -> None:
    assert severities(f"{STEP}        {lines}\n", "XLA104") == expected


def test_the_test_of_a_warning_reads_every_step() -> None:
    assert severities(f"{STEP}        if loss > 12.: print(loss)\n", "XLA106") == ["warning"]


FORWARD = "class Net(torch.nn.Module):\n    def forward(self, batch, x, device=None):\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("        if batch['a'].sum() == 0: x = x + 1\n        return batch['a'].to(device)", []),
        (
            "        if batch['a'].sum() == 0: x = x + 1\n        return batch['a'].to(torch.int64)",
            ["warning"],
        ),
        ("        if batch['a'].sum() == 0: x = x + 1\n        return batch['b'].to(device)", ["warning"]),
        (
            "        y = batch['a'].to(device)\n        if y.sum() == 0: x = x + 1\n        return x",
            ["warning"],
        ),
    ],
)
def test_a_value_that_moves_below_is_on_the_host(lines: str, expected: list[str]) -> None:
    assert severities(f"{FORWARD}{lines}\n", "XLA106") == expected


@pytest.mark.parametrize(
    ("signature", "lines", "expected"),
    [
        ("model, device", "p.data = p.data.to(device)", ["error"]),
        ("model, device=None", "p.data = p.data.to(device or p.device)", []),
        (
            "model, device=None",
            "device = p.device if device is None else device; p.data = p.data.to(device)",
            [],
        ),
        ("model", "p.data = p.data.cuda()", ["error"]),
    ],
)
def test_a_device_that_may_be_left_out_is_where_the_tensor_is(
    signature: str, lines: str, expected: list[str]
) -> None:
    text = f"def f({signature}):\n    for p in model.parameters():\n        {lines}\n"
    assert severities(text, "XLA407") == expected


DATA = """class Images(BASE):
    def __init__(self, images, model, transform):
        self.images, self.model = images, model
    def __iter__(self):
        for image in self.images:
            yield self.model(image)
"""


@pytest.mark.parametrize(("base", "expected"), [("IterableDataset", []), ("Predictor", ["warning"])])
def test_a_data_set_runs_no_step(base: str, expected: list[str]) -> None:
    assert severities(DATA.replace("BASE", base), "XLA402") == expected


def test_nothing_runs_after_a_test_that_fails() -> None:
    read = (
        "class Loss(nn.Module):\n    def forward(self, x):\n        {}y = x.mean()\n        return y.item()\n"
    )
    assert severities(read.format(""), "XLA101") == ["warning"]
    assert severities(read.format("assert False, 'unused'\n        "), "XLA101") == []


@pytest.mark.parametrize(("call", "severity"), [("pixels(3, device='cpu')", "info"), ("pixels(3)", "error")])
def test_callers_in_other_files_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, severity: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("draw.py").write_text(HEAD + PIXELS)
    Path("main.py").write_text(f"from draw import pixels\ndef f():\n    return {call}\n")
    options = Options({"select": ["XLA001"]}, isolated=True, jobs=1, cache=False)
    assert [finding.severity for finding in engine.check([Path()], options).findings] == [severity]


NET = """import torch
class Net(torch.nn.Module):
    def __init__(self, size, device="cuda"):
        super().__init__()
        self.weight = torch.zeros(size, device=device)
"""
TRAINER = """from net import Net
class Trainer:
    def __init__(self, device="cuda"):
        self.model = Net(3, device)
"""


def test_defaults_of_constructors_in_other_files(tmp_path: Path) -> None:
    files = {"net.py": NET, "trainer.py": TRAINER, "main.py": "from trainer import Trainer\nTrainer('cpu')\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    given = {"select": ["XLA0"], "include-no-action": True}
    report = engine.check([tmp_path], Options(given, isolated=True, jobs=1, cache=False))
    assert [(f.code, f.severity) for f in report.findings] == [("XLA001", "info"), ("XLA001", "info")]


SCHEDULER = """class Scheduler:
    def set_timesteps(self, n, device=None):
        self.timesteps = torch.arange(0, 1000, 1000 // n){placed}
    def step(self, out, {name}: int):
        return out if {name} > 0 else out * 2
"""


@pytest.mark.parametrize(
    ("placed", "name", "count"),
    [
        ("", "timestep", 0),
        (".tolist()", "timestep", 0),
        (".to(device)", "count", 0),
        (".to(device)", "timestep", 1),
    ],
)
def test_a_timestep_is_an_element_of_the_timesteps_on_the_device(placed: str, name: str, count: int) -> None:
    assert len(severities(SCHEDULER.format(placed=placed, name=name), "XLA106")) == count


SAVE = """import torch_xla
import torch_xla.core.xla_model as xm
from accelerate import Accelerator
accelerator = Accelerator()
def train(model, loader, optimizer, rank, path):
    for x in loader:
        model(x.to("xla")).sum().backward()
        xm.optimizer_step(optimizer)
    {before}
    if rank == 0:
        torch.save(model.state_dict(), path)
"""


@pytest.mark.parametrize(
    ("before", "count"),
    [
        ("torch_xla.sync()", 0),
        ("xm.rendezvous('saved')", 0),
        ("accelerator.wait_for_everyone()", 0),
        ("pass", 1),
        ("xm.wait_device_ops()", 1),
        ("torch_xla.sync(); model(x.to('xla'))", 1),
        ("wait_for_everyone()", 1),
    ],
)
def test_nothing_is_pending_after_a_rendezvous(before: str, count: int) -> None:
    assert len(severities(SAVE.format(before=before), "XLA710")) == count
