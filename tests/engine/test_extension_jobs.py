"""An extension is one job: its kernels, what builds them and what calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options
from xlamig.report.together import together

KERNEL = "__global__ void NAME_kernel(float* x) { x[threadIdx.x] *= 2; }\n"
SETUP = """from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension
setup(ext_modules=[CUDAExtension("ext", SOURCES)])
"""
LOADED = """from torch.utils.cpp_extension import load
import os
here = os.path.dirname(__file__)
ext = load("ext", sources=[os.path.join(here, "csrc/scale.cu")])
"""


def jobs(folder: Path, files: dict[str, str]) -> list[list[str]]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    options = Options({"select": ["XLA601", "XLA602"]}, isolated=True, jobs=1, cache=False)
    found = together(engine.check([Path()], options)).findings
    return sorted([f"{one.code} {one.filename}" for one in (f, *f.also)] for f in found)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("sources", ["sources", '["other/scale.cu"]', '["csrc/scale.cpp"]'])
def test_a_build_of_unknown_or_other_sources_is_a_job(tmp_path: Path, sources: str) -> None:
    files = {"setup.py": SETUP.replace("SOURCES", sources), "csrc/scale.cu": KERNEL.replace("NAME", "scale")}
    assert jobs(tmp_path, files) == [["XLA601 setup.py"], ["XLA602 csrc/scale.cu"]]


def test_two_kernels_are_two_jobs(tmp_path: Path) -> None:
    files = {
        "setup.py": SETUP.replace("SOURCES", '["csrc/scale.cu", "csrc/shift.cu"]'),
        "csrc/scale.cu": KERNEL.replace("NAME", "scale"),
        "csrc/shift.cu": KERNEL.replace("NAME", "shift"),
    }
    assert jobs(tmp_path, files) == [
        ["XLA602 csrc/scale.cu", "XLA601 setup.py"],
        ["XLA602 csrc/shift.cu"],
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"setup.py": SETUP.replace("SOURCES", '["csrc/scale.cpp", "csrc/scale.cu"]')},
        {"ops/setup.py": SETUP.replace("SOURCES", '["../csrc/scale.cu"]')},
        {"scale.py": LOADED},
    ],
)
def test_a_build_belongs_to_its_kernel(tmp_path: Path, files: dict[str, str]) -> None:
    found = jobs(tmp_path, {**files, "csrc/scale.cu": KERNEL.replace("NAME", "scale")})
    assert found == [["XLA602 csrc/scale.cu", f"XLA601 {next(iter(files))}"]]
