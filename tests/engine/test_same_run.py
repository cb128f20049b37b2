"""Files that a run loads after it has saved them, by functions and classes of other files."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

STOPPING = """import torch
class EarlyStopping:
    def __init__(self, patience=7, path="best.pt"):
        self.best, self.path = None, path
        self.file = path
    def __call__(self, loss, model, folder):
        if self.best is None or loss < self.best:
            self.best = loss
            self.keep(model, folder)
    def keep(self, model, folder):
        torch.save(model.state_dict(), {file})
"""
TRAIN = """import os, torch
from stopping import EarlyStopping
def train(model, epochs, folder, flag):
    stopping = EarlyStopping({made})
    for epoch in range(epochs):
        {call}
    best = {best}
    model.load_state_dict(torch.load({load}))
train(torch.nn.Linear(3, 3).cuda(), 3, "out", True)
"""
UTILS = """import torch
def name_of(args, name):
    return name or args.model
def save_model(args, model, name=""):
    name = name_of(args, name)
    torch.save(model, f"pretrained/{name}.pt")
def load_model(args, name=""):
    name = name_of(args, name)
    return torch.load(f"pretrained/{name}.pt")
"""
PAIR = """import torch
from utils import load_model, save_model
def train(model, args):
    {before}
    for epoch in range(args.epochs):
        if model.better():
            save_model({saved})
    model = load_model({loaded})
train(torch.nn.Linear(3, 3).cuda(), None)
"""
NAMED = "folder + '/' + 'checkpoint.pth'"


def reported(folder: Path, files: dict[str, str]) -> int:
    write(files, folder)
    options = engine.Options({"select": ["XLA907"]}, isolated=True, jobs=1, cache=False)
    return len(engine.check([folder], options).findings)


def stopping(file: str = NAMED, **given: str) -> dict[str, str]:
    parts = {"made": "", "call": "stopping(1.0, model, folder)", "best": NAMED, "load": "best"} | given
    return {"stopping.py": STOPPING.format(file=file), "train.py": TRAIN.format(**parts)}


def pair(saved: str = "args, model, args.name", loaded: str = "args, args.name", before: str = "pass"):
    return {"utils.py": UTILS, "train.py": PAIR.format(saved=saved, loaded=loaded, before=before)}


@pytest.mark.parametrize(
    "files",
    [
        stopping(),
        stopping(load="os.path.join(folder, 'checkpoint.pth')"),
        stopping(call="stopping.keep(model, folder)"),
        stopping(call="if epoch % 2:\n            stopping(1.0, model, folder)"),
        stopping("self.file", load="'best.pt'"),
        stopping("self.file", made="3, 'other.pt'", load="'other.pt'"),
        stopping("self.file", made="path=folder", load="folder"),
        pair(),
    ],
)
def test_leaves_files_that_a_call_has_written_before(tmp_path: Path, files: dict[str, str]) -> None:
    assert reported(tmp_path, files) == 0


@pytest.mark.parametrize(
    "files",
    [
        stopping(call="pass"),
        stopping(load="os.path.join(folder, 'resume.pth')"),
        stopping(call="pass\n    if flag:\n        stopping(1.0, model, folder)"),
        stopping(load="os.environ['RESUME']"),
        stopping("self.file", load="'other.pt'"),
        stopping("self.file", made="path='other.pt'", load="'best.pt'"),
        stopping(f"folder\n        if self.save:\n            torch.save(model, {NAMED}"),
        pair(loaded="args, args.resume"),
        pair(before="model = load_model(args, args.name)"),
    ],
)
def test_reports_files_of_other_runs(tmp_path: Path, files: dict[str, str]) -> None:
    assert reported(tmp_path, files) == 1
