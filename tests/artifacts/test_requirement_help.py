"""The help of a requirement depends on the package, and on whether the program imports it."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options
from xlamig.findings import Finding


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def required(line: str, program: str = "import torch\n") -> Finding:
    Path("requirements.txt").write_text(f"numpy\n{line}\n")
    Path("train.py").write_text(program)
    options = Options({"select": ["XLA909"]}, isolated=True, cache=False)
    (finding,) = engine.check([Path()], options).findings
    return finding


@pytest.mark.parametrize(
    ("line", "release"),
    [
        ("torch==1.5.1+cu101", "torch==2.9.*"),
        ("torchvision==0.6.1+cu101", "torchvision==0.24.*"),
        ("torchaudio==0.12.1+cu113", "torchaudio==2.9.*"),
    ],
)
def test_names_the_release_that_belongs_to_the_target(line: str, release: str) -> None:
    name = line.partition("=")[0]
    finding = required(line, f"import {name}\n")
    assert finding.severity == "error" and f"`{release}`" in (finding.help or "")


def test_drops_the_pin_of_what_nothing_imports() -> None:
    finding = required("torchvision==0.6.1+cu101")
    assert finding.effort.level == "trivial" and "Remove the pin" in (finding.help or "")


@pytest.mark.parametrize("name", ["nvidia-ml-py3", "pynvml", "ray", "torchmetrics", "triton"])
def test_asks_for_no_change_of_what_nothing_imports(name: str) -> None:
    finding = required(f"{name}==1.0")
    assert finding.no_action and f"`{name}`" in finding.message


@pytest.mark.parametrize(
    ("name", "module"),
    [("nvidia-ml-py3", "pynvml"), ("ray", "ray"), ("torchmetrics", "torchmetrics"), ("triton", "triton")],
)
def test_asks_for_a_change_of_what_the_program_imports(name: str, module: str) -> None:
    assert not required(f"{name}==1.0", f"import {module}\n{module}.init()\n").no_action
