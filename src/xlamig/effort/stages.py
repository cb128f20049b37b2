"""Which stage of the program a piece of code belongs to: by its bases, what it calls and its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from typing import Any

from xlamig.effort.sides import side_of
from xlamig.effort.tables import table
from xlamig.findings import FileReport, Part, Report


@dataclass(frozen=True, slots=True)
class Piece:
    """A class, function or method, and the stage it belongs to. `scope` is how findings name it."""

    stage: str
    filename: str
    scope: str
    row: int
    calls: tuple[tuple[str, int], ...] = ()


def pieces(report: Report) -> tuple[Piece, ...]:
    """What of the program, tests and examples apart, belongs to a stage."""
    own = [file for file in report.files if side_of(file.filename) is None]
    files = own if any(file.parts for file in own) else list(report.files)
    bases = {part.name: part.bases for file in files for part in file.parts if part.kind == "class"}
    return tuple(piece for file in files for piece in _pieces(file, bases))


def _pieces(file: FileReport, bases: Mapping[str, tuple[str, ...]]) -> Iterator[Piece]:
    for part in file.parts:
        above = _ancestors(part, bases)
        stage = _stage_of(part, above)
        if stage is not None:
            yield Piece(stage, file.filename, part.name, part.first_row, part.calls)
        for member in part.members if _is_module(above) else ():
            found = _stage_by_name(member)
            if found is not None and found != stage:
                yield Piece(found, file.filename, f"{part.name}.{member}", part.first_row)


def _ancestors(part: Part, bases: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """The names of all base classes, those of the project followed by their last name."""
    seen: set[str] = set()
    waiting = list(part.bases)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(bases.get(name.rpartition(".")[2], ()))
    return frozenset(seen)


def _stage_of(part: Part, above: frozenset[str]) -> str | None:
    is_module = _is_module(above)
    for stage in table("stages")["stage"]:
        if stage.get("no-module" if is_module else "module-only"):
            continue
        called = (name for name, _ in part.calls)
        if (
            _fits(above, stage["bases"])
            or _fits(part.decorators, stage["decorators"])
            or (not is_module and _fits(called, stage["calls"]))
            or (part.name and _fits([part.name], stage["names"]))
            or (is_module and stage.get("module"))
        ):
            return str(stage["key"])
    return None


def _is_module(above: frozenset[str]) -> bool:
    return _fits(above, table("stages")["module"]["bases"])


def _stage_by_name(member: str) -> str | None:
    """Of a method: a class may be a model and hold its own sampling loop."""
    if member in table("stages")["module"]["switches"]:
        return None
    for stage in table("stages")["stage"]:
        if stage.get("methods") and _fits([member.lstrip("_")], stage["names"]):
            return str(stage["key"])
    return None


def matrix_calls(found: Sequence[Piece]) -> int:
    """How many calls in the source are matrix work."""
    globs: list[str] = table("stages")["matmul"]["calls"]
    return sum(count for piece in found for name, count in piece.calls if _fits([name], globs))


def stage_table() -> list[dict[str, Any]]:
    stages: list[dict[str, Any]] = table("stages")["stage"]
    return stages


def _fits(names: Iterable[str], globs: Sequence[str]) -> bool:
    pattern = _pattern(tuple(globs))
    return pattern is not None and any(pattern.fullmatch(name.lower()) for name in names)


@cache
def _pattern(globs: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile("|".join(translate(glob.lower()) for glob in globs)) if globs else None
