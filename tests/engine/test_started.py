"""Scripts without a main guard: what they do not run is counted and not listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

NET = """import torch
def build(x):
    return x.cuda()
def export(x):
    return x.cuda()
"""
CONFIG = "maps = False\n"
FIT = "import config as c\nfrom net import build, export\ndef fit():\n    build(1)\n"
OFF = FIT + "    if c.maps:\n        export(1)\n"
MAIN = "from fit import fit\nmodel = fit()\n"


def severities(folder: Path, files: dict[str, str]) -> list[tuple[int, str]]:
    write({"net.py": NET, "config.py": CONFIG, **files}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    report = engine.check([folder], options)
    return [(f.place.location.row, f.severity) for f in report.findings if f.filename.endswith("net.py")]


@pytest.mark.parametrize("main", [MAIN, "from fit import fit\nfit()\n", "import fit as f\nf.fit()\n"])
def test_a_module_that_runs_others_is_a_script(tmp_path: Path, main: str) -> None:
    assert severities(tmp_path, {"fit.py": FIT, "main.py": main}) == [(3, "error")]


def test_a_constant_of_a_module_of_settings_keeps_a_branch_off(tmp_path: Path) -> None:
    assert severities(tmp_path, {"fit.py": OFF, "main.py": MAIN}) == [(3, "error"), (5, "info")]
    on = {"fit.py": OFF, "main.py": "import config\nconfig.maps = True\n" + MAIN}
    assert severities(tmp_path, on) == [(3, "error"), (5, "error")]


@pytest.mark.parametrize(
    "files",
    [
        {"fit.py": FIT},
        {"fit.py": FIT, "main.py": "from fit import fit\n"},
        {"fit.py": FIT, "main.py": "from fit import fit\ndef run():\n    model = fit()\n"},
        {"fit.py": FIT, "main.py": MAIN, "all.py": "from main import *\n"},
        {"fit.py": FIT, "main.py": "from torch import randn\nx = randn(2)\n"},
        {"fit.py": "import torch\nclass Fit:\n    pass\n", "main.py": "from fit import Fit\nfit = Fit()\n"},
    ],
)
def test_without_a_script_everything_may_run(tmp_path: Path, files: dict[str, str]) -> None:
    assert severities(tmp_path, files) == [(3, "error"), (5, "error")]
