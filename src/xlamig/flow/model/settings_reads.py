"""The entries of settings that tests ask for and that programs set, apart from those of other objects, such
as a batch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.asked import asked_by
from xlamig.flow.model.option_codes import (
    DATA,
    ENTRY,
    UNKNOWN,
    Codes,
    codes_of,
    entry_key,
    holder_of,
    is_constant,
    option_of,
)
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import values as table

_READS_SETTINGS = re.compile(r"conf|cfg|yaml|toml|args", re.IGNORECASE)
_MOST_PARTS = 6  # of a chain from an entry to its settings


def entries_asked(test: ir.Expr, scope: Scope) -> Iterator[tuple[str, bool]]:
    """Yield the keys of the entries that a test asks objects for, each with whether the object looks like
    settings: `cfg["loss"].masked`, `t["masked"]` after `t = cfg["train"]`."""
    for asked in asked_by(test):
        node = _value_of(asked, scope) if isinstance(asked, ir.Name) else asked
        if node is None or not option_of(node):
            continue
        holder = holder_of(node)
        if holder is not None and path_of(holder) != "self":
            yield entry_key(node), _is_settings(holder, scope)


def codes_set(target: ir.Expr, codes: Codes, scope: Scope) -> Codes:
    """Return the codes that an assignment of `codes` gives to its target, see `as_data`."""
    is_entry = isinstance(target, ir.Subscript) and not _is_settings(target.value, scope)
    return as_data(codes) if is_entry else codes


def settings_set(target: ir.Expr, value: ir.Expr, scope: Scope) -> Iterator[tuple[str, Codes]]:
    """Yield the entries of settings that are written out where they are assigned: `cfg = {"x": f()}`."""
    if isinstance(value, ir.Dict) and _is_settings(target, scope):
        yield from entries_of(value, scope)


def entries_of(node: ir.Dict, scope: Scope) -> Iterator[tuple[str, Codes]]:
    """Yield the keys of the entries of a dictionary that is written out, with the codes of their values."""
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ir.Const) and isinstance(key.value, str):
            yield ENTRY + key.value, codes_of(value, scope)


def as_data(codes: Codes) -> Codes:
    """Return the codes of an entry of an object that does not look like settings."""
    return frozenset(DATA + one if one == UNKNOWN or not is_constant(one) else one for one in codes)


def _is_settings(node: ir.Expr | None, scope: Scope) -> bool:
    """Return whether an object is settings or part of them, by its name or by what made it."""
    for _ in range(_MOST_PARTS):
        match node:
            case ir.Name(id=name) | ir.Attribute(attr=name) if table.name_like("settings-of").search(name):
                return True
            case ir.Name():
                node = _value_of(node, scope)
            case ir.Call(func=func) if _READS_SETTINGS.search(path_of(func)):
                return True
            case ir.Attribute(value=holder) | ir.Subscript(value=holder):
                node = holder
            case (
                ir.Call(func=ir.Attribute(value=holder, attr="get" | "pop"))
                | ir.Call(func=ir.Name(id="vars"), args=(ir.Arg(value=holder),))
            ):
                node = holder
            case _:
                return False
    return False


def _value_of(node: ir.Name, scope: Scope) -> ir.Expr | None:
    """Return the only value that a name has in a scope; None for other names."""
    bindings = scope.lookup(node.id)
    return bindings[0].value if len(bindings) == 1 and bindings[0].kind == "value" else None
