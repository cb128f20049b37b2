"""A listing that stops after a screenful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from xlamig.report.order import Block

_SUMMARY = 12  # lines left for what comes after the listing


def screenful(blocks: Iterable[Block], rows: int, command: str) -> Iterator[str]:
    """Yield the findings that fit on a screen of so many rows, at least one, and how to see the others."""
    room = max(rows - _SUMMARY, 1)
    shown = 0
    left: Counter[str] = Counter()  # by family
    for finding, lines in blocks:
        if left or (shown and shown + len(lines) > room):
            left[finding.code[:-2]] += 1
            continue
        shown += len(lines)
        yield from lines
    if left:
        family = max(left, key=lambda code: left[code])
        yield f"... {left.total()} more: `--all`, or `{command} --select {family}`"
