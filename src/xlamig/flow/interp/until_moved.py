"""Tensors of which only the place is unknown, and that the program moves further down: until then they are on
the host, and so is what a helper gets that makes them."""

from __future__ import annotations

import re
from typing import Protocol

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import LIKELY, POSSIBLE, TOP, AbstractValue, Mark, map_sequence
from xlamig.flow.interp.events import Recorder
from xlamig.flow.interp.frames import Frame, functions_of
from xlamig.flow.interp.semantics import Semantics
from xlamig.flow.model.moved_below import MovedBelow, Names, moves_arguments, names_called, names_of
from xlamig.flow.model.names import Names as ModuleNames
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis

_MAY_MOVE = re.compile(r"\.\s*(?:cuda|to|xla)\s*\(|(?:cuda|device|gpu|xla)\w*\s*\(|\b(?:move|send)\w*\s*\(")
_HELPER = re.compile(r"(?:^|_)(?:cuda|device|gpu|xla)(?:_|$)|^(?:move|send)(?:_|$)", re.IGNORECASE)
_MOVES_BY_NAME = re.compile(r"(?:^|_)to_(?:cuda|device|gpu|xla)$|^(?:move|send)_\w*(?:cuda|device|gpu|xla)$")
_COPIES = frozenset({"cpu", "cuda", "numpy", "from_numpy", "tolist", "xla", "load", "forward", "generate"})
_DEEPEST = 3  # sequences in each other: parts that several share are asked again for each
_NONE: Names = frozenset()


class Running(Protocol):
    """The parts of a run's state that it asks; the state holds it."""

    analysis: Analysis
    names: ModuleNames
    frame: Frame
    statement: ir.Stmt
    recorder: Recorder
    semantics: Semantics


class UntilMoved:
    """Finds them by what the running function moves, itself or by a helper that moves what it is given."""

    def __init__(self, state: Running) -> None:
        self.m = state
        self._found: dict[tuple[int, bool], MovedBelow | None] = {}  # by the identity of the body

    def bound(self, name: str, thing: AbstractValue) -> AbstractValue:
        """Return what a name holds after the current statement has given it a value."""
        return _on_host(thing) if _may_be_on_host(thing) and name in self._after() else thing

    def entered(self, frame: Frame, given: dict[str, AbstractValue]) -> dict[str, AbstractValue]:
        """Return the parameters of a function that begins: those that it moves are on the host."""
        names = [name for name, thing in given.items() if _may_be_on_host(thing)]
        below = self._of(frame) if names else None
        if below is None or below.at_entry.isdisjoint(names):
            return given
        return {name: _on_host(thing) if name in below.at_entry else thing for name, thing in given.items()}

    def makes_moved(self, node: ir.Call | None, args: Args) -> bool:
        """Return whether the result of a call is moved later: its arguments are then on the host."""
        match self.m.statement:
            case ir.Assign(targets=targets, value=value) if value is node:
                after = self._after()
                moved = bool(after) and any(not after.isdisjoint(names_of(target)) for target in targets)
            case ir.Return(value=value) if value is node:
                moved = self.m.frame.returns_moved
            case _:
                return False
        if moved:
            args.positional[:] = map(_awaiting_move, args.positional)
            args.keywords |= {name: _awaiting_move(thing) for name, thing in args.keywords.items()}
        return moved

    def _after(self) -> Names:
        below = self._of(self.m.frame)
        return below.after(self.m.statement) if below is not None else _NONE

    def _of(self, frame: Frame) -> MovedBelow | None:
        if frame.home != self.m.names.module:
            return None
        node = frame.scope.node
        key = id(node), frame.returns_moved
        if key not in self._found:
            self._found[key] = self._find(node or self.m.analysis.module, frame.returns_moved)
        return self._found[key]

    def _find(self, node: ir.Node, returns_moved: bool) -> MovedBelow | None:
        if not isinstance(node, ir.FunctionDef | ir.Module):
            return None
        text = self.m.analysis.text
        if not returns_moved and not _MAY_MOVE.search(text, node.start, node.end):
            return None
        return MovedBelow(node.body, text, self._is_helper, self._keeps_place, returns_moved)

    def _is_helper(self, node: ir.Call) -> bool:
        """Return whether a call is of a function that moves what it is given."""
        name = path_of(node.func).rpartition(".")[2]
        if not node.args or not _HELPER.search(name):
            return False
        called = self._called(node)
        by_name = _MOVES_BY_NAME.search(name) is not None
        if called.kind != "function":
            return by_name and called.kind in ("unknown", "foreign", "api")
        found = functions_of(called)
        return bool(found) and all(
            isinstance(one.node, ir.FunctionDef) and moves_arguments(one.node, by_name) for one in found
        )

    def _keeps_place(self, node: ir.Call) -> bool:
        """Return whether a call is of a function of the project that neither copies nor moves anything."""
        called = self._called(node) if path_of(node.func) else TOP
        found = functions_of(called) if called.kind == "function" else ()
        return bool(found) and not any(_COPIES.intersection(names_called(one.node)) for one in found)

    def _called(self, node: ir.Call) -> AbstractValue:
        recorder, self.m.recorder = self.m.recorder, Recorder()
        try:
            return self.m.semantics.evaluate(node.func)
        finally:
            self.m.recorder = recorder


def _may_be_on_host(thing: AbstractValue, depth: int = _DEEPEST) -> bool:
    if thing.kind == "sequence":
        return depth > 0 and any(_may_be_on_host(part, depth - 1) for part in thing.items or ())
    return thing.kind == "tensor" and thing.place in ("either", "") and thing.sure <= LIKELY


def _on_host(thing: AbstractValue) -> AbstractValue:
    """Return the same on the host, if its place is not known."""
    return map_sequence(
        thing, lambda part: part.replace(place="host", why=()) if _may_be_on_host(part) else part
    )


def _awaiting_move(thing: AbstractValue) -> AbstractValue:
    """Return an argument from which a function makes what its caller moves; also one that is unknown."""
    if thing.kind == "unknown" and not thing.place and thing.ref is None and thing.trait is None:
        return AbstractValue("unknown", "host", sure=POSSIBLE, trait=Mark.AWAITS_MOVE)
    put = _on_host(thing)
    return put.replace(trait=Mark.AWAITS_MOVE) if put.kind == "tensor" and put is not thing else put
