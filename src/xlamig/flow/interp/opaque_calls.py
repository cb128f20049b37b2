"""Infer the results of calls that cannot be analysed, from their arguments and the use of the result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.conventions import HOST_SIZES, kept_on_host
from xlamig.flow.interp.domain import (
    FOREIGN,
    LIKELY,
    POSSIBLE,
    TOP,
    AbstractValue,
    Carried,
    Cause,
    Mark,
    Residence,
    inside,
)
from xlamig.flow.interp.reads import Reads, sureness
from xlamig.flow.interp.state import State
from xlamig.flow.interp.texts import text_of
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.tensor_methods import is_of_tensors, keeps_kind
from xlamig.flow.model.words import starts_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_USE = re.compile(r"(\w+)(?:\s*\.\s*(\w+))?")


class OpaqueCalls:
    """An unknown thing with a `place` was computed from tensors there. It may be one, or hold some, or
    be a number made of them: only what is done with it tells."""

    def __init__(self, state: State, reads: Reads) -> None:
        self.m = state
        self.reads = reads

    def result(self, node: ir.Call, args: Args, owner: AbstractValue | None = None) -> AbstractValue:
        """Return the result of a function, or of a method of `owner`, of which only the arguments are
        known."""
        name = path_of(node.func).rpartition(".")[2]
        if name[:1].isupper():
            return TOP  # an object, whatever it does with them
        via = next((via for via in ("item", "copy") if table.name_like(f"reads-{via}").search(name)), "")
        held = args.tensors() if via else []
        if via and owner is None and len(held) == 1 and _is_first(held[0], args):
            return self._read_by_name(held[0], via, args, node)
        return self.computed(node, args, owner)

    def computed(self, node: ir.Call, args: Args, owner: AbstractValue | None = None) -> AbstractValue:
        """Something unknown that is computed from the arguments."""
        handed = list(_given(args.all))
        own = list(_given([owner] if owner is not None else []))
        given = [*handed, *own]
        # A model that is given tensors may compute anything but a model.
        made_of = handed or own
        trait = (
            Mark.OF_MODULE
            if any(thing.kind == "module" or thing.trait is Mark.OF_MODULE for thing in made_of)
            else None
        )
        if not given:
            return _made_there(args)
        place: Residence = "device" if any(t.place == "device" for t in given) else given[0].place
        if place == "host" and any(thing.place != "host" for thing in given):
            place = "either"
        cause: Cause = next((thing.cause for thing in given if thing.cause == "dynamic"), "")
        if place == "host":
            return AbstractValue("unknown", place, sure=POSSIBLE, trait=trait)
        lead = next(thing for thing in given if thing.place == place or place == "either")
        why: tuple[Why, ...] = ()
        if place == "device":
            text = short(self.m.source(node))
            why = (Why(f"`{text}` is computed from device tensors", (node.start, node.end)),)
        return AbstractValue(
            "unknown", place, sure=LIKELY, trait=trait, cause=cause, why=(*lead.why[-2:], *why)
        )

    def _read_by_name(self, tensor: AbstractValue, via: str, args: Args, node: ir.Call) -> AbstractValue:
        """`utils.item(loss)`, `to_numpy(x)`, of a function that is not among the files."""
        name = path_of(node.func)
        why = Why(f"by its name, `{name}` reads its argument", (node.start, node.end))
        told = tensor.replace(sure=min(tensor.sure, LIKELY), why=(*tensor.why[-3:], why))
        self.reads.host(node, told, via, name, args.node(0))
        if via == "copy":
            return FOREIGN
        return AbstractValue("number", sure=told.sure, cause="read" if sureness(told) else "")

    @staticmethod
    def is_tensor_with(thing: AbstractValue, name: str) -> bool:
        """Return whether only tensors have the method, of all that functions of PyTorch programs return."""
        if name in table.names("unseen", "shared"):  # arrays do, but a graph on the device makes none
            return thing.loose and not any(hasattr(kind, name) for kind in (dict, list))
        if thing.trait is Mark.OF_MODULE and signatures.signature(f"Module.{name}") is not None:
            return False
        return signatures.signature(f"Tensor.{name}") is not None

    def assigned(self, target: ir.Expr, thing: AbstractValue) -> AbstractValue:
        """Return the value that a name gets; something unknown, or what may be a tensor, is one if later uses
        prove it, as where it is the argument of a parameter."""
        may_be_one = thing.kind == "tensor" and thing.sure == POSSIBLE
        if not may_be_one and (thing.kind != "unknown" or thing.place == "host" or thing.ref is not None):
            return thing
        if self.m.batches:
            return thing
        if not self._may_be_proved(target):
            return thing
        definition = target.start if isinstance(target, ir.Name) else path_of(target)
        evidence = self.m.evidences.of(self.m.frame.scope)
        proof = evidence.proof(definition)
        if proof is None:
            is_known = may_be_one or definition not in evidence.texts
            return thing if is_known else text_of(self.m, thing)
        if kept_on_host(path_of(target)):
            return HOST_SIZES
        if may_be_one:
            return thing.replace(sure=LIKELY, loose=False)
        is_loss = isinstance(proof, ir.Call) and path_of(proof.func).endswith("backward")
        does = "starts the backward pass here, so this is a tensor" if is_loss else "takes only a tensor here"
        why = Why(f"`{short(self.m.source(proof))}` {does}", (proof.start, proof.end))
        return AbstractValue(
            "tensor",
            thing.place or "either",
            sure=LIKELY,
            shape=() if is_loss else None,
            trait=thing.trait if isinstance(thing.trait, Carried) else None,
            cause=thing.cause,
            why=(*thing.why[-2:], why),
        )

    def _may_be_proved(self, target: ir.Expr) -> bool:
        """Return whether there can be evidence of a target, which takes a walk through the scope to collect:
        it is of names in modules and functions, and of attributes of `self`."""
        if not isinstance(target, ir.Name):
            return path_of(target).startswith("self.")
        kind = self.m.frame.scope.kind
        if kind == "module":
            return _is_used_as_tensor(target, self.m.analysis.text)
        return kind != "class"


def _is_first(tensor: AbstractValue, args: Args) -> bool:
    """Return whether a tensor is the first argument of a call, or what this holds."""
    return inside(args.all[0]).kind in ("tensor", "unknown") and inside(args.all[0]).place == tensor.place


def _is_used_as_tensor(name: ir.Name, text: str) -> bool:
    """Return whether a name may stand for a tensor somewhere else in a text: `logger.info(x)` is no such
    use."""
    end = 0
    for start in starts_of(name.id, text):
        use = _USE.match(text, start)
        if use is None or use[1] != name.id or start < end:
            continue
        end = use.end()
        if start != name.start and (use[2] is None or _shows_kind(use[2])):
            return True
    return False


@cache
def _shows_kind(attribute: str) -> bool:
    proves = attribute in table.names("evidence", "attributes") or is_of_tensors(attribute)
    return proves or keeps_kind(attribute)


def _made_there(args: Args) -> AbstractValue:
    """Return what a function of another file gives for a device and a type, as torch's own factories do."""
    device, dtype = args.keywords.get("device"), args.keywords.get("dtype")
    if device is None or dtype is None or (device.kind, dtype.kind) != ("device", "dtype"):
        return TOP
    return AbstractValue("unknown", device.place, sure=min(device.sure, LIKELY), why=device.why)


def _given(things: list[AbstractValue]) -> Iterator[AbstractValue]:
    """Yield the values that a result may be computed from."""
    for thing in things:
        held = inside(thing)
        if held.kind in ("tensor", "module", "unknown") and held.place and held.sure > POSSIBLE:
            yield held
