"""Programs that refuse to run without CUDA: `if not torch.cuda.is_available(): raise`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import DeviceChoice, Why
from xlamig.flow.detectors.selection import Selections
from xlamig.flow.detectors.unset_names import read_unset
from xlamig.flow.model.exits import ends_program
from xlamig.flow.model.guards import NAMES_XLA, Guards
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

_CLOSED = frozenset({"cuda", "other-device"})
_ACCELERATOR_OPTION = re.compile(r"(?:use_|enable_|with_)?(?:cuda|gpu)s?", re.IGNORECASE)


class CudaRequired:
    """Makes device-choice facts for tests of availability whose other branch ends the program."""

    def __init__(self, analysis: Analysis, guards: Guards, selections: Selections) -> None:
        self.analysis = analysis
        self.guards = guards
        self.selections = selections

    def statement(self, node: ir.If, after: ir.Stmt | None, place: CodeContext) -> Iterator[DeviceChoice]:
        """Yield the fact of an `if` whose other branch ends the program; `after` follows the `if`."""
        if self._implies_cuda(node.test, place, False) and (
            self._ends(node.body, place) or self._gives_up(node, place)
        ):
            yield self._fact(node.test, "if", place)
        elif not node.orelse and isinstance(node.body[-1], ir.Return) and after is not None:
            if self._ends((after,), place) and self._implies_cuda(node.test, place, True):
                yield self._fact(node.test, "if", place)
        elif node.orelse and not isinstance(node.orelse[0], ir.If):
            leaves = self._ends(node.orelse, place) and not any(g.kind == "no-xla" for g in place.guards)
            if leaves and self._implies_cuda(node.test, place, True):
                yield self._fact(node.test, "if", place)
        elif self._implies_cuda(node.test, place, True):
            yield from self._unset(node, place)

    def _unset(self, node: ir.If, place: CodeContext) -> Iterator[DeviceChoice]:
        """Yield the fact of an `if` that alone sets what the program reads below it without CUDA too."""
        around = place.scope.node
        if around is not None and not isinstance(around, ir.FunctionDef):
            return

        def is_closed(other: ir.If) -> bool:
            others = (other.test, *other.orelse)
            asked = any(g.kind in _CLOSED for g in self.guards.of(other.test, place.scope, True))
            return asked and not any(NAMES_XLA.search(self.analysis.source(one)) for one in others)

        body = around.body if around else self.analysis.module.body
        use = read_unset(node, body, place.scope, is_closed)
        if use is not None:
            fields = place.fields(node.test)
            fields["related"] = (Why(f"`{use.id}` is read here without CUDA too", (use.start, use.end)),)
            yield DeviceChoice(
                **fields, via="selection", device="cuda", form="if", fallback="unset", spelled=use.id
            )

    def _gives_up(self, node: ir.If, place: CodeContext) -> bool:
        """Return whether a function that trains returns at once without CUDA."""
        function, last = place.scope.node, node.body[-1]
        if node.orelse or not isinstance(function, ir.FunctionDef) or not isinstance(last, ir.Return):
            return False
        empty = last.value is None or isinstance(last.value, ir.Const)
        return empty and ".backward(" in self.analysis.text[node.end : function.end]

    def asserted(self, node: ir.Assert, place: CodeContext) -> Iterator[DeviceChoice]:
        """Yield the fact of `assert torch.cuda.is_available()`."""
        if self._implies_cuda(node.test, place, True):
            yield self._fact(node.test, "assert", place)

    def _implies_cuda(self, test: ir.Expr, place: CodeContext, holds: bool) -> bool:
        """Return whether the program only goes on, with a test that is `holds`, where CUDA is available."""
        if not self.selections.tests.asks_for_cuda(test, place) or NAMES_XLA.search(
            self.analysis.source(test)
        ):
            return False
        if not holds and (rest := self._wanted(test)) is not None:
            test = rest
        return any(guard.kind == "cuda" for guard in self.guards.of(test, place.scope, holds))

    @staticmethod
    def _wanted(test: ir.Expr) -> ir.Expr | None:
        """Return the second part of `args.cuda and not torch.cuda.is_available()`: who wants any accelerator
        has no other option to set."""
        match test:
            case ir.Bool(op="and", values=(ir.Name() | ir.Attribute() as option, ir.Unary() as denied)):
                return denied if _ACCELERATOR_OPTION.fullmatch(path_of(option).rpartition(".")[2]) else None
        return None

    def _ends(self, block: ir.Block, place: CodeContext) -> bool:
        names = self.analysis.names
        return ends_program(block, lambda func: names.dotted(func, place.scope) or path_of(func), place.scope)

    def _fact(self, test: ir.Expr, form: str, place: CodeContext) -> DeviceChoice:
        fields = place.fields(test)
        fields["parts"] = self.selections.tests.asked_or_denied(test, place)
        return DeviceChoice(**fields, via="selection", device="cuda", form=form, fallback="raise")
