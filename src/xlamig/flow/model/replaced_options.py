"""Options that a program sets again as soon as it has parsed its command line."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.option_codes import CUDA, OFF, codes_of
from xlamig.flow.model.scopes import Scope, path_of

_PARSES = "parse_args"
_WITHOUT_CUDA = frozenset({CUDA, OFF})


def is_replaced(option: str, scope: Scope) -> bool:
    """Return whether the scope that parses a command line gives an option what a test for CUDA allows,
    whatever the line says: `args.cuda = args.cuda and torch.cuda.is_available()` right below the parsing."""
    for path, bindings in scope.bindings.items():
        owner, _, name = path.rpartition(".")
        if not owner or name != option or len(bindings) != 1:
            continue
        parsed, given = scope.bindings.get(owner, []), bindings[0]
        if len(parsed) != 1 or not _is_parsed(parsed[0].value) or parsed[0].block != given.block:
            continue
        codes = codes_of(given.value, scope) if given.value is not None else frozenset[str]()
        if CUDA in codes and codes <= _WITHOUT_CUDA and given.start > parsed[0].start:
            return True
    return False


def _is_parsed(value: ir.Expr | None) -> bool:
    return isinstance(value, ir.Call) and path_of(value.func).rpartition(".")[2] == _PARSES
