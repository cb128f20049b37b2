"""The largest buffers that are alive when a compiled graph needs the most memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from xlamig.fits import Argument, Buffer
from xlamig.observations import Spot
from xlamig.observe.fitting import hlo
from xlamig.observe.fitting.hlo import Instruction

MOST = 10
_PEAK = re.compile(r"\bLive ranges at \d+ \(peak\)")
_LIVE = re.compile(r"^\s+([\w.\-]+)\{([\d,]*)\}: (\d+) bytes")


def buffers(
    report: Iterable[str],
    found: Iterable[Instruction],
    arguments: Sequence[Argument],
    sites: Sequence[Spot | None],
) -> tuple[Buffer, ...]:
    """From the compiler's live ranges and its scheduled module, the largest first."""
    live = sorted(_live(report), key=lambda one: -one[2])[:MOST]
    wanted = {name for name, _, _ in live}
    by_name = {one.name: one for one in found if one.name in wanted}
    return tuple(
        _buffer(by_name[name], index, size, arguments, sites) for name, index, size in live if name in by_name
    )


def _live(report: Iterable[str]) -> Iterator[tuple[str, str, int]]:
    inside = False
    for line in report:
        found = _LIVE.match(line)
        if inside and found:
            yield found[1], found[2], int(found[3])
        elif inside and not found:
            return
        inside = inside or bool(_PEAK.search(line))


def _buffer(
    one: Instruction, index: str, size: int, arguments: Sequence[Argument], sites: Sequence[Spot | None]
) -> Buffer:
    arrays = hlo.arrays(one.shape)
    place = int(index.split(",")[0]) if index else 0
    kind, dims = arrays[min(place, len(arrays) - 1)] if arrays else ("", ())
    shape = f"{kind}[{','.join(map(str, dims))}]"
    if one.opcode == "parameter":
        given = _argument(one, arguments)
        name = given.name or given.role if given else "argument"
        return Buffer(size, shape, name, None)
    return Buffer(size, shape, hlo.operator(one.op_name) or one.opcode, hlo.place(one.op_name, sites))


def _argument(one: Instruction, arguments: Sequence[Argument]) -> Argument | None:
    number = one.rest.partition(")")[0]
    if not number.isdigit() or int(number) >= len(arguments):
        return None
    return arguments[int(number)]
