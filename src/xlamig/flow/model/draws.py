"""Calls that draw random numbers on the device of their arguments, by names that a program is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values

_KEYWORDS = values.names("draws", "keywords")
_METHODS = values.names("draws", "methods")
_KEPT = values.names("draws", "kept")
_INITIALISERS = tuple(values.names("draws", "initialisers"))
_INFERRING = values.names("draws", "inferring")
INFERS = "@infer"  # behind the name of a draw that only inference makes
_HOST = frozenset({"cpu", None})


def initialises(function: ir.FunctionDef) -> bool:
    """Return whether a function is called like one that sets the first values of weights."""
    return any(word in function.name for word in _INITIALISERS)


def infers(function: ir.FunctionDef) -> bool:
    """Return whether a function is called like one that training does not call."""
    return function.name in _INFERRING


def keywords_of(call: ir.Call) -> Iterator[str]:
    """Yield `rand(device=)` for `rand(3, device=x.device)`: a keyword that decides whether the call draws
    there, unless its value is the default or the CPU."""
    path = path_of(call.func)
    if path:
        for argument in call.args:
            if argument.keyword in _KEYWORDS and not _is_default(argument.value):
                yield f"{path}({argument.keyword}=)"


def method_of(call: ir.Call) -> str | None:
    """Return `torch.Tensor.bernoulli_` for `x.bernoulli_(p)`; None for another method, and for what gives a
    weight its first values."""
    function = call.func
    if not isinstance(function, ir.Attribute) or function.attr not in _METHODS:
        return None
    receiver = function.value
    name = receiver.attr if isinstance(receiver, ir.Attribute) else path_of(receiver)
    return None if name in _KEPT else f"torch.Tensor.{function.attr}"


def _is_default(node: ir.Expr) -> bool:
    if isinstance(node, ir.Call) and len(node.args) == 1 and path_of(node.func).endswith("device"):
        node = node.args[0].value
    return isinstance(node, ir.Const) and (node.value in _HOST or node.value == 0)
