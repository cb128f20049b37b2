"""Batches, as the collate function of a loader makes them of samples."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import (
    LIKELY,
    NUMBER,
    TOP,
    AbstractValue,
    Mark,
    Residence,
    batch_of,
    element_of,
    holds_unknown,
)
from xlamig.flow.interp.state import State
from xlamig.knowledge import values as table


def dataset_of(args: Args) -> AbstractValue:
    """Return a dataset of torch: one of tensors, or of another one, is where they are."""
    first = args.get(0)
    if first is not None and first.kind == "dataset":
        return AbstractValue("dataset", first.place)
    places = {tensor.place for tensor in args.tensors() if tensor.sure >= LIKELY}
    if "device" not in places:
        return AbstractValue("dataset", "host")
    return AbstractValue("dataset", "device" if len(places) == 1 else "either")


def place_of_batches(args: Args) -> Residence:
    """Return where the batches of a loader are: where a dataset of tensors keeps them, unless a collate
    function makes something else of them."""
    dataset = args.get(0, "dataset")
    if dataset is None or dataset.kind != "dataset" or args.get(6, "collate_fn") is not None:
        return "host"
    return dataset.place or "host"


def batch_by(m: State, args: Args, node: ir.Call) -> AbstractValue | None:
    """Return the batch of a loader: the result of its collate function on samples."""
    dataset = args.get(0, "dataset") or TOP
    collate = args.get(6, "collate_fn")
    if collate is None or collate.kind not in ("function", "instance"):
        return None
    sampler = args.node(4, "batch_sampler")
    if sampler is not None and table.name_like("bucket").search(m.source(sampler)):
        return None
    m.batches += 1
    drawn = AbstractValue("tensor", "host", sure=LIKELY, loose=True)
    method = m.semantics.method_of(dataset, "__getitem__")
    if dataset.kind == "sequence":
        drawn = element_of(dataset)
    elif method is not None:
        made = m.semantics.call(method, Args([NUMBER]), node)
        drawn = made if made.kind != "unknown" else drawn
    given = Args([AbstractValue("sequence", element=drawn)])
    made = m.semantics.reach(collate, node, given)
    if holds_unknown(made) and not m.collating:  # nothing shows later that it is moved
        m.collating = True
        m.semantics.reach(collate, node, given)
        m.collating = False
    m.batches -= 1
    return None if made.kind == "unknown" else batch_of(_with_lengths(made))


def _with_lengths(made: AbstractValue) -> AbstractValue:
    """Return a batch in which the numbers of a list of lengths, `[len(s) for s in samples]`, differ between
    batches: nobody asks for the lengths of samples that are equally long."""
    held = made.element
    if made.kind == "sequence" and made.items:
        return made.replace(items=tuple(map(_with_lengths, made.items)))
    if made.kind == "sequence" and held is not None and held.trait is Mark.LENGTH and not held.cause:
        return made.replace(element=held.replace(cause="batch", sure=LIKELY))
    if made.kind == "mapping" and made.fields:
        return made.replace(fields={key: _with_lengths(part) for key, part in made.fields.items()})
    return made
