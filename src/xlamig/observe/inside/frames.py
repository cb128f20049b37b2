"""Which line of the user's code is running."""

from __future__ import annotations

import dis
import site
import sys
import sysconfig
import traceback
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

HELPER = "# Written by xlamig"


class Site(NamedTuple):
    """An instruction of the user's code; what it spans is worked out when it is written down."""

    code: CodeType
    instruction: int

    def span(self) -> tuple[int, int, int, int]:
        """(row, column, end row, end column); rows from 1, columns are UTF-8 bytes from 0."""
        positions = list(self.code.co_positions())
        row, end_row, column, end_column = positions[self.instruction // 2]
        row = row or self.code.co_firstlineno
        return row, column or 0, end_row or row, end_column or 0


def _libraries() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = {sysconfig.get_path(name) for name in names}
    paths.update(site.getsitepackages(), [site.getusersitepackages()])
    paths.add(str(Path(__file__).resolve().parents[2]))
    return tuple(path.rstrip("/") + "/" for path in paths if path)


_LIBRARIES = _libraries()
_by_span: dict[tuple[CodeType, tuple[int, int, int, int]], Site] = {}


@cache
def _site(code: CodeType, instruction: int) -> Site:
    """One for all instructions of an expression: a call has several, and which one a frame is at
    changes when the interpreter specialises it."""
    made = Site(code, instruction)
    return _by_span.setdefault((code, made.span()), made)


@cache
def is_library(filename: str) -> bool:
    """Return whether it is installed, generated, or a helper that xlamig wrote: the line that calls it
    counts."""
    if filename.startswith(("<", *_LIBRARIES)) or "/site-packages/" in filename:
        return True
    try:
        with Path(filename).open(encoding="utf-8", errors="replace") as file:
            return file.readline().startswith(HELPER)
    except OSError:
        return False


@cache
def is_users(code: CodeType) -> bool:
    return not is_library(code.co_filename)


def innermost(frame: FrameType | None = None) -> Site | None:
    """Return the innermost frame of the user's code in this thread."""
    frame = frame or sys._getframe(1)
    while frame is not None:
        if is_users(frame.f_code):
            return _site(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return None


@cache
def _loops(code: CodeType) -> bool:
    return any("BACKWARD" in instruction.opname for instruction in dis.get_instructions(code))


def in_loop(frame: FrameType | None) -> Site | None:
    """The innermost of the user's frames whose function has a loop: of several calls of a function that
    ends a step, each ends another one."""
    while frame is not None:
        if is_users(frame.f_code) and _loops(frame.f_code):
            return _site(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return None


def depth() -> int:
    frame, count = sys._getframe(1), 0
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count


def called_by_user() -> bool:
    """Return whether the caller's caller is the user's own code, not a library that works for it."""
    return is_users(sys._getframe(2).f_code)


def failure(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> dict[str, Any]:
    """The exception as it is written down, at the innermost line of the user's code."""
    users = [(frame, row) for frame, row in traceback.walk_tb(trace) if is_users(frame.f_code)]
    place = {"filename": users[-1][0].f_code.co_filename, "row": users[-1][1]} if users else None
    return {"type": kind.__qualname__, "message": str(error)[:2000], "place": place}


def place(site: Site | None) -> dict[str, Any] | None:
    """Where a site stands, as it is written down."""
    if site is None:
        return None
    row, column, end_row, end_column = site.span()
    return {
        "filename": site.code.co_filename,
        "scope": site.code.co_qualname,
        "row": row,
        "column": column,
        "end_row": end_row,
        "end_column": end_column,
    }
