"""What functions do with tensors they are given: worked out once per module, for its importers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from xlamig import ir
from xlamig.facts import HostRead, Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.events import Event, Recorder
from xlamig.flow.interp.frames import Function
from xlamig.flow.interp.machine import Machine
from xlamig.flow.interp.things import LIKELY, POSSIBLE, Thing
from xlamig.flow.model.project import Digest, Reading
from xlamig.flow.model.regions import Regions

if TYPE_CHECKING:
    from xlamig.flow.model.scopes import ScopeTable
    from xlamig.flow.model.site import Analysis

_MAY_READ = re.compile(r"\.\s*(?:item|tolist|cpu|numpy)\s*\(|\b(?:float|int)\s*\(")
_MAX_LENGTH = 1500  # characters; what is longer is no wrapper
_VIA = frozenset({"item", "copy"})
_MARK = "the argument "
_GIVES = {"number": "number", "bool": "number", "text": "text", "none": "none", "foreign": "foreign"}


def digests_of(scopes: ScopeTable, analysis: Analysis, regions: Regions) -> Mapping[str, Digest]:
    """By name ("f", "C.f"), the functions and methods that read a tensor they are given on the host."""
    found: dict[str, Digest] = {}
    short = [
        (owner, node)
        for owner, node in _defined(analysis.module.body)
        if node.name != "__init__" and node.end - node.start < _MAX_LENGTH
    ]
    text = analysis.text
    reading = {node.name for _, node in short if _MAY_READ.search(text, node.start, node.end)}
    if reading:
        calls = re.compile(rf"{_MAY_READ.pattern}|\b(?:{'|'.join(map(re.escape, reading))})\s*\(")
        wanted = [(owner, node) for owner, node in short if calls.search(text, node.start, node.end)]
        maker = _Maker(scopes, analysis, regions)
        for owner, node in wanted:
            digest = maker.digest(owner, node)
            if digest is not None:
                found[f"{owner.name}.{node.name}" if owner is not None else node.name] = digest
    return found


def _defined(body: ir.Block) -> Iterator[tuple[ir.ClassDef | None, ir.FunctionDef]]:
    for node in body:
        if isinstance(node, ir.FunctionDef):
            yield None, node
        elif isinstance(node, ir.ClassDef):
            yield from ((node, inner) for inner in node.body if isinstance(inner, ir.FunctionDef))


class _Maker:
    def __init__(self, scopes: ScopeTable, analysis: Analysis, regions: Regions) -> None:
        self.text = analysis.text
        self.machine = Machine(analysis, scopes, regions)
        made = (ir.Import, ir.ImportFrom, ir.FunctionDef, ir.ClassDef, ir.Assign)
        self.machine.block([node for node in analysis.module.body if isinstance(node, made)])

    def digest(self, owner: ir.ClassDef | None, node: ir.FunctionDef) -> Digest | None:
        m = self.machine
        info = m.definitions.class_of(owner) if owner is not None else None
        function = m.definitions.function(node, info.frame if info is not None else m.frame, info)
        bound = info is not None and function.kind != "static"
        params = node.params[1:] if bound else node.params
        m.recorder, m.frequency = Recorder(), "step"
        if bound:
            function.bound = Thing("module" if info and info.is_module else "instance", ref=info)
        result = m.calls.entry.call(function, self._given(function, params), None)
        m.recorder.finish()
        reads = tuple(dict.fromkeys(self._read(event) for event in m.recorder.all() if self._is_read(event)))
        if not reads:
            return None
        return Digest(tuple(p.name for p in params if not p.kind), reads, _GIVES.get(result.kind, ""))

    def _given(self, function: Function, params: tuple[ir.Param, ...]) -> Args:
        """Tensors on the device, except where a parameter says that it is something else."""
        args = Args()
        for param in params:
            tensor = Thing("tensor", "device", LIKELY, why=(Why(_MARK + param.name, (0, 0)),))
            guessed = self.machine.calls.entry.parameters.guessed(param, function, hot=False)
            if param.kind == "*":
                args.positional.append(tensor)
            elif param.kind == "**":
                args.keywords["any other"] = tensor
            else:
                plain = guessed.kind in ("tensor", "unknown", "none") and not guessed.loose
                args.keywords[param.name] = tensor if plain else guessed
        return args

    @staticmethod
    def _is_read(event: Event) -> bool:
        if event.fact is not HostRead or event.fields["via"] not in _VIA or event.sure == POSSIBLE:
            return False
        return bool(event.reasons) and event.reasons[0].message.startswith(_MARK)

    def _read(self, event: Event) -> Reading:
        parameter = event.reasons[0].message.removeprefix(_MARK)
        row = self.text.count("\n", 0, event.node.start) + 1
        whole = event.fields["tensor"] == parameter
        return Reading(parameter, whole, str(event.fields["via"]), str(event.fields["operation"]), row)
