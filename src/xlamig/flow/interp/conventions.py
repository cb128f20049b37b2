"""Values that only a name promises."""

from __future__ import annotations

from xlamig.flow.interp.domain import LIKELY, TOP, AbstractValue
from xlamig.knowledge import values as table


def by_convention(name: str) -> AbstractValue:
    """Return what an attribute of an unknown object may be, by its name."""
    if table.name_like("device").search(name):
        return AbstractValue("device", "device", sure=LIKELY)
    return TOP
