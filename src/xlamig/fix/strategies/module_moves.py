"""Keeps optimizers and ties together with the parameters of a module that moves to XLA."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, ModuleMove
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.imports import after_newline, ensure_module, insert_beside, line_end, line_start
from xlamig.fix.insertion import insert_after
from xlamig.fix.names import names_bound, names_read
from xlamig.fix.scopes import block_of, statement_at

_FLAG = "set_swap_module_params_on_conversion"


def move_first(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The move stands above the optimizer's construction, where nothing between needs their order."""
    if not isinstance(fact, ModuleMove) or fact.via != "optimizer" or not fact.related:
        return None
    move = statement_at(context.module, fact.span)
    told = fact.related[0]
    built = statement_at(context.module, told.span) if told.span and not told.filename else None
    block = block_of(context.module, move) if move else None
    if move is None or built is None or block is None or not any(s is built for s in block):
        return None
    first, last = (next(i for i, s in enumerate(block) if s is one) for one in (built, move))
    root = fact.module.partition(".")[0]
    between = block[first + 1 : last]
    bound = {name for s in block[first:last] for n in ir.walk(s) for name in names_bound(n)}
    if first >= last or not _moves_only(move, fact.module, context):
        return None
    if (names_read(move) - {root}) & bound or any(root in names_read(s) for s in between):
        return None
    start, end = line_start(context.source.text, move.start), line_end(context.source.text, move.end)
    line = context.text((start, end)).strip()
    rest = context.text((move.end, end)).strip()
    if not context.text((start, end)).lstrip().startswith(context.text_of(move)):
        return None
    if "\n" in line or "\r" in line or (rest and not rest.startswith("#")):
        return None  # it shares its line
    above = insert_beside(context, line, built)
    if above is None:
        return None
    return Draft(
        f"Move `{line}` above the optimizer",
        (above, context.edit(start, after_newline(context.source.text, end), "")),
    )


def keep_parameters(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Sets, for the move alone, the flag with which a move keeps the identity of parameters.

    Left on, the flag would also make `load_state_dict` exchange parameters, which raises while a graph
    holds them (torch 2.9: "Expected use_count of t1 to be 1").
    """
    if not isinstance(fact, ModuleMove):
        return None
    move = statement_at(context.module, fact.span)
    torch = ensure_module(context, "torch", fact.span)
    if move is None or torch is None:
        return None
    if isinstance(move, ir.Return):
        raise FixDeclined("the flag for the move cannot be taken back after `return`")
    flag = f"{torch.name}.__future__.{_FLAG}"
    on, off = insert_beside(context, f"{flag}(True)", move), insert_after(context, move, [f"{flag}(False)"])
    if on is None or off is None:
        return None
    return Draft(f"Set `{flag}(True)` for the move", (*torch.edits, on, off))


def _moves_only(statement: ir.Stmt, module: str, context: FixContext) -> bool:
    """`x.to(...)` or `x = x.to(...)`."""
    match statement:
        case ir.ExprStmt(value=ir.Call(func=ir.Attribute(value=owner))):
            pass
        case ir.Assign(targets=(target,), value=ir.Call(func=ir.Attribute(value=owner))):
            if context.text_of(target) != module:
                return False
        case _:
            return False
    return context.text_of(owner) == module
