"""Which work waits for which: the dependencies between items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xlamig.effort.plan import Item, PhasePlan
from xlamig.effort.tables import table


def in_order(phases: Sequence[PhasePlan], group_of: Mapping[str, str]) -> tuple[PhasePlan, ...]:
    """The phases with `needs` and `unblocks` of every item; `group_of` is by code."""
    first: Mapping[str, Sequence[str]] = table("work")["needs"]
    codes: dict[str, list[str]] = {}
    for phase in phases:
        for item in phase.items:
            codes.setdefault(group_of[item.code], []).append(item.code)

    def needs(code: str) -> tuple[str, ...]:
        wanted = first.get(group_of[code], ())
        return tuple(dict.fromkeys(other for group in wanted for other in codes.get(group, ())))

    waits = {code: needs(code) for own in codes.values() for code in own}

    def with_neighbours(item: Item) -> Item:
        unblocks = tuple(dict.fromkeys(other for other in waits if item.code in waits[other]))
        return replace(item, needs=waits[item.code], unblocks=unblocks)

    return tuple(replace(phase, items=tuple(map(with_neighbours, phase.items))) for phase in phases)
