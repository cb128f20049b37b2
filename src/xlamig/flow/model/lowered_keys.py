"""Settings whose keys a program writes in lower case: `LOSS.KIND` is read as `config["loss"]["kind"]`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.option_codes import ENTRY

LOWERED = f"{ENTRY}.lower()"
"""The key of the option, as it were, that a program has which does so."""


def lowers_keys(node: ir.Node) -> bool:
    """Return whether a node makes settings with keys in lower case: `{k.lower(): v for k, v in cfg.items()}`
    and `setattr(args, k.lower(), v)`."""
    match node:
        case ir.Comprehension(kind="dict", element=key, generators=(ir.Generator(iter=every),)):
            return _is_call_of(every, "items") and _is_call_of(key, "lower")
        case ir.Call(func=ir.Name(id="setattr"), args=(_, ir.Arg(value=key), _)):
            return _is_call_of(key, "lower")
    return False


def _is_call_of(node: ir.Expr, method: str) -> bool:
    match node:
        case ir.Call(func=ir.Attribute(value=ir.Name(), attr=name), args=()):
            return name == method
    return False
