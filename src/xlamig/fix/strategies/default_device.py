"""`torch.set_default_tensor_type("torch.cuda.FloatTensor")` makes the project's device the default."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.findings import Edit
from xlamig.fix.adoption.calls import Calls
from xlamig.fix.adoption.tensors import Tensors
from xlamig.fix.adoption.tree import Tree
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import device_expression
from xlamig.fix.imports import line_end, line_start
from xlamig.fix.scopes import dotted_name, statement_at
from xlamig.fix.template import together
from xlamig.knowledge import values

_SETS = "torch.set_default_tensor_type"
_PLACES = frozenset({"to", "cuda", "cpu", "type", "type_as"})


def default_device(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """CUDA keeps its default type. `torch.Tensor(...)` ignores a default device: in this file its results
    are moved."""
    statement = statement_at(context.module, fact.span)
    dtype = _default_dtype(statement) if isinstance(fact, ApiUse) else ""
    if statement is None or not dtype or not _has_its_line(context, statement):
        return None
    place = statement.start, statement.end
    device = device_expression(context, fact, place, from_scope=False)
    if device is None:
        return None
    lines = [f"torch.set_default_device({device.text})"]
    if dtype != "float32":
        lines.append(f"torch.set_default_dtype(torch.{dtype})")
    if context.settings.style == "portable":
        indent = context.module.indent
        test = f'if {device.text}.type == "cuda":'
        lines = [test, indent + context.text(place), "else:", *(indent + line for line in lines)]
    margin = context.text((line_start(context.source.text, statement.start), statement.start))
    written = context.edit(*place, f"{context.module.newline}{margin}".join(lines))
    edits = (*device.edits, written, *_moves(context, device.text))
    return Draft(f"Use `torch.set_default_device({device.text})`", together(edits), device.creates)


def _default_dtype(statement: ir.Stmt | None) -> str:
    """Return the dtype of the CUDA type that a statement makes the default; "" for other statements."""
    match statement:
        case ir.ExprStmt(value=ir.Call(func=func, args=(ir.Arg(value=given, star=""),))):
            if dotted_name(func) == _SETS:
                name = str(given.value) if isinstance(given, ir.Const) else dotted_name(given)
                return values.dtype_of_class(name) if name.startswith("torch.cuda.") else ""
    return ""


def _has_its_line(context: FixContext, statement: ir.Stmt) -> bool:
    text = context.source.text
    before = text[line_start(text, statement.start) : statement.start]
    after = text[statement.end : line_end(text, statement.end)].strip()
    return not before.strip() and (not after or after.startswith("#"))


def _moves(context: FixContext, device: str) -> Iterator[Edit]:
    tree, calls = Tree(context.module), Calls(context.module)
    tensors = Tensors(context, tree, calls, device)
    for call in tensors.moving:
        if calls.canonical(call.func).endswith("Tensor") and not _is_placed(tree, call):
            yield from tensors.edits_of(call)


def _is_placed(tree: Tree, call: ir.Expr) -> bool:
    """Return whether a method of a chain says where the tensor lies."""
    while (outer := tree.method_on(call)) is not None:
        if isinstance(outer.func, ir.Attribute) and outer.func.attr in _PLACES:
            return True
        call = outer
    return False
