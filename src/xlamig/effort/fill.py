"""How well the literal sizes of a model fill a matrix unit, and what padding them costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xlamig.effort.sides import side_of
from xlamig.findings import Report, Size

MXU_SIZES = (128, 256)
_NEAR = 10  # rows between a width and the number of heads that share it


@dataclass(frozen=True, slots=True)
class Fill:
    """A size of a model on matrix units of 128 and 256. `shares` is the part that is no padding."""

    kind: str
    name: str
    value: int
    filename: str
    row: int
    padded: tuple[int, ...]
    shares: tuple[float, ...]


def fills(report: Report) -> tuple[Fill, ...]:
    """Every distinct size once, where it stands first; the size of a head also from width and heads."""
    found: dict[tuple[str, int], Fill] = {}
    for file in report.files:
        if side_of(file.filename) is None:
            for kind, name, value, row in _values(file.sizes):
                found.setdefault((kind, value), _fill(kind, name, value, file.filename, row))
    return tuple(found.values())


def poor(found: Iterable[Fill]) -> tuple[Fill, ...]:
    """Those that leave a part of some matrix unit empty."""
    return tuple(fill for fill in found if min(fill.shares) < 1)


def _values(sizes: Iterable[Size]) -> Iterator[tuple[str, str, int, int]]:
    widths = [size for size in sizes if size.kind == "hidden"]
    for size in sizes:
        if size.kind != "heads":
            yield size.kind, size.name, size.value, size.row
            continue
        near = [one for one in widths if one.owner == size.owner and abs(one.row - size.row) <= _NEAR]
        width = min(near, key=lambda one: abs(one.row - size.row), default=None)
        if width is not None and width.value % size.value == 0:
            yield "head", f"{width.name} / {size.name}", width.value // size.value, size.row


def _fill(kind: str, name: str, value: int, filename: str, row: int) -> Fill:
    padded = tuple(-(-value // unit) * unit for unit in MXU_SIZES)
    return Fill(kind, name, value, filename, row, padded, tuple(value / whole for whole in padded))
