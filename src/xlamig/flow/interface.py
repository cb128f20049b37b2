"""Read the interface that a module offers its importers, from its own statements alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.facts import Interest
from xlamig.flow.interp.summaries import summaries_of
from xlamig.flow.model.absolute_imports import absolute_imports
from xlamig.flow.model.callgraph import CallGraph
from xlamig.flow.model.cuda_callers import NO_CUDA_CALLS
from xlamig.flow.model.cuda_calls import cuda_calls_of
from xlamig.flow.model.cuda_flags import placing_flags
from xlamig.flow.model.device_names import may_choose_device
from xlamig.flow.model.device_sinks import device_sinks
from xlamig.flow.model.dispatch import NO_DISPATCH
from xlamig.flow.model.dispatch_calls import dispatch_of
from xlamig.flow.model.entries import settings_of
from xlamig.flow.model.exports import Export, Interface
from xlamig.flow.model.names import Names
from xlamig.flow.model.pieces import Pieces
from xlamig.flow.model.project import ProjectIndex
from xlamig.flow.model.regions import Regions
from xlamig.flow.model.registry_entries import registries_of
from xlamig.flow.model.scopes import Binding, ScopeTable, path_of
from xlamig.flow.model.search_path import search_path
from xlamig.flow.model.site import Analysis, has_torch
from xlamig.flow.model.summaries import FunctionSummary
from xlamig.flow.model.values import Values

_OUTSIDE = ProjectIndex({})
_TRANSFORMS = "transform"


def interface_of(module: ir.Module, scopes: ScopeTable, text: str, pieces: Pieces) -> Interface:
    """The exports of a module, and what it calls."""
    name = scopes.module_name
    names = Names(Interest(), _OUTSIDE, name)
    values = Values(names, text)
    exports: dict[str, Export] = {}
    for exported, bindings in scopes.module.bindings.items():
        if "." in exported:
            continue
        export = _export(bindings, exported, scopes, names, values)
        if export is not None:
            exports[exported] = export
    exports |= {name: Export("constant", constant=value) for name, value in settings_of(module).items()}
    calls: Mapping[str, tuple[str, ...]] = {}
    summaries: Mapping[str, FunctionSummary] = {}
    on_cuda = NO_CUDA_CALLS
    torch = has_torch(text)
    analysis = Analysis(module, text, names, values, has_torch=torch)
    regions = Regions(analysis)
    if torch or _TRANSFORMS in text:  # where a program puts together what works on its samples
        graph = CallGraph(scopes, analysis, regions)
        calls = graph.calls(module)
    if torch:
        on_cuda = cuda_calls_of(scopes, analysis, graph.called_name)
        summaries = summaries_of(scopes, analysis, regions)
    stars = tuple(scopes.module.stars)
    registries = registries_of(module, scopes, names, pieces)
    for made in registries.made:
        exports.setdefault(made, Export("registry"))
    return Interface(
        name,
        exports,
        stars,
        imports_of(scopes),
        calls,
        summaries,
        torch,
        absolute_imports(module),
        device_sinks(module, text),
        may_choose_device(text),
        registries,
        search_path(module, text),
        tuple(sorted({*scopes.modules, *(b.dotted for b in _imported(scopes) if not b.block)})),
        placing_flags(module),
        dispatch_of(module, text) if torch else NO_DISPATCH,
        on_cuda,
    )


def imports_of(scopes: ScopeTable) -> tuple[str, ...]:
    """Return what a module imports."""
    found = {*scopes.modules, *(binding.dotted for binding in _imported(scopes))}
    for inner in scopes.functions():
        for bindings in inner.bindings.values():
            found.update(b.dotted for b in bindings if b.kind == "import")
    return tuple(sorted(found))


def _imported(scopes: ScopeTable) -> Iterator[Binding]:
    """Yield the names that imports outside functions bind."""
    for name, bindings in scopes.module.bindings.items():
        if "." not in name:
            yield from (b for b in bindings if b.kind == "import")


def _export(
    bindings: list[Binding], name: str, scopes: ScopeTable, names: Names, values: Values
) -> Export | None:
    for binding in _lasting(bindings):
        if binding.kind == "import":
            return Export("name", binding.dotted)
        if isinstance(binding.node, ir.ClassDef):
            return _class(binding.node, scopes, names)
        if isinstance(binding.node, ir.FunctionDef):
            return Export("function")
    node = ir.Name(bindings[-1].end, bindings[-1].end, name)
    dotted = names.dotted(node, scopes.module)
    if dotted is not None:
        return Export("name", dotted)
    known = values.of(node, scopes.module)
    if known.value.kind == "constant" and not isinstance(known.value.value, complex):
        return Export("constant", constant=known.value.value)
    if known.value.kind == "device":
        return Export("device", str(known.value.value))
    if known.value.kind == "cuda-test" and not known.negated:
        return Export("cuda-test", str(known.value.value))
    return None


def _lasting(bindings: list[Binding]) -> list[Binding]:
    """Return the bindings that an importer may see: `class Dataset(Dataset)` replaces what was imported."""
    last = bindings[-1]
    replaces = last.node is not None and all(one.block == last.block for one in bindings)
    return [last] if replaces else bindings


def _class(node: ir.ClassDef, scopes: ScopeTable, names: Names) -> Export:
    """A class with what it inherits from other classes of its module."""
    bases: dict[str, None] = {}
    methods: dict[str, None] = {}
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        methods.update((s.name, None) for s in current.body if isinstance(s, ir.FunctionDef))
        for arg in current.args:
            path = path_of(arg.value)
            bases[names.dotted(arg.value, scopes.module) or path] = None
            waiting.extend(b.node for b in scopes.module.lookup(path) if isinstance(b.node, ir.ClassDef))
    return Export("class", " ".join(bases), members=tuple(methods))
