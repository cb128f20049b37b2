"""Places that know a fixed set of devices, XLA not among them, and raise for any other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.exits import ends_program
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge.devices import alternatives

_DEVICE = re.compile(rf"(?:gpu|{alternatives('host', 'nvidia', 'other')})(?::\d+)?")
_NAMES_DEVICE = re.compile(r"device|(?:^|[._])dev(?:$|_)|\.type$", re.IGNORECASE)
_IS_TYPE = re.compile(r"(?:device|\bdev)\.type\Z")


def names_a_device(text: str) -> bool:
    """`device.type`, `args.device`, `str(device)`, `device_type`: the text decides."""
    return _NAMES_DEVICE.search(text) is not None


def in_assert(node: ir.Assert, text: str) -> ir.Expr | None:
    """`assert device in ("cuda", "cpu")`"""
    return node.test if _asks_for_member(node.test, "in", text) else None


def in_if(node: ir.If, text: str) -> ir.Expr | None:
    """`if device not in ("cuda", "cpu"): raise ...`, or a chain of equalities that ends so."""
    if _asks_for_member(node.test, "not in", text) and ends_program(node.body):
        return node.test
    found: list[ir.Expr] = []
    current: ir.Stmt = node
    while isinstance(current, ir.If) and (device := _equal_device(current.test, text)):
        found.append(device)
        if not (len(current.orelse) == 1 and isinstance(current.orelse[0], ir.If)):
            break
        current = current.orelse[0]
    else:
        return None
    is_closed = isinstance(current, ir.If) and current.orelse and ends_program(current.orelse)
    return node.test if len(found) > 1 and is_closed and _is_closed(found) else None


def in_subscript(node: ir.Subscript, table: ir.Expr | None, text: str) -> ir.Expr | None:
    """`{"cuda": ..., "cpu": ...}[device]`; `table` is what is subscripted. Not for a constant.

    Looked up by `device.type`, keys that are no devices do not matter.
    """
    index = node.index[0]
    keys = table.keys if isinstance(table, ir.Dict) and not isinstance(index, ir.Const) else ()
    if not keys or None in keys:
        return None
    known = [key for key in keys if key is not None]
    if _IS_TYPE.search(text, index.start, index.end):
        known = [key for key in known if _is_device(key)] if not any(map(_is_target, known)) else []
    return node if _is_closed(known) else None


def in_choices(node: ir.Call) -> ir.Expr | None:
    """`add_argument("--device", choices=["cuda", "cpu"])`"""
    if not isinstance(node.func, ir.Attribute) or node.func.attr != "add_argument":
        return None
    given = (arg.value for arg in node.args if arg.keyword == "choices")
    found = next(given, None)
    return found if isinstance(found, ir.Sequence) and _is_closed(found.elements) else None


def closed_sets(root: ir.Node, text: str) -> Iterator[ir.Expr]:
    """The tests and look-ups below `root` that raise for a device they do not know."""
    tables: dict[str, ir.Expr] = {}
    for node in ir.walk(root):
        match node:
            case (
                ir.Assign(targets=(ir.Name(id=name),), value=ir.Dict() as table)
                | ir.AnnAssign(target=ir.Name(id=name), value=ir.Dict() as table)
            ):
                tables[name] = table
                continue
            case ir.Assert():
                found = in_assert(node, text)
            case ir.If():
                found = in_if(node, text)
            case ir.Subscript():
                name = path_of(node.value).removeprefix("self.")
                found = in_subscript(node, tables.get(name, node.value), text)
            case _:
                continue
        if found is not None:
            yield found


def _asks_for_member(test: ir.Expr, op: str, text: str) -> bool:
    match test:
        case ir.Compare(left=left, ops=(asked,), comparators=(ir.Sequence(elements=elements),)):
            return asked == op and names_a_device(text[left.start : left.end]) and _is_closed(elements)
    return False


def _equal_device(test: ir.Expr, text: str) -> ir.Expr | None:
    match test:
        case ir.Compare(left=left, ops=("==",), comparators=(ir.Const() as right,)):
            return right if names_a_device(text[left.start : left.end]) else None
    return None


def _is_device(element: ir.Expr) -> bool:
    return isinstance(element, ir.Const) and bool(_DEVICE.fullmatch(str(element.value)))


def _is_target(element: ir.Expr) -> bool:
    return isinstance(element, ir.Const) and element.value in ("xla", "tpu")


def _is_closed(elements: list[ir.Expr] | tuple[ir.Expr, ...]) -> bool:
    values = [element.value if isinstance(element, ir.Const) else None for element in elements]
    words = [value for value in values if isinstance(value, str) and _DEVICE.fullmatch(value)]
    return len(words) == len(values) > 1 and any(word.startswith("cuda") for word in words)
