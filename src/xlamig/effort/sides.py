"""Tests and examples: code beside the program, which costs less and is shown apart."""

from __future__ import annotations

from collections.abc import Callable, Collection
from fnmatch import fnmatchcase
from functools import cache
from pathlib import PurePosixPath

from xlamig.config.settings import EffortSettings
from xlamig.effort.tables import table

SIDES = ("tests", "examples")


@cache
def side_of(filename: str) -> str | None:
    """The side a file is on, None for the program itself."""
    path = PurePosixPath(filename)
    for side in SIDES:
        words = table("sides")[side]
        named = any(fnmatchcase(path.name, glob) for glob in words["files"])
        if named or not set(path.parts[:-1]).isdisjoint(words["folders"]):
            return side
    return None


def weigher(filenames: Collection[str], settings: EffortSettings) -> Callable[[str], float]:
    """Return a function from a file to the weight of its sites. Where there is nothing but tests and
    examples, they are the program."""
    if not any(side_of(filename) is None for filename in filenames):
        return lambda filename: 1.0
    weights = {None: 1.0, "tests": settings.tests_weight, "examples": settings.examples_weight}
    return lambda filename: weights[side_of(filename)]
