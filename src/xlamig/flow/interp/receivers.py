"""Calls of methods whose receiver is known to be a tensor."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.domain import LIKELY, AbstractValue
from xlamig.flow.interp.reads import sureness
from xlamig.flow.interp.state import State
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_OF_CONTAINERS = frozenset((*dir(list), *dir(dict)))
_OF_DISTRIBUTIONS = table.names("distributions", "tensors")


def record_receiver(m: State, owner: AbstractValue, name: str, node: ir.Call) -> None:
    """Record a call of a tensor's method: the call where the tensor is on the device, else what is called,
    unless nothing but the call itself says that it is a tensor."""
    if sureness(owner) < LIKELY or _is_shared(name, owner):
        return
    if owner.place == "device":
        m.recorder.device_methods.add((node.start, node.end))
    elif all(proof is not node for proof in m.evidences.of(m.frame.scope).proofs.values()):
        m.recorder.device_methods.add((node.func.start, node.func.end))


def _is_shared(method: str, owner: AbstractValue) -> bool:
    """Return whether modules have such a method as well, or where the tensor may be one of them containers or
    distributions."""
    of_module = signatures.signature(f"Module.{method}") is not None
    return of_module or (owner.loose and (method in _OF_CONTAINERS or method in _OF_DISTRIBUTIONS))
