"""A flag for CUDA that one file keeps and others ask: it is reported once, where it is set."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

BASE = """import torch
class Base:
    def __init__(self, use_gpu=True, device_ids=None):
        {sets}
"""
WORK = """import torch
from base import Base
class Work(Base):
    def run(self, x):
        if self.use_gpu:
            {does}
        return x
"""
RUN = "import argparse, torch\nfrom work import Work\nargs = argparse.ArgumentParser().parse_args()\n{runs}\n"


def findings(
    folder: Path,
    sets: str,
    does: str = "return x.cuda()",
    runs: str = "Work(True).run(torch.ones(2))",
) -> list[str]:
    base, work = BASE.format(sets=sets), WORK.format(does=does)
    write({"base.py": base, "work.py": work, "run.py": RUN.format(runs=runs)}, folder)
    options = engine.Options({"select": ["XLA002", "XLA003"]}, isolated=True, jobs=1, cache=False)
    found = engine.check([folder], options).findings
    return sorted(f"{Path(f.filename).name} {f.code} {f.severity}" for f in found)


@pytest.mark.parametrize(
    ("sets", "runs"),
    [
        ("self.use_gpu = use_gpu", "Work(True).run(torch.ones(2))"),
        ("self.use_gpu = use_gpu", "Work(use_gpu=args.gpu).run(torch.ones(2))"),
        ("self.use_gpu = torch.cuda.is_available() or use_gpu", "Work(True).run(torch.ones(2))"),
        (
            "self.use_gpu = torch.cuda.is_available()",
            "work = Work()\nwork.use_gpu = True\nwork.run(torch.ones(2))",
        ),
    ],
)
def test_lists_what_a_flag_may_run_without_cuda(tmp_path: Path, sets: str, runs: str) -> None:
    assert "work.py XLA002 error" in findings(tmp_path, sets, runs=runs)


@pytest.mark.parametrize("does", ["print(x)", "return x + 1"])
def test_does_not_report_a_flag_that_places_nothing(tmp_path: Path, does: str) -> None:
    assert findings(tmp_path, "self.use_gpu = torch.cuda.is_available()", does) == []


@pytest.mark.parametrize(
    "sets",
    ["self.use_gpu = torch.cuda.is_available()", "self.use_gpu = torch.cuda.is_available() and use_gpu"],
)
def test_reports_the_flag_where_it_is_set(tmp_path: Path, sets: str) -> None:
    assert findings(tmp_path, sets) == ["base.py XLA003 error", "work.py XLA002 info"]


def test_does_not_report_a_flag_that_is_only_demanded(tmp_path: Path) -> None:
    sets = "self.use_gpu = torch.cuda.is_available()\n        if not self.use_gpu:\n            raise OSError"
    assert findings(tmp_path, sets, "print(x)") == ["base.py XLA003 error"]
