"""Values that only a name promises."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.domain import LIKELY, NUMBER, TOP, AbstractValue, Mark
from xlamig.flow.interp.domain.shapes import UNKNOWN
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import helpers
from xlamig.knowledge import values as table

HOST_SIZES = AbstractValue("tensor", "host", sure=LIKELY, dtype="int", shape=(UNKNOWN,))
"""Sizes that torch keeps in a tensor of the host, wherever the data are."""


def kept_on_host(path: str) -> bool:
    """Return whether a name is that of a packed sequence's field which is on the host: `batch_sizes`."""
    return path.rpartition(".")[2] in table.names("attributes", "kept-on-host")


def by_convention(name: str) -> AbstractValue:
    """Return what an attribute of an unknown object may be, by its name."""
    if table.name_like("device").search(name):
        return AbstractValue("device", "device", sure=LIKELY)
    if name in table.names("attributes", "shape"):
        return AbstractValue("sequence", element=NUMBER, trait=Mark.SHAPE)
    return AbstractValue("dtype") if table.name_like("dtype").search(name) else TOP


def module_path(node: ir.Expr) -> str:
    """Return the path of a module, also behind calls that return the module itself: `net` of `net.eval()`."""
    while isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
        if node.func.attr not in table.names("modules", "same"):
            return ""
        node = node.func.value
    return path_of(node)


def is_move(node: ir.Expr | None) -> bool:
    """Return whether an expression calls `.to()`, `.cuda()` or `.xla()`."""
    match node:
        case ir.Call(func=ir.Attribute(attr=name)):
            return name in table.names("unseen", "moves")
    return False


def is_moved_model(target: ir.Expr, value: ir.Expr | None) -> bool:
    """Return whether the target of `model = load(path).to(device)` is named like a model."""
    match value:
        case ir.Call(func=ir.Attribute(value=ir.Call())) if is_move(value):
            return table.name_like("module").search(path_of(target).rpartition(".")[2]) is not None
    return False


def is_logger(owner: AbstractValue, name: str, func: ir.Attribute) -> bool:
    """Return whether a method writes to a log, below whose level nothing is formatted."""
    if name not in table.names("reads", "loggers"):
        return False
    last = path_of(func.value).rpartition(".")[2].lower()
    return owner.kind == "logger" or (owner.kind in ("unknown", "api", "foreign") and "log" in last)


def runs_on_host(node: ir.FunctionDef, names: Names, scope: Scope) -> bool:
    """Return whether a decorator that xlamig wrote gives a function copies of its tensors on the host;
    `scope` is the one around the function."""
    called = (names.dotted(decorator, scope) or path_of(decorator) for decorator in node.decorators)
    return any(name.rpartition(".")[2] == helpers.HOST for name in called)


def keeps_results(node: ir.FunctionDef | ir.Lambda) -> bool:
    """Return whether a decorator keeps what a function returns, by its arguments: `@lru_cache(maxsize=2)`."""
    decorators = node.decorators if isinstance(node, ir.FunctionDef) else ()
    called = (part.func if isinstance(part, ir.Call) else part for part in decorators)
    return any(path_of(part).rpartition(".")[2] in ("cache", "lru_cache") for part in called)


def inline_meaning(node: ir.FunctionDef | ir.Lambda) -> str:
    """The torch_xla function that a definition which xlamig wrote stands for; "" for others."""
    if isinstance(node, ir.Lambda):
        return ""
    return helpers.inline_meaning(node.name, ir.docstring(node))
