"""Placement and sizes in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from xlamig.effort.fill import MXU_SIZES, Fill, poor
from xlamig.effort.placement import Stage
from xlamig.effort.plan import Plan
from xlamig.report.context import one_line
from xlamig.report.numbers import number, percent

UNSURE = "derived from names, base classes and findings; nothing was run"
_MOST_NAMED = 4
_MOST_SIZES = 8


def name_parts(stage: Stage) -> str:
    """Return the parts of a stage, those with most calls of torch first: `GPT, Block and 3 more`."""
    ranked = sorted(stage.pieces, key=lambda piece: -sum(count for _, count in piece.calls))
    names = list(dict.fromkeys(piece.scope or PurePosixPath(piece.filename).name for piece in ranked))
    more = len(names) - _MOST_NAMED
    return one_line(", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else ""))


def fill(found: Fill) -> str:
    """`head size 64: 50% of a unit of 128, 25% of 256`."""
    units = zip(MXU_SIZES, found.padded, found.shares, strict=True)
    parts = [
        f"{percent(share)} full on {unit} (padded to {padded}, {percent(padded / found.value - 1)} more work)"
        for unit, padded, share in units
        if share < 1
    ]
    given = ", a default" if found.given == "default" else ""
    where = f"{one_line(found.filename)}:{found.row}{given}"
    return f"{_kind(found)} {found.value} ({where}): {'; '.join(parts)}"


def sizes(plan: Plan) -> Iterator[str]:
    """The sizes that leave a matrix unit partly empty, worst first."""
    found = sorted(poor(plan.fills), key=lambda one: min(one.shares))
    if plan.fills and not found:
        yield f"{number(len(plan.fills), 'literal size')}: all fill matrix units of 128 and 256"
    yield from (fill(one) for one in found[:_MOST_SIZES])
    if len(found) > _MOST_SIZES:
        yield f"and {len(found) - _MOST_SIZES} more; JSON has all"


def _kind(found: Fill) -> str:
    words = {"hidden": "width", "head": "size of a head", "vocabulary": "vocabulary"}
    return words.get(found.kind, found.kind)
