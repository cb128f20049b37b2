"""Where moves of modules keep the identity of parameters, as the text of a module shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from xlamig import ir
from xlamig.facts import Span

FLAG = "set_swap_module_params_on_conversion"
KEPT = ("optimizer", "tie", "list")  # what stays attached to the parameters


def swapping_spans(nodes: Iterable[ir.Node]) -> Iterator[Span]:
    """Yield the spans between a call that sets the flag and the next, which takes it back."""
    calls = sorted((node for node in nodes if _sets(node)), key=lambda node: node.start)
    for on, off in pairwise(calls):
        if _value(on) is True and _value(off) is False:
            yield on.start, off.start


def _sets(node: ir.Node) -> bool:
    return isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) and node.func.attr == FLAG


def _value(call: ir.Node) -> object:
    match call:
        case ir.Call(args=(ir.Arg(value=ir.Const(value=value)),)):
            return value
    return None
