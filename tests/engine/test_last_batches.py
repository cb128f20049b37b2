"""Advice on the last batch of a loader, by what becomes of its batches."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TRAIN = """import torch
from torch.utils.data import DataLoader
COLLATE


def train(model, data, optimizer, accelerator, device):
    loader = DataLoader(data, batch_size=8, shuffle=True, collate_fn=collate)
    PREPARE
    for x in loader:
        model(x.to(device)).mean().backward()
        optimizer.step()
"""
SCORE = """import torch
from torch.utils.data import DataLoader


def score(model, data, device):
    loader = DataLoader(data, batch_size=8, shuffle=True)
    EVAL
    found = []
    for x in loader:
        found.append(model(x.to(device)))
        AFTER
    return torch.cat(found)
"""
TO_LONGEST = {
    "pad_sequence": "def collate(xs):\n    return torch.nn.utils.rnn.pad_sequence(xs)",
    "tokenizer": "def collate(xs):\n    return tokenizer.pad(xs, padding=True, return_tensors='pt')",
    "object": "class C:\n    def __call__(self, xs):\n        return t(xs, padding=True)\n\n\ncollate = C()",
    "library": "from transformers import DataCollatorWithPadding\ncollate = DataCollatorWithPadding(t)",
}
TO_ONE_SIZE = {
    "stack": "def collate(xs):\n    return torch.stack(xs)",
    "max length": "def collate(xs):\n    return tokenizer(xs, padding='max_length', max_length=64)",
    "padded on": "def collate(xs):\n    x = torch.nn.utils.rnn.pad_sequence(xs)\n"
    "    return torch.nn.functional.pad(x, (0, 64 - len(x)))",
    "library": "import transformers as t\ncollate = t.DataCollatorWithPadding(tok, padding='max_length')",
}


def said(code: str, folder: Path) -> list[tuple[str, bool]]:
    write({"main.py": code}, folder)
    report = engine.check(
        [folder], engine.Options({"select": ["XLA901"]}, isolated=True, jobs=1, cache=False)
    )
    return [(found.severity, found.no_action) for found in (*report.findings, *report.aside)]


def training(collate: str, folder: Path, prepare: str = "pass") -> list[tuple[str, bool]]:
    return said(TRAIN.replace("COLLATE", collate).replace("PREPARE", prepare), folder)


@pytest.mark.parametrize("case", TO_LONGEST)
def test_reports_nothing_where_every_batch_has_its_own_shape(case: str, tmp_path: Path) -> None:
    assert training(TO_LONGEST[case], tmp_path) == []


@pytest.mark.parametrize("case", TO_ONE_SIZE)
def test_reports_batches_of_one_shape(case: str, tmp_path: Path) -> None:
    assert training(TO_ONE_SIZE[case], tmp_path) == [("warning", False)]


def test_asks_for_no_change_where_accelerate_evens_batches(tmp_path: Path) -> None:
    prepare = "model, loader = accelerator.prepare(model, loader)"
    assert training(TO_ONE_SIZE["stack"], tmp_path, prepare) == [("info", True)]
    assert training(TO_ONE_SIZE["stack"], tmp_path, "data = accelerator.prepare(data)") == [
        ("warning", False)
    ]


@pytest.mark.parametrize("how", ["model.eval()", "torch.set_grad_enabled(False).__enter__(); model.eval()"])
def test_advises_padding_where_every_sample_counts(how: str, tmp_path: Path) -> None:
    assert said(SCORE.replace("EVAL", how).replace("AFTER", "pass"), tmp_path) == [("info", False)]


@pytest.mark.parametrize("after", ["found[-1].mean().backward()", "model.train()"])
def test_a_loop_that_trains_may_drop_samples(after: str, tmp_path: Path) -> None:
    assert said(SCORE.replace("EVAL", "model.eval()").replace("AFTER", after), tmp_path) == [
        ("warning", False)
    ]


OPTION = """import argparse
import torch
from torch.utils.data import DataLoader

class Trainer:
    def parse(self):
        parser = argparse.ArgumentParser()
        parser.add_argument("--batch-size", type=int, default=DEFAULT)
        self.args = parser.parse_args()

    def load(self, data):
        self.loader = DataLoader(data, batch_size=SIZE, shuffle=True)

if __name__ == "__main__":
    trainer = Trainer()
    trainer.parse()
    trainer.load([])
"""


@pytest.mark.parametrize(
    ("default", "size", "files", "idle"),
    [
        ("1", "self.args.batch_size", {}, True),
        ("1", "self.args.batch_size", {"run.sh": "python train.py --batch-size 1\n"}, True),
        ("8", "self.args.batch_size", {}, False),
        ("1", "self.args.batch_size_per_gpu", {}, True),
        ("1", "self.args.train_batch_size", {"run.sh": "python train.py --train-batch-size 1\n"}, True),
        ("1", "self.args.train_batch_size", {"run.sh": "python train.py --train-batch-size 2\n"}, False),
        ("1", "self.args.batch_size", {"run.sh": "python train.py --batch-size 4\n"}, False),
        ("1", "self.args.batch_size", {"run.sh": "python train.py --batch-size $SIZE\n"}, False),
        ("1", "self.args.batch_size", {"README.md": "Run `python train.py --batch-size 16`.\n"}, False),
        ("1", "self.args.batch_size * torch.cuda.device_count()", {}, False),
        ("1", "self.args.batch_size * 4", {}, False),
        ("None", "self.args.batch_size", {}, False),
    ],
)
def test_a_batch_size_of_one_by_default(
    tmp_path: Path, default: str, size: str, files: dict[str, str], idle: bool
) -> None:
    option = size.partition(" ")[0].rpartition(".")[2].replace("_", "-")
    text = OPTION.replace("--batch-size", f"--{option}").replace("DEFAULT", default).replace("SIZE", size)
    write({"train.py": text, **files}, tmp_path)
    options = engine.Options(
        {"include-no-action": True, "select": ["XLA901"]}, isolated=True, jobs=1, cache=False
    )
    (found,) = engine.check([tmp_path], options).findings
    assert found.no_action is idle


def test_names_the_text_of_the_file_that_cuts_the_batches(tmp_path: Path) -> None:
    cut = (
        "def cut(*tensors, size):\n    for start in range(0, len(tensors[0]), size):\n"
        "        yield tuple(x[start : start + size] for x in tensors)\n"
    )
    train = (
        "import torch\nfrom batches import cut\n\nmodel = torch.nn.Embedding(10, 4).cuda()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "users = torch.randint(0, 10, (100,)).cuda()\n"
        "for epoch in range(10):\n    for x, y in cut(users, users, size=8):\n"
        "        (model(x) - model(y)).mean().backward()\n        optimizer.step()\n"
    )
    write({"batches.py": cut, "main.py": train}, tmp_path)
    options = engine.Options({"select": ["XLA901"]}, isolated=True, jobs=1, cache=False)
    (found,) = engine.check([tmp_path], options).findings
    assert Path(found.filename).name == "batches.py"
    assert "`x[start : start + size]`" in found.message
