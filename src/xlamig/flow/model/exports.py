"""A module as its importers see it: its exported names, and summaries of its functions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from xlamig.flow.model.absolute_imports import AbsoluteImports
from xlamig.flow.model.cuda_callers import NO_CUDA_CALLS, CudaCalls
from xlamig.flow.model.dispatch import NO_DISPATCH, Dispatch
from xlamig.flow.model.registries import NO_REGISTRIES, Registries
from xlamig.flow.model.summaries import FunctionSummary


class Export(NamedTuple):
    """One exported name.

    name       another dotted name: an import or an alias ("torch.cuda.amp.autocast")
    constant   a plain Python constant, `constant` holds it
    device     a torch.device, `value` is its text
    cuda-test  true only where CUDA is
    class      `value` is the space-separated names of bases, `members` its methods
    registry   a dictionary or an object that may hold functions and classes (see registries)
    function   a function; `value` is "device" if it returns a device chosen by CUDA availability
    """

    kind: Literal["name", "constant", "device", "cuda-test", "class", "function", "registry"]
    value: str = ""
    constant: str | int | float | bool | None = None
    members: tuple[str, ...] = ()


class Interface(NamedTuple):
    """A module as its importers see it. `imports` are the dotted modules it names, `calls` is what its
    functions and its steps call (see callgraph), `summaries` are of its functions that do something a
    caller should know of, `torch` tells whether it works on tensors, `sinks` are where it raises for an
    XLA device (see device_sinks), `device` tells whether it may choose a device, `search_path` holds the
    folders that it adds to `sys.path`, `at_top` are those of the `imports` that stand directly in its
    body, and all `import a.b`, `placing_flags` are the names of what its placements on CUDA depend on,
    `dispatch` is its part in calls of methods by a text, `cuda_calls` are its calls for CUDA alone."""

    module: str
    exports: Mapping[str, Export] = MappingProxyType({})
    stars: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    calls: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    summaries: Mapping[str, FunctionSummary] = MappingProxyType({})
    torch: bool = False
    absolute: AbsoluteImports = AbsoluteImports()
    sinks: tuple[str, ...] = ()
    device: bool = False
    registries: Registries = NO_REGISTRIES
    search_path: tuple[str, ...] = ()
    at_top: tuple[str, ...] = ()
    placing_flags: tuple[str, ...] = ()
    dispatch: Dispatch = NO_DISPATCH
    cuda_calls: CudaCalls = NO_CUDA_CALLS
