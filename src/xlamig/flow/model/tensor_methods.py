"""Methods and attributes that only tensors or only texts have, and what their calls show."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from xlamig import ir
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_KEEPING = frozenset({"tensor", "tensors"})


def is_tensor_method(name: str, node: ir.Call) -> bool:
    """Return whether a call of a method shows that its receiver is a tensor."""
    if not node.args and name in table.names("evidence", "without-arguments"):
        return True
    known = signatures.signature(f"Tensor.{name}")
    if known is None or may_call_a_part(name, node):
        return False
    if not _only_of_tensors(name) and not _has_own_keyword(node):
        return False
    return known.open or len(node.args) <= len(known.positional) + len(known.keywords)


def _has_own_keyword(node: ir.Call) -> bool:
    """Return whether a call, of keywords alone, has one that no method of arrays has: `x.sum(dim=1)`."""
    own = table.names("evidence", "keywords")
    keywords = [arg.keyword for arg in node.args if not is_text(arg.value)]
    return None not in keywords and any(name in own for name in keywords)


@cache
def _only_of_tensors(name: str) -> bool:
    """Return whether no other common type has a method."""
    if name in table.names("unseen", "shared") or name in table.names("evidence", "elsewhere"):
        return False
    return signatures.signature(f"Module.{name}") is None


@cache
def keeps_kind(name: str) -> bool:
    """Return whether a method of tensors, which arrays may have too, returns what it is called on."""
    returned = signatures.returns(f"Tensor.{name}")
    return bool(returned) and returned <= _KEEPING and name not in table.names("evidence", "elsewhere")


def may_call_a_part(name: str, node: ir.Call) -> bool:
    """Return whether a call may be one of a module's part: `block.norm(x)`."""
    if name not in table.names("evidence", "parts"):
        return False
    return any(not isinstance(arg.value, ir.Const | ir.Unary) for arg in node.args if arg.keyword is None)


@cache
def is_of_tensors(name: str) -> bool:
    """Return whether tensors have an attribute or method."""
    if any(name in table.names("attributes", group) for group in ("tensor", "shape", "number")):
        return True
    return name in ("device", "dtype") or signatures.signature(f"Tensor.{name}") is not None


def is_text_method(name: str, node: ir.Call) -> bool:
    """Return whether a call of a method shows that its receiver is text: `answer.lower()`."""
    if name in table.names("texts", "methods"):
        return True
    return name in table.names("texts", "with-text") and bool(node.args) and is_text(node.args[0].value)


def is_text(node: ir.Expr) -> bool:
    """Return whether an expression is text, or a sequence of texts."""
    if isinstance(node, ir.Sequence):
        return bool(node.elements) and all(map(is_text, node.elements))
    return isinstance(node, ir.Const) and isinstance(node.value, str)


def losses(call: ir.Call) -> Iterator[ir.Expr]:
    """Yield what a call of `backward` starts from: `loss` of `(loss / n).backward()`,
    `scaler.scale(loss).backward()` and `accelerator.backward(loss)`."""
    if call.args and call.args[0].keyword is None:
        yield from _terms(call.args[0].value)
    elif isinstance(call.func, ir.Attribute):
        yield from _terms(call.func.value)


def _terms(node: ir.Expr) -> Iterator[ir.Expr]:
    match node:
        case ir.Name() | ir.Attribute():
            yield node
        case ir.Binary(op="+" | "-", left=left, right=right):
            yield from _terms(left)
            yield from _terms(right)
        case ir.Binary(op="*" | "/", left=left, right=right):
            yield from _terms(right if isinstance(left, ir.Const) else left)
        case ir.Call(args=(first, *_), func=ir.Attribute(attr="scale")):
            yield from _terms(first.value)
        case ir.Call(func=ir.Attribute(value=value)):
            yield from _terms(value)
