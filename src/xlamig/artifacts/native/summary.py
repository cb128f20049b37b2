"""The summary of one native source, independent of every other file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from xlamig.facts import Span

_TELLING = re.compile(
    r"__global__|__device__|<<<|PYBIND11_MODULE|TORCH_LIBRARY|ATen/|torch/|c10/|cuda_runtime|pybind11|Tensor\b"
)


class Kernel(NamedTuple):
    """A `__global__` function. A declaration has no lines; one in a macro has its name as written."""

    name: str
    span: Span
    lines: int
    form: Literal["definition", "declaration", "macro"] = "definition"


class Launch(NamedTuple):
    kernel: str
    span: Span


class Binding(NamedTuple):
    """An operator that Python can call. `operator` is "ns::name" of TORCH_LIBRARY, a bare name of pybind11;
    `function` is the C++ function behind it, "" where that is not said by name."""

    operator: str
    function: str
    span: Span
    via: Literal["pybind11", "torch-library"]


@dataclass(frozen=True, slots=True)
class Native:
    """`functions` are the functions defined here, with the identifiers in their bodies; `mentions` are
    those of macros at the top, which may tie one function to another; `exports` are those of `extern "C"`;
    `local` are those that no other source can call, unless it includes this one."""

    kernels: tuple[Kernel, ...] = ()
    launches: tuple[Launch, ...] = ()
    bindings: tuple[Binding, ...] = ()
    functions: tuple[tuple[str, frozenset[str]], ...] = ()
    mentions: tuple[frozenset[str], ...] = ()
    exports: tuple[tuple[str, Span], ...] = ()
    local: frozenset[str] = frozenset()
    device_lines: int = 0
    features: tuple[str, ...] = ()
    includes_cuda: bool = False
    hipified: bool = False
    modules: tuple[str, ...] = ()  # names of pybind11 modules, where they are written out


def may_matter(text: str) -> bool:
    """Return whether a native source has to do with a GPU or with torch at all."""
    return _TELLING.search(text) is not None
