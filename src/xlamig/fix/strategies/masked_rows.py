"""Rows that a mask selects, and that sums alone use, become all rows, with zeros outside of the mask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from xlamig import ir
from xlamig.facts import DynamicShape, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.insertion import insert_after
from xlamig.fix.names import last_name
from xlamig.fix.scopes import bindings, function_around, only_value, path_to, reads
from xlamig.fix.strategies.index_select import is_plain
from xlamig.per_file import per_file

_CONVERSIONS = {"detach", "double", "float", "half", "int", "long"}
_KEEP_ZERO = {"abs", "pow", "square"}


@dataclass(frozen=True, slots=True)
class _Rows:
    """`name = f(tensor[mask])`, where `f` converts or makes `one_hot` rows of classes."""

    statement: ir.Assign
    name: str
    read: ir.Subscript
    classes: bool


def masked_rows(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`p = x[m]` and all that is selected by `m` in the function: sums over the rows use them, or of their
    products, and nothing else. Classes get a number that `one_hot` takes before their row becomes zero."""
    if not isinstance(fact, DynamicShape) or fact.via != "mask-read":
        return None
    path = path_to(context.module, *fact.span)
    owner = function_around(path)
    match path[-1]:
        case ir.Subscript(index=(ir.Name(id=mask),)) as read if not isinstance(owner, ir.Module):
            pass
        case _:
            return None
    made = only_value(owner, mask)
    rows = list(_rows_of(owner, mask, context.module))
    if made is None or None in rows or all(one is None or one.read is not read for one in rows):
        return None
    found = [one for one in rows if one is not None]
    names = {one.name for one in found}
    if len(names) < len(found) or not all(_is_summed(one, names, owner, context.module) for one in found):
        return None
    if not all(_has_shape_of(made, one.read.value, context) for one in found if one.classes):
        return None
    edits = []
    for one in found:
        text = context.text_of(one.read)
        tensor = text[: text.rindex("[")]
        filled = f"{tensor}.masked_fill({mask}.logical_not(), 0)" if one.classes else tensor
        edits.append(context.edit(one.read.start, one.read.end, f"{filled}.flatten(0, {mask}.dim() - 1)"))
        shape = f"(-1,) + (1,) * ({one.name}.dim() - 1)"
        zeroed = f"{one.name} = {one.name}.masked_fill({mask}.logical_not().reshape({shape}), 0)"
        below = insert_after(context, one.statement, [zeroed])
        if below is None:
            return None
        edits.append(below)
    return Draft(f"Keep all rows, with zeros outside of `{mask}`", tuple(edits))


def _rows_of(owner: ir.Node, mask: str, module: ir.Module) -> Iterator[_Rows | None]:
    """Yield what the mask selects; None for a use as an index that is not such a statement."""
    for node in _selected_in(owner).get(mask, ()):
        yield _rows(node, path_to(module, node.start, node.end), owner)


@per_file
@lru_cache(maxsize=8)  # the fixes of one file ask again and again about the same few functions
def _selected_in(owner: ir.Node) -> Mapping[str, Sequence[ir.Subscript]]:
    """Return the subscripts of a function by the name that is their only index."""
    found: dict[str, list[ir.Subscript]] = {}
    for node in ir.walk(owner):
        match node:
            case ir.Subscript(index=(ir.Name(id=name),)):
                found.setdefault(name, []).append(node)
    return found


def _rows(read: ir.Subscript, path: Sequence[ir.Node], owner: ir.Node) -> _Rows | None:
    classes = False
    inner: ir.Node = read
    for node in reversed(path[:-1]):
        match node:
            case ir.Assign(targets=(ir.Name(id=name),), value=value) if value is inner:
                inside = path[next(i for i, one in enumerate(path) if one is owner) + 1 :]
                above = [one for one in inside if isinstance(one, ir.Stmt)]
                return _Rows(node, name, read, classes) if above == [node] else None
            case ir.Attribute(attr=name) if name in _CONVERSIONS:
                continue
            case ir.Arg(keyword=None, value=value) if value is inner:
                continue
            case ir.Call(func=ir.Attribute(value=value), args=()) if value is inner:
                inner = node
            case ir.Call(func=func, args=(ir.Arg(value=value), _)) if value is inner:
                if last_name(func) != "one_hot":
                    return None
                classes, inner = True, node
            case _:
                return None
    return None


def _is_summed(rows: _Rows, names: set[str], owner: ir.Node, module: ir.Module) -> bool:
    """Return whether sums over the rows are all that the statements below use them for."""
    end = rows.statement.end
    if any(one.start >= end for one in bindings(owner, rows.name)):
        return False
    uses = [use for use in reads(owner, rows.name) if use.start >= end]
    return bool(uses) and all(_reaches_sum(path_to(module, use.start, use.end), names) for use in uses)


def _reaches_sum(path: Sequence[ir.Node], names: set[str]) -> bool:
    inner = path[-1]
    for node in reversed(path[:-1]):
        match node:
            case ir.Attribute(attr=name) if name in _KEEP_ZERO or name == "sum":
                continue
            case ir.Arg(keyword=None, value=value) if value is inner:
                continue
            case ir.Binary(op="*", left=left, right=right):
                if not _is_zero_or_number(right if left is inner else left, names):
                    return False
            case ir.Binary(op="/" | "**", left=left, right=ir.Const(value=int() | float())) if left is inner:
                pass
            case ir.Call(func=ir.Attribute(value=value, attr="sum"), args=args) if value is inner:
                return _is_over_rows(args)
            case ir.Call(func=ir.Attribute(value=ir.Name(id="torch"), attr="sum"), args=(first, *rest)):
                return first.value is inner and _is_over_rows(rest)
            case ir.Call(func=ir.Attribute(value=value), args=args) if value is inner:
                if not all(isinstance(arg.value, ir.Const) for arg in args):
                    return False
            case _:
                return False
        inner = node
    return False


def _is_zero_or_number(node: ir.Expr, names: set[str]) -> bool:
    """Return whether a factor has the same rows, which are zero outside of the mask, or is a number."""
    match node:
        case ir.Const(value=int() | float()):
            return True
        case ir.Name(id=name):
            return name in names
        case ir.Binary(op="*", left=left, right=right):
            return _is_zero_or_number(left, names) and _is_zero_or_number(right, names)
    return False


def _is_over_rows(args: Sequence[ir.Arg]) -> bool:
    match args:
        case []:
            return True
        case [ir.Arg(keyword=None | "dim" | "axis", value=ir.Const(value=0))]:
            return True
    return False


def _has_shape_of(mask: ir.Expr, tensor: ir.Expr, context: FixContext) -> bool:
    """Return whether a mask compares the very tensor with a number: `target != self.ignore_index`."""
    match mask:
        case ir.Compare(left=left, comparators=(ir.Const() | ir.Unary(operand=ir.Const()),)):
            pass
        case ir.Compare(left=left, comparators=(number,)) if is_plain(number):
            pass
        case _:
            return False
    return is_plain(left) and context.text_of(left) == context.text_of(tensor)
