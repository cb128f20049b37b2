"""How well the literal sizes of a model fill a matrix unit, and what padding them costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xlamig.effort.sides import side_of
from xlamig.findings import Report, Size

MXU_SIZES = (128, 256)
_NEAR = 10  # rows between a width and the number of heads that share it


@dataclass(frozen=True, slots=True)
class Fill:
    """A size of a model on matrix units of 128 and 256. `shares` is the part that is no padding,
    `given` how the size is given: as in `findings.Size`."""

    kind: str
    name: str
    value: int
    filename: str
    row: int
    padded: tuple[int, ...]
    shares: tuple[float, ...]
    given: str


def fills(report: Report) -> tuple[Fill, ...]:
    """Every distinct size once, where it stands first; the size of a head also from width and heads.
    A default gives way to what calls of its class or function give in its place."""
    files = [file for file in report.files if side_of(file.filename) is None]
    called = {(size.callee, size.name) for file in files for size in file.sizes if size.given == "call"}
    found: dict[tuple[str, int], Fill] = {}
    for file in files:
        sizes = [one for one in file.sizes if one.given != "default" or (one.owner, one.name) not in called]
        for kind, name, value, size in _values(sizes):
            known = found.get((kind, value))
            if known is None or (known.given == "default" != size.given):
                found[kind, value] = _fill(kind, name, value, file.filename, size)
    return tuple(found.values())


def poor(found: Iterable[Fill]) -> tuple[Fill, ...]:
    """Return the sizes that leave a part of some matrix unit empty."""
    return tuple(fill for fill in found if min(fill.shares) < 1)


def _values(sizes: Sequence[Size]) -> Iterator[tuple[str, str, int, Size]]:
    widths = [size for size in sizes if size.kind == "hidden"]
    for size in sizes:
        if size.kind != "heads":
            yield size.kind, size.name, size.value, size
            continue
        near = [one for one in widths if one.owner == size.owner and abs(one.row - size.row) <= _NEAR]
        width = min(near, key=lambda one: abs(one.row - size.row), default=None)
        if width is not None and width.value % size.value == 0:
            yield "head", f"{width.name} / {size.name}", width.value // size.value, size


def _fill(kind: str, name: str, value: int, filename: str, size: Size) -> Fill:
    padded = tuple(-(-value // unit) * unit for unit in MXU_SIZES)
    shares = tuple(value / whole for whole in padded)
    return Fill(kind, name, value, filename, size.row, padded, shares, size.given)
