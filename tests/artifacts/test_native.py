"""C++ and CUDA sources."""

from __future__ import annotations

import pytest

from xlamig.artifacts import native_of
from xlamig.artifacts.native import Links, Native, NativeIndex
from xlamig.artifacts.native.facts import native_facts
from xlamig.artifacts.native.scan import scan
from xlamig.artifacts.page import Page
from xlamig.facts import Kernel

CUDA = """\
#include <ATen/cuda/CUDAContext.h>
template <typename T, int N>
__global__ void __launch_bounds__(256, 2) add_kernel(const T* x, T* y) {
  __shared__ float s[32];
  asm volatile("bar.sync 0;");
}
// __global__ void commented(int n) {}
__device__ float helper(float x) { return x; }
void add_cuda(at::Tensor x) {
  add_kernel<float, 4><<<1, 2, 0, stream>>>(x.data_ptr<float>(), nullptr);
}
"""
BINDING = """\
#include <torch/extension.h>
void add(at::Tensor x) { add_cuda(x); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("add", &add, "adds");
  py::class_<Thing>(m, "Thing").def("method", &Thing::method);
}
"""
LIBRARY = """\
TORCH_LIBRARY(mine, m) { m.def("add(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(mine, CUDA, m) { m.impl("add", &add_cuda); }
"""


def kernels(text: str) -> list[str]:
    return [kernel.name for kernel in scan(text).kernels if kernel.form != "declaration"]


@pytest.mark.parametrize("text", ["", "int main() { return 0; }\n", "// __glob\n", '#include "a.h"\n'])
def test_c_plus_plus_of_something_else(text: str) -> None:
    assert native_of(text) is None


def test_a_source_that_only_launches_is_read() -> None:
    found = native_of('#include "ops.cuh"\nvoid f(float* x) { go<float, 4><<<1, 2>>>(x); }\n')
    assert found is not None and [launch.kernel for launch in found.launches] == ["go"]


def test_a_kernel_its_lines_its_launch_and_what_it_uses() -> None:
    found = scan(CUDA)
    (kernel,) = found.kernels
    assert (kernel.name, kernel.lines) == ("add_kernel", 4)
    assert CUDA[slice(*kernel.span)] == "add_kernel"
    assert [launch.kernel for launch in found.launches] == ["add_kernel"]
    assert found.features == ("inline-ptx", "shared-memory")
    assert found.device_lines == 5 and found.includes_cuda


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('extern "C" __global__ void k(int n) {}\n', ["k"]),
        ("namespace a { static __global__ void k(int n) {} }\n", ["k"]),
        ("__global__ void k(int n);\n", []),
        ("template __global__ void k<float>(int n);\n", []),
        ("#define MAKE(NAME) \\\n  __global__ void NAME##_kernel(int n) { }\n", ["NAME##_kernel"]),
        ("INSTANTIATE(__half)\n\n__global__ void k(float* x,\n   int n)\n{ }\n", ["k"]),
        ('const char* s = "__global__ void k(int n) {}";\n', []),
    ],
)
def test_kernels_however_they_are_written(text: str, names: list[str]) -> None:
    assert kernels(text) == names


def test_a_launch_in_a_macro() -> None:
    assert [f.kernel for f in scan("#define GO(T) \\\n  run<T, 4><<<grid, block>>>(x);\n").launches] == [
        "run"
    ]


def test_bindings() -> None:
    assert [(b.operator, b.function, b.via) for b in scan(BINDING).bindings] == [("add", "add", "pybind11")]
    assert [(b.operator, b.function, b.via) for b in scan(LIBRARY).bindings] == [
        ("mine::add", "", "torch-library"),
        ("mine::add", "add_cuda", "torch-library"),
    ]


def test_what_python_reaches_through_the_functions_of_other_files() -> None:
    python = [
        ("ops.py", "import my_cuda\n\n\ndef f(x):\n    return my_cuda.add(x)\n"),
        ("other.py", "s.add(1)\n"),
    ]
    index = NativeIndex({"add.cu": scan(CUDA), "bind.cpp": scan(BINDING)}, python)
    links = index.links("add.cu")
    assert [(bound.operator, bound.filename) for bound in links.operators] == [("add", "bind.cpp")]
    assert [(user.filename, user.row) for user in links.users] == [("ops.py", 5)]


def test_operators_of_torch_ops_and_loaded_extensions() -> None:
    files = {"add.cu": scan(CUDA), "lib.cpp": scan(LIBRARY)}
    python = [("a.py", "import torch\ntorch.ops.mine.add(x)\ntorch.ops.theirs.add(x)\n")]
    assert [u.row for u in NativeIndex(files, python).links("add.cu").users] == [2]


C_API = """\
extern "C" {
void cscale(float* x, int n) { scale_kernel<<<1, 256>>>(x, n); }
#if BUILD_CUDA
int cready() { return 1; }
#endif
}
extern "C" void cadd(float* x) { scale_kernel<<<1, 1>>>(x, 1); }
extern "C" __global__ void plain(float* x) { }
void inner(float* x) { }
"""
SCALE = "__global__ void scale_kernel(float* x, int n) { x[0] = n; }\n"


def test_what_ctypes_can_call() -> None:
    assert sorted(name for name, _ in scan(C_API).exports) == ["cadd", "cready", "cscale"]


@pytest.mark.parametrize(
    ("python", "rows"),
    [
        ("import ctypes\nlib = ctypes.CDLL('x.so')\nlib.cscale(p, 3)\n", [3]),
        ("from ctypes import cdll\nself._lib = cdll.LoadLibrary('x')\nself._lib.cscale(p, 3)\n", [3]),
        ("import ctypes\nctypes.CDLL('x.so')\nmodel.cscale(p, 3)\n", []),
        ("import lib\nlib.cscale(p, 3)\n", []),
        ("import ctypes\nlib = ctypes.CDLL('x.so')\nlib.cscale_twice(p, 3)\n", []),
    ],
)
def test_calls_by_way_of_ctypes_are_users(python: str, rows: list[int]) -> None:
    index = NativeIndex({"api.cpp": scan(C_API), "scale.cu": scan(SCALE)}, [("use.py", python)])
    links = index.links("scale.cu")
    assert [user.row for user in links.users] == rows
    assert [bound.operator for bound in links.operators] == (["cscale"] if rows else [])


def test_an_alias_of_a_namespace_is_followed() -> None:
    python = [("a.py", "import torch\nours = torch.ops.mine\nours.add(x)\n")]
    links = NativeIndex({"add.cu": scan(CUDA), "lib.cpp": scan(LIBRARY)}, python).links("add.cu")
    assert [user.row for user in links.users] == [3]


def test_a_function_of_the_same_name_in_the_file_itself_is_meant() -> None:
    one = scan("__global__ void k1() {}\nstatic void go() { k1<<<1, 1>>>(); }\nvoid f() { go(); }\n")
    two = scan("__global__ void k2() {}\nstatic void go() { k2<<<1, 1>>>(); }\n")
    binding = scan('PYBIND11_MODULE(x, m) { m.def("f", &f); }\n')
    index = NativeIndex({"one.cu": one, "two.cu": two, "b.cpp": binding})
    assert [b.operator for b in index.links("one.cu").operators] == ["f"]
    assert index.links("two.cu") == Links()


@pytest.mark.parametrize(
    "definition",
    [
        "static void start() { k2<<<1, 1>>>(); }",
        "inline void start() { k2<<<1, 1>>>(); }",
        "__device__ float start() { k2<<<1, 1>>>(); }",
    ],
)
def test_what_another_source_keeps_to_itself_is_not_meant(definition: str) -> None:
    one = scan("void f() { start(); }\n")
    two = f"__global__ void k2() {{}}\n{definition}\n"
    binding = scan('PYBIND11_MODULE(x, m) { m.def("f", &f); }\n')
    files = {"one.cpp": one, "b.cpp": binding}
    assert NativeIndex({**files, "two.cu": scan(two)}).links("two.cu") == Links()
    assert NativeIndex({**files, "two.cuh": scan(two)}).operators("two.cuh") == ["f"]
    plain = scan("__global__ void k2() {}\nvoid start() { k2<<<1, 1>>>(); }\n")
    assert NativeIndex({**files, "two.cu": plain}).operators("two.cu") == ["f"]


def test_a_method_is_not_meant_by_its_name_alone() -> None:
    one = scan("void f() { start(); }\n")
    two = scan("__global__ void k2() {}\nstruct Op {\n  void start() { k2<<<1, 1>>>(); }\n};\n")
    binding = scan('PYBIND11_MODULE(x, m) { m.def("f", &f); }\n')
    assert NativeIndex({"one.cpp": one, "two.cu": two, "b.cpp": binding}).links("two.cu") == Links()


def test_a_word_of_a_comment_calls_nothing() -> None:
    one = scan("void f() { // first start\n /* then\n start */ }\n")
    two = scan("__global__ void k2() {}\nvoid start() { k2<<<1, 1>>>(); }\n")
    binding = scan('PYBIND11_MODULE(x, m) { m.def("f", &f); }\n')
    assert NativeIndex({"one.cpp": one, "two.cu": two, "b.cpp": binding}).links("two.cu") == Links()


def test_the_nearest_of_two_bindings_is_named() -> None:
    files = {
        f"{folder}/{name}": scan(text)
        for folder in "ab"
        for name, text in (("add.cu", CUDA), ("bind.cpp", BINDING))
    }
    (bound,) = NativeIndex(files).links("b/add.cu").operators
    assert bound.filename == "b/bind.cpp"


def told(filename: str, native: Native, text: str = CUDA) -> list[Kernel]:
    return list(native_facts(Page(text, "native"), filename, native, Links()))


def test_the_fact_of_a_file() -> None:
    (fact,) = told("ops/add.cu", scan(CUDA))
    assert (fact.kernels, fact.launches, fact.lines) == (1, 1, 5)
    assert fact.subject == "`add_kernel`" and "1 CUDA kernel" in fact.amount and "inline PTX" in fact.amount


@pytest.mark.parametrize(
    ("filename", "text"),
    [
        ("third_party/cub/a.cu", CUDA),
        ("a.hip.cu", "// automatically generated by hipify\n" + CUDA),
        ("a.cpp", "#include <torch/extension.h>\nvoid f(at::Tensor x) {}\n"),
        ("a.h", "#include <cuda_runtime.h>\n__device__ int f() { return 1; }\n"),
    ],
)
def test_no_fact(filename: str, text: str) -> None:
    assert told(filename, scan(text), text) == []
