"""Branches for GPUs whose condition is kept elsewhere are reported as such."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

WORK = """import torch
class Work:
    def __init__(self, use_gpu=True, gpus=1):
        self.use_gpu = use_gpu
        self.gpus = gpus
    def run(self, x):
        if {test}:
            return x.cuda()
        return x
"""
RUN = "import torch\nfrom work import Work\n"


def severity(folder: Path, test: str, run: str) -> str:
    write({"work.py": WORK.format(test=test), "run.py": f"{RUN}{run}\n"}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    (finding,) = engine.check([folder], options).findings
    return finding.severity


@pytest.mark.parametrize(
    ("test", "run"),
    [
        ("self.use_gpu", "Work(use_gpu=True)"),
        ("self.use_gpu", "Work(use_gpu=args.use_gpu)"),
        ("self.use_gpu", "Work(torch.cuda.is_available())"),  # nothing else says so
        ("self.use_gpu", "Work(use_gpu=torch.cuda.is_available() or args.use_gpu)"),
        ("self.use_gpu", "use = torch.cuda.is_available(); use = args.use_gpu; Work(use_gpu=use)"),
        ("self.use_gpu", "Work(use_gpu=torch.cuda.device_count() > 0)"),
        ("not self.use_gpu", "Work(use_gpu=torch.cuda.device_count())"),
        ("self.use_gpu", "Work(use_gpu=not torch.cuda.device_count())"),
        ("self.use_gpu", "Work(use_gpu=args.use_gpu or torch.cuda.device_count())"),
        ("self.gpus > 0", "Work(gpus=torch.cuda.device_count() or 2)"),
        ("self.gpus > 0", "Work(gpus=2); Work(gpus=torch.cuda.device_count())"),
        ("self.gpus == 1", "Work(gpus=1); Work(gpus=torch.cuda.device_count())"),
        ("self.gpus > 1", "Work(gpus=2)"),
    ],
)
def test_lists_what_runs_without_gpus(tmp_path: Path, test: str, run: str) -> None:
    assert severity(tmp_path, test, run) == "error"


@pytest.mark.parametrize(
    ("test", "run"),
    [
        ("self.use_gpu", "Work(use_gpu=torch.cuda.device_count())"),
        ("self.use_gpu", "Work(use_gpu=args.use_gpu and torch.cuda.device_count())"),
        ("self.use_gpu", "Work(use_gpu=torch.cuda.is_available())"),
        ("self.use_gpu", "Work(use_gpu=torch.cuda.is_available() and args.use_gpu)"),
        ("self.use_gpu", "use = torch.cuda.is_available() and not args.cpu; Work(use_gpu=use)"),
        ("self.use_gpu", "Work(use_gpu=True if torch.cuda.is_available() else False)"),
        ("self.gpus > 1", "Work(gpus=min(torch.cuda.device_count(), args.gpus))"),
        ("self.use_gpu", "n = torch.cuda.device_count(); Work(use_gpu=n > 0)"),
        ("self.use_gpu", "n = torch.cuda.device_count(); Work(use_gpu=n)"),
        ("self.use_gpu > 0", "Work(use_gpu=torch.cuda.device_count())"),
        ("not self.use_gpu", "Work(use_gpu=not torch.cuda.device_count())"),
        ("self.gpus > 1", "Work(gpus=1); Work(gpus=torch.cuda.device_count())"),
        ("self.gpus", "Work(gpus=torch.cuda.device_count())"),
        ("self.gpus != 0", "Work(gpus=torch.cuda.device_count())"),
        ("self.use_gpu and x.sum() > 0", "Work(use_gpu=torch.cuda.device_count())"),
    ],
)
def test_lowers_what_only_gpus_run(tmp_path: Path, test: str, run: str) -> None:
    assert severity(tmp_path, test, run) == "info"


def test_says_that_a_tpu_does_not_run_it(tmp_path: Path) -> None:
    write(
        {"work.py": WORK.format(test="self.use_gpu"), "run.py": f"{RUN}Work(torch.cuda.device_count())\n"},
        tmp_path,
    )
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    (finding,) = engine.check([tmp_path], options).findings
    assert finding.message.endswith("(under `self.use_gpu`, which is false on a TPU)")


FIT = """import torch
def fit(x, use_gpu=False):
    if use_gpu:
        return x.cuda()
    return x
def load(fit=True):
    return torch.utils.data.DataLoader([], {given})
"""
FITS = "import torch\nfrom work import fit, load\nuse_gpu = torch.cuda.is_available() and 1\n"


@pytest.mark.parametrize(
    ("given", "calls", "expected"),
    [
        ("collate_fn=fit", "fit(x, use_gpu=use_gpu)", "info"),  # its own parameter
        ("1", "fit(x, use_gpu=use_gpu)\ntorch.utils.data.DataLoader([], collate_fn=fit)", "error"),
        ("1", "fit(x, use_gpu=use_gpu)\nfit(x, use_gpu=args.gpu)", "error"),
    ],
)
def test_a_function_that_is_handed_on_may_be_called_in_any_way(
    tmp_path: Path, given: str, calls: str, expected: str
) -> None:
    write({"work.py": FIT.format(given=given), "run.py": f"{FITS}{calls}\n"}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [f.severity for f in engine.check([tmp_path], options).findings] == [expected]
