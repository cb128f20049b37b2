"""Which lines of the user's code ran, and in how many steps."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from . import frames


class Lines:
    """Traces the user's functions line by line; for those of libraries it costs one call."""

    def __init__(self, step: Callable[[], int]) -> None:
        self.step = step
        self.seen: dict[tuple[CodeType, int], list[int]] = {}  # [the last step, in how many]

    def start(self) -> None:
        """For frames that are entered from now on, and for those of this thread that are running."""
        threading.settrace(self._call)
        sys.settrace(self._call)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frames.is_users(frame.f_code):
                frame.f_trace = self._line
            frame = frame.f_back

    def stop(self) -> None:
        threading.settrace(None)
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if frames.is_users(frame.f_code) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            key, now = (frame.f_code, frame.f_lineno), self.step()
            seen = self.seen.get(key)
            if seen is None:
                self.seen[key] = [now, 1]
            elif seen[0] != now:
                seen[0] = now
                seen[1] += 1
        return self._line

    def by_file(self) -> dict[str, dict[int, int]]:
        """Steps by row, by file name."""
        found: dict[str, dict[int, int]] = {}
        for (code, row), (_, steps) in list(self.seen.items()):
            rows = found.setdefault(code.co_filename, {})
            rows[row] = max(steps, rows.get(row, 0))
        return found
