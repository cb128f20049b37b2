"""Sources of kernels that only unused code calls: counted and not listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

KERNEL = """#include <torch/extension.h>
__global__ void NAME_kernel(float* x) { x[threadIdx.x] *= 2; }
void NAME(at::Tensor x) { NAME_kernel<<<1, 32>>>(x.data_ptr<float>()); }
"""
BOUND = """#include <torch/extension.h>
void scale(at::Tensor x);
void shift(at::Tensor x);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale); m.def("shift", &shift); }
"""
SETUP = """from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension
setup(ext_modules=[CUDAExtension("ops_cuda", ["csrc/bind.cpp", "csrc/scale.cu", "csrc/shift.cu"])])
"""
OPS = """import torch
import ops_cuda
def scale(x):
    return ops_cuda.scale(x)
class Shift(torch.nn.Module):
    def forward(self, x):
        return ops_cuda.shift(x)
"""
TRAIN = """import torch
import ops
if __name__ == "__main__":
    x = torch.ones(2)
    print(ops.scale(x))
"""
CYTHON = {
    "nms/setup.py": "from distutils.core import setup\nfrom distutils.extension import Extension\n"
    "setup(ext_modules=[Extension('nms.fast_nms', ['fast_nms.pyx', 'kernel.cu'])])\n",
    "nms/kernel.cu": KERNEL.replace("NAME", "_nms").replace("#include <torch/extension.h>\n", ""),
    "nms/__init__.py": "",
    "nms/nms.py": "from .fast_nms import fast_nms\ndef suppress(boxes):\n    return fast_nms(boxes, 0.5)\n"
    "def distance(a, b):\n    return a - b\n",
}
CALLS = """import torch
from nms.nms import distance
if __name__ == "__main__":
    print(distance(torch.ones(2), 1))
"""


def kernels(folder: Path, files: dict[str, str], **settings: object) -> set[str]:
    """Return the sources of kernels that are listed."""
    write(files, folder)
    options = engine.Options({"select": ["XLA602"], **settings}, isolated=True, jobs=1, cache=False)
    names = (finding.filename for finding in engine.check([folder], options).findings)
    return {Path(name).name for name in names if name.endswith(".cu")}


def program(train: str, **more: str) -> dict[str, str]:
    sources = {f"csrc/{name}.cu": KERNEL.replace("NAME", name) for name in ("scale", "shift")}
    files = {"setup.py": SETUP, "csrc/bind.cpp": BOUND, "ops.py": OPS, "train.py": train, **sources}
    return {**files, **{f"{name}.py": text for name, text in more.items()}}


def test_counts_a_kernel_that_an_unused_class_calls(tmp_path: Path) -> None:
    assert kernels(tmp_path, program(TRAIN)) == {"scale.cu"}
    assert kernels(tmp_path, {}, **{"include-unused": True}) == {"scale.cu", "shift.cu"}


@pytest.mark.parametrize(
    "files",
    [
        program(TRAIN + "    ops.Shift()(x)\n"),
        program(TRAIN + "    from ops_cuda import shift\n    shift(x)\n"),
        program(TRAIN + "    getattr(ops, 'Shift')()(x)\n"),
        {k: v for k, v in program(TRAIN).items() if k != "train.py"},  # no script to say what is used
    ],
)
def test_lists_a_kernel_that_may_run(tmp_path: Path, files: dict[str, str]) -> None:
    assert kernels(tmp_path, files) == {"scale.cu", "shift.cu"}


def test_lists_the_kernels_of_a_library(tmp_path: Path) -> None:
    files = program(TRAIN)
    files["setup.py"] = SETUP.replace("setup(", "setup(author='me', url='https://a.b', ")
    assert kernels(tmp_path, files) == {"scale.cu", "shift.cu"}


def test_lists_a_kernel_that_nothing_names(tmp_path: Path) -> None:
    files = {"a/lone.cu": KERNEL.replace("NAME", "lone"), "train.py": TRAIN, "ops.py": OPS}
    assert kernels(tmp_path, files) == {"lone.cu"}


@pytest.mark.parametrize(
    ("calls", "listed"),
    [
        (CALLS, set()),
        (CALLS.replace("distance", "suppress"), {"kernel.cu"}),
        (CALLS + "    from nms import fast_nms\n    print(fast_nms.fast_nms(1))\n", {"kernel.cu"}),
    ],
)
def test_counts_a_module_of_cython_that_an_unused_function_calls(
    tmp_path: Path, calls: str, listed: set[str]
) -> None:
    assert kernels(tmp_path, {**CYTHON, "train.py": calls}) == listed


DISPATCH = """import torch
import ops_cuda
def _on_cuda(x):
    return ops_cuda.scale(x)
def _plain(x):
    \"\"\"Return what `scale(x)` returns, slowly.\"\"\"
    return x * 2
def _loads(name):
    return load(name=name, sources=["scale.cu"])
def scale(x, impl="cuda"):
    if TEST:
        return _on_cuda(x)
    REST
"""


@pytest.mark.parametrize(
    ("test", "rest", "train", "severity"),
    [
        ("x.is_cuda", "return _plain(x)", "", "info"),
        ("x.device.type == 'cuda'", "return _plain(x)", "from ops import scale\nscale(x)\n", "info"),
        ("impl == 'cuda' and x.is_cuda and _loads('s')", "y = x * 2\n    return y", "", "info"),
        ("x.is_cuda and _loads('s')", "return _plain(x)", "import ops\nops._loads('s')\n", "error"),
        ("x.is_cuda or _loads('s')", "return _plain(x)", "", "error"),
        ("x.is_cuda", "return None", "", "error"),
        ("x.is_cuda", "raise ValueError", "", "error"),
        ("x.is_cuda", "pass", "", "error"),
        ("x.device.type != 'cpu'", "return _plain(x)", "", "error"),
        ("len(x) > 2", "return _plain(x)", "", "error"),
        ("x.is_cuda", "return _plain(x)", "import ops\nops._on_cuda(x)\n", "error"),
        ("x.is_cuda", "return _plain(x)", "import ops_cuda\nops_cuda.scale(x)\n", "error"),
        ("x.is_cuda", "return _plain(x)", "import ops_cuda as o\nf = o.scale\nf(x)\n", "error"),
    ],
)
def test_a_kernel_that_only_tensors_of_cuda_need(
    tmp_path: Path, test: str, rest: str, train: str, severity: str
) -> None:
    ops = DISPATCH.replace("TEST", test).replace("REST", rest)
    write(program(TRAIN + train, ops=ops), tmp_path)
    options = engine.Options({"select": ["XLA602"]}, isolated=True, jobs=1, cache=False)
    found = {f.filename.rpartition("/")[2]: f.severity for f in engine.check([tmp_path], options).findings}
    assert found["scale.cu"] == severity
