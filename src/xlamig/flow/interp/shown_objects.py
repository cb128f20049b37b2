"""Objects in texts: `"{loss.val:.3f}".format(loss=meter)`, and `__str__` of a class of the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from string import Formatter

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.state import State

_FIELD = re.compile(r"(\w*)((?:\.\w+)*)")


def make_text(m: State, shown: AbstractValue) -> None:
    """Run the method of the program that makes text of an object."""
    for name in ("__str__", "__repr__"):
        method = m.semantics.method_of(shown, name)
        if method is not None:
            m.semantics.call(method, Args(), None)
            return


def attributes_shown(
    m: State, text: AbstractValue, args: Args, node: ir.Call
) -> Iterator[tuple[ir.Expr, AbstractValue]]:
    """Yield the attributes that `str.format` makes text of, each with its place in the format if that is a
    literal, otherwise its argument's."""
    if not isinstance(text.const, str) or not isinstance(node.func, ir.Attribute):
        return
    unnumbered = count()
    for field in _fields(text.const):
        found = _FIELD.fullmatch(field)
        if found is None:
            continue
        base, attributes = found[1] or str(next(unnumbered)), found[2].split(".")[1:]
        holder = args.node(int(base)) if base.isdecimal() else args.node(-1, base)
        if holder is None and (holder := _unpacked(node)) is not None:
            attributes.insert(0, base)
        if holder is None or not attributes:
            continue
        start, end = _place(m, node.func.value, field) or (holder.start, holder.end)
        for name in attributes:
            holder = ir.Attribute(start, end, holder, name, start)
        yield holder, m.semantics.evaluate(holder)


def _unpacked(call: ir.Call) -> ir.Expr | None:
    """Return the object whose attributes are the arguments of a call: `**vars(meter)`."""
    for arg in call.args:
        match arg.value if arg.star == "**" else None:
            case ir.Attribute(value=owner, attr="__dict__"):
                return owner
            case ir.Call(func=ir.Name(id="vars"), args=(ir.Arg(value=owner),)):
                return owner
    return None


def _fields(text: str) -> list[str]:
    """Return the names of the fields of a format; none if it is no valid one."""
    try:
        return [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError:
        return []


def _place(m: State, literal: ir.Expr, field: str) -> tuple[int, int] | None:
    """Return where a field that begins with a name stands in a literal."""
    at = m.source(literal).find("{" + field) if field[0].isalpha() else -1
    begins = literal.start + at + 1
    return (begins, begins + len(field)) if isinstance(literal, ir.Const) and at >= 0 else None
