"""Parts of apex that are Python are not said to need CUDA."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options


@pytest.mark.parametrize(
    ("line", "severity", "help"),
    [
        ("from apex.parallel import DistributedDataParallel", "error", "Use `torch.nn.parallel.Dist"),
        ("from apex.parallel import SyncBatchNorm", "error", "Use plain BatchNorm"),
        ("from apex.parallel import convert_syncbn_model", "error", "Delete the call"),
        ("from apex.optimizers import FusedLAMB", "error", "Use a LAMB in torch operators"),
        ("from apex.optimizers import FusedAdam", "error", "Use `torch.optim.AdamW`"),
        ("from apex.parallel.LARC import LARC", "warning", "Copy the class into the project"),
    ],
)
def test_each_part_has_its_own_advice(tmp_path: Path, line: str, severity: str, help: str) -> None:
    (tmp_path / "a.py").write_text(f"import torch\n{line}\n")
    report = engine.check([tmp_path], Options({"select": ["XLA606"]}, isolated=True, jobs=1, cache=False))
    (finding,) = report.findings
    assert finding.severity == severity and finding.help.startswith(help)


def test_the_parts_of_a_program_are_one_finding(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import apex\nfrom apex.parallel.LARC import LARC\n")
    (tmp_path / "b.py").write_text("from apex.optimizers import FusedLAMB\n")
    report = engine.check([tmp_path], Options({"select": ["XLA606"]}, isolated=True, jobs=1, cache=False))
    (finding,) = report.findings
    assert finding.severity == "error"
    assert sum(reason.message.startswith("also here") for reason in finding.reasons) == 2
