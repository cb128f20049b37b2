"""Seeds XLA beside torch."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.findings import Edit
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module, joined, line_end, line_start
from xlamig.fix.scopes import bindings, block_of

_PURE = (ir.Name, ir.Attribute, ir.Const, ir.Binary, ir.Unary)  # may be evaluated twice


def seed_xla(fact: Fact, options: Options, page: FixContext) -> Draft | None:
    """Writes `torch_xla.manual_seed(...)` below a seeding statement. Portable code asks the device
    in scope whether it is XLA's; without one nothing is written there."""
    statement = _statement(fact, page)
    if statement is None or not isinstance(fact, ApiUse):
        return None
    seed = page.text(fact.args[0].value_span)
    at, newline = line_end(page.source.text, statement.end), page.module.newline
    indent = page.text((line_start(page.source.text, statement.start), statement.start))
    if page.settings.style == "native":
        lines, edits = _native(page, fact, seed)
    else:
        lines, edits = _portable(page, fact, seed)
    if not lines:
        return None
    text = "".join(f"{newline}{indent}{line}" if line else newline for line in lines)
    return Draft(f"Add `torch_xla.manual_seed({seed})`", (*edits, page.edit(at, at, text)))


def _native(page: FixContext, fact: ApiUse, seed: str) -> tuple[tuple[str, ...], tuple[Edit, ...]]:
    imported = ensure_module(page, "torch_xla", fact.span)
    return ((f"{imported.name}.manual_seed({seed})",), imported.edits) if imported else ((), ())


def _portable(page: FixContext, fact: ApiUse, seed: str) -> tuple[tuple[str, ...], tuple[Edit, ...]]:
    device = fact.proofs.get("device-in-scope")
    if device is None:
        return (), ()
    test = f'if str({device}).startswith("xla"):'
    if not bindings(page.module, "torch_xla"):
        return (test, "    import torch_xla", "", f"    torch_xla.manual_seed({seed})"), ()
    imported = ensure_module(page, "torch_xla", fact.span)
    if imported is None or imported.edits:
        return (), ()
    return (test, f"    {imported.name}.manual_seed({seed})"), ()


def _statement(fact: Fact, page: FixContext) -> ir.ExprStmt | None:
    """The seeding call as a statement with lines of its own and one plain argument."""
    for node in ir.walk(page.module):
        if not isinstance(node, ir.ExprStmt) or (node.start, node.end) != fact.statement:
            continue
        call, block, text = node.value, block_of(page.module, node), page.source.text
        if not isinstance(call, ir.Call) or (call.start, call.end) != fact.parts.get("call"):
            return None
        if len(call.args) != 1 or call.args[0].star or block is None:
            return None
        value = call.args[0].value
        pure = all(isinstance(n, _PURE) for n in ir.walk(value)) and "\n" not in page.text(
            (value.start, value.end)
        )
        index = next(i for i, s in enumerate(block) if s is node)
        shared = index + 1 < len(block) and joined(text, node.end, block[index + 1].start)
        own_line = not text[line_start(text, node.start) : node.start].strip()
        return node if pure and own_line and not shared else None
    return None
