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
_LIKE = values.names("draws", "like")
_PARTS = values.names("draws", "parts")
_TO_HOST = values.names("draws", "to-host")
_MAKES_TENSORS = values.names("draws", "makes-tensors")
_ARRAYS = values.names("draws", "arrays")
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
    """Return `torch.Tensor.bernoulli_` for `x.bernoulli_(p)`; None for another method, for what gives a
    weight its first values, and for a tensor that was just made or copied on the host."""
    function = call.func
    if not isinstance(function, ir.Attribute) or function.attr not in _METHODS:
        return None
    receiver = function.value
    name = receiver.attr if isinstance(receiver, ir.Attribute) else path_of(receiver)
    return None if name in _KEPT or _is_on_host(receiver) else f"torch.Tensor.{function.attr}"


def draws_on_host(call: ir.Call) -> bool:
    """Return whether a call that may draw on the device draws on the host, as all its tensors were just made
    or copied there: `rand_like(x.cpu())`."""
    path = path_of(call.func)
    if path.rpartition(".")[2] not in _LIKE and _PARTS.isdisjoint(path.split(".")):
        return False
    tensors = [argument.value for argument in call.args if not isinstance(argument.value, ir.Const)]
    return bool(tensors) and all(map(_is_on_host, tensors))


def _is_on_host(node: ir.Expr) -> bool:
    """Return whether an expression makes a tensor on the host: `x.cpu()`, `torch.from_numpy(a)`, and
    `torch.tensor([1, 2])` without a device."""
    if not isinstance(node, ir.Call):
        return False
    name = node.func.attr if isinstance(node.func, ir.Attribute) else path_of(node.func)
    if name in _TO_HOST:
        return True
    if name not in _MAKES_TENSORS or len(node.args) != 1:
        return False
    data = node.args[0].value
    made = path_of(data.func).partition(".")[0] if isinstance(data, ir.Call) else ""
    return isinstance(data, ir.Sequence | ir.Const) or made in _ARRAYS


def _is_default(node: ir.Expr) -> bool:
    if isinstance(node, ir.Call) and len(node.args) == 1 and path_of(node.func).endswith("device"):
        node = node.args[0].value
    return isinstance(node, ir.Const) and (node.value in _HOST or node.value == 0)
