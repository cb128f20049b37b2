"""Find modules that an optimizer trains and that a loop moves to the CPU, mostly to save them."""

from __future__ import annotations

from typing import NamedTuple

from xlamig import ir
from xlamig.facts import ModuleMove, Why
from xlamig.flow.interp.domain import LIKELY, AbstractValue, Mark, Ref
from xlamig.flow.interp.frames import Loop, modules_of
from xlamig.flow.interp.state import State


class Holder(NamedTuple):
    """An optimizer that holds the parameters of a module: the call that builds it, and its file."""

    node: ir.Node
    name: str
    filename: str


class Departure(NamedTuple):
    """A move to the CPU, with the loops around it."""

    module: AbstractValue
    node: ir.Call
    statement: ir.Stmt
    path: str
    loops: frozenset[int]


class Departures:
    def __init__(self, state: State) -> None:
        self.m = state
        self._holders: dict[Ref, list[Holder]] = {}
        self._away: dict[Ref, Departure] = {}
        self._returned: set[Ref] = set()

    def share(self, other: Departures) -> None:
        """Share the record of moves with another module of the program."""
        self._holders, self._away, self._returned = other._holders, other._away, other._returned

    def forget(self) -> None:
        """Forget all moves: what runs again makes its modules again."""
        for record in (self._holders, self._away, self._returned):
            record.clear()

    def hold(self, module: AbstractValue, node: ir.Node, name: str) -> None:
        """Remember that an optimizer is given the parameters of a module on the device."""
        for ref in modules_of(module.ref):
            holders = self._holders.setdefault(ref, [])
            if all(holder.node is not node for holder in holders):
                holders.append(Holder(node, name, self.m.filename))

    def leave(self, module: AbstractValue, node: ir.Call, path: str) -> dict[Ref, list[Holder]]:
        """Record a move of a module to the CPU in a loop; return the optimizers that lose its parameters."""
        m = self.m
        if module.place != "device" or module.trait is Mark.COPY or not m.loops:
            return {}
        refs = [ref for ref in modules_of(module.ref) if ref in self._holders]
        for ref in refs:
            loops = frozenset(loop.id for loop in m.loops)
            self._away[ref] = Departure(module, node, m.statement, path, loops)
        return {ref: self._holders[ref] for ref in refs}

    def come_back(self, module: AbstractValue) -> None:
        """Record that a module is on the device again."""
        for ref in modules_of(module.ref):
            if self._away.pop(ref, None) is not None:
                self._returned.add(ref)

    def end(self, loop: Loop) -> None:
        """Report, at the end of a loop, the modules that no statement of it moves back."""
        for ref, left in list(self._away.items()):
            if loop.id not in left.loops or ref in self._returned:
                continue
            del self._away[ref]
            held = self._holders[ref][0]
            where = "" if held.filename == self.m.filename else held.filename
            why = Why("the optimizer trains its parameters", (held.node.start, held.node.end), where)
            self.m.record(
                ModuleMove,
                left.node,
                LIKELY,
                (why,),
                at=left.statement,
                via="away",
                module=left.path,
                optimizer=held.name,
            )
