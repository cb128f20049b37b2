"""Renames what `from x import old` binds: the import and every use, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.facts import ApiUse, Span
from xlamig.findings import Edit
from xlamig.fix.context import Draft, FixContext
from xlamig.fix.imports import insert_beside
from xlamig.fix.scopes import bindings, path_to, reads


def rename_imported(
    fact: ApiUse, context: FixContext, new: str, accepts: Sequence[str] | None
) -> Draft | None:
    found = _find(fact, context)
    if found is None:
        return None
    statement, alias = found
    message = f"Use `{new}`"
    if isinstance(statement, ir.Import):
        if alias.asname is None or alias.name != fact.name:
            return None
        return Draft(message, (context.edit(alias.start, alias.start + len(alias.name), new),))
    edits = _import_edits(context, statement, alias, new)
    if edits is None:
        return None
    old, short = alias.asname or alias.name, new.rpartition(".")[2]
    uses = reads(context.module, old)
    if not _callable_everywhere(context, uses, accepts) or bindings(context.module, old) != [alias]:
        return None
    if alias.asname is None and short != old:
        if _seen_elsewhere(context, old) or bindings(context.module, short) or reads(context.module, short):
            return None
        edits += [context.edit(use.start, use.end, short) for use in uses]
    return Draft(message, tuple(edits))


def fits(context: FixContext, callee: Span, accepts: Sequence[str] | None) -> bool:
    """The call passes nothing but parameters in `accepts`; None accepts everything."""
    if accepts is None:
        return True
    for node in reversed(path_to(context.module, *callee)):
        if isinstance(node, ir.Call) and (node.func.start, node.func.end) == callee:
            positional = [a for a in node.args if a.keyword is None and not a.star]
            named = [a.keyword for a in node.args if a.keyword is not None]
            plain = not any(a.star for a in node.args)
            return plain and len(positional) <= len(accepts) and set(named) <= set(accepts)
    return False


def _find(fact: ApiUse, context: FixContext) -> tuple[ir.Import | ir.ImportFrom, ir.Alias] | None:
    """The one import of the API in this file."""
    found: list[tuple[ir.Import | ir.ImportFrom, ir.Alias]] = []
    for node in ir.walk(context.module):
        if isinstance(node, ir.ImportFrom) and node.level == 0:
            found += [(node, a) for a in node.names if f"{node.module}.{a.name}" == fact.name]
        elif isinstance(node, ir.Import):
            found += [(node, a) for a in node.names if a.name == fact.name]
    return found[0] if len(found) == 1 else None


def _import_edits(
    context: FixContext, statement: ir.ImportFrom, alias: ir.Alias, new: str
) -> list[Edit] | None:
    module, _, name = new.rpartition(".")
    renamed = context.edit(alias.start, alias.start + len(alias.name), name)
    if statement.module == module:
        return [renamed]
    start, end = statement.module_start, statement.module_start + len(statement.module)
    if context.text((start, end)) != statement.module:
        return None
    if len(statement.names) == 1:
        return [context.edit(start, end, module), renamed]
    names = statement.names
    index = names.index(alias)
    cut = (names[index - 1].end, alias.end) if index else (alias.start, names[1].start)
    bound = f"{name} as {alias.asname}" if alias.asname else name
    added = insert_beside(context, f"from {module} import {bound}", statement)
    if added is None or "#" in context.text(cut):
        return None
    return [added, context.edit(*cut, "")]


def _callable_everywhere(context: FixContext, uses: Sequence[ir.Name], accepts: Sequence[str] | None) -> bool:
    return all(fits(context, (use.start, use.end), accepts) for use in uses)


def _seen_elsewhere(context: FixContext, name: str) -> bool:
    """Other files or `getattr` may know the name: a package's `__init__`, `__all__`, a string."""
    if context.source.filename.endswith("__init__.py"):
        return True
    return any(isinstance(node, ir.Const) and node.value == name for node in ir.walk(context.module))
