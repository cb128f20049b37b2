"""The first line at which a port computes something else than its reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from xlamig.observations import Operation
from xlamig.observe.marks import distance

MOST = 4000  # operations that are aligned


@dataclass(frozen=True, slots=True)
class Difference:
    """The operations at that place; None where one side has none."""

    port: Operation | None
    reference: Operation | None


def first_difference(
    port: Sequence[Operation], reference: Sequence[Operation], tolerance: float
) -> Difference | None:
    """The first pair with other values; else the first operation that only one side has."""
    ours, theirs = port[:MOST], reference[:MOST]
    matcher = SequenceMatcher(None, [one.name for one in ours], [one.name for one in theirs], autojunk=False)
    alone: Difference | None = None
    for kind, start, end, other, other_end in matcher.get_opcodes():
        if kind == "equal":
            for a, b in zip(ours[start:end], theirs[other:other_end], strict=True):
                if _differs(a, b, tolerance):
                    return alone if alone and not _is_plumbing(alone) else Difference(a, b)
            continue
        if alone is None or _is_plumbing(alone):
            alone = Difference(next(iter(ours[start:end]), None), next(iter(theirs[other:other_end]), None))
    return None if alone is None or _is_plumbing(alone) else alone


def _differs(a: Operation, b: Operation, tolerance: float) -> bool:
    pairs = zip(a.values, b.values, strict=False)
    return any(not distance(x, y) <= tolerance * max(y[0], 1e-6) for x, y in pairs)


def _is_plumbing(one: Difference) -> bool:
    """Return whether nothing is computed: copies between devices are what a port is about."""
    names = {operation.name.rpartition(".")[2] for operation in (one.port, one.reference) if operation}
    return names <= {"to", "cuda", "cpu", "detach", "item", "tensor", "zeros", "empty", "clone", "pin_memory"}
