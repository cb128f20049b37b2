"""Findings that ask for nothing are infos at most; their neighbours that ask for work are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

HEAD = "import torch\nimport torch.distributed as dist\nmodel.cuda()\n"


def severities(folder: Path, code: str, files: dict[str, str]) -> list[str]:
    """Return the severity of each finding of a rule, in the order of the places."""
    write(files, folder)
    report = engine.check([folder], engine.Options({"select": [code]}, isolated=True, jobs=1, cache=False))
    found = sorted(report.findings, key=lambda f: (f.filename, f.place.start))
    return [finding.severity for finding in found]


@pytest.mark.parametrize(
    ("code", "line", "expected"),
    [
        ("XLA004", "a = torch.cuda.is_available() and torch.cuda.is_bf16_supported()", ["warning"]),
        ("XLA004", "if torch.cuda.is_available(): a = torch.cuda.get_device_name()", ["info"]),
        ("XLA004", 'print("{}".format(torch.cuda.device_count()))', ["info"]),
        ("XLA004", "if torch.cuda.is_bf16_supported(): x = x.bfloat16()", ["warning"]),
        ("XLA004", "if torch.cuda.get_device_name() == 'A': print('slow')", ["error"]),
        ("XLA004", "if torch.cuda.is_bf16_supported(): print('=' * 9)", ["info"]),
        ("XLA004", "count = torch.cuda.device_count()", ["error"]),
        ("XLA004", "print(torch.cuda.get_device_name())", ["error"]),
        ("XLA008", "if len(torch.cuda.default_generators) > 1: pass", []),
        ("XLA008", "state = torch.cuda.default_generators[0]", ["error"]),
        ("XLA408", "torch.manual_seed(0)", ["info"]),
        ("XLA408", "torch.manual_seed(torch.randn(3).to(device))", ["info"]),
        ("XLA408", "torch.manual_seed(torch.randn(3, device='cpu'))", ["info"]),
        ("XLA408", "torch.manual_seed(torch.nn.init.normal_(x))", ["info"]),
        ("XLA408", "torch.manual_seed(model.weight.data.normal_())", ["info"]),
        ("XLA408", "torch.manual_seed(torch.nn.Dropout(0.1))", ["info"]),
        ("XLA408", "torch.manual_seed(torch.cuda.FloatTensor(1))", ["info"]),
        ("XLA408", "torch.manual_seed(torch.optim.SGD(torch.nn.Dropout(0.1)))", ["warning"]),
        ("XLA408", "torch.manual_seed(torch.optim.SGD(torch.nn.RReLU()))", ["info"]),  # draws on the CPU
        ("XLA408", "torch.manual_seed(torch.empty_like(x).log_normal_())", ["info"]),
        ("XLA408", "torch.manual_seed(torch.optim.SGD(torch.nn.LSTM(3, 3)))", ["info"]),
        ("XLA408", "torch.manual_seed(torch.optim.SGD(torch.nn.LSTM(3, 3, dropout=0.1)))", ["warning"]),
        ("XLA408", "torch.manual_seed(torch.randn(3, device=device))", ["warning"]),
        ("XLA408", "torch.manual_seed(torch.randn_like(x))", ["warning"]),
        ("XLA408", "torch.manual_seed(x.new_empty(3).bernoulli_(0.5))", ["warning"]),
        ("XLA408", "torch.manual_seed(torch.randn_like(x.cpu()))", ["info"]),
        ("XLA408", "torch.manual_seed(x.cpu().bernoulli_(0.5))", ["info"]),
        ("XLA408", "import tensorflow as tf; torch.manual_seed(tf.multinomial(x, 1))", ["info"]),
        ("XLA408", "torch.manual_seed(torch.multinomial(torch.tensor([0.5, 0.5]), 1))", ["info"]),
        ("XLA408", "torch.manual_seed(torch.multinomial(torch.tensor([0.5], device=d), 1))", ["warning"]),
        ("XLA408", "torch.manual_seed(torch.multinomial(torch.tensor(x), 1))", ["warning"]),
        ("XLA408", "torch.manual_seed(torch.distributions.Normal(x.cpu(), y))", ["warning"]),
        ("XLA408", "torch.manual_seed(torch.optim.SGD(torch.nn.Dropout(p=0.0)))", ["info"]),
        ("XLA408", "torch.manual_seed(torch.optim.SGD(torch.nn.Dropout(p=rate)))", ["warning"]),
        ("XLA704", "net = torch.nn.DataParallel(model)", ["info"]),
        ("XLA704", "torch.optim.SGD(torch.nn.DataParallel(model).parameters())", ["warning"]),
        ("XLA704", "torch.optim.SGD(torch.nn.DataParallel(model, [0]).parameters())", ["info"]),
        ("XLA704", "torch.optim.SGD(torch.nn.DataParallel(model, [0, 1]).parameters())", ["warning"]),
        ("XLA704", "y = torch.nn.parallel.data_parallel(model, x)", ["error"]),
        ("XLA408", "generator = torch.manual_seed(0)", []),
        ("XLA408", "pipe(generator=torch.manual_seed(0))", []),
        ("XLA701", "dist.init_process_group(world_size=1, rank=0)", []),
        ("XLA701", "dist.init_process_group(world_size=2, rank=0)", ["error"]),
        ("XLA001", 'def f(x, device="cuda"): return x.to(device)', ["error"]),
        ("XLA001", 'def f(x, device="cuda"): return x', []),
        ("XLA001", 'def f(x, device="cuda"): return g(**locals())', ["error"]),
    ],
)
def test_a_line(tmp_path: Path, code: str, line: str, expected: list[str]) -> None:
    assert severities(tmp_path, code, {"a.py": HEAD + line + "\n"}) == expected


AUTO = "device if torch.cuda.is_available() else 'cpu'"
CUDA = AUTO.replace("device", "'cuda'")
RAISES, REPLACED = "first tensor on it raises", "becomes the CPU"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"    device = {AUTO}\n", REPLACED),
        (f"    device = torch.device({AUTO})\n", REPLACED),
        ("    if not torch.cuda.is_available():\n        device = 'cpu'\n", ""),
        ("    if device == 'cuda' and not torch.cuda.is_available():\n        device = 'cpu'\n", ""),
        (f"    if device == 'cuda':\n        device = torch.device({AUTO})\n", REPLACED),
        (f"    if device == 'cuda':\n        device = {CUDA}\n", ""),
        (f"    if device == 'auto':\n        device = {AUTO}\n", RAISES),
        ("    if device == 'cuda':\n        assert torch.cuda.is_available()\n", RAISES),
        (f"    other = {AUTO}\n", RAISES),
    ],
)
def test_a_default_that_the_function_replaces_does_not_raise(
    tmp_path: Path, body: str, expected: str
) -> None:
    text = f"{HEAD}def f(x, device='cuda'):\n{body}    return x.to(device)\n"
    (tmp_path / "a.py").write_text(text)
    settings = {"select": ["XLA001", "XLA003"]}
    report = engine.check([tmp_path], engine.Options(settings, isolated=True, jobs=1, cache=False))
    defaults = [finding.message for finding in report.findings if "default" in finding.message]
    assert [expected in message for message in defaults] == [True] * bool(expected)
    assert report.findings


RANK = "    if dist.get_rank() == 0:\n        "
SAVE = RANK + "torch.save(state, path)\n"
WORKER = """    dist.init_process_group('nccl', world_size=2, rank=rank)
    os.makedirs(path, exist_ok=True)
    for batch in path:
        save(model(batch), path)
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    dist.init_process_group('nccl', rank=rank)\n    dist.barrier()\n    print(rank)\n", ["info"]),
        (SAVE + "    dist.barrier()\n", ["info"]),
        (SAVE + "    dist.barrier()\n    return torch.load(path)\n", ["warning"]),
        (SAVE + "    dist.barrier()\n    print(torch.load(path))\n", ["warning"]),
        (SAVE + "    dist.barrier()\n    print('saved')\n", ["info"]),
        ("    net = create_net(path)\n" + SAVE + "    dist.barrier()\n", ["info"]),
        (RANK + "download(path)\n    dist.barrier()\n", ["warning"]),
        ("    if rank != 0:\n        dist.barrier()\n    make()\n", ["warning"]),
        ("    make()\n    if rank == 0:\n        dist.barrier()\n", ["warning"]),
        ("    for epoch in epochs:\n    " + SAVE.replace("\n    ", "\n        ") + "        dist.barrier()\n"
         "    torch.load(path)\n", ["info"]),
        (SAVE + "    dist.barrier()\n    return Path(path)\n", ["info"]),
        (SAVE + "    dist.barrier()\n    return read(path)\n", ["warning"]),
        ("    image = Image.open(path).convert('RGB')\n    dist.barrier()\n    return image\n", ["info"]),
        ("    convert(open(path))\n    dist.barrier()\n    return path\n", ["warning"]),
        (WORKER + "    dist.barrier()\n", ["info"]),
        (WORKER + "    if not debug:\n        dist.barrier()\n", ["info"]),
        (WORKER + "    dist.barrier()\n    torch.load(path)\n", ["warning"]),
        (WORKER.replace("save", "download") + "    dist.barrier()\n", ["warning"]),
    ],
)  # fmt: skip
def test_a_barrier_matters_where_somebody_waits_for_what_is_before(
    tmp_path: Path, body: str, expected: list[str]
) -> None:
    text = f"{HEAD}def f(rank, state, path):\n    if 'RANK' in os.environ: rank = 1\n{body}"
    assert severities(tmp_path, "XLA711", {"a.py": text}) == expected


DATA = """from torch.utils.data import DataLoader
def load(path, order=False):
    dataset = Images(path, GIVEN)
    if order:
        return DataLoader(dataset)
    return DataLoader(dataset, shuffle=True)
"""
MAIN = """import torch
from data import load
torch.distributed.init_process_group("nccl")
loader = load("x")
"""


@pytest.mark.parametrize(("given", "expected"), [("shard=rank", []), ("size=rank", ["error"])])
def test_a_dataset_for_a_rank_is_divided_whoever_loads_it(
    tmp_path: Path, given: str, expected: list[str]
) -> None:
    files = {"data.py": DATA.replace("GIVEN", given), "main.py": MAIN}
    assert severities(tmp_path, "XLA708", files) == expected


NET = """import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 3)
    def NAME(self, images, labels):
        found = self.head(images).softmax(-1)
        return [part.item() for part in found]
def load(name):
    return REGISTRY[name]()
"""
LOOP = """import torch
from net import load
@torch.no_grad()
def main(loader, device, kept):
    model = load("x").to(device)
    for images, labels in loader:
        kept.append(model.test_step(images.to(device), labels))
"""


@pytest.mark.parametrize(("name", "expected"), [("test_step", []), ("other_step", ["warning"])])
def test_a_method_that_reads_ends_the_step_whoever_has_it(
    tmp_path: Path, name: str, expected: list[str]
) -> None:
    files = {"net.py": NET.replace("NAME", name), "main.py": LOOP}
    assert severities(tmp_path, "XLA402", files) == expected


OPTIMIZERS = """
class Optimizers:
    def __init__(self, optimizers={}):
        self.optimizers = optimizers
    def step(self, key=None):
        self.optimizers[key].step()
"""
EPOCHS = """
import torch
from optimizers import Optimizers
def main(train, validation, writer, device):
    model = torch.nn.Linear(2, 2).to(device)
    optimizer = Optimizers({"a": torch.optim.SGD(model.parameters(), lr=0.1)})
    for epoch in range(9):
        for batch in train:
            model(batch.to(device)).mean().backward()
            optimizer.step("a")
        total = 0
        for batch in validation:
            total += model(batch.to(device)).mean()
        writer.add_scalar("eval", total, epoch)
"""


def test_what_follows_the_steps_of_an_epoch_is_no_step(tmp_path: Path) -> None:
    assert severities(tmp_path, "XLA104", {"optimizers.py": OPTIMIZERS, "train.py": EPOCHS}) == ["info"]
