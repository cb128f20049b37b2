"""Summarise the functions of a module once for its importers: their effects on tensor arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from xlamig import ir
from xlamig.facts import HostRead, Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import LIKELY, POSSIBLE, AbstractValue
from xlamig.flow.interp.events import Event, Recorder, finish
from xlamig.flow.interp.frames import ClassInfo, Function
from xlamig.flow.interp.interpreter import AbstractInterpreter
from xlamig.flow.interp.portable import portable
from xlamig.flow.model.defaults import needed_default
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.regions import Regions
from xlamig.flow.model.summaries import FunctionSummary, Portable, Reading
from xlamig.knowledge import helpers

if TYPE_CHECKING:
    from xlamig.flow.model.scopes import ScopeTable
    from xlamig.flow.model.site import Analysis

_MAY_READ = re.compile(r"\.\s*(?:item|tolist|cpu|numpy)\s*\(|\b(?:float|int)\s*\(")
_MAY_UPDATE = re.compile(r"\.\s*(?:backward|step|optimizer_step|mark_step|sync|zero_grad)\s*\(")
_MAY_MAKE = re.compile(
    r"\byield\b|\bDataLoader\s*\(|\btorch\.device\s*\(|\b(?:xla_)?device\s*\(\s*\)"
    rf"|\b(?:{helpers.DEVICE}|{helpers.ACCELERATOR})\s*\("
)
_MAY_TIE = re.compile(r"\.\s*weight\s*=\s*self\s*\..*\.\s*weight\b")
_MAY_MAKE_LAYER = re.compile(r"\breturn\s+(?:[\w.]+\(\s*)?(?:torch\.)?nn\.[A-Z]\w*\(")
_LONG = {
    _MAY_READ: 1500,
    _MAY_UPDATE: 6000,
    _MAY_MAKE: 3000,
    _MAY_TIE: 6000,
    _MAY_MAKE_LAYER: 300,
}  # characters; longer functions are programs
_MAX_CHAIN = 3  # functions of one module that call each other
_VIA = frozenset({"item", "copy"})
_MARK = "the argument "
_PUBLIC = frozenset(
    {Effect.STEP_LOOP, Effect.BATCH, Effect.BACKWARD, Effect.OPTIMIZER_STEP, Effect.XLA_OPTIMIZER_STEP}
    | {Effect.ZERO_GRAD, Effect.MODEL_CALL, Effect.SYNC, Effect.FRAMEWORK, Effect.WORK, Effect.READ}
    | {Effect.RESULT_READ}
    | {Effect.STEP_READ, Effect.SETTLED, Effect.TIE, Effect.COLLECTIVE, Effect.SAVE, Effect.UPDATE}
    | {Effect.UNREAD, Effect.WAIT, Effect.DESCENT}
)
"""The effects that a caller in another module learns of."""
_RESULTS = frozenset({"number", "bool", "text", "none", "foreign", "loader", "device", "optimizer", "module"})


def summaries_of(scopes: ScopeTable, analysis: Analysis, regions: Regions) -> Mapping[str, FunctionSummary]:
    """By name ("f", "C.f"), the functions and methods that do something a caller should know of."""
    wanted = list(_wanted(analysis))
    if not wanted:
        return {}
    summarizer = _Summarizer(scopes, analysis, regions)
    found: dict[str, FunctionSummary] = {}
    for owner, node in wanted:
        summary = summarizer.summary(owner, node)
        if summary is not None:
            found[f"{owner.name}.{node.name}" if owner is not None else node.name] = summary
    return found


_Defined = tuple[ir.ClassDef | None, ir.FunctionDef]


def _wanted(analysis: Analysis) -> Iterator[_Defined]:
    """The functions whose text may do such things, and those that call them."""
    text = analysis.text
    defined = [
        (owner, node)
        for owner, node in _defined(analysis.module.body)
        if node.name != "__init__" or (owner and _MAY_TIE.search(text, owner.start, owner.end))
    ]
    names: set[str] = set()
    chosen: set[int] = set()
    for _ in range(_MAX_CHAIN):
        calls = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\s*\(") if names else None
        new = [
            node
            for _, node in defined
            if id(node) not in chosen
            and (_matters(node, text) if calls is None else _calls(node, text, calls))
        ]
        if not new:
            break
        chosen.update(map(id, new))
        names.update(node.name for node in new if node.name != "__init__")
    yield from ((owner, node) for owner, node in defined if id(node) in chosen)


def _matters(node: ir.FunctionDef, text: str) -> bool:
    length = node.end - node.start
    return any(
        length < limit and search.search(text, node.start, node.end) for search, limit in _LONG.items()
    )


def _calls(node: ir.FunctionDef, text: str, calls: re.Pattern[str]) -> bool:
    start = node.body[0].start
    return node.end - node.start < _LONG[_MAY_UPDATE] and calls.search(text, start, node.end) is not None


def _defined(body: ir.Block) -> Iterator[_Defined]:
    for node in body:
        if isinstance(node, ir.FunctionDef):
            yield None, node
        elif isinstance(node, ir.ClassDef):
            yield from ((node, inner) for inner in node.body if isinstance(inner, ir.FunctionDef))


class _Summarizer:
    """Calls each function with tensors on the device and records what happens."""

    def __init__(self, scopes: ScopeTable, analysis: Analysis, regions: Regions) -> None:
        self.text = analysis.text
        self.machine = AbstractInterpreter(analysis, scopes, regions)
        self._made: set[int] = set()  # classes whose constructor has run
        made = (ir.Import, ir.ImportFrom, ir.FunctionDef, ir.ClassDef, ir.Assign)
        self.machine.block([node for node in analysis.module.body if isinstance(node, made)])

    def summary(self, owner: ir.ClassDef | None, node: ir.FunctionDef) -> FunctionSummary | None:
        m = self.machine
        info = m.definitions.class_of(owner) if owner is not None else None
        if info is not None:
            self._construct(info)
        function = m.function(node, info.frame if info is not None else m.frame, info)
        bound = info is not None and function.kind != "static"
        params = node.params[1:] if bound else node.params
        m.recorder, m.frequency, m.waiting = Recorder(), "unknown", False
        if bound:
            function.bound = AbstractValue("module" if info and info.is_module else "instance", ref=info)
        with m.branch() as effects:
            result = m.calls.call_contexts.call(function, self._given(function, params), None)
        finish((m.recorder,))
        events = (event for event in m.recorder.all() if self._is_read(event))
        reads = tuple(dict.fromkeys(self._read(event, node) for event in events))
        if Effect.WORK in effects.must and not m.waiting:
            effects.add(Effect.SETTLED)
        known = effects.known(_PUBLIC)
        given = self._result(result)
        if not reads and not any(known) and given is None:
            return None
        return FunctionSummary(tuple(p.name for p in params if not p.kind), reads, known, given)

    def _construct(self, info: ClassInfo) -> None:
        """Runs the constructor once, so that attributes are known."""
        if id(info) in self._made:
            return
        self._made.add(id(info))
        m = self.machine
        for cls in info.lineage():
            if "__init__" in cls.methods:
                node = cls.methods["__init__"]
                init = m.function(node, cls.frame, cls)
                init.bound = AbstractValue("module" if info.is_module else "instance", ref=info)
                guessed = m.calls.call_contexts.parameters.guessed
                given = {p.name: guessed(p, init, per_step=False) for p in node.params[1:] if not p.kind}
                m.frequency = "once"
                m.calls.call_contexts.call(init, Args(keywords=given), None)
                return

    def _result(self, result: AbstractValue) -> Portable | None:
        """The result, if it is more than what the arguments are."""
        yields = result.kind == "sequence" and result.items is None
        if result.kind not in _RESULTS and not yields:
            return None
        return portable(result, self.machine.names)

    def _given(self, function: Function, params: tuple[ir.Param, ...]) -> Args:
        """Tensors on the device, except where a parameter says that it is something else."""
        args = Args()
        for param in params:
            tensor = AbstractValue("tensor", "device", LIKELY, why=(Why(_MARK + param.name, (0, 0)),))
            guessed = self.machine.calls.call_contexts.parameters.guessed(param, function, per_step=False)
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

    def _read(self, event: Event, function: ir.FunctionDef) -> Reading:
        parameter = event.reasons[0].message.removeprefix(_MARK)
        row = self.text.count("\n", 0, event.node.start) + 1
        whole = event.fields["tensor"] == parameter
        default = needed_default(function, event.node)
        via, operation = str(event.fields["via"]), str(event.fields["operation"])
        return Reading(parameter, whole, via, operation, row, default)
