"""Loaders and slices whose last batch is smaller than the others."""

from __future__ import annotations

from xlamig.facts import ChangingShape
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import LIKELY, POSSIBLE, AbstractValue, Made, Mark
from xlamig.flow.interp.state import State


def keeping_last(loader: AbstractValue, args: Args, made: Made) -> AbstractValue:
    """Return a `DataLoader` marked as one that keeps a smaller last batch, unless its arguments rule it out
    or show that it shuffles, which the rule sees in the call."""
    size, drops = args.get(1, "batch_size"), args.get(8, "drop_last")
    if args.get(4, "batch_sampler") is not None or args.get(3, "sampler") is not None:
        return loader
    shuffle = args.get(2, "shuffle")
    if shuffle is not None and shuffle.const is True:
        return loader
    if drops is not None and drops.const is not False:
        return loader
    if size is None and not args.partial:
        return loader  # one sample at a time
    if size is not None and (size.kind == "none" or size.const == 1):
        return loader
    unsure = args.partial and (size is None or drops is None)
    return loader.replace(trait=Mark.PARTIAL, ref=made, sure=POSSIBLE if unsure else LIKELY)


def record_last_batch(m: State, iterable: AbstractValue) -> None:
    """Record that a training loop over such a loader ends each epoch with a smaller batch."""
    if iterable.trait is not Mark.PARTIAL or not isinstance(iterable.ref, Made):
        return
    node, statement, operation = iterable.ref
    m.record(
        ChangingShape,
        node,
        min(iterable.sure, LIKELY),
        iterable.why,
        at=statement,
        via="last-batch",
        operation=operation,
        cause="batch",
    )
