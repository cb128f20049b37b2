"""Parts of apex that are Python are not said to need CUDA."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options


@pytest.mark.parametrize(
    ("line", "severity", "help"),
    [
        ("from apex.parallel import SyncBatchNorm", "error", "Use `torch.nn.parallel.Dist"),
        ("from apex.parallel.LARC import LARC", "warning", "Copy the class into the project"),
    ],
)
def test_each_part_has_its_own_advice(tmp_path: Path, line: str, severity: str, help: str) -> None:
    (tmp_path / "a.py").write_text(f"import torch\n{line}\n")
    report = engine.check([tmp_path], Options({"select": ["XLA606"]}, isolated=True, jobs=1, cache=False))
    (finding,) = report.findings
    assert finding.severity == severity and finding.help.startswith(help)
