"""Loaders whose last batch is smaller than the others, and the loops that take batches from them."""

from __future__ import annotations

from xlamig.facts import ChangingShape
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import LIKELY, POSSIBLE, AbstractValue, Made, Mark
from xlamig.flow.interp.frames import Loop
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short


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


def take_batch(m: State, loader: AbstractValue) -> None:
    """Note that the loop around takes a batch from such a loader, as `next(iterator)` does; or what a
    generator yields once per step."""
    seldom = m.first_pass or m.seldom or m.frequency == "interval"
    if loader.trait in (Mark.PARTIAL, Mark.STEPS) and m.loops and not seldom:
        m.loops[-1].taken.append(loader)


def record_last_batches(m: State, loop: Loop) -> None:
    """Record that a training loop ends each epoch with a smaller batch of the loaders it takes batches from;
    what an inner loop takes counts for the loop around."""
    partial = list(dict.fromkeys(one for one in loop.taken if one.trait is Mark.PARTIAL))
    if loop.kind in ("plain", "accumulation") and m.loops:
        m.loops[-1].taken += partial
    for loader in partial if loop.kind == "training" else ():
        if isinstance(loader.ref, Made):
            node, statement, operation = loader.ref
            m.record(
                ChangingShape,
                node,
                min(loader.sure, LIKELY),
                loader.why,
                at=statement,
                via="last-batch",
                operation=operation,
                tensor=short(m.source(node, statement)) if operation == "[]" else "",
                cause="batch",
            )
