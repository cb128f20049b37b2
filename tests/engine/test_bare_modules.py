"""Reads of `model.module` where only a branch for CUDA wraps the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

CODE = """import torch
from torch import nn


def train(model, args, distributed):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    if TEST:
        model = WRAP
    AFTER
"""
CUDA = "torch.cuda.device_count() > 1"
WRAP = "nn.DataParallel(model)"
GUARDED = {
    "same test": f"if {CUDA}:\n        save(model.module)",
    "option": "save(model.module if args.multi_gpu else model)",
    "hasattr": "save(model.module if hasattr(model, 'module') else model)",
    "try": "try:\n        save(model.module)\n    except AttributeError:\n        save(model)",
    "another wrapper": "model = prepare(model)\n    save(model.module)",
    "another name": "save(args.module)",
}


def severity(test: str, after: str, folder: Path, wrap: str = WRAP) -> str:
    code = CODE.replace("TEST", test).replace("WRAP", wrap).replace("AFTER", after)
    write({"train.py": code}, folder)
    report = engine.check(
        [folder], engine.Options({"select": ["XLA704"]}, isolated=True, jobs=1, cache=False)
    )
    return " ".join(finding.severity for finding in report.findings)


@pytest.mark.parametrize("case", GUARDED)
def test_a_read_that_is_guarded_leaves_the_finding_a_hint(case: str, tmp_path: Path) -> None:
    assert severity(CUDA, GUARDED[case], tmp_path) == "info"


@pytest.mark.parametrize("test", [CUDA, "torch.cuda.is_available()"])
@pytest.mark.parametrize("wrap", [WRAP, f"{WRAP}.cuda()"])
def test_a_bare_read_is_a_warning(test: str, wrap: str, tmp_path: Path) -> None:
    assert severity(test, "save(model.module)", tmp_path, wrap) == "warning"


def test_another_branch_that_wraps_is_no_bare_read(tmp_path: Path) -> None:
    after = "else:\n        model = Own(model)\n    save(model.module)"
    assert severity(CUDA, after, tmp_path) == "info"
