"""Values that objects keep from step to step: `cache["k"]`, `self.keys[i]`, `layer_past[0]`."""

from __future__ import annotations

import re
from functools import lru_cache, partial

from xlamig import ir
from xlamig.flow.interp.attributes import starts_as_int
from xlamig.flow.interp.domain import (
    LIKELY,
    NUMBER,
    POSSIBLE,
    TOP,
    AbstractValue,
    Carried,
    Grown,
    Mark,
    Picked,
    Trait,
    map_sequence,
)
from xlamig.flow.interp.frames import ClassInfo
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


@lru_cache(maxsize=256)
def kept_unknown(name: str) -> AbstractValue:
    """Return an unknown value that an object keeps under a name."""
    return AbstractValue("unknown", sure=POSSIBLE, trait=Carried(name))


def is_carried(value: AbstractValue) -> bool:
    """Return whether an unknown or loosely known value, and so its parts, comes from an earlier step."""
    return isinstance(value.trait, Carried) and (value.kind == "unknown" or value.loose)


def carried_trait(operation: str, first: AbstractValue | None) -> Trait | None:
    """Return the trait of the result of an operation that keeps the length of its first operand."""
    if first is None or first.place == "host" or not isinstance(first.trait, Carried | Picked | Grown):
        return None
    if operation in table.names("torch", "picking"):
        return Picked(first.trait.name) if not isinstance(first.trait, Grown) else None
    return first.trait if operation in table.names("torch", "length-keeping") else None


def result_trait(operation: str, first: AbstractValue | None) -> Trait | None:
    """Return the trait of what an operation computes from its first operand: sparse, or carried."""
    sparse = operation in table.names("torch", "sparse-makers")
    if first is not None and first.trait is Mark.SPARSE:
        sparse |= operation in table.names("torch", "sparse-keeping")
    return Mark.SPARSE if sparse else carried_trait(operation, first)


def as_sparse(made: AbstractValue) -> AbstractValue:
    """Return what a function gives that makes sparse tensors, on the CPU where nothing names a device."""
    sure = max(made.sure, LIKELY)
    return made.replace(place=made.place or "host", sure=sure, shape=None, trait=Mark.SPARSE)


def carried_by_rows(base: AbstractValue, index: list[AbstractValue]) -> Trait | None:
    """Return the trait of `x[rows]`, rows of what a name carries by a tensor of positions."""
    by_rows = len(index) == 1 and index[0].kind == "tensor" and index[0].dtype != "bool"
    return carried_trait("index_select", base) if by_rows else None


def kept_entry(
    state: State, node: ir.Expr, container: AbstractValue, key: object = None
) -> AbstractValue | None:
    """Return the unknown entry of a container that is kept from step to step; None for other containers."""
    if state.frequency != "step" or not is_kept(state, node, container):
        return None
    return kept_unknown(entry_name(node, container, key))


def entry_name(node: ir.Expr, container: AbstractValue, key: object = None) -> str:
    """Return the name under which an entry is kept: its key, or else that of the container."""
    if isinstance(key, str):
        return f".{key}"
    if isinstance(container.trait, Carried):
        return container.trait.name
    return f".{path_of(node).rpartition('.')[2]}"


def is_kept(state: State, node: ir.Expr, container: AbstractValue) -> bool:
    """Return whether a container lives longer than a step: by where it was made, or by its name."""
    if isinstance(container.trait, Carried):
        return True
    path = path_of(node)
    if container.kind == "mapping" and container.ref is not None:
        return container.ref != state.birth
    if not path or container.kind not in ("unknown", "mapping", "sequence"):
        return False
    root, *attributes = path.split(".")
    like_cache = any(map(table.name_like("cache").search, (root, *attributes)))
    if attributes:
        return path not in state.env and (root == "self" or like_cache)
    return like_cache and _is_parameter(state, root)


def _is_parameter(state: State, name: str) -> bool:
    function = state.frame.scope.node
    return isinstance(function, ir.FunctionDef) and any(param.name == name for param in function.params)


def with_step_counter(state: State, info: ClassInfo, name: str, value: AbstractValue) -> AbstractValue:
    """Return a value that an object keeps; a number that its methods count is different every step."""
    if value.cause or state.frequency != "step":
        return value
    counts = next((cls for cls in info.lineage() if name in cls.counters), None)
    if counts is None:
        return value
    if value.kind == "unknown" and starts_as_int(counts.methods.get("__init__"), name):
        value = NUMBER  # `self.i = (self.i + 1) % self.n`
    if value.kind != "number":
        return value
    counting = counts.counters[name]
    sure = LIKELY if any(_may_run_each_step(state, counts, m, name) for m in counting) else POSSIBLE
    return value.replace(cause="step-counter", loop=0, sure=sure, const=TOP.const)


def _may_run_each_step(state: State, info: ClassInfo, method: ir.FunctionDef, name: str) -> bool:
    """Return whether a method, which counts an attribute, runs every step, or something in sight mentions it:
    a user calls the others. One in another module is taken to run, unless it adds what its caller gives it:
    the classes of one more task."""
    if state.frame.scope.node is method:
        return True
    if info.frame.home != state.names.module and not _adds_argument(method, name):
        return True
    if "per-step" in state.regions.of_function(method, info.scope):
        return True
    return re.search(rf"\.{method.name}\b", state.analysis.text) is not None


def _adds_argument(method: ir.FunctionDef, name: str) -> bool:
    """Return whether each addition of a method to an attribute is of one of its arguments."""
    amounts = [
        node.value
        for node in ir.walk(method)
        if isinstance(node, ir.AugAssign) and path_of(node.target) == f"self.{name}"
    ]
    given = {param.name for param in method.params}
    return bool(amounts) and all(isinstance(one, ir.Name) and one.id in given for one in amounts)


def cache_by_name(name: str, value: AbstractValue) -> AbstractValue:
    """Return the argument of a parameter, carried from an earlier step if the name is that of a cache."""
    if not table.name_like("past").search(name):
        return value
    return kept_unknown(name) if value is TOP else map_sequence(value, partial(_carried, Carried(name)))


def _carried(trait: Carried, value: AbstractValue) -> AbstractValue:
    """Return a tensor or an unknown value as one that an earlier step carries; others as they are."""
    may_be_tensor = value.kind in ("tensor", "unknown")
    return value.replace(trait=trait) if may_be_tensor and value.trait is None else value
