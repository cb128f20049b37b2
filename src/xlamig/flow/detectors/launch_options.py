"""Command-line options and environment variables by which a launcher tells a process its rank."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import Launch
from xlamig.flow.model.asked import ENVIRONMENT_READS
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table


class LaunchOptions:
    """Makes launch facts of options and variables for the rank of a process."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def in_call(self, node: ir.Call, dotted: str | None, place: CodeContext) -> Iterator[Launch]:
        """Yield `parser.add_argument("--local_rank", default=-1)` where the file reads the option and sets it
        nowhere, and `os.environ.get("RANK", 0)`."""
        if dotted in ENVIRONMENT_READS:
            if len(node.args) > 1 and _is_constant(node.args[1].value):
                yield from self._facts(self._variables(node.args[0].value), node, place)
            return
        if not isinstance(node.func, ir.Attribute) or node.func.attr != "add_argument":
            return
        names = [
            arg.value.value for arg in node.args if arg.keyword is None and isinstance(arg.value, ir.Const)
        ]
        option = next((str(name) for name in names if name in table.names("launch", "passed")), "")
        name = option.lstrip("-")
        text = self.analysis.text
        if (
            option
            and re.search(rf"\.{name}\b(?!\s*=[^=])", text)
            and not re.search(rf"\.{name}\s*=(?!=)", text)
        ):
            yield Launch(**place.fields(node), backend="", via="option", option=option)

    def in_test(self, node: ir.Compare, place: CodeContext) -> Iterator[Launch]:
        """Yield `"RANK" in os.environ` and `os.environ.get("RANK") is None`."""
        match node:
            case ir.Compare(left=key, ops=("in" | "not in",), comparators=(where,)):
                if self.analysis.names.dotted(where, place.scope) == "os.environ":
                    yield from self._facts(self._variables(key), node, place)
            case ir.Compare(
                left=ir.Call(func=func, args=(ir.Arg(value=key),)),
                ops=("is" | "is not",),
                comparators=(ir.Const(value=None),),
            ):
                if self.analysis.names.dotted(func, place.scope) in ENVIRONMENT_READS:
                    yield from self._facts(self._variables(key), node, place)

    def _facts(self, names: list[str], node: ir.Expr, place: CodeContext) -> Iterator[Launch]:
        for name in names[:1]:
            yield Launch(**place.fields(node), backend="", via="variable", variable=name)

    def _variables(self, key: ir.Expr) -> list[str]:
        """Return the launcher's variables that a key names, also one that a loop takes from a tuple."""
        keys = self._looped(key) if isinstance(key, ir.Name) else (key,)
        known = table.names("launch", "variables")
        given = (k.value for k in keys if isinstance(k, ir.Const))
        return [name for name in given if isinstance(name, str) and name in known]

    def _looped(self, key: ir.Name) -> tuple[ir.Expr, ...]:
        """Return what a loop around a name writes out for it: `for name in ("RANK", "PMI_RANK"):`."""
        for loop in of_kind(self.analysis.module, ir.For):
            if ir.encloses(loop, key) and isinstance(loop.target, ir.Name) and loop.target.id == key.id:
                return loop.iter.elements if isinstance(loop.iter, ir.Sequence) else ()
        return ()


def _is_constant(node: ir.Expr) -> bool:
    return isinstance(node, ir.Const) or (isinstance(node, ir.Unary) and isinstance(node.operand, ir.Const))
