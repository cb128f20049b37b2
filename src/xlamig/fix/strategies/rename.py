"""Replaces an API by its successor, with the import that this needs."""

from __future__ import annotations

from typing import Any

from xlamig import ir
from xlamig.facts import ApiUse, Fact, Span
from xlamig.findings import Edit
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import Imported, ensure_module, insert_beside
from xlamig.fix.scopes import bindings, block_of, path_to
from xlamig.fix.strategies.rename_import import fits, rename_imported


def rename_api(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Options, also from the API's row: `replace`, the dotted successor, per target or for all;
    `arguments`, what to pass instead; `accepts`, the parameters the successor shares, without which
    an API with a `signature` is renamed only in calls without arguments."""
    new = _replacement(fact, options, context)
    if not isinstance(fact, ApiUse) or new is None:
        return None
    arguments, accepts = _option(options, "arguments"), _option(options, "accepts")
    if accepts is None and _option(options, "signature") is not None:
        accepts = ()
    place = fact.parts.get("callee", fact.span)
    node = path_to(context.module, *place)[-1]
    if isinstance(node, ir.Attribute) and (node.start, node.end) == place and fact.via != "import":
        fitting = fact.via == "call" if arguments is not None else fits(context, place, accepts)
        if not fitting:
            return None
        return _rename_attribute(fact, context, node, new, arguments)
    if arguments is not None:
        return None
    return rename_imported(fact, context, new, accepts)


def _option(options: Options, key: str) -> Any:
    row = options.get("row")
    return options.get(key, row.get(key) if row else None)


def _replacement(fact: Fact, options: Options, context: FixContext) -> str | None:
    new = _option(options, "replace")
    if new is not None and not isinstance(new, str):
        new = new.get(context.settings.target)
    return new if isinstance(new, str) and new.isascii() and "." in new else None


def _rename_attribute(
    fact: ApiUse, context: FixContext, node: ir.Attribute, new: str, arguments: str | None
) -> Draft | None:
    module, _, name = new.rpartition(".")
    edits: tuple[Edit, ...]
    root, meaning = _root(node, fact.name)
    if meaning and (module == meaning or (meaning == "torch" and module.startswith("torch."))):
        text = f"{context.text(root)}{new.removeprefix(meaning)}"
        edits = (context.edit(node.start, node.end, text),)
    elif fact.name.rpartition(".")[0] == module:
        text = f"{context.text((node.start, node.value.end))}.{name}"
        edits = (context.edit(node.attr_start, node.end, name),)
    else:
        imported = _import_for(context, node, module)
        if imported is None:
            return None
        text = f"{imported.name}.{name}"
        edits = (*imported.edits, context.edit(node.start, node.end, text))
    if arguments is not None:
        between = fact.parts.get("arguments")
        if between is None or "#" in context.text(between):
            return None
        text += f"({arguments})"
        edits += (context.edit(*between, arguments),) if context.text(between) != arguments else ()
    return Draft(f"Use `{text}`", edits)


def _root(node: ir.Attribute, name: str) -> tuple[Span, str]:
    """Where the first name of a dotted one stands, and what it means: `t`, "torch" for `t.cuda.x`."""
    expr: ir.Expr = node
    while isinstance(expr, ir.Attribute):
        base, _, last = name.rpartition(".")
        if last != expr.attr:
            return (expr.start, expr.end), ""
        expr, name = expr.value, base
    return (expr.start, expr.end), name if isinstance(expr, ir.Name) else ""


def _import_for(context: FixContext, node: ir.Attribute, module: str) -> Imported | None:
    """Import `module` under the same condition as the name that `node` starts with."""
    root: ir.Expr = node
    while isinstance(root, ir.Attribute):
        root = root.value
    if not isinstance(root, ir.Name):
        return None
    bound = bindings(context.module, root.id)
    anchors = [s for s in (_statement(context, b) for b in bound if not _is_none(b)) if s is not None]
    if not anchors or len(anchors) < sum(not _is_none(b) for b in bound):
        return None  # a stand-in of the file's own keeps its name
    needs_xla = module.partition(".")[0] == "torch_xla"
    if needs_xla and context.settings.style == "portable" and not all(map(_imports_xla, anchors)):
        return None  # the file has run without torch_xla so far
    use = (node.start, node.end)
    if any(s in context.module.body for s in anchors):
        if module.startswith("torch."):
            torch = ensure_module(context, "torch", use)
            return torch and Imported(torch.name + module.removeprefix("torch"), torch.edits)
        return ensure_module(context, module, use)
    if len(anchors) != 1:
        return None
    for statement in block_of(context.module, anchors[0]) or ():
        if isinstance(statement, ir.Import) and any(
            a.name == module and not a.asname for a in statement.names
        ):
            return Imported(module) if statement.start < anchors[0].start else None
    others = [_statement(context, b) for b in bindings(context.module, module.partition(".")[0])]
    edit = None if None in others else insert_beside(context, f"import {module}", anchors[0])
    return Imported(module, (edit,)) if edit else None


def _is_none(binding: ir.Node) -> bool:
    return (
        isinstance(binding, ir.Assign) and isinstance(binding.value, ir.Const) and binding.value.value is None
    )


def _statement(context: FixContext, binding: ir.Node) -> ir.Import | ir.ImportFrom | None:
    """The import statement that made a binding; None for any other."""
    for node in reversed(path_to(context.module, binding.start, binding.end)):
        if isinstance(node, ir.Import | ir.ImportFrom):
            return node
    return None


def _imports_xla(statement: ir.Import | ir.ImportFrom) -> bool:
    if isinstance(statement, ir.ImportFrom):
        return statement.module.partition(".")[0] == "torch_xla"
    return all(alias.name.partition(".")[0] == "torch_xla" for alias in statement.names)
