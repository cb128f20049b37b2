"""The options that a test asks for, and the variables of the environment."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.draw_rates import keys_of_rates
from xlamig.flow.model.environment import ENVIRONMENT
from xlamig.flow.model.option_codes import ENTRY, codes_of, keys_in, section_key, unset_key
from xlamig.flow.model.scopes import Scope, path_of

ENVIRONMENT_READS = frozenset({"os.environ.get", "os.getenv"})
"""The functions that return a variable of the environment, or a default where it is missing."""

_ENVIRONMENT = frozenset({"os.environ", "environ"})


def keys_asked(test: ir.Expr, scope: Scope) -> Iterator[str]:
    """Yield the keys of the options whose truth or size a test asks for."""
    whole = test.operand if isinstance(test, ir.Unary) else test
    if key := unset_key(whole, scope):
        yield key
    elif name := variable_asked(whole):
        yield variable_key(name)
    for asked in asked_by(test):
        yield from keys_in(codes_of(asked, scope))


def keys_asked_by_call(call: ir.Call, name: str, scope: Scope) -> Iterator[str]:
    """Yield the keys of the options that say whether a call of `name` draws random numbers, and how many
    samples a loader gives."""
    yield from keys_of_rates(call, scope)
    if name == "DataLoader":
        for argument in call.args:
            if argument.keyword == "batch_size":
                yield from keys_asked(argument.value, scope)


def asked_by(test: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the expressions whose truth or size a test asks for."""
    match test:
        case ir.Unary(op="not", operand=operand):
            yield from asked_by(operand)
        case ir.Compare(left=left, comparators=others):
            yield left
            yield from others
        case ir.Bool():
            pass  # its own node
        case _:
            yield test


def variable_asked(test: ir.Expr) -> str:
    """Return the variable that `"NAME" in os.environ` asks for, also `not in`; "" for other tests."""
    match test:
        case ir.Compare(left=ir.Const(value=str(name)), ops=("in" | "not in",), comparators=(where,)):
            return name if path_of(where) in _ENVIRONMENT else ""
    return ""


def variable_key(name: str) -> str:
    """Return the key that a variable of the environment has as an option, as `os.environ[name]` has."""
    return ENTRY + section_key(ENVIRONMENT, name)


def variable_in(key: str) -> str:
    """Return the variable of the environment that has a key; "" for other options."""
    start = variable_key("")
    return key[len(start) :] if key.startswith(start) else ""
