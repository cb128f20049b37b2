"""A program that counts devices before its processes start must not ask XLA's runtime."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.findings import Finding

HEAD = """import torch
import torch.multiprocessing as mp
import pytorch_lightning as pl
"""
RUNTIME = (
    "by `torch_xla.runtime.world_size()`",
    "Use `torch_xla.runtime.global",
    "Compare `torch_xla.runtime",
)
DIVIDES = "Divide in the function that each process runs"


def found(text: str) -> list[Finding]:
    whole = HEAD + text
    options = engine.Options({"select": ["XLA004"]}, isolated=True, stdin=("train.py", whole.encode()))
    return list(engine.check([Path("train.py")], options).findings)


@pytest.mark.parametrize(
    "text",
    [
        "batch = 64 // torch.cuda.device_count()\n",
        "def work(rank):\n    return 64 // torch.cuda.device_count()\nmp.spawn(work, nprocs=4)\n",
        "def work(rank):\n    return 64 // torch.cuda.device_count()\n"
        "def main(one):\n    if one:\n        work(0)\n    else:\n        mp.spawn(work, nprocs=4)\n",
        "def work(rank):\n    return inner()\ndef inner():\n    return 64 // torch.cuda.device_count()\n"
        "def main():\n    mp.spawn(work, nprocs=4)\n",
        "def main():\n    mp.spawn(work, nprocs=4)\n    batch()\n"
        "def batch():\n    return 64 // torch.cuda.device_count()\n",
    ],
)
def test_a_process_that_was_started_may_ask_the_runtime(text: str) -> None:
    (finding,) = found(text)
    assert (finding.help or "").startswith("Delete the line if it picks a GPU")


@pytest.mark.parametrize(
    "text",
    [
        "batch = 64 // torch.cuda.device_count()\ndef main():\n    mp.spawn(f, nprocs=4)\n",
        "if __name__ == '__main__':\n    batch = 64 // torch.cuda.device_count()\n    mp.spawn(f)\n",
        "def main():\n    batch = 64 // torch.cuda.device_count()\n    mp.spawn(f, args=(batch,))\n",
        "def options():\n    return 64 // torch.cuda.device_count()\n"
        "def main():\n    batch = options()\n    mp.spawn(f, args=(batch,))\n",
        "def options():\n    return 64 // torch.cuda.device_count()\n"
        "if __name__ == '__main__':\n    batch = options()\n    mp.spawn(f, args=(batch,))\n",
    ],
)
def test_a_program_divides_where_its_processes_run(text: str) -> None:
    (finding,) = found(text)
    assert finding.severity == "error"
    assert (finding.help or "").startswith(DIVIDES)


@pytest.mark.parametrize(
    "text",
    [
        "pl.Trainer(accelerator='gpu', devices=torch.cuda.device_count(), strategy='ddp').fit(m)\n",
        "def main():\n    n = torch.cuda.device_count()\n    pl.Trainer(gpus=n).fit(m)\n",
        "pl.Trainer(gpus=torch.cuda.device_count() if opt.gpu else 0)\n",
    ],
)
def test_a_trainer_counts_its_devices_itself(text: str) -> None:
    (finding,) = found(text)
    assert (finding.help or "").startswith('Use `accelerator="tpu", devices="auto"`')
    assert finding.fix is None or not finding.fix.edits


@pytest.mark.parametrize(
    "text",
    [
        "batch = 64 // torch.cuda.device_count()\npl.Trainer().fit(m)\n",
        "assert 64 % torch.cuda.device_count() == 0\npl.Trainer().fit(m)\n",
        "if torch.cuda.device_count() > 1:\n    f()\npl.Trainer().fit(m)\n",
        "print(torch.cuda.device_count())\npl.Trainer().fit(m)\n",
        "workers = 4 * torch.cuda.device_count()\npl.Trainer().fit(m)\n",
        "if torch.cuda.device_count() > 1:\n    mp.spawn(f, nprocs=2)\n",
        "def main():\n    print(torch.cuda.device_count())\n    mp.spawn(f)\n",
    ],
)
def test_nothing_asks_the_runtime_before_the_processes_start(text: str) -> None:
    (finding,) = found(text)
    assert not (finding.help or "").startswith(RUNTIME)
    assert "before" in (finding.help or "")


def test_a_remainder_in_a_check_raises() -> None:
    (finding,) = found("assert 64 % torch.cuda.device_count() == 0\n")
    assert finding.severity == "error" and "ZeroDivisionError" in finding.message
