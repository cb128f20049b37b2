"""Reads HLO as the compiler writes it: instructions, shapes, and the line of the program each names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xlamig.fits import Place
from xlamig.observations import Spot

_BYTES = {
    "pred": 1, "s4": 1, "u4": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2, "s32": 4,
    "u32": 4, "f32": 4, "s64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16,
}  # fmt: skip
_HEAD = re.compile(r"^\s*(?:ROOT )?%?([^\s=]+) = ")
_OPCODE = re.compile(r"\s*([\w-]+)\(")
_ARRAY = re.compile(r"\b([a-z]+[0-9]*(?:e[0-9]m[0-9]\w*)?)\[([0-9,<=]*)\]")
_OPERAND = re.compile(r"%([\w.\-]+)")
_NAMED = re.compile(r'op_name="([^"]*)"')
_SCOPE = re.compile(r"\b([LB])(\d+)\.\d+/")


@dataclass(frozen=True, slots=True)
class Instruction:
    """`shape` is the text of its type; `rest` all that follows the opening bracket of its operands."""

    name: str
    shape: str
    opcode: str
    rest: str

    @property
    def operands(self) -> list[str]:
        return _OPERAND.findall(self.rest.partition(")")[0])

    @property
    def op_name(self) -> str:
        found = _NAMED.search(self.rest)
        return found[1] if found else ""


def instructions(lines: Iterator[str] | Sequence[str]) -> Iterator[Instruction]:
    """Every instruction of every computation."""
    for line in lines:
        head = _HEAD.match(line)
        if head is None:
            continue
        shape, rest = _type(line[head.end() :])
        opcode = _OPCODE.match(rest)
        if opcode:
            yield Instruction(head[1], shape, opcode[1], rest[opcode.end() :])


def _type(text: str) -> tuple[str, str]:
    """The type at the start of a text, and what is behind it."""
    if not text.startswith("("):
        shape, _, rest = text.partition(" ")
        return shape, rest
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if not depth:
            return text[: place + 1], text[place + 1 :]
    return text, ""


def arrays(shape: str) -> list[tuple[str, tuple[int, ...]]]:
    """The element type and the dimensions of each array in a type."""
    found = _ARRAY.findall(shape)
    return [(kind, tuple(int(n.lstrip("<=")) for n in dims.split(",") if n)) for kind, dims in found]


def dimensions(shape: str) -> tuple[int, ...]:
    return next((dims for _, dims in arrays(shape)), ())


def size(shape: str) -> int:
    """In bytes, without the padding of a layout."""
    return sum(_BYTES.get(kind, 1) * prod(dims) for kind, dims in arrays(shape))


def place(op_name: str, sites: Sequence[Spot | None]) -> Place | None:
    """The line behind an operator: its innermost scope names a site of the program."""
    for way, number in reversed(_SCOPE.findall(op_name)):
        spot = sites[int(number)] if int(number) < len(sites) else None
        if spot:
            return Place(spot.filename, spot.row, way == "B")
    return None


def operator(op_name: str) -> str:
    """`aten::addmm` of "L6.303/aten__addmm.2/aten__addmm"."""
    return op_name.rpartition("/")[2].replace("__", "::", 1)
