"""The benchmark runs; what it measures is not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEED = "benchmarks.speed.packages"


@pytest.mark.slow
def test_speed_measures_a_folder_and_ends_with_json(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.py").write_text("import torch\ntorch.cuda.synchronize()\n", encoding="utf-8")
    options: list[str | Path] = [
        "--source",
        source,
        "--runs",
        "1",
        "--no-torchfix",
        "--cache",
        tmp_path / "cache",
    ]
    run = subprocess.run([sys.executable, "-m", SPEED, *options], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout.splitlines()[-1])
    rows = result[str(source)]
    assert (rows["files"], rows["lines"]) == (1, 2)
    assert rows["libcst parse"]["ratio"] == 1.0
    assert {"xlamig, cold", "xlamig, unchanged"} <= set(rows)
