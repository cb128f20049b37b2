"""Preview the changes of a fix in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig.findings import Edit, Fix
from xlamig.report.context import Context, Ink, one_line
from xlamig.report.lines import line_end, line_start, split_lines
from xlamig.report.snippet import MAX_WIDTH, visible

MAX_LINES = 8


def preview(fix: Fix, filename: str, text: str | None, margin: str, context: Context) -> Iterator[str]:
    """The changed lines of `filename`, then the names of other files the fix touches."""
    edits = sorted(
        (edit for edit in fix.edits if edit.filename == filename), key=lambda edit: edit.place.start
    )
    changed: list[tuple[Ink, str]] = []
    if text is not None and all(edit.place.end <= len(text) for edit in edits):
        for together in _neighbours(text, edits):
            changed += _changed_lines(text, together)
    for ink, line in changed[:MAX_LINES]:
        shown = "".join(map(visible, line[:MAX_WIDTH]))
        sign = "-" if ink == "removed" else "+"
        yield f"{margin} {context.paint(ink, f'{sign} {shown}'.rstrip())}"
    if len(changed) > MAX_LINES:
        yield f"{margin} ... {len(changed) - MAX_LINES} more lines"
    for name in sorted({edit.filename for edit in fix.edits} - {filename}):
        yield f"{margin} also edits {one_line(name)}"
    for create in fix.creates:
        yield f"{margin} creates {one_line(create.filename)} when it is not there"


def _neighbours(text: str, edits: Sequence[Edit]) -> list[list[Edit]]:
    """Edits on the same or touching lines belong together."""
    groups: list[list[Edit]] = []
    for edit in edits:
        if groups and line_start(text, edit.place.start) <= line_end(text, groups[-1][-1].place.end):
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return groups


def _changed_lines(text: str, edits: Sequence[Edit]) -> list[tuple[Ink, str]]:
    start = line_start(text, edits[0].place.start)
    end = line_end(text, edits[-1].place.end)
    after, position = "", start
    for edit in edits:
        after += text[position : edit.place.start] + edit.content
        position = edit.place.end
    old, new = split_lines(text[start:end]), split_lines(after + text[position:end])
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return [("removed", line) for line in old] + [("added", line) for line in new]
