"""Values that only a name promises."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.domain import LIKELY, TOP, AbstractValue
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


def by_convention(name: str) -> AbstractValue:
    """Return what an attribute of an unknown object may be, by its name."""
    if table.name_like("device").search(name):
        return AbstractValue("device", "device", sure=LIKELY)
    return TOP


def is_moved_model(target: ir.Expr, value: ir.Expr | None) -> bool:
    """Return whether `model = load(path).to(device)` names what was moved a model."""
    return (
        isinstance(value, ir.Call)
        and isinstance(value.func, ir.Attribute)
        and value.func.attr in table.names("unseen", "moves")
        and isinstance(value.func.value, ir.Call)
        and table.name_like("module").search(path_of(target).rpartition(".")[2]) is not None
    )


def is_logger(owner: AbstractValue, name: str, func: ir.Attribute) -> bool:
    """Return whether a method writes to a log, below whose level nothing is formatted."""
    if name not in table.names("reads", "loggers"):
        return False
    last = path_of(func.value).rpartition(".")[2].lower()
    return owner.kind == "logger" or (owner.kind in ("unknown", "api", "foreign") and "log" in last)
