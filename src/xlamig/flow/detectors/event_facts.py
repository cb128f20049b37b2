"""Facts of what the interpreter met, with what surrounds each statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from xlamig import ir
from xlamig.facts import DynamicShape, Fact, HostRead, Transfer
from xlamig.flow.detectors.before_backward import stands_before_backward
from xlamig.flow.detectors.consumers import is_compared, use_of
from xlamig.flow.detectors.in_scope import device_in_scope
from xlamig.flow.detectors.post_processing import exchanges_objects, picks_detections
from xlamig.flow.detectors.result_uses import only_copied
from xlamig.flow.detectors.selected import cut_of, taker_of
from xlamig.flow.detectors.summed import is_summed
from xlamig.flow.interp.events import CONFIDENCES, Event, Recorder
from xlamig.flow.model.names import Names
from xlamig.flow.model.site import CodeContext

_FOLLOWING = 200  # statements in which a value is sought: few use it later, and generated code is long


def facts_of_events(
    recorder: Recorder,
    names: Names,
    place: CodeContext,
    statement: ir.Stmt,
    following: Sequence[tuple[ir.Block, int]],
) -> Iterator[Fact]:
    """The facts of a statement's events; `following` are its block and those around it, the innermost last,
    each with the place of what comes next there."""
    for event in recorder.of(statement):
        fields = place.fields(event.node)
        fields["frequency"] = event.frequency
        fields["confidence"] = CONFIDENCES[event.sure]
        fields["context"] = place.context | event.context
        fields["reasons"] = (*place.reasons, *event.reasons)
        fields["related"] = event.related
        fields["parts"] = event.parts
        proofs = recorder.proofs.get(fields["span"], {})
        fields["proofs"] = {
            **device_in_scope(place, event.node.start),
            **_shared(event, place),
            **_host_work(event, place),
            **_inside_step(event, following),
            **proofs,
        }
        yield event.fact(**fields, **event.fields, **_use(event, place, names, statement, following))


def without_steps(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield the facts but those of the ends of steps."""
    return (fact for fact in facts if fact.kind != "step-boundary")


def _shared(event: Event, place: CodeContext) -> dict[str, str]:
    """The proof "shared" of a write at a mask: the tensor is a parameter, and the caller may keep it."""
    written = event.node.value if isinstance(event.node, ir.Subscript) else None
    if event.fields.get("via") != "mask-write" or not isinstance(written, ir.Name):
        return {}
    bindings = [one for one in place.scope.lookup(written.id) if one.start < event.node.start]
    return {"shared": written.id} if bindings and {one.kind for one in bindings} == {"param"} else {}


def _host_work(event: Event, place: CodeContext) -> dict[str, str]:
    """The proof "post-processing" of a read or a shape that depends on values: the function around it picks
    detections; and "objects": it sends Python objects to other processes."""
    function = place.scope.node
    if event.fact not in (HostRead, DynamicShape) or not isinstance(function, ir.FunctionDef):
        return {}
    if exchanges_objects(function):
        return {"objects": function.name}
    return {"post-processing": function.name} if picks_detections(function) else {}


def _inside_step(event: Event, following: Sequence[tuple[ir.Block, int]]) -> dict[str, str]:
    """The proof "before-backward" of a read: the backward pass of the same iteration comes after it."""
    reads = event.fact is HostRead and event.frequency in ("step", "interval")
    return {"before-backward": "backward"} if reads and stands_before_backward(following) else {}


def _use(
    event: Event,
    place: CodeContext,
    names: Names,
    statement: ir.Stmt,
    following: Sequence[tuple[ir.Block, int]],
) -> dict[str, Any]:  # Any: each kind of fact has its own fields
    """Return the fields of a fact that say what takes the value."""
    if event.fact is Transfer:
        root = place.scope.node
        brought = event.fields["via"] == "batch" and root and only_copied(event.node, statement, root)
        return {"consumer": "host"} if brought else {}
    if event.fact not in (HostRead, DynamicShape):
        return {}
    later = (block[i] for block, at in reversed(following) for i in range(at, len(block)))
    rest = tuple(islice(later, _FOLLOWING))
    cut = {"cut": cut_of(event.node, statement)} if event.fields["via"] in ("number", "size") else {}
    if event.fact is DynamicShape:
        return {"consumer": taker_of(event.node, statement, rest), **cut}
    if str(event.fields["operation"]).startswith("math.") and is_compared(event.node, statement):
        return {"consumer": "extremum", **cut}
    use = use_of(event.node, statement, rest, lambda node: names.dotted(node, place.scope) or "")
    may_add = use.consumer in ("", "return") and event.fields["via"] in ("copy", "item")
    if may_add and is_summed(event.node, statement, rest):
        use = use._replace(consumer="sum")
    stops = event.fact is HostRead and use.consumer == "stop"
    collects = stops and _collects(event.node, place)
    return {**use._asdict(), **cut, **({"collects": True} if collects else {})}


def _collects(node: ir.Node, place: CodeContext) -> bool:
    """Return whether the innermost loop around a node adds to a list in each iteration."""
    function = place.scope.node
    around = ir.path_down(function, node) if function is not None else ()
    loops = [part for part in around if isinstance(part, ir.For | ir.While)]
    return bool(loops) and any(map(_adds_to_list, loops[-1].body))


def _adds_to_list(statement: ir.Stmt) -> bool:
    match statement:
        case ir.ExprStmt(value=ir.Call(func=ir.Attribute(attr="append"))):
            return True
        case ir.AugAssign(value=ir.Sequence()):
            return True
    return False
