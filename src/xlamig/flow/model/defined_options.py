"""The values of options that a parser of command lines or a class of settings defines, where nothing else
gives them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from xlamig import ir
from xlamig.flow.model.option_codes import ANY, NO_NUMBER, NONE, OFF, ON, UNGIVEN, UNKNOWN, Codes, codes_of
from xlamig.flow.model.scopes import Scope, path_of

_FLAGS = {"store_true": OFF, "store_false": ON}
_NUMBERS = frozenset({"int", "float", "bool"})
_MAY_BE_NONE = re.compile(
    r"(?:\w+\.)?Optional\[\s*(?:int|float|bool)\s*\]|(?:int|float|bool)\s*\|\s*None|None\s*\|\s*(?:int|float|bool)"
)
_NO_NUMBER: Codes = frozenset({NO_NUMBER})
_UNGIVEN: Codes = frozenset({UNGIVEN})
_TYPES = frozenset({*_NUMBERS, "str", "Path", "pathlib.Path"})
_KEYWORDS = frozenset({"type", "default", "help", "dest", "metavar"})
"""The keywords of options that take one value of any kind, and need not be given."""


def codes_defined(node: ir.Call, name: str, scope: Scope) -> Codes:
    """Return the codes of the default of an option that a call of `name` defines:
    `parser.add_argument("--x", action="store_true")`, `DEFINE_boolean("x", False, ...)`. None says that a
    number is off; what else has no value may have to be given."""
    given = {arg.keyword: arg.value for arg in node.args if arg.keyword}
    if name.startswith("DEFINE_"):
        default = node.args[1].value if len(node.args) > 1 else given.get("default")
        return codes_of(default, scope) if default is not None else ANY
    action, default = given.get("action"), given.get("default")
    if isinstance(action, ir.Const) and default is None:
        return frozenset({_FLAGS.get(str(action.value), UNKNOWN)})
    if default is None:
        return _UNGIVEN if name == "add_argument" and _may_be_left(node, given) else ANY
    codes = ANY if "choices" in given else codes_of(default, scope)
    if NONE not in codes:
        return codes
    if len(codes) > 1 or "required" in given:
        return ANY
    is_number = "type" in given and path_of(given["type"]) in _NUMBERS
    return _NO_NUMBER if is_number else _UNGIVEN if _may_be_left(node, given) else ANY


def _may_be_left(node: ir.Call, given: Mapping[str, ir.Expr]) -> bool:
    """Return whether a command may leave out the value that an option with these keywords takes. One with
    several flags may be given by any of them, of which texts are searched for one."""
    flags = [arg.value for arg in node.args if arg.keyword is None]
    dashed = len(flags) == 1 and isinstance(flags[0], ir.Const) and str(flags[0].value).startswith("-")
    typed = "type" not in given or path_of(given["type"]) in _TYPES
    return dashed and typed and given.keys() <= _KEYWORDS


def codes_of_field(node: ir.AnnAssign, value: ir.Expr, text: str, scope: Scope) -> Codes:
    """Return the codes of a name with an annotation; `text` is that of the module. In a class, a number of
    None is off: `rate: float | None = None`."""
    is_none = isinstance(value, ir.Const) and value.value is None and scope.kind == "class"
    annotation = text[node.annotation.start : node.annotation.end] if is_none else ""
    return _NO_NUMBER if _MAY_BE_NONE.fullmatch(annotation) else codes_of(value, scope)
