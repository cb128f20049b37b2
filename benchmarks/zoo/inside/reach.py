"""Which parts of the lines that ran were never evaluated; columns are UTF-8 bytes from 0."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from benchmarks.zoo.inside.spans import Span, contains
from xlamig.observe.inside.lines import Lines


class Reach(Lines):
    """Counts lines as the recorder does, and remembers each instruction of the files under `root`."""

    def __init__(self, lines: Lines, root: str) -> None:
        super().__init__(lines.step)
        self.root = root
        self.instructions: dict[CodeType, set[int]] = {}

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename.startswith(self.root) and code.co_name != "<module>":
            frame.f_trace_opcodes = True
            self.instructions.setdefault(code, set())
        return super()._call(frame, event, argument)

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode":
            self.instructions[frame.f_code].add(frame.f_lasti)
            return self._line
        return super()._line(frame, event, argument)

    def unreached(self) -> dict[str, list[Span]]:
        """Return the largest spans by file that were never evaluated, on lines that ran."""
        rows = self.by_file()
        found: dict[str, list[Span]] = {}
        for code, reached in self.instructions.items():
            ran = rows.get(code.co_filename, {})
            spans = [span for span in _unreached(code, reached) if span[0] in ran]
            found.setdefault(code.co_filename, []).extend(spans)
        return {name: sorted(set(spans)) for name, spans in found.items() if spans}


def watch(recorder: Any, root: str) -> Reach:
    """Let a recorder that has begun count its lines with a `Reach`."""
    recorder.lines.stop()
    recorder.lines = reach = Reach(recorder.lines, root)
    sys.settrace(None)
    reach.start()
    return reach


def _unreached(code: CodeType, reached: set[int]) -> Iterator[Span]:
    by_span: dict[Span, bool] = {}
    for instruction in dis.get_instructions(code):
        row, end_row, column, end_column = instruction.positions or (None,) * 4
        if None not in (row, end_row, column, end_column) and (row, column) != (end_row, end_column):
            span = (row, column, end_row, end_column)
            by_span[span] = by_span.get(span, False) or instruction.offset in reached
    executed = [span for span, ran in by_span.items() if ran]
    missing = [
        span
        for span, ran in by_span.items()
        if not ran and not any(contains(span, other) for other in executed)
    ]
    return (s for s in missing if not any(other != s and contains(other, s) for other in missing))
