"""The batch size as an argument of the program: other values of it, and the largest that fits."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xlamig.observe.program import LaunchError, Program

MOST = 1 << 30
_PADDED = 8  # a TPU pads a batch to a multiple of that
_MISSING = "the program is not given {name!r}: add it with a value, such as `--{name} 8`"


@dataclass(frozen=True, slots=True)
class Argument:
    """Where the value stands: `program.arguments[place]`, behind `prefix`."""

    name: str
    place: int
    prefix: str
    value: int

    def program(self, program: Program, value: int) -> Program:
        """The same program with another value."""
        arguments = list(program.arguments)
        arguments[self.place] = f"{self.prefix}{value}"
        return replace(program, arguments=tuple(arguments))


def find(arguments: Sequence[str], name: str) -> Argument:
    """The argument with that name in any of the usual forms: `--name 8`, `--name=8`, `name=8`.

    Raises:
        LaunchError: the program is not given it, or not a number.
    """
    wanted = _plain(name)
    for place, argument in enumerate(arguments):
        key, equals, value = argument.partition("=")
        if _plain(key) != wanted:
            continue
        if equals and value.isdigit():
            return Argument(name, place, f"{key}=", int(value))
        if not equals and place + 1 < len(arguments) and arguments[place + 1].isdigit():
            return Argument(name, place + 1, "", int(arguments[place + 1]))
        raise LaunchError(f"the value of {argument!r} is no whole number")
    raise LaunchError(_MISSING.format(name=name.lstrip("-")))


def _plain(name: str) -> str:
    return re.sub(r"[-_]", "", name.rpartition(".")[2] if "=" not in name else name).lower()


def largest(fits: Callable[[int], bool], start: int, devices: int = 1) -> tuple[int | None, int | None]:
    """(the largest batch that fits, the smallest tried that does not), by doubling and bisection to an
    eighth. `fits` is asked for each size at most once; from `devices` on each divides into them."""
    tile = math.lcm(_PADDED, devices)
    good, bad = (start, None) if fits(start) else (None, start)
    while bad is None and good is not None and good < MOST:
        size = 2 * good
        good, bad = (size, None) if fits(size) else (good, size)
    while good is None and bad is not None and bad > 1:
        size = _round(bad // 2, 0, bad, tile)
        good, bad = (size, bad) if fits(size) else (None, size)
    while good is not None and bad is not None and bad - good > max(1, good // 8):
        size = _round((good + bad) // 2, good, bad, tile)
        if size % devices:
            break
        good, bad = (size, bad) if fits(size) else (good, size)
    return good, bad


def _round(size: int, low: int, high: int, tile: int) -> int:
    """Return the multiple of `tile` below, where it lies between."""
    rounded = size // tile * tile
    return rounded if low < rounded < high else size
