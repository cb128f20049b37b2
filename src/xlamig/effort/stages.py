"""Which stage of the program a piece of code belongs to: by its bases, what it calls, its name and place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Any

from xlamig.effort.classes import Classes, fits
from xlamig.effort.sides import side_of
from xlamig.effort.tables import NO_GLOBS, Globs, table
from xlamig.findings import FileReport, Part, Report

_PROGRAM = ("", "main")  # a file's own statements, and the function that stands for them


@dataclass(frozen=True, slots=True)
class Piece:
    """A class, function or method, and the stage it belongs to. `scope` is how findings name it."""

    stage: str
    filename: str
    scope: str
    row: int
    calls: tuple[tuple[str, int], ...] = ()


def pieces(report: Report) -> tuple[Piece, ...]:
    """Return the parts of the program, without tests and examples, that belong to a stage."""
    own = [file for file in report.files if side_of(file.filename) is None]
    files = own if any(file.parts for file in own) else list(report.files)
    sorter = _Sorter(files)
    return tuple(piece for file in files for piece in sorter.pieces(file))


class _Sorter:
    def __init__(self, files: Sequence[FileReport]) -> None:
        self.classes = Classes(files)
        # What the folder of the program itself is called says nothing about its parts.
        folders = [PurePosixPath(file.filename).parts[:-1] for file in files]
        shared = takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False))
        self.common = len(list(shared))

    def pieces(self, file: FileReport) -> Iterator[Piece]:
        for part in file.parts:
            is_model = self.classes.is_model(part)
            stage = self._by_name(file, part, is_model) or self._by_place(file, part, is_model)
            if stage is not None:
                yield Piece(stage, file.filename, part.name, part.first_row, part.calls)
            for member in part.members if is_model else ():
                found = _of_method(member)
                if found is not None and found != stage:
                    yield Piece(found, file.filename, f"{part.name}.{member}", part.first_row)

    def _by_name(self, file: FileReport, part: Part, is_model: bool) -> str | None:
        # A function may compute with methods of tensors alone, a class hardly does.
        named = is_model or (file.sites and part.kind != "class") or self.classes.uses_torch(file, part)
        by_deed = (stage for stage in _open_to(is_model) if self._does(part, stage, is_model))
        by_name = (stage for stage in _open_to(is_model) if named and _is_named(file, part, stage))
        stage = next(by_deed, None) or next(by_name, None)
        return str(stage["key"]) if stage else None

    def _does(self, part: Part, stage: dict[str, Any], is_model: bool) -> bool:
        """Return whether bases, decorators or calls put the part into the stage, whatever it is called."""
        if fits(self.classes.above(part), stage.get("bases", NO_GLOBS)):
            return True
        if part.decorators and fits(part.decorators, stage.get("decorators", NO_GLOBS)):
            return True
        if is_model or not part.calls:
            return False
        called = (name for name, _ in part.calls)
        return fits(called, stage.get("calls", NO_GLOBS)) and not _only_builds(part, stage)

    def _by_place(self, file: FileReport, part: Part, is_model: bool) -> str | None:
        if not is_model and (part.name in _PROGRAM or not self.classes.uses_torch(file, part)):
            return None
        path = PurePosixPath(file.filename)
        for name in (path.stem, *path.parts[self.common : -1][-1:]):
            for stage in _open_to(is_model):
                folders = stage.get("model-folders" if is_model else "folders", NO_GLOBS)
                if fits([name], folders) and not _only_builds(part, stage):
                    return str(stage["key"])
        return next((str(stage["key"]) for stage in _open_to(is_model) if stage.get("module")), None)


@cache
def _open_to(is_model: bool) -> tuple[dict[str, Any], ...]:
    return tuple(
        row
        for row in stage_table()
        if not row.get("no-module" if is_model else "module-only") and (is_model or not row.get("module"))
    )


def _is_named(file: FileReport, part: Part, stage: dict[str, Any]) -> bool:
    if part.kind == "class":
        return fits([part.name.lstrip("_")], stage.get("classes", NO_GLOBS))
    if part.name in _PROGRAM:
        return fits([PurePosixPath(file.filename).stem], stage.get("scripts", NO_GLOBS))
    return fits([part.name.lstrip("_")], stage.get("functions", NO_GLOBS)) and not _only_builds(part, stage)


def _only_builds(part: Part, stage: dict[str, Any]) -> bool:
    return part.kind == "function" and not stage.get("builders") and _builds(part.name)


def _builds(name: str) -> bool:
    return fits([name.lstrip("_")], table("stages")["builders"]["functions"])


def _of_method(member: str) -> str | None:
    """A class may be a model and hold its own sampling loop."""
    if member in table("stages")["module"]["switches"] or _builds(member):
        return None
    for stage in stage_table():
        if stage.get("methods") and fits([member.lstrip("_")], stage.get("functions", NO_GLOBS)):
            return str(stage["key"])
    return None


def matrix_calls(found: Sequence[Piece]) -> int:
    """How many calls in the source are matrix work."""
    globs: Globs = table("stages")["matmul"]["calls"]
    return sum(count for piece in found for name, count in piece.calls if fits([name], globs))


def stage_table() -> list[dict[str, Any]]:
    stages: list[dict[str, Any]] = table("stages")["stage"]
    return stages
