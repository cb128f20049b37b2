"""The values of options that a parser of command lines defines, where a command does not give them."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.option_codes import ANY, NONE, OFF, ON, UNKNOWN, Codes, codes_of
from xlamig.flow.model.scopes import Scope

_FLAGS = {"store_true": OFF, "store_false": ON}


def codes_defined(node: ir.Call, name: str, scope: Scope) -> Codes:
    """Return the codes of the default of an option that a call of `name` defines:
    `parser.add_argument("--x", action="store_true")`, `DEFINE_boolean("x", False, ...)`."""
    given = {arg.keyword: arg.value for arg in node.args if arg.keyword}
    if name.startswith("DEFINE_"):
        default = node.args[1].value if len(node.args) > 1 else given.get("default")
        return codes_of(default, scope) if default is not None else ANY
    action, default = given.get("action"), given.get("default")
    if isinstance(action, ir.Const) and default is None:
        return frozenset({_FLAGS.get(str(action.value), UNKNOWN)})
    codes = ANY if default is None or "choices" in given else codes_of(default, scope)
    return ANY if NONE in codes else codes
