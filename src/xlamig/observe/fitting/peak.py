"""The largest buffers that are alive when a compiled graph needs the most memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xlamig.fits import Argument, Buffer
from xlamig.observations import Spot
from xlamig.observe.fitting import hlo
from xlamig.observe.fitting.hlo import Instruction

MOST = 10
_RANGE = re.compile(r"^\s+([\w.\-]+)\{([\d,]*)\}:(\d+)-(\d+)$")
_VALUE = re.compile(r"^\s*value: <\d+ ([\w.\-]+?)(?:\{([\d,]*)\})? @\d+> \(size=(\d+),offset=(\d+)\)")
Name = tuple[str, str]
"""An instruction, and which part of its result."""


@dataclass(frozen=True, slots=True)
class Value:
    """`slot` is the memory it is in: values that share it are never alive together, or are one buffer."""

    name: Name
    size: int
    slot: tuple[str, str]
    is_temporary: bool


def buffers(
    ranges: Iterable[str],
    assignment: Iterable[str],
    found: Iterable[Instruction],
    arguments: Sequence[Argument],
    sites: Sequence[Spot | None],
) -> tuple[Buffer, ...]:
    """From the compiler's live ranges, its assignment of memory and its scheduled module, the largest
    first."""
    by_name = {one.name: one for one in found}
    values = [value for value in _values(assignment) if value.name[0] in by_name]
    alive = dict(_ranges(ranges))
    at = _peak([value for value in values if value.is_temporary], alive)
    kept = [value for value in values if not value.is_temporary or _lives(value, alive, at)]
    # A result may be written over an argument: the memory is that of the argument.
    kept.sort(key=lambda value: (value.size, by_name[value.name[0]].opcode == "parameter"))
    largest = list({value.slot: value for value in kept}.values())
    largest.sort(key=lambda value: -value.size)
    return tuple(
        _buffer(by_name[value.name[0]], value.name[1], value.size, arguments, sites)
        for value in largest[:MOST]
    )


def _values(assignment: Iterable[str]) -> Iterator[Value]:
    """Yield the values in the chip's main memory; the compiler colours the others."""
    number, main, temporary = "", False, False
    for line in assignment:
        if line.startswith("allocation"):
            number, _, rest = line.partition(":")
            main, temporary = "color" not in rest, "preallocated-temp" in rest
            main = main and "thread-local" not in rest and "constant" not in rest
        elif main and (found := _VALUE.match(line)):
            yield Value((found[1], found[2] or ""), int(found[3]), (number, found[4]), temporary)


def _ranges(report: Iterable[str]) -> Iterator[tuple[Name, tuple[int, int]]]:
    for line in report:
        if found := _RANGE.match(line):
            yield (found[1], found[2]), (int(found[3]), int(found[4]))


def _peak(values: Sequence[Value], alive: dict[Name, tuple[int, int]]) -> int:
    """When the temporaries need the most memory: after the instruction with that number."""
    changes: dict[int, int] = {}
    for value in values:
        if value.name in alive:
            first, last = alive[value.name]
            changes[first] = changes.get(first, 0) + value.size
            changes[last + 1] = changes.get(last + 1, 0) - value.size
    most = total = at = 0
    for moment in sorted(changes):
        total += changes[moment]
        if total > most:
            most, at = total, moment
    return at


def _lives(value: Value, alive: dict[Name, tuple[int, int]], at: int) -> bool:
    first, last = alive.get(value.name, (0, -1))
    return first <= at <= last


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
